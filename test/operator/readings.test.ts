import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contractRecord } from '#operator/kube/records.ts';
import { objectReadings } from '#operator/readings.ts';
import { bindingObject, clusterOf, contractObject, sessionOf } from './contract/records.ts';

const status = (ready: 'True' | 'False', caller: object = {}) => ({
  revision: 'sha256:new',
  callers: [{ serviceAccount: 'bot', ...caller }],
  conditions: [{ type: 'Ready', status: ready, reason: 'Ready', message: '', lastTransitionTime: '2026-12-01T00:00:00Z' }],
});

function cluster(caller: object = {}) {
  const object = contractObject({
    warnings: [{ name: 'lag', code: 'STALE_INDEX', owner: 'stock-team', expires: '2027-03-01', message: 'It lags.' }],
  });
  const made = clusterOf([object, bindingObject()]);
  made.contracts.put(contractRecord({ ...object, metadata: { ...object.metadata, resourceVersion: 'x' }, status: status('True', caller) }));
  const runs = (revision: string) => ({ state: 'Active', contracts: [{ name: 'list-stock', revision }] });
  for (const each of [runs('sha256:new'), runs('sha256:old'), { state: 'Active' }, { state: 'Pending' }]) {
    const session = sessionOf(each);
    made.sessions.put({ ...session, name: session.uid });
  }
  return made;
}

test('readings: the leader counts objects by what they have become', () => {
  const read = objectReadings(cluster(), () => true);
  assert.deepEqual(read.contracts(), { ready: 1, notReady: 0 });
  assert.deepEqual(read.bindings(), { ready: 0, notReady: 1 });
  assert.deepEqual(read.sessions(), { Pending: 1, Active: 3, Suspended: 0, Revoked: 0, Ended: 0 });
  assert.equal(read.sessionsBehind(), 2);
});

test('readings: a refused caller’s sessions are not behind; they are to run nothing', () => {
  assert.equal(objectReadings(cluster({ refused: 'it may create pods' }), () => true).sessionsBehind(), 0);
});

test('readings: a declared warning is shown with the end of its last day', () => {
  const [warning] = objectReadings(cluster(), () => true).declaredWarnings();
  assert.deepEqual(warning, {
    namespace: 'triage',
    contract: 'list-stock',
    code: 'STALE_INDEX',
    owner: 'stock-team',
    expiresMs: Date.parse('2027-03-02T00:00:00Z'),
  });
});

test('readings: a replica that does not lead counts nothing, so that sums over replicas are right', () => {
  const read = objectReadings(cluster(), () => false);
  assert.deepEqual(read.contracts(), { ready: 0, notReady: 0 });
  assert.deepEqual(read.sessions(), {});
  assert.deepEqual(read.declaredWarnings(), []);
});
