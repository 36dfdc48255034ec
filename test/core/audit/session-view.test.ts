import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SessionView } from '#core/audit/session-view.ts';
import { limits } from '#core/bounds/limits.ts';
import { approval, chainOf, intent, outcome, refused, session } from './view-records.ts';

function rowOf(...lines: readonly object[]) {
  const view = new SessionView();
  for (const record of chainOf(...lines)) view.take(record);
  const [row, ...more] = view.rows();
  assert.deepEqual(more, []);
  assert.ok(row !== undefined);
  return row;
}

test('session view: says who ran, as what, from when to when, and through which states', () => {
  const requester = {
    session: 'bot-a',
    pod: 'bot-a-0',
    service_account: 'triage-bot',
    image: 'bot@sha256:1',
    controller: 'Deployment/bot',
  };
  const row = rowOf(
    session('started', { version: '0.1.0', operator: true }),
    session('requester', requester),
    session('state', { state: 'Active' }),
    session('state', { state: 'Suspended', because: 'a second sidecar' }),
    session('ended', { because: 'stopped' }),
  );
  assert.deepEqual([row.session, row.pod, row.service_account, row.image], ['bot-a', 'bot-a-0', 'triage-bot', 'bot@sha256:1']);
  assert.deepEqual([row.started_at, row.ended_at], ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:04.000Z']);
  assert.deepEqual(
    row.states.map(({ state, because }) => [state, because]),
    [
      ['Active', undefined],
      ['Suspended', 'a second sidecar'],
    ],
  );
});

test('session view: a session that was started again has not ended', () => {
  const row = rowOf(session('started'), session('ended'), session('started'));
  assert.deepEqual([row.starts, row.ended_at], [2, undefined]);
});

test('session view: counts each action by what became of it, and reads that were incomplete or came with a warning', () => {
  const list = { action: 'list_stock', effect: 'Read' };
  const row = rowOf(
    intent(list),
    outcome({ ...list, complete: false, status: 'partial', warnings: ['STALE_INDEX'] }),
    intent(list),
    outcome({ ...list, complete: true }),
    refused({ code: 'APPROVAL_REQUIRED' }),
    approval('asked'),
    approval('denied'),
    { record: 'counted', since: '', counts: [{ what: 'refused', code: 'RATE_LIMITED', count: 7 }, null, 'x', { count: -1 }] },
  );
  assert.deepEqual(row.actions, [
    { action: 'list_stock', effect: 'Read', sent: 2, refused: 0, replayed: 0, ok: 1, partial: 1, failed: 0, unknown: 0 },
    { action: 'write_off_items', sent: 0, refused: 1, replayed: 0, ok: 0, partial: 0, failed: 0, unknown: 0 },
  ]);
  assert.deepEqual([row.incomplete_reads, row.warned_reads, row.approvals.asked, row.approvals.denied, row.counted], [1, 1, 1, 1, 7]);
});

test('session view: what does not fit into a list is counted (AUD-22)', () => {
  const many = Array.from({ length: limits.auditViewListMax + 3 }, (_, index) => refused({ action: `a_${index}` }));
  const row = rowOf(...many);
  assert.deepEqual([row.actions.length, row.left_out], [limits.auditViewListMax, 3]);
});
