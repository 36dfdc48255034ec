import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { Operations } from '#sidecar/journal/operations.ts';

const never = new AbortController().signal;
const done = { state: 'done', complete: true, returned: 1 } as const;

function operations(keptMax = 2): Operations {
  return new Operations(systemClock, keptMax);
}

test('operations: a second call of a running id is refused and the first goes on', () => {
  const kept = operations();
  kept.begin('op_a', 'req_1', 'read');
  assert.throws(() => kept.begin('op_a', 'req_2', 'read'), { reason: 'IDEMPOTENCY_BUSY', operationId: 'op_a' });
  kept.finish('op_a', done);
  assert.deepEqual([kept.get('op_a').requestId, kept.get('op_a').state], ['req_1', 'done']);
});

test('operations: beyond the bound the oldest ended one goes, is counted, and running ones stay', () => {
  const kept = operations();
  kept.begin('op_running', 'req_0', 'read');
  for (const id of ['op_a', 'op_b', 'op_c']) {
    kept.begin(id, 'req_1', 'read');
    kept.finish(id, done);
  }
  assert.deepEqual(
    kept.list().map(({ operationId }) => operationId),
    ['op_c', 'op_b', 'op_running'],
  );
  assert.equal(kept.dropped, 1);
  assert.throws(() => kept.get('op_a'), { reason: 'INVALID_ARGUMENT' });
});

test('operations: one id given back again and again takes one place, and drives no other out', () => {
  const kept = operations();
  for (const id of ['op_a', 'op_b', 'op_b', 'op_b']) {
    kept.begin(id, 'req_1', 'read');
    kept.finish(id, done);
  }
  assert.deepEqual(
    kept.list().map(({ operationId }) => operationId),
    ['op_b', 'op_a'],
  );
  assert.equal(kept.dropped, 0);
});

test('operations: a waiter gets the end, not its time', async () => {
  const kept = operations();
  kept.begin('op_a', 'req_1', 'read');
  const waiting = kept.wait('op_a', 3_600_000, never);
  kept.finish('op_a', done);
  assert.equal((await waiting).state, 'done');
});

test('operations: a waiter whose time is over sees it running, one who leaves is let go', async () => {
  const kept = operations();
  kept.begin('op_a', 'req_1', 'read');
  assert.equal((await kept.wait('op_a', 1, never)).state, 'running');
  const leave = new AbortController();
  const waiting = kept.wait('op_a', 3_600_000, leave.signal);
  leave.abort(new Error('left'));
  await assert.rejects(waiting, /left/);
});
