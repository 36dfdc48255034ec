import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { compileContract } from '#core/contract/compile.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { fillDefaults } from '#core/contract/defaults.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { compiledSample, compileObject, compileSample, NOW_MS, objectsIn, sampleBinding, sampleContract, shown } from './sample-objects.ts';

test('compile: the sample contract has no problem at all', () => {
  const { contract, problems } = compileSample();
  assert.deepEqual(shown(problems), []);
  assert.equal(contract?.notReady, undefined);
  assert.equal(contract?.best, 'Complete');
});

test('compile: the request is literal but for its slots, sorted by name', () => {
  const { target } = compiledSample();
  assert.ok(target.kind === 'http');
  assert.equal(target.request.origin, 'https://api.example.com');
  assert.deepEqual(
    target.request.segments.map((segment) => segment.map((part) => (typeof part === 'string' ? part : part.text))),
    [['v1'], ['shops'], ['$(resolve.shop.id)'], ['things']],
  );
  assert.deepEqual(
    target.request.query.map(([name]) => name),
    ['after', 'limit', 'since'],
  );
});

test('compile: defaults are filled in', () => {
  const contract = compiledSample();
  assert.deepEqual(contract.completeness.limits, {
    pages: 10,
    items: 1000,
    bytes: 8 * 1024 * 1024,
    timeMs: 30_000,
    pageSize: 100,
    parallel: 4,
  });
  assert.deepEqual(contract.effects, { approval: { mode: 'None', expiresAfterMs: 15 * 60_000, vary: [] }, idempotency: { mode: 'None' } });
  assert.equal(contract.completeness.onIncomplete, 'Return');
  assert.deepEqual(contract.completeness.cursor, { ttlMs: 5 * 60_000, onExpiry: 'Fail', afterMutation: 'Keep' });
  assert.deepEqual(contract.result.fields, [
    { name: 'id', path: { text: '/id', steps: [{ kind: 'member', name: 'id' }] }, presence: 'Required' },
    { name: 'title', path: { text: '/title', steps: [{ kind: 'member', name: 'title' }] }, presence: 'Optional' },
  ]);
});

/** The default a description of the CRD states, and the table's: both are read by people who trust them. */
const STATED: readonly (readonly [path: string, text: string])[] = [
  ['completeness.cursor.ttl', '5m'],
  ['completeness.rateLimit.floor', '1s'],
  ['completeness.rateLimit.ceiling', '1h'],
  ['completeness.limits.pages', '10'],
  ['completeness.limits.items', '1000'],
  ['completeness.limits.bytes', '8Mi'],
  ['completeness.limits.time', '30s'],
  ['completeness.limits.parallel', '4'],
  ['completeness.paging.mode', 'Walk'],
  ['completeness.paging.remainder', 'Pages'],
  ['completeness.rateLimit.wait', 'Never'],
  ['completeness.cursor.afterMutation', 'Keep'],
  ['result.decoder', 'JSON'],
  ['result.as', 'items'],
  ['approval.expiresAfter', '15m'],
  ['approval.calls', '20'],
];

test('compile: the defaults are those the CRD tells people', () => {
  const crd = parse(readFileSync(new URL('../../../crds/postern.dev_actioncontracts.yaml', import.meta.url), 'utf8'));
  const root = crd.spec.versions[0].schema.openAPIV3Schema.properties.spec;
  const { spec } = fillDefaults({ approval: { mode: 'Session' } });
  for (const [path, text] of STATED) {
    const names = path.split('.');
    const { description } = names.reduce((schema, name) => schema.properties[name], root);
    assert.match(description, new RegExp(`Default \`?${text}\`?\\.`), path);
    assert.equal(String(names.reduce<unknown>((held, name) => Reflect.get(held as object, name), spec)), text, path);
  }
});

test('compile: a path ending in a slash, the root path and a spread keep their segments', () => {
  const segmentsOf = (url: string) => {
    const { target } = compiledSample({ 'http.url': url }, { bindings: [sampleBinding({ 'destinations.0.pathPrefixes': undefined })] });
    assert.ok(target.kind === 'http');
    return target.request.segments.map((segment) => segment.map((part) => (typeof part === 'string' ? part : part.text)).join('|'));
  };
  assert.deepEqual(segmentsOf('https://api.example.com/'), []);
  assert.deepEqual(segmentsOf('https://api.example.com'), []);
  assert.deepEqual(segmentsOf('https://api.example.com/a/'), ['a', '']);
  assert.deepEqual(segmentsOf('https://api.example.com/a/$(args.code...)'), ['a', '$(args.code...)']);
});

