/** What a chain may put into the store, with a store of this process. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import { segmentObject } from '#core/audit/object-name.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { PlannedObject } from '#core/runtime/s3-objects.ts';
import { Allowance } from '#operator/witness/allowances.ts';
import { Permits, type PermitVerdict, type Shipped } from '#operator/witness/permits.ts';
import { ReadBack } from '#operator/witness/read-back.ts';
import type { StoreWatch, WitnessStore } from '#operator/witness/store-watch.ts';

const FOLDER = 'cluster/agents/2026-12-01/one/';

/** One chain whose segments have ten records each. */
class Stored {
  readonly objects = new Map<string, Buffer>();
  lists = 0;
  readonly #store: WitnessStore;

  constructor() {
    const { objects } = this;
    const listed = () => {
      this.lists += 1;
      return [...objects].sort();
    };
    this.#store = {
      presign: (object: PlannedObject) => Promise.resolve({ url: object.name, headers: {}, expiresMs: 0 }),
      look: ({ name, sha256 }: PlannedObject) => {
        const found = objects.get(name);
        return Promise.resolve(found === undefined ? 'absent' : hash('sha256', found, 'buffer').equals(sha256) ? 'same' : 'other');
      },
      async *list() {
        for (const [name, { length }] of listed()) yield { name, bytes: length };
      },
    } as unknown as WitnessStore;
  }

  permits(shipped: Shipped = { segments: 0, sequence: 0 }, allowance = new Allowance(systemClock)): Permits {
    const watch = { state: 'safe', store: this.#store } as unknown as StoreWatch;
    return new Permits({ clock: systemClock, watch, readBack: new ReadBack(this.#store), allowance, folder: FOLDER }, shipped);
  }

  put(number: number, text = `segment ${number}`): void {
    this.objects.set(`${FOLDER}${segmentObject(number)}`, Buffer.from(text));
  }
}

function ask(permits: Permits, number: number, change: { stored?: boolean; first?: number; bytes?: number } = {}): Promise<PermitVerdict> {
  const text = Buffer.from(`segment ${number}`);
  return permits.ask({
    object: 'segment',
    number,
    bytes: change.bytes ?? text.length,
    sha256: hash('sha256', text, 'buffer'),
    firstSequence: change.first ?? number * 10 - 9,
    lastSequence: number * 10,
    stored: change.stored ?? false,
  });
}

async function ship(permits: Permits, store: Stored, number: number): Promise<Shipped | undefined> {
  assert.equal((await ask(permits, number)).kind, 'permit', `segment ${number}`);
  store.put(number);
  const told = await ask(permits, number, { stored: true });
  assert.ok(told.kind === 'present' && told.stored, `segment ${number}`);
  return told.shipped;
}

const manifest = (permits: Permits, lastSequence: number) =>
  permits.ask({
    object: 'manifest',
    number: 0,
    bytes: 8,
    sha256: hash('sha256', 'manifest', 'buffer'),
    firstSequence: 1,
    lastSequence,
    stored: false,
  });

test('permits: a segment that never comes keeps none of the later ones from the store, and what is shipped ends before it', async () => {
  const store = new Stored();
  const permits = store.permits();
  assert.deepEqual(await ship(permits, store, 1), { segments: 1, sequence: 10 });
  for (const number of [3, 4, 5]) assert.equal(await ship(permits, store, number), undefined, 'nothing new is without a gap');
  assert.equal(permits.next, 2);
  assert.equal(store.lists, 1, 'a chain with a gap does not list its folder at each segment');
  assert.equal((await manifest(permits, 40)).kind, 'refused', 'it ends before what is stored');
  assert.equal((await manifest(permits, 50)).kind, 'permit');
});

test('permits: the segment that was missing is taken when it comes, and what is behind it counts from then on', async () => {
  const store = new Stored();
  const permits = store.permits();
  for (const number of [1, 3, 4, 6]) await ship(permits, store, number);
  assert.deepEqual(await ship(permits, store, 2), { segments: 4, sequence: 40 });
  assert.deepEqual(await ship(permits, store, 5), { segments: 6, sequence: 60 });
  assert.deepEqual(await ship(permits, store, 7), { segments: 7, sequence: 70 });
});

test('permits: another replica finds in the store what is behind a gap, and claims no sequence that nobody told it', async () => {
  const store = new Stored();
  const before = store.permits();
  for (const number of [1, 3, 4]) await ship(before, store, number);
  const permits = store.permits({ segments: 1, sequence: 10 });
  assert.equal(await ship(permits, store, 5), undefined);
  const again = await ask(permits, 4);
  assert.ok(again.kind === 'present' && !again.stored, 'said again by a sidecar that was started anew');
  assert.deepEqual(await ship(permits, store, 2), { segments: 5, sequence: 50 });
  assert.equal(permits.next, 6);

  const late = store.permits({ segments: 1, sequence: 10 });
  assert.equal((await ask(late, 7)).kind, 'permit');
  assert.equal(late.next, 6, 'found in its listing');
});

test('permits: more segments behind a gap than are remembered are found in the store once it is closed', async () => {
  const store = new Stored();
  for (let number = 2; number <= limits.auditAheadSegmentsMax + 20; number += 1) store.put(number);
  const permits = store.permits();
  assert.equal((await ask(permits, limits.auditAheadSegmentsMax + 30)).kind, 'permit');
  await ship(permits, store, 1);
  assert.equal((await ask(permits, limits.auditAheadSegmentsMax + 30)).kind, 'permit');
  assert.equal(permits.next, limits.auditAheadSegmentsMax + 21);
  assert.equal(store.lists, 2);
});

test('permits: a number that is skipped leaves room for its records, and neighbours fit together', async () => {
  const store = new Stored();
  const permits = store.permits();
  await ship(permits, store, 1);
  await ship(permits, store, 4);
  for (const [number, first] of [
    [2, 12],
    [3, 11],
    [5, 45],
    [9, 14],
  ] as const) {
    const verdict = await ask(permits, number, { first });
    assert.ok(verdict.kind === 'refused' && verdict.because === 'not_next', `segment ${number} from ${first}`);
  }
  assert.equal((await ask(permits, 1, { first: 2 })).kind, 'present', 'its bytes are there, whatever is said of them');
});

test('permits: other bytes under a name stay a conflict, before a gap, behind it and in it (AUD-19)', async () => {
  const store = new Stored();
  const permits = store.permits();
  for (const number of [1, 3]) await ship(permits, store, number);
  for (const number of [1, 2, 3, 5]) {
    store.put(number, 'of somebody else');
    const verdict = await ask(permits, number, { stored: true });
    assert.ok(verdict.kind === 'refused' && verdict.because === 'occupied', `segment ${number}`);
  }
});

test('permits: who skips numbers gets no more bytes than who does not', async () => {
  const store = new Stored();
  const permits = store.permits();
  const bytes = limits.auditSegmentFileBytesMax;
  let permitted = 0;
  for (let number = 2; number < 40; number += 2) if ((await ask(permits, number, { bytes })).kind === 'permit') permitted += 1;
  assert.equal(permitted, Math.floor(limits.auditStoredBytesBurst / bytes));
});
