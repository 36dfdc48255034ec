import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BindingRecord, ContractRecord } from '#operator/kube/records.ts';
import { callerGrants } from '#operator/pod/caller-grants.ts';

type Status = NonNullable<ContractRecord['status']>;

const condition = (type: string, status: 'True' | 'False', message = '') => ({
  type,
  status,
  message,
  reason: 'Test',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

function contract(name: string, status: Status | undefined, more: Partial<ContractRecord> = {}): ContractRecord {
  const identity = { namespace: 'triage', name, uid: name, resourceVersion: '1' };
  return { ...identity, generation: 1, specJson: '{}', callers: ['bot'], credentials: [`${name}-binding`], status, ...more };
}

function binding(name: string, more: Partial<BindingRecord> = {}): BindingRecord {
  const identity = { namespace: 'triage', name, uid: name, resourceVersion: '1' };
  const spec = {
    generation: 1,
    specJson: '{}',
    secret: 'postern-github',
    secretRevision: undefined,
    rotateRequested: undefined,
    secretVersion: undefined,
    status: undefined,
  };
  return { ...identity, ...spec, contracts: ['list', 'search'], keys: ['token'], ...more };
}

const accepted: Status = { observedGeneration: 1, conditions: [condition('Accepted', 'True')], callers: [{ serviceAccount: 'bot' }] };
const find =
  (...bindings: readonly BindingRecord[]) =>
  (name: string) =>
    bindings.find((one) => one.name === name);

test('grants: an accepted contract mounts the keys of its bindings, once each and sorted', () => {
  const grants = callerGrants(
    [contract('search', accepted), contract('list', accepted)],
    'bot',
    find(binding('list-binding', { keys: ['b', 'a'] }), binding('search-binding', { keys: ['b', 'c'] })),
  );
  assert.deepEqual(grants.contracts, ['list', 'search']);
  assert.deepEqual(grants.secrets, [{ secret: 'postern-github', keys: ['a', 'b', 'c'] }]);
});

test('grants: a caller that the operator refuses gets no mount, and its reason is kept', () => {
  const status: Status = { ...accepted, callers: [{ serviceAccount: 'bot', refused: 'it may create pods' }] };
  const grants = callerGrants([contract('list', status)], 'bot', find(binding('list-binding')));
  assert.deepEqual(
    { ...grants },
    { contracts: [], undecided: [], refused: [{ contract: 'list', because: 'it may create pods' }], secrets: [] },
  );
});

test('grants: a contract without a status, or not yet judged for this caller, is undecided and mounts nothing', () => {
  const older: Status = { ...accepted, callers: [{ serviceAccount: 'other' }] };
  for (const one of [contract('list', undefined), contract('list', older, { generation: 2 })]) {
    const grants = callerGrants([one], 'bot', find(binding('list-binding')));
    assert.deepEqual(grants.undecided, [one]);
    assert.deepEqual(grants.secrets, []);
  }
});

test('grants: a change of a contract takes nothing from a caller that was judged before', () => {
  const grants = callerGrants([contract('list', accepted, { generation: 2 })], 'bot', find(binding('list-binding')));
  assert.deepEqual(grants.contracts, ['list']);
});

test('grants: a contract that is not accepted is refused with its message', () => {
  const status: Status = { observedGeneration: 1, conditions: [condition('Accepted', 'False', 'spec.http: wrong')] };
  assert.deepEqual(callerGrants([contract('list', status)], 'bot', find()).refused, [{ contract: 'list', because: 'spec.http: wrong' }]);
});

for (const [name, more] of Object.entries<Partial<BindingRecord>>({
  'that names no key, which would mount all of them': { keys: [] },
  'that does not list the contract': { contracts: ['other'] },
  'of a Secret without the reserved prefix': { secret: 'database-password' },
  'that is not accepted': { status: { conditions: [condition('Accepted', 'False')] } },
})) {
  test(`grants: a binding ${name}, mounts nothing`, () => {
    assert.deepEqual(callerGrants([contract('list', accepted)], 'bot', find(binding('list-binding', more))).secrets, []);
  });
}

test('grants: a binding that is not there yet mounts nothing, and the contract counts', () => {
  const grants = callerGrants([contract('list', accepted)], 'bot', find());
  assert.deepEqual({ contracts: grants.contracts, secrets: grants.secrets }, { contracts: ['list'], secrets: [] });
});