test('compile: a required value of the next page may stand in a path from page two on, and from page one on with an initial one', () => {
  const url = 'https://api.example.com/v1/shops/$(next.after)';
  assert.deepEqual(shown(compileSample({ 'http.next': { method: 'GET', url } }).problems), []);
  assert.deepEqual(shown(compileSample({ 'http.url': url, 'completeness.paging.next.0.initial': 'first' }).problems), []);
});

test('compile: a compiled contract is frozen', () => {
  const contract = compiledSample();
  assert.ok(Object.isFrozen(contract) && Object.isFrozen(contract.target) && Object.isFrozen(contract.completeness.paging.next[0]));
  assert.ok(Object.isFrozen(contract.resolve.shop?.north));
});

test('compile: the nearest name of a table without an enum is an argument that has one, never its own', () => {
  const nearest = (change: Parameters<typeof compileSample>[0]) =>
    compileSample(change).problems.find(({ code }) => code === 'resolve-argument')?.nearest;
  const strings = { type: 'string', maxLength: 20 };
  assert.equal(nearest({ 'arguments.properties.code': strings, 'resolve.code': { a: { b: 1 } } }), undefined);
  assert.equal(nearest({ 'resolve.shap': { north: { id: 1 } } }), 'shop');
});

test('compile: all problems of a contract come at once, with file and line', () => {
  const { problems } = compileSample({
    'http.method': 'GRAB',
    'result.fields': undefined,
    'http.query.since': '$(args.sinse)',
    completness: {},
  });
  assert.deepEqual(shown(problems).toSorted(), [
    'field-unknown spec.completeness.notices[0].fields[0]',
    'method-fixed spec.http.method',
    'result-fields spec.result',
    'slot-unknown-name spec.http.query.since',
    'unknown-field spec.completness',
  ]);
  const [slot] = problems.filter(({ code }) => code === 'slot-unknown-name');
  assert.equal(slot?.nearest, 'since');
  assert.equal(slot?.object.file, 'list-things.yaml');
  assert.ok((slot?.object.line ?? 0) > 20);
  assert.equal(
    `${slot?.severity} ${slot?.object.kind}/${slot?.object.name} ${slot?.path}`,
    'error ActionContract/list-things spec.http.query.since',
  );
});

test('compile: a binding or a read that is not there yet makes the contract not ready, and no error', () => {
  const { contract, problems } = compileSample({}, { bindings: [] });
  assert.deepEqual(problems, []);
  assert.equal(contract?.notReady, 'The binding api-reader is not there.');
});

test('compile: a binding of another namespace is not there', () => {
  const { contract } = compileSample({}, { bindings: [{ ...sampleBinding(), namespace: 'other' }] });
  assert.match(contract?.notReady ?? '', /not there/);
});

test('compile: a suspended binding makes the contract not ready', () => {
  const { contract } = compileSample({}, { bindings: [sampleBinding({ suspended: { because: 'leaked' } })] });
  assert.match(contract?.notReady ?? '', /suspended/);
});

test('compile: a credential per label must each be listed and cover its own paths', () => {
  const changes = {
    credentials: ['api-reader', 'api-south'],
    'http.credential': '$(resolve.shop.credential)',
    'resolve.shop.north.credential': 'api-reader',
    'resolve.shop.south.credential': 'api-south',
  };
  const north = sampleBinding({ 'destinations.0.pathPrefixes': ['/v1/shops/n1/'] });
  const south: ResourceObject = { ...sampleBinding({ 'destinations.0.pathPrefixes': ['/v1/shops/s1/'] }), name: 'api-south' };
  assert.deepEqual(shown(compileSample(changes, { bindings: [north, south] }).problems), []);
  const swapped = compileSample({ ...changes, 'resolve.shop.north.id': 's1', 'resolve.shop.south.id': 'n1' }, { bindings: [north, south] });
  assert.deepEqual(shown(swapped.problems), ['binding-destination spec.http.url']);
});

test('compile: a change of binding, preset or contract changes the revision; the order of keys does not', () => {
  const { revision } = compiledSample();
  assert.match(revision, /^sha256:[0-9a-f]{64}$/);
  assert.equal(compiledSample().revision, revision);
  assert.notEqual(compiledSample({}, { bindings: [sampleBinding({ 'use.bearer.key': 'other' })] }).revision, revision);
  assert.notEqual(compiledSample({ summary: 'List all things of $(args.shop)' }).revision, revision);
  const original = sampleContract();
  fc.assert(
    fc.property(fc.infiniteStream(fc.nat()), (stream) => {
      const shuffled = { ...original, spec: shuffle(original.spec, () => stream.next().value ?? 0) as ResourceObject['spec'] };
      const result = compileObject(shuffled);
      assert.equal(result.contract?.revision, revision);
      assert.equal(JSON.stringify(result.contract?.target), JSON.stringify(compiledSample().target));
    }),
    { numRuns: 25 },
  );
});

