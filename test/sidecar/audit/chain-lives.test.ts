/**
 * Goal: whatever the disk does and whenever the machine dies, what was acknowledged stands in the chain once, in order and at its sequence;
 * what the chain has given away, and every head that somebody outside has seen, stays true; and no stranger who checks it is ever alarmed.
 * Method: a chain over a disk that forgets what was not synced; random records, rotations, other recipients, shipments, faults and deaths.
 * After each death the shipped segments and the log are verified together, with the authority's key and the newest head that was witnessed.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { makeSigningKey } from '#core/audit/signed-note.ts';
import { systemClock } from '#core/bounds/clock.ts';
import type { AuditChain } from '#sidecar/audit/chain.ts';
import { freshFolder } from '#test/sidecar/wal/open-log.ts';
import { type Event, PowerCutDisk } from '#test/sidecar/wal/power-cut-disk.ts';
import { findChain } from './chain-reader.ts';
import { entry, IDENTITY, makeAuthority, makeIdentity, openChain } from './chain-stage.ts';

const OTHER = makeIdentity();
const authorityKey = makeSigningKey('postern.dev/authority/test');

const event = fc.oneof(
  { weight: 60, arbitrary: fc.constant<Event>('works') },
  { weight: 1, arbitrary: fc.constantFrom<Event>('EIO', 'ENOSPC', 'short', 'EIO after doing it') },
);
const act = fc.oneof(
  { weight: 6, arbitrary: fc.record({ append: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 1, arbitrary: fc.constant('close segment' as const) },
  { weight: 1, arbitrary: fc.constant('other recipients' as const) },
  { weight: 2, arbitrary: fc.constant('ship' as const) },
  { weight: 1, arbitrary: fc.constant('an hour' as const) },
  { weight: 1, arbitrary: fc.constant('clock back' as const) },
);
const life = fc.record({
  plan: fc.array(event, { maxLength: 200, size: 'max' }),
  acts: fc.array(act, { maxLength: 20, size: 'max' }),
  death: fc.constantFrom('power cut' as const, 'kill' as const, 'close' as const, 'end' as const),
  seed: fc.integer(),
});
type Life = typeof life extends fc.Arbitrary<infer T> ? T : never;

interface Known {
  readonly acknowledged: { readonly sequence: number; readonly operationId: string }[];
  /** Refused since the last acknowledgement: the beginning of them may be found after a death. */
  refused: string[];
  /** Of those, what was there after the last death; it stays once a process has opened the chain with it. */
  found: { readonly sequence: number; readonly operationId: string }[];
  readonly shipped: Map<number, Buffer>;
  readonly witnessed: string[];
}

const counts = { deaths: 0, records: 0, shipped: 0, refused: 0 };

test('chain: what is acknowledged, shipped and witnessed stays true over every fault and every death, and is never an alarm (AUD-08..10, AUD-13, AUD-17)', async (t) => {
  const parent = freshFolder(t);
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 4 }), async (lives) => {
      const disk = new PowerCutDisk();
      const folder = join(parent, String(runs++));
      const known: Known = { acknowledged: [], refused: [], found: [], shipped: new Map(), witnessed: [] };
      for (const each of lives) {
        await live(folder, disk, each, known);
        counts.deaths += 1;
        disk.live(forever(), Math.random);
        await assertFound(folder, disk, known);
      }
      await live(folder, disk, { plan: [], acts: [{ append: 2 }, 'ship'], death: 'end', seed: 1 }, known, forever());
      await assertFound(folder, disk, known);
    }),
    { numRuns: 150 },
  );
  const { deaths, records, shipped, refused } = counts;
  assert.ok(deaths > 100 && records > 1_000 && shipped > 50 && refused > 20, `too little happened: ${JSON.stringify(counts)}`);
});

