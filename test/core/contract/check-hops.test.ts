import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { type Changes, compileSample, sampleBinding, shown } from './sample-objects.ts';

const PINS = [`SHA256:${'A'.repeat(43)}`];
const COMMAND: Changes = {
  http: undefined,
  readOnlyBecause: 'uptime only tells',
  ssh: { credential: 'web', host: 'web.example.com', argv: ['uptime'], shell: 'Posix' },
  result: { object: '/', decoder: 'Lines', allFields: { because: 'one line' } },
  completeness: {},
  warnings: [],
};

function host(name: string, changes: Changes = {}): ResourceObject {
  const spec: Changes = {
    'secret.name': `postern-${name}`,
    contracts: [],
    destinations: [{ origin: `ssh://${name}.example.com:22`, hostKeys: PINS }],
    use: { sshKey: { user: 'ops', privateKeyKey: 'id' } },
    ...changes,
  };
  return { ...sampleBinding(spec), name };
}

const web = (via?: string) => host('web', { contracts: ['list-things'], ...(via === undefined ? {} : { 'destinations.0.via': via }) });
const compiled = (credentials: readonly string[], bindings: readonly ResourceObject[]) =>
  compileSample({ ...COMMAND, credentials: [...credentials] }, { bindings });
const errors = (result: ReturnType<typeof compiled>) => shown(result.problems.filter(({ severity }) => severity === 'error'));

test('hops: a hop that is listed and grants itself to nobody is a way, and its change is a new revision (SSH-22)', () => {
  const through = compiled(['web', 'bastion'], [web('bastion'), host('bastion')]);
  assert.deepEqual(errors(through), []);
  const moved = compiled(['web', 'bastion'], [web('bastion'), host('bastion', { 'destinations.0.origin': 'ssh://other.example.com:22' })]);
  assert.notEqual(moved.contract?.revision, through.contract?.revision);
});

test('hops: a hop that is not listed leaves the contract not ready, whichever in the row it is', () => {
  const two = [web('inner'), host('inner', { 'destinations.0.via': 'outer' }), host('outer')];
  assert.deepEqual(errors(compiled(['web', 'inner', 'outer'], two)), []);
  assert.equal(compiled(['web', 'inner', 'outer'], two).contract?.notReady, undefined);
  for (const [listed, missing, before] of [
    [['web', 'inner'], 'outer', 'inner'],
    [['web'], 'inner', 'web'],
  ] as const) {
    const { contract, problems } = compiled(listed, two);
    assert.deepEqual(problems, []);
    assert.equal(contract?.notReady, `The binding ${missing} is the hop before ${before}: list it in spec.credentials too.`);
  }
});

test('hops: a hop that is not there yet leaves the contract not ready, and is no error', () => {
  const { contract, problems } = compiled(['web', 'bastion'], [web('bastion')]);
  assert.deepEqual(problems, []);
  assert.match(contract?.notReady ?? '', /bastion is not there/);
  assert.match(compiled(['web', 'bastion'], [host('bastion')]).contract?.notReady ?? '', /web is not there/);
});

test('hops: a hop is no target unless its owner says so', () => {
  const result = compileSample(
    { ...COMMAND, credentials: ['bastion'], 'ssh.credential': 'bastion', 'ssh.host': 'bastion.example.com' },
    { bindings: [host('bastion')] },
  );
  assert.deepEqual(errors(result), ['binding-not-granted spec.credentials[0]']);
});

test('hops: a listed binding that is no hop of anything is used by nothing', () => {
  assert.deepEqual(shown(compiled(['web', 'bastion'], [web(), host('bastion')]).problems), [
    'binding-not-granted spec.credentials[1]',
    'binding-unused spec.credentials[1]',
  ]);
});

test('hops: a hop is an sshKey with one destination', () => {
  const second = { origin: 'ssh://other.example.com:22', hostKeys: PINS };
  const first = { origin: 'ssh://bastion.example.com:22', hostKeys: PINS };
  for (const wrong of [host('bastion', { destinations: [first, second] }), { ...sampleBinding({ contracts: [] }), name: 'bastion' }])
    assert.ok(errors(compiled(['web', 'bastion'], [web('bastion'), wrong])).includes('binding-hop spec.credentials'));
});

test('hops: a way has at most two, and one that leads back to itself ends there', () => {
  const chain = [web('one'), host('one', { 'destinations.0.via': 'two' }), host('two', { 'destinations.0.via': 'three' }), host('three')];
  assert.ok(errors(compiled(['web', 'one', 'two', 'three'], chain)).includes('binding-hop spec.credentials'));
  const circle = [web('one'), host('one', { 'destinations.0.via': 'two' }), host('two', { 'destinations.0.via': 'one' })];
  assert.ok(errors(compiled(['web', 'one', 'two'], circle)).includes('binding-hop spec.credentials'));
});

test('hops: HTTP goes through none, and says so', () => {
  const { contract, problems } = compileSample(
    { credentials: ['api-reader', 'bastion'] },
    { bindings: [sampleBinding({ 'destinations.0.via': 'bastion' }), host('bastion')] },
  );
  assert.deepEqual(problems, []);
  assert.match(contract?.notReady ?? '', /only commands over SSH/);
});