/** The same value with the members of every map in another order. */
function shuffle(value: JsonValue, next: () => number): JsonValue {
  if (Array.isArray(value)) return value.map((item) => shuffle(item, next));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, held]) => [next(), name, shuffle(held, next)] as const);
  return Object.fromEntries(entries.toSorted(([a], [b]) => a - b).map(([, name, held]) => [name, held]));
}

test('compile: all twenty examples compile, and each is ready to be served', () => {
  const objects = objectsIn('examples/contracts');
  const contracts = objects.filter(({ kind }) => kind === 'ActionContract');
  assert.equal(contracts.length, 20);
  const bindings = objects.filter(({ kind }) => kind === 'CredentialBinding');
  const presets = objectsIn('presets').filter(({ kind }) => kind === 'ContractPreset');
  for (const contract of contracts) {
    const result = compileContract({ contract, bindings, presets, contracts, nowMs: Date.parse('2026-11-30T00:00:00Z') });
    assert.deepEqual(shown(result.problems), []);
    assert.equal(result.contract?.notReady, undefined, contract.name);
  }
});

test('compile: an argument called like a member of every object is an argument like any other', () => {
  const changes = {
    'arguments.properties.isPrototypeOf': { type: 'string', enum: ['n1', 's1'] },
    'arguments.required.3': 'isPrototypeOf',
    'http.url': 'https://api.example.com/v1/shops/$(args.isPrototypeOf)/things',
  };
  const prefixes = (...pathPrefixes: string[]) => ({ bindings: [sampleBinding({ 'destinations.0.pathPrefixes': pathPrefixes })] });
  assert.deepEqual(shown(compileSample(changes, prefixes('/v1/shops/n*', '/v1/shops/s1')).problems), []);
  assert.deepEqual(shown(compileSample(changes, prefixes('/v1/shops/n*')).problems), ['binding-destination spec.http.url']);
  assert.deepEqual(shown(compileSample({ 'result.decoder': 'constructor' }).problems), ['unknown-value spec.result.decoder']);
});

test('compile: no message of the compiler repeats a password written into a URL', () => {
  const { problems } = compileSample({ 'http.url': 'https://user:hunter2@api.example.com/v1' });
  assert.deepEqual(
    shown(problems).filter((each) => each.startsWith('url')),
    ['url-userinfo spec.http.url'],
  );
  assert.doesNotMatch(JSON.stringify(problems), /hunter2/);
});

/** Names every object has, as names and as values. */
const name = fc.constantFrom('constructor', 'toString', 'hasOwnProperty', 'isPrototypeOf', 'a');
const { awkward } = fc.letrec<{ awkward: unknown }>((tie) => ({
  awkward: fc.oneof(
    { depthSize: 'small' },
    name,
    fc.array(tie('awkward'), { maxLength: 2 }),
    fc.dictionary(name, tie('awkward'), { maxKeys: 3 }),
  ),
}));

test('compile: whatever a contract holds, the compiler answers with problems and does not throw', () => {
  const paths = [
    'arguments',
    'resolve',
    'http',
    'http.url',
    'http.query',
    'http.body',
    'result',
    'result.fields',
    'completeness',
    'completeness.paging',
    'completeness.paging.next',
    'completeness.signals',
    'completeness.sources',
    'warnings',
    'evidence',
    'idempotency',
    'approval',
    'callers',
    'completeness.preset',
    'completeness.without',
    'result.decoder',
    'http.method',
    'effect',
  ];
  fc.assert(
    fc.property(fc.constantFrom(...paths), fc.oneof(fc.jsonValue({ maxDepth: 3 }), awkward), (path, value) => {
      const { problems } = compileSample({ [path]: value as JsonValue });
      for (const problem of problems) assert.ok(problem.cure !== '' && problem.message !== '');
    }),
    { numRuns: 150 },
  );
});

test('compile: warnings are measured against the injected clock', () => {
  const contract = sampleContract();
  const at = (now: string) =>
    shown(compileContract({ contract, bindings: [sampleBinding()], presets: [], contracts: [], nowMs: Date.parse(now) }).problems);
  assert.deepEqual(at('2026-06-30T23:59:59Z'), []);
  assert.deepEqual(at('2026-07-01T00:00:00Z'), ['warning-expired spec.warnings[0].expires']);
  assert.equal(NOW_MS, Date.parse('2026-01-01T00:00:00Z'));
});