async function live(
  folder: string,
  disk: PowerCutDisk,
  { plan, acts, death, seed }: Life,
  known: Known,
  events: Iterable<Event> = plan,
): Promise<void> {
  disk.live(events, chanceOf(seed));
  const clock = { nowMs: 0, wallMs: Date.UTC(2026, 11, 1) };
  const chain = await openChain(folder, {
    disk,
    clock: { ...systemClock, monotonicMs: () => clock.nowMs, wallMs: () => clock.wallMs, alarm: () => () => {} },
    authority: makeAuthority(authorityKey, known.witnessed),
    bounds: { auditSegmentBytes: 4_000, walSegmentBytes: 4_096, auditVolumeBytes: 10 ** 9 },
  }).catch((error) => {
    // An error while reading refuses, and changes nothing; damage there must never be.
    assert.equal(error.details?.log, 'unreadable', String(error));
    return undefined;
  });
  if (chain !== undefined) {
    known.acknowledged.push(...known.found);
    [known.found, known.refused] = [[], []];
  }
  for (const each of chain === undefined ? [] : acts) {
    clock.nowMs += 1_000;
    clock.wallMs += 1_000;
    await perform(chain as AuditChain, each, known, clock);
  }
  if (chain !== undefined) await die(chain, disk, death, seed);
  if (death === 'power cut') disk.powerCut();
}

async function perform(
  chain: AuditChain,
  act: Life['acts'][number],
  known: Known,
  clock: { nowMs: number; wallMs: number },
): Promise<void> {
  if (typeof act === 'object') await append(chain, act.append, known);
  else if (act === 'close segment') await chain.closeSegment().catch(() => undefined);
  else if (act === 'other recipients') chain.recipients([[IDENTITY, OTHER][clock.nowMs % 2]?.recipient ?? '']);
  else if (act === 'an hour') clock.nowMs += 3_600_000;
  else if (act === 'clock back') clock.wallMs -= 3_600_000;
  else await ship(chain, known);
}

async function append(chain: AuditChain, count: number, known: Known): Promise<void> {
  const ids = Array.from({ length: count }, () => `op_${String(next++).padStart(26, '0')}`);
  const settled = await Promise.allSettled(ids.map((operationId) => chain.append({ ...entry('x'), operationId })));
  for (const [at, outcome] of settled.entries()) {
    if (outcome.status === 'fulfilled') known.acknowledged.push({ sequence: outcome.value.sequence, operationId: ids[at] ?? '' });
    else assert.equal(outcome.reason.reason, 'AUDIT_UNAVAILABLE', String(outcome.reason));
  }
  if (settled.some(({ status }) => status === 'fulfilled')) known.refused = [];
  known.refused.push(...ids.filter((_, at) => settled[at]?.status === 'rejected'));
  counts.refused += settled.filter(({ status }) => status === 'rejected').length;
}

async function ship(chain: AuditChain, known: Known): Promise<void> {
  for (const segment of chain.closed()) {
    const bytes = await chain.read(segment).catch((error) => {
      assert.equal(error.details?.log, 'unreadable', String(error));
      return undefined;
    });
    if (bytes === undefined) return;
    assert.ok(known.shipped.get(segment.number)?.equals(bytes) ?? true, 'a segment that is offered again is the same');
    known.shipped.set(segment.number, bytes);
    counts.shipped += 1;
    await chain.shipped(segment);
  }
}

async function die(chain: AuditChain, disk: PowerCutDisk, death: Life['death'], seed: number): Promise<void> {
  if (death === 'end') await chain.end().catch(() => undefined);
  // The process is gone: nothing that it still does reaches the disk. What frees the lock is for the test.
  else if (death !== 'close') disk.live([], chanceOf(seed));
  await chain.close();
}

async function assertFound(folder: string, disk: PowerCutDisk, known: Known): Promise<void> {
  const heads = known.witnessed.slice(-20);
  const { records, verdict } = await findChain(disk, folder, known.shipped, { keys: [authorityKey], heads });
  assert.ok(['complete', 'not checked'].includes(verdict.tail.is), JSON.stringify(verdict.tail));
  const { acknowledged, refused } = known;
  assert.deepEqual(records.slice(0, acknowledged.length), acknowledged);
  const beyond = records.slice(acknowledged.length);
  const begins = refused.indexOf(beyond[0]?.operationId ?? '');
  const expected = refused.slice(begins, begins + beyond.length);
  assert.deepEqual(
    beyond.map(({ operationId }) => operationId),
    beyond.length === 0 ? [] : expected,
    'only what was refused last may be found',
  );
  known.found = beyond;
  counts.records += records.length;
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
