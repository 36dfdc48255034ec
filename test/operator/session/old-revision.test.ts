import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { contractRecord } from '#operator/kube/records.ts';
import { oldRevision, RevisionAges } from '#operator/session/old-revision.ts';
import { clusterOf, contractObject, sessionOf } from '#test/operator/contract/records.ts';

const SAID = { type: 'OnOldRevision', status: 'True', reason: 'NotApplied', message: '', lastTransitionTime: '2026-12-01T00:00:00Z' };

function stage(revision: string, caller: object = {}) {
  const object = contractObject();
  const status = { revision, callers: [{ serviceAccount: 'bot', ...caller }] };
  const contract = (change: object = {}) =>
    contractRecord({
      ...object,
      metadata: { ...object.metadata, resourceVersion: JSON.stringify(change) },
      status: { ...status, ...change },
    });
  const cluster = clusterOf([]);
  cluster.contracts.put(contract());
  return { cluster, contract, name: object.metadata.name };
}

const runs = (name: string, entry: object, change: object = {}) =>
  sessionOf({ state: 'Active', contracts: [{ name, ...entry }], ...change });
const old = limits.sessionBehindMs;

test('old revision: a session that runs what is applied has no such condition', () => {
  const { cluster, name } = stage('sha256:new');
  assert.deepEqual(
    oldRevision(runs(name, { revision: 'sha256:new' }), cluster, () => old),
    { findings: [], againMs: undefined },
  );
});

test('old revision: a push under way is no news, and is looked at again when it ought to be over', () => {
  const { cluster, name } = stage('sha256:new');
  const session = runs(name, { revision: 'sha256:old' });
  assert.deepEqual(
    oldRevision(session, cluster, () => old - 1_000),
    { findings: [], againMs: 1_000 },
  );
  const { findings, againMs } = oldRevision(session, cluster, () => old);
  assert.equal(againMs, undefined);
  assert.equal(findings[0]?.reason, 'NotApplied');
  assert.match(findings[0]?.message ?? '', new RegExp(`present revision of ${name}\\.`));
});

test('old revision: a contract that the sidecar refused is named with the code, and the cure is a new pod', () => {
  const { cluster, name } = stage('sha256:new');
  const [finding] = oldRevision(runs(name, { refused: 'unknown-field' }), cluster, () => old).findings;
  assert.equal(finding?.reason, 'Refused');
  assert.match(finding?.message ?? '', /\(refused: unknown-field\)\. .*restart the pod/);
});

test('old revision: once said it stays until the session caught up, also under a leader that has just begun', () => {
  const { cluster, name } = stage('sha256:new');
  assert.equal(oldRevision(runs(name, { revision: 'sha256:old' }, { conditions: [SAID] }), cluster, () => 0).findings.length, 1);
  assert.equal(oldRevision(runs(name, { revision: 'sha256:new' }, { conditions: [SAID] }), cluster, () => 0).findings.length, 0);
});

test('old revision: a session that is to run nothing lacks nothing', () => {
  const refused = stage('sha256:new', { refused: 'it may create pods' });
  assert.deepEqual(oldRevision(runs(refused.name, { revision: 'sha256:old' }), refused.cluster, () => old).findings, []);
  const { cluster, name } = stage('sha256:new');
  for (const state of ['Pending', 'Suspended', 'Revoked', 'Ended'])
    assert.deepEqual(oldRevision(runs(name, { revision: 'sha256:old' }, { state }), cluster, () => old).findings, []);
});

test('revision ages: an age begins with a new revision or a caller that is let in, and with nothing else', () => {
  let nowMs = 0;
  const clock: Clock = { ...systemClock, monotonicMs: () => nowMs };
  const { cluster, contract } = stage('sha256:new', { refused: 'it may create pods' });
  const told: string[] = [];
  const ages = new RevisionAges(cluster, clock, (accounts) => told.push(...accounts));
  const key = [...cluster.contracts.keys()][0] ?? '';
  nowMs = 1_000;
  assert.equal(ages.ageMs(key), 1_000, 'what was there before is as old as this');
  cluster.contracts.put(contract({ sessions: { current: 1, behind: 0 } }));
  assert.equal(ages.ageMs(key), 1_000);
  assert.deepEqual(told, []);
  cluster.contracts.put(contract({ callers: [{ serviceAccount: 'bot' }] }));
  assert.equal(ages.ageMs(key), 0);
  nowMs = 2_000;
  cluster.contracts.put(contract({ callers: [{ serviceAccount: 'bot' }], revision: 'sha256:newer' }));
  assert.equal(ages.ageMs(key), 0);
  assert.deepEqual(told, ['triage/bot', 'triage/bot']);
  ages.stop();
});
