import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { emptyCluster } from '#operator/kube/cluster.ts';
import type { ContractRecord } from '#operator/kube/records.ts';
import { InjectionFactsSource } from '#operator/pod/injection-facts.ts';

function contract(more: Partial<ContractRecord> = {}): ContractRecord {
  const identity = { namespace: 'triage', name: 'list', uid: 'u1', resourceVersion: '1' };
  return { ...identity, generation: 1, specJson: '{}', callers: ['bot'], credentials: [], status: undefined, ...more };
}

function setUp() {
  const time = { ms: 0 };
  const clock: Clock = { ...systemClock, monotonicMs: () => time.ms };
  const cluster = emptyCluster();
  cluster.namespaces.put({
    namespace: '',
    name: 'triage',
    uid: 'n',
    resourceVersion: '1',
    labels: {},
    annotations: {},
    enforced: true,
    sessionApproval: false,
  });
  return { time, cluster, facts: new InjectionFactsSource(cluster, clock) };
}

test('injection facts: pods wait for a contract that is new, and only for so long: with the leader away they start (P6)', () => {
  const { time, cluster, facts } = setUp();
  cluster.contracts.put(contract());
  assert.deepEqual(facts.scopeOf('triage', 'bot').waiting, ['list']);
  assert.deepEqual(facts.scopeOf('triage', 'other').waiting, []);
  time.ms = 10_000;
  assert.deepEqual(facts.scopeOf('triage', 'bot').waiting, []);
});

test('injection facts: a decided contract is waited for no more, its next generation is', () => {
  const { time, cluster, facts } = setUp();
  cluster.contracts.put(contract());
  time.ms = 20_000;
  cluster.contracts.put(contract({ resourceVersion: '2', status: { observedGeneration: 1, conditions: [] } }));
  cluster.contracts.put(contract({ resourceVersion: '3', generation: 2 }));
  assert.deepEqual(facts.scopeOf('triage', 'bot').waiting, ['list']);
  cluster.contracts.remove('triage/list');
  assert.deepEqual(facts.scopeOf('triage', 'bot').waiting, []);
});

test('injection facts: contracts that a replica finds at its start are waited for too', () => {
  const { cluster, time } = setUp();
  cluster.contracts.put(contract());
  const late = new InjectionFactsSource(cluster, { ...systemClock, monotonicMs: () => time.ms });
  assert.deepEqual(late.scopeOf('triage', 'bot').waiting, ['list']);
});

test('injection facts: a namespace that is not known is not enforced', () => {
  assert.equal(setUp().facts.scopeOf('elsewhere', 'bot').enforced, false);
  assert.equal(setUp().facts.scopeOf('triage', 'bot').enforced, true);
});
