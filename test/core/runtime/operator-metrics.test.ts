import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { METRICS_OF } from '#core/runtime/metric-catalogue.ts';
import { SidecarMetrics } from '#core/runtime/metrics.ts';
import { OperatorMetrics } from '#core/runtime/operator-metrics.ts';

async function samples(metrics: { exposition(): Promise<{ readonly text: string }> }): Promise<ReadonlyMap<string, number>> {
  const { text } = await metrics.exposition();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

test('operator metrics: what is read and what is counted stands on the page', async () => {
  const metrics = new OperatorMetrics(systemClock, '0.1.0');
  metrics.read({
    leading: () => true,
    informers: () => [{ kind: 'Pod', ageSeconds: 3, synced: true }],
    queues: () => ({ contract: 4 }),
    contracts: () => ({ ready: 7, notReady: 2 }),
    sessions: () => ({ Active: 5 }),
    sessionsBehind: () => 1,
    unguarded: () => ({ caller_without_sidecar: 2 }),
    refusedCallers: () => [{ namespace: 'triage', account: 'bot' }],
    declaredWarnings: () => [{ namespace: 'triage', contract: 'list-stock', code: 'STALE_INDEX', owner: 'stock', expiresMs: 5000 }],
    certificates: () => ({ leaf: 9000 }),
    contestedTrust: () => ({ MutatingWebhookConfiguration: true, ValidatingWebhookConfiguration: false }),
    brokenGuards: () => [{ policy: 'postern-pod', state: 'missing' }],
    streams: () => 6,
    approvals: () => [{ namespace: 'release', waiting: 2, oldestMs: 61_000, unknown: 1 }],
  });
  metrics.noticed('failed');
  metrics.reconciled('contract', 'done', 20);
  metrics.admitted('pod', 'refused', 2);
  metrics.relisted('Pod', 'expired');
  metrics.streamRefused('duplicate');
  metrics.pushed(30);
  metrics.rotated('announced');
  const page = await samples(metrics);
  const expected = {
    postern_operator_leader_state: 1,
    'postern_operator_approvals_waiting{namespace="release"}': 2,
    'postern_operator_approval_oldest_age_seconds{namespace="release"}': 61,
    'postern_operator_unknown_operations{namespace="release"}': 1,
    'postern_operator_approval_notices_total{outcome="failed"}': 1,
    'postern_operator_informer_age_seconds{kind="Pod"}': 3,
    'postern_operator_informer_synced_state{kind="Pod"}': 1,
    'postern_operator_informer_relists_total{kind="Pod",cause="expired"}': 1,
    'postern_operator_queue_length{controller="contract"}': 4,
    'postern_operator_contracts{ready="true"}': 7,
    'postern_operator_contracts{ready="false"}': 2,
    'postern_operator_sessions{state="Active"}': 5,
    postern_operator_sessions_behind: 1,
    'postern_operator_pods_unguarded{reason="caller_without_sidecar"}': 2,
    'postern_operator_caller_refused_state{namespace="triage",account="bot"}': 1,
    'postern_operator_warnings_expiry_seconds{namespace="triage",contract="list-stock",code="STALE_INDEX",owner="stock"}': 5,
    'postern_operator_certificate_expiry_seconds{certificate="leaf"}': 9,
    'postern_operator_ca_bundle_contested_state{configuration="MutatingWebhookConfiguration"}': 1,
    'postern_operator_ca_bundle_contested_state{configuration="ValidatingWebhookConfiguration"}': 0,
    'postern_operator_guards_broken{policy="postern-pod",state="missing"}': 1,
    postern_operator_streams_open: 6,
    'postern_operator_reconciles_total{controller="contract",outcome="done"}': 1,
    'postern_operator_admissions_total{webhook="pod",outcome="refused"}': 1,
    'postern_operator_streams_refused_total{reason="duplicate"}': 1,
    postern_operator_push_duration_seconds_count: 1,
    'postern_operator_rotations_total{outcome="announced"}': 1,
  };
  for (const [name, value] of Object.entries(expected)) assert.equal(page.get(name), value, name);
});

test('operator metrics: the page of one process shows no metric of the other', async () => {
  const operator = [...(await samples(new OperatorMetrics(systemClock))).keys()];
  const sidecar = [...(await samples(new SidecarMetrics(systemClock))).keys()];
  assert.deepEqual(
    sidecar.filter((name) => name.startsWith('postern_operator_')),
    [],
  );
  assert.deepEqual(
    operator.filter((name) => name.startsWith('postern_grpc_')),
    [],
  );
  assert.ok(METRICS_OF.operator.includes('build_info') && METRICS_OF.sidecar.includes('build_info'));
});
