/**
 * Goal: whatever the disk does and whenever the machine dies, acknowledged records are a prefix of what a start finds, and behind them
 * stands nothing but records that were not acknowledged, in their order. Of what may be dropped whole files are gone, or not; never another.
 * Method: a log over a disk that forgets what was not synced; random appends, rewrites, drops, faults and deaths; then a start, and again.
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
  /** Bytes of the records appended together, in turn; none: the log is rewritten with what it holds, or half of it may go, or it is read back. */
  bursts: fc.array(fc.array(fc.integer({ min: 1, max: 900 }), { maxLength: 5 }), { maxLength: 25, size: 'max' }),
  death: fc.constantFrom('power cut', 'kill'),
  seed: fc.integer(),
});

/** What the next life must find: all of `certain`, but at most the first `droppable`; then the beginning of one of the batches in `possible`. */
interface Known {
  readonly certain: readonly string[];
  readonly possible: readonly (readonly string[])[];
  readonly droppable: number;
}

test('log: acknowledged records survive every fault and every death, over several lives (AUD-08..13)', async (t) => {
  const parent = freshFolder(t);
  let runs = 0;
  let deaths = 0;
  let found = 0;
  let dropped = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
      const disk = new PowerCutDisk();
      // The lock is a real one; a run that fails keeps it.
      const folder = join(parent, String(runs++));
      let known: Known = { certain: [], possible: [], droppable: 0 };
      for (const { plan, bursts, death, seed } of lives) {
        disk.live(plan, chanceOf(seed));
        known = await live(folder, disk, bursts, known);
        if (death === 'power cut') disk.powerCut();
        deaths += 1;
      }
      disk.live(forever(), Math.random);
      const last = await live(folder, disk, [], known);
      found += last.certain.length;
      dropped += known.droppable - last.droppable;
    }),
    { numRuns: 300 },
  );
  assert.ok(deaths > 200 && found > 1_000 && dropped > 20, `too little happened: ${deaths} deaths, ${found} records, ${dropped} dropped`);
});

async function live(folder: string, disk: PowerCutDisk, bursts: readonly (readonly number[])[], known: Known): Promise<Known> {
  const holds: string[] = [];
  const sequences: number[] = [];
  let nowMs = 0;
  const clock = { ...systemClock, monotonicMs: () => nowMs, alarm: () => () => {} };
  const onRecord = (payload: Uint8Array, sequence: number) => {
    holds.push(Buffer.from(payload).toString());
    sequences.push(sequence);
  };
  let wal: Wal;
  try {
    wal = await Wal.open({ folder, clock, disk, segmentBytes: 2_048, onRecord });
  } catch (error) {
    // An error while reading refuses, and changes nothing; damage there must never be.
    assert.equal((error as { details?: { log?: string } }).details?.log, 'unreadable', String(error));
    return known;
  }
  const gone = assertFound(holds, known);
  const life = { wal, holds, sequences, droppable: known.droppable - gone, refused: [] as string[][] };
  for (const [index, burst] of bursts.entries()) {
    nowMs += 1_000;
    if (burst.length === 0) await tidy(life, index % 3);
    else await append(life, burst);
  }
  await wal.close();
  return { certain: holds, possible: life.refused, droppable: life.droppable };
}

/** How many of the first are no longer there. */
function assertFound(holds: readonly string[], { certain, possible, droppable }: Known): number {
  const first = certain.indexOf(holds[0] ?? '');
  const gone = first < 0 ? certain.length : first;
  assert.ok(gone <= droppable, `${gone} records are gone, and only ${droppable} might`);
  assert.deepEqual(holds.slice(0, certain.length - gone), certain.slice(gone));
  const beyond = holds.slice(certain.length - gone);
  const stale = !possible.some((refused) => beyond.every((record, at) => record === refused[at]));
  assert.ok(beyond.length === 0 || !stale, `something stale came back: ${JSON.stringify({ beyond, possible })}`);
  return gone;
}

interface Life {
  readonly wal: Wal;
  readonly holds: string[];
  /** Of `holds`; unknown once it was rewritten. */
  sequences: number[];
  droppable: number;
  refused: string[][];
}

async function tidy(life: Life, which: number): Promise<void> {
  const { wal, holds, sequences } = life;
  const half = Math.floor(holds.length / 2);
  if (which === 0) {
    // The records are the same before and after, so both are right.
    await wal.rewrite(holds.map((record) => Buffer.from(record))).catch(() => undefined);
    life.sequences = [];
  } else if (which === 1 && sequences[half] !== undefined) {
    life.droppable = Math.max(life.droppable, half);
    await wal.drop(sequences[half]).catch(() => undefined);
  } else if (which === 2 && sequences[half] !== undefined) {
    await assertReadBack(wal, holds.slice(half), sequences[half]);
  }
}

/** An error of the disk is no answer; what is answered is true. */
async function assertReadBack(wal: Wal, expected: readonly string[], from: number): Promise<void> {
  const read: string[] = [];
  try {
    for await (const { payload } of wal.records(from)) read.push(Buffer.from(payload).toString());
  } catch (error) {
    assert.equal((error as { details?: { log?: string } }).details?.log, 'unreadable', String(error));
    return;
  }
  assert.deepEqual(read, expected);
}

async function append(life: Life, burst: readonly number[]): Promise<void> {
  const records = burst.map((bytes) => `${next++}:${'x'.repeat(bytes)}`);
  const settled = await Promise.allSettled(records.map((record) => life.wal.append(Buffer.from(record))));
  for (const [at, outcome] of settled.entries()) {
    if (outcome.status !== 'fulfilled') continue;
    life.holds.push(records[at] ?? '');
    if (life.sequences.length === life.holds.length - 1) life.sequences.push(outcome.value.sequence);
  }
  // Refused ones may be found only as long as nothing after them is acknowledged.
  life.refused = settled.some(({ status }) => status === 'fulfilled') ? [] : [...life.refused, records];
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
