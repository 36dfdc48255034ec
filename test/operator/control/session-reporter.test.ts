/** When what a stream learns is written. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import type { SessionHold } from '#operator/control/session-hold.ts';
import { SessionReporter } from '#operator/control/session-reporter.ts';
import type { StreamStatus } from '#operator/control/session-status.ts';
import { StatusQueue } from '#operator/control/status-queue.ts';
import { VirtualClock } from '#test/sidecar/audit/virtual-clock.ts';

test('session reporter: a head is written soon the first time, then the newest at most every limits.auditHeadWriteMs (AUD-02)', async () => {
  const clock = new VirtualClock();
  const written: { atMs: number; head: number }[] = [];
  let status = {} as StreamStatus;
  const hold = {
    get status() {
      return status;
    },
    change: (update: (status: StreamStatus, nowMs: number) => StreamStatus) => {
      status = update(status, clock.wallMs());
    },
    write: async () => {
      written.push({ atMs: clock.monotonicMs(), head: status.head?.sequence ?? 0 });
      return 'written';
    },
  } as unknown as SessionHold;
  const writes = new StatusQueue({ clock, perSecond: 10, atOnceMax: 1 });
  const reporter = new SessionReporter({ clock, writes, onWriteFailed: () => assert.fail() }, hold, () => assert.fail());
  const head = (sequence: number) => reporter.note((before) => ({ ...before, head: { sequence, hash: 'sha256:00' } }));
  reporter.start();
  await clock.passUntil(() => written.length === 1);
  head(1);
  await clock.passUntil(() => written.some(({ head }) => head === 1), 1_000);
  const firstMs = clock.monotonicMs();
  for (const sequence of [2, 3, 4]) head(sequence);
  await clock.passUntil(() => written.at(-1)?.head === 4, limits.auditHeadWriteMs);
  assert.deepEqual(
    written.map(({ head }) => head),
    [0, 1, 4],
  );
  assert.ok((written.at(-1)?.atMs ?? 0) - firstMs <= limits.auditHeadWriteMs);
  head(5);
  reporter.stop();
  await assert.rejects(
    clock.passUntil(() => written.length > 3),
    /nothing more happens/,
  );
});
