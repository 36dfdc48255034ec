import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileContract } from '#core/contract/compile.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { needsEachUse, needsPerson } from '#operator/approval/each-use.ts';

const object = (kind: 'ActionContract' | 'CredentialBinding', name: string, spec: object) =>
  ({ kind, name, namespace: 'n', spec }) as ResourceObject;

const binding = (name: string) =>
  object('CredentialBinding', name, {
    owner: 'team',
    secret: { name: `postern-${name}` },
    contracts: ['restart'],
    destinations: [{ origin: 'https://api.example.com' }],
    use: { bearer: { key: 'token' } },
  });

function restart(mode: string): CompiledContract {
  const contract = object('ActionContract', 'restart', {
    action: 'restart',
    summary: 'Restart $(args.environment)',
    owner: 'team',
    effect: 'Write',
    callers: [{ serviceAccount: 'bot' }],
    credentials: ['staging', 'production'],
    arguments: {
      type: 'object',
      additionalProperties: false,
      required: ['environment'],
      properties: { environment: { type: 'string', enum: ['staging', 'production'] } },
    },
    resolve: { environment: { staging: { credential: 'staging' }, production: { credential: 'production' } } },
    http: { credential: '$(resolve.environment.credential)', method: 'POST', url: 'https://api.example.com/$(args.environment)/restart' },
    result: { object: '/', as: 'run', fields: [{ name: 'id' }] },
    idempotency: { mode: 'Natural' },
    approval: { mode },
  });
  const bindings = [binding('staging'), binding('production')];
  const { contract: found, problems } = compileContract({ contract, bindings, presets: [], contracts: [], nowMs: 0 });
  assert.ok(found, JSON.stringify(problems));
  return found;
}

const operationId = `op_${'a'.repeat(26)}`;
const call = (environment: string) => ({ args: { environment }, operationId });

test('each use: a binding demands a person for the calls it is chosen for, and for no others', () => {
  const compiled = { contract: restart('None'), eachUse: new Set(['production']) };
  assert.equal(needsPerson(compiled, call('production')), true);
  assert.equal(needsPerson(compiled, call('staging')), false);
  assert.equal(needsEachUse(compiled, call('staging')), false);
});

test('each use: what the contract demands holds whatever the bindings say', () => {
  const compiled = { contract: restart('EachCall'), eachUse: new Set<string>() };
  assert.equal(needsPerson(compiled, call('staging')), true);
  assert.equal(needsEachUse(compiled, call('staging')), false);
});

test('each use: a call that fits no request counts as one that needs a person', () => {
  const compiled = { contract: restart('None'), eachUse: new Set(['production']) };
  assert.equal(needsPerson(compiled, call('elsewhere')), true);
});
