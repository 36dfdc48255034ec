/** What bounds a replica's work: paced writes, bytes on their way, messages of one sidecar. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { Rate } from '#core/bounds/rate.ts';
import { ByteBudget } from '#operator/control/byte-budget.ts';
import { StatusQueue } from '#operator/control/status-queue.ts';

/** Time moves when the test says so. */
function handClock() {
  const alarms: { atMs: number; ring: () => void }[] = [];
  const state = { nowMs: 0 };
  const clock: Clock = {
    ...systemClock,
    monotonicMs: () => state.nowMs,
    alarm: (ms, ring) => {
      const entry = { atMs: state.nowMs + ms, ring };
      alarms.push(entry);
      return () => void alarms.splice(alarms.indexOf(entry), 1);
    },
  };
  const pass = async (ms: number) => {
    state.nowMs += ms;
    for (const entry of alarms.filter(({ atMs }) => atMs <= state.nowMs)) {
      alarms.splice(alarms.indexOf(entry), 1);
      entry.ring();
    }
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, pass };
}

test('status queue: a stream that reports all the time delays another by one write', async () => {
  const { clock, pass } = handClock();
  const queue = new StatusQueue({ clock, perSecond: 1, atOnceMax: 1 });
  const written: string[] = [];
  const noisy = async () => {
    written.push('noisy');
    queue.request(noisy);
  };
  const quiet = async () => void written.push('quiet');
  queue.request(noisy);
  for (let count = 0; count < 100; count += 1) queue.request(noisy);
  queue.request(quiet);
  for (let second = 0; second < 4; second += 1) await pass(1_000);
  assert.equal(written.indexOf('quiet'), 1);
  assert.ok(written.length <= 5, `${written.length} writes in four seconds`);
});

test('byte budget: what does not fit waits in order, and whoever leaves makes no hole', async () => {
  const budget = new ByteBudget(10);
  const order: string[] = [];
  const first = Promise.withResolvers<void>();
  const leaving = new AbortController();
  const stays = new AbortController().signal;
  const one = budget.use(8, stays, () => first.promise);
  const gone = budget.use(8, leaving.signal, async () => void order.push('gone'));
  const three = budget.use(2, stays, async () => void order.push('three'));
  const large = budget.use(99, stays, async () => void order.push('larger than all of it'));
  leaving.abort(new Error('left'));
  await assert.rejects(gone, /left/);
  await three;
  assert.deepEqual(order, ['three']);
  first.resolve();
  await Promise.all([one, large]);
  assert.deepEqual(order, ['three', 'larger than all of it']);
});

test('message rate: a burst passes, a flood does not, and time gives back', async () => {
  const { clock, pass } = handClock();
  const rate = new Rate(clock, limits.controlMessagesBurst, limits.controlMessagesPerSecond);
  for (let count = 0; count < limits.controlMessagesBurst; count += 1) assert.equal(rate.take(), true);
  assert.equal(rate.take(), false);
  await pass(10_000);
  assert.equal(rate.take(), true);
});
