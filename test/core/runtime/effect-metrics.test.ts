import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '#core/bounds/clock.ts';
import { SidecarMetrics } from '#core/runtime/metrics.ts';

const clock: Clock = { wallMs: () => 0, monotonicMs: () => 0, sleep: async () => {}, alarm: () => () => {} };

function declared(): SidecarMetrics {
  const metrics = new SidecarMetrics(clock);
  metrics.declare({ action: 'deploy_service', owner: 'platform', warnings: {}, completeness: { notices: [] } });
  return metrics;
}

async function page(metrics: SidecarMetrics): Promise<Map<string, number>> {
  const { text } = await metrics.exposition();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

test('effect metrics: each end of an effect, replay and refused evidence is counted by action', async () => {
  const metrics = declared();
  metrics.effects.ended('deploy_service', 'done');
  metrics.effects.ended('deploy_service', 'done');
  metrics.effects.ended('deploy_service', 'unknown');
  metrics.effects.replayed('deploy_service');
  metrics.callFailed('deploy_service', 'EVIDENCE_EXPIRED', 1);
  metrics.callFailed('deploy_service', 'REMOTE_DENIED', 1);
  const found = await page(metrics);
  assert.equal(found.get('postern_effects_total{action="deploy_service",outcome="done"}'), 2);
  assert.equal(found.get('postern_effects_total{action="deploy_service",outcome="unknown"}'), 1);
  assert.equal(found.get('postern_replays_total{action="deploy_service"}'), 1);
  assert.equal(found.get('postern_evidence_refusals_total{action="deploy_service",code="EVIDENCE_EXPIRED"}'), 1);
  assert.equal([...found.keys()].filter((key) => key.startsWith('postern_evidence_refusals_total')).length, 1);
});

test('effect metrics: a question is counted when asked and when answered, its wait only where a person answered', async () => {
  const metrics = declared();
  metrics.effects.asked('deploy_service');
  metrics.effects.decided('deploy_service', 'approved', 42_000);
  metrics.effects.asked('deploy_service');
  metrics.effects.decided('deploy_service', 'expired', 900_000);
  const found = await page(metrics);
  assert.equal(found.get('postern_approvals_total{action="deploy_service",outcome="asked"}'), 2);
  assert.equal(found.get('postern_approvals_total{action="deploy_service",outcome="expired"}'), 1);
  assert.equal(found.get('postern_approval_wait_seconds_sum{action="deploy_service"}'), 42);
  assert.equal(found.get('postern_approval_wait_seconds_count{action="deploy_service"}'), 1);
});

test('effect metrics: what waits, what is unknown and the state of the journal are read at each scrape', async () => {
  const metrics = declared();
  let failed = false;
  metrics.effects.waiting(() => ({ count: 2, oldestMs: 61_000 }));
  metrics.effects.unknownOperations(() => 3);
  metrics.effects.journal(() => ({ bytes: 4096, failed }));
  metrics.effects.journalSynced(2, 512);
  metrics.effects.journalSynced(4, 512);
  const before = await page(metrics);
  assert.equal(before.get('postern_approvals_waiting'), 2);
  assert.equal(before.get('postern_approval_oldest_age_seconds'), 61);
  assert.equal(before.get('postern_unknown_operations'), 3);
  assert.equal(before.get('postern_journal_failed_state'), 0);
  assert.equal(before.get('postern_journal_bytes'), 4096);
  assert.equal(before.get('postern_journal_written_bytes_total'), 1024);
  assert.equal(before.get('postern_journal_sync_seconds_count'), 2);
  failed = true;
  assert.equal((await page(metrics)).get('postern_journal_failed_state'), 1);
});

test('effect metrics: a sidecar without a journal shows none, and an action nobody declared has no label of its own', async () => {
  const metrics = declared();
  metrics.effects.sshFailed('word_of_an_agent', 'lost');
  const found = await page(metrics);
  assert.equal(found.has('postern_journal_failed_state'), false);
  assert.equal(found.has('postern_approvals_waiting'), false);
  assert.equal(found.get('postern_ssh_failures_total{action="unknown",kind="lost"}'), 1);
});
