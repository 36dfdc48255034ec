/**
 * Goal: whatever the disk does and whenever the machine dies, acknowledged records are a prefix of what a start finds, and behind them
 * stands nothing but records that were not acknowledged, in their order.
 * Method: a log over a disk that forgets what was not synced; random appends, rewrites, faults and deaths; then a start, and again.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { systemClock } from '#core/bounds/clock.ts';
import { Wal } from '#sidecar/wal/wal.ts';
import { freshFolder } from './open-log.ts';
import { type Event, PowerCutDisk } from './power-cut-disk.ts';

const event = fc.oneof(
  { weight: 30, arbitrary: fc.constant<Event>('works') },
  { weight: 1, arbitrary: fc.constantFrom<Event>('EIO', 'ENOSPC', 'short', 'EIO after doing it') },
);
const life = fc.record({
  plan: fc.array(event, { maxLength: 120, size: 'max' }),
  /** Bytes of the records appended together, in turn; 0 rewrites the log with what it holds. */
  bursts: fc.array(fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 5 }), { maxLength: 25, size: 'max' }),
  death: fc.constantFrom('power cut', 'kill'),
  seed: fc.integer(),
});

test('log: acknowledged records survive every fault and every death, over several lives (AUD-08..13)', async (t) => {
  const parent = freshFolder(t);
  let runs = 0;
  let deaths = 0;
  let found = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
      const disk = new PowerCutDisk();
      // The lock is a real one; a run that fails keeps it.
      const folder = join(parent, String(runs++));
      let certain: readonly string[] = [];
      let possible: readonly (readonly string[])[] = [];
      for (const { plan, bursts, death, seed } of lives) {
        disk.live(plan, chanceOf(seed));
        ({ certain, possible } = await live(folder, disk, bursts, certain, possible));
        if (death === 'power cut') disk.powerCut();
        deaths += 1;
      }
      disk.live(forever(), Math.random);
      const last = await live(folder, disk, [], certain, possible);
      found += last.certain.length;
    }),
    { numRuns: 300 },
  );
  assert.ok(deaths > 200 && found > 1_000, `too little happened: ${deaths} deaths, ${found} records`);
});

/** One life. `certain` must be found; then the beginning of one of the batches in `possible`. Returns the same for the next life. */
async function live(
  folder: string,
  disk: PowerCutDisk,
  bursts: readonly (readonly number[])[],
  certain: readonly string[],
  possible: readonly (readonly string[])[],
): Promise<{ certain: readonly string[]; possible: readonly (readonly string[])[] }> {
  const holds: string[] = [];
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs, alarm: () => () => {} };
  const onRecord = (payload: Uint8Array) => void holds.push(Buffer.from(payload).toString());
  let wal: Wal;
  try {
    wal = await Wal.open({ folder, clock, disk, segmentBytes: 2_048, onRecord });
  } catch (error) {
    // An error while reading refuses, and changes nothing; damage there must never be.
    assert.equal((error as { details?: { log?: string } }).details?.log, 'unreadable', String(error));
    return { certain, possible };
  }
  assert.deepEqual(holds.slice(0, certain.length), certain);
  const beyond = holds.slice(certain.length);
  const stale = !possible.some((refused) => beyond.every((record, at) => record === refused[at]));
  assert.ok(beyond.length === 0 || !stale, `something stale came back: ${JSON.stringify({ beyond, possible })}`);

  let refused: string[][] = [];
  for (const [index, burst] of bursts.entries()) {
    nowMs += 1_000;
    if (burst.length === 0 && index % 3 === 0) {
      // The records are the same before and after, so both are right.
      await wal.rewrite(holds.map((record) => Buffer.from(record))).catch(() => undefined);
      continue;
    }
    const records = burst.map((bytes) => `${next++}:${'x'.repeat(bytes)}`);
    const settled = await Promise.allSettled(records.map((record) => wal.append(Buffer.from(record))));
    const taken = records.filter((_, at) => settled[at]?.status === 'fulfilled');
    holds.push(...taken);
    // Refused ones may be found only as long as nothing after them is acknowledged.
    refused = taken.length > 0 ? [] : [...refused, records];
  }
  await wal.close();
  return { certain: holds, possible: refused };
}

let next = 0;

function* forever(): Iterable<Event> {
  for (;;) yield 'works';
}

function chanceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
