/**
 * Goal: every closed segment gets to the store once, with its bytes, whatever store, disk and process do; and poison holds up nobody. Method:
 * a model of a store that keeps what came first, with scripted and random faults, restarts, and time that passes when told.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { StoreFault, type StoreFaultKind } from '#core/audit/object-store.ts';
import { limits } from '#core/bounds/limits.ts';
import type { ListedSegment } from '#sidecar/audit/manifest.ts';
import type { ShippedObject } from '#sidecar/audit/segment-sink.ts';
import type { ShippedList } from '#sidecar/audit/shipped-list.ts';
import { Shipper, type ShipperOptions } from '#sidecar/audit/shipper.ts';
import { MemorySegments } from './memory-segments.ts';
import { VirtualClock } from './virtual-clock.ts';

const ORIGIN = 'postern.dev/audit/standalone/local/one';

/** What one put meets: a fault before or after the store has it, or no answer at all. */
type Meets = StoreFaultKind | 'lost-reply' | 'hangs' | 'works';

class ModelStore {
  readonly objects = new Map<string, Buffer>();
  /** Each put that reached the store, as `number`. */
  readonly offered: number[] = [];
  readonly refuses = new Set<number>();
  next: () => Meets = () => 'works';

  put = async (object: ShippedObject) => {
    await Promise.resolve();
    const meets = this.next();
    if (meets === 'hangs') return new Promise<never>(() => {});
    this.offered.push(object.number);
    if (meets !== 'works' && meets !== 'lost-reply') throw new StoreFault(meets, 'scripted');
    if (this.refuses.has(object.number)) throw new StoreFault('refused', 'scripted');
    const name = object.kind === 'segment' ? String(object.number) : `manifest-${object.lastSequence}`;
    const there = this.objects.get(name);
    if (there?.equals(object.bytes) === false) throw new StoreFault('occupied', 'scripted');
    this.objects.set(name, Buffer.from(object.bytes));
    if (meets === 'lost-reply') throw new StoreFault('unavailable', 'scripted');
    return there === undefined ? ('created' as const) : ('present' as const);
  };
}

function memoryList(): ShippedList {
  const segments: ListedSegment[] = [];
  let beganMs: number | undefined;
  return {
    get beganMs() {
      return beganMs;
    },
    began: async (ms) => {
      beganMs ??= ms;
    },
    add: async (segment) => void segments.push(segment),
    segments: async () => segments,
  };
}

function rig(options: Partial<ShipperOptions> = {}) {
  const segments = new MemorySegments();
  const store = new ModelStore();
  const clock = new VirtualClock();
  const list = memoryList();
  const told: string[] = [];
  segments.onShipped = ({ number, sha256: _ }) =>
    assert.ok(store.objects.has(String(number)), `${number} is in the store before it is given back`);
  const shipper = () =>
    new Shipper({
      segments,
      sink: store,
      list,
      origin: ORIGIN,
      clock,
      random: () => 0.5,
      onPoison: ({ number }, kind) => told.push(`${kind} ${number}`),
      onMended: ({ number }) => told.push(`mended ${number}`),
      onFault: (fault) => told.push(`fault ${fault ?? 'over'}`),
      ...options,
    });
  return { segments, store, clock, list, told, shipper };
}

test('shipper: closed segments go to the store in order, those that are closed later too, and are given back', async () => {
  const { segments, store, clock, shipper } = rig();
  segments.close('one');
  const it = shipper();
  it.start();
  segments.close('two');
  await clock.passUntil(() => segments.givenBack.length === 2);
  segments.close('three');
  await clock.passUntil(() => segments.givenBack.length === 3);
  assert.deepEqual(store.offered, [1, 2, 3]);
  assert.deepEqual([...store.objects.values()].map(String), ['one', 'two', 'three']);
  const { lastShippedSequence, unshippedBytes, lagMs, poisoned, fault } = it.facts;
  assert.deepEqual(
    { lastShippedSequence, unshippedBytes, lagMs, poisoned, fault },
    { lastShippedSequence: 30, unshippedBytes: 0, lagMs: 0, poisoned: 0, fault: undefined },
  );
  await it.stop();
});

test('shipper: a store that is away for hours is asked ever more rarely, told once, and then gets everything', async () => {
  const { segments, store, clock, told, shipper } = rig();
  store.next = () => (clock.monotonicMs() < 4 * 3_600_000 ? 'unavailable' : 'works');
  const it = shipper();
  it.start();
  for (let at = 0; at < 8; at += 1) {
    segments.close(`segment ${at}`);
    await clock.passUntil(() => clock.monotonicMs() >= (at + 1) * 600_000);
  }
  assert.equal(it.facts.fault, 'unavailable');
  await clock.passUntil(() => segments.givenBack.length === 8);
  assert.ok(store.offered.length < (4 * 3_600_000) / (limits.auditShipRetryMsMax / 2), `${store.offered.length} requests`);
  assert.deepEqual(segments.givenBack, [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual(told, ['fault unavailable', 'fault over']);
  await it.stop();
});

test('shipper: a sink that never answers is given up, and the segment offered again', async () => {
  const { segments, store, clock, shipper } = rig();
  let puts = 0;
  store.next = () => {
    puts += 1;
    return puts === 1 ? 'hangs' : 'works';
  };
  segments.close('one');
  const it = shipper();
  it.start();
  await clock.passUntil(() => segments.givenBack.length === 1);
  assert.ok(clock.monotonicMs() >= limits.auditShipMs);
  await it.stop();
});

test('shipper: poison is kept here, told once, tried rarely, and the next segments go on (AUD-19)', async () => {
  const { segments, store, clock, told, shipper } = rig();
  store.objects.set('1', Buffer.from('other bytes'));
  store.refuses.add(3);
  store.refuses.add(4);
  for (let number = 1; number <= 6; number += 1) segments.close(`segment ${number}`);
  segments.damaged.set(2, Buffer.from('segment X'));
  segments.damaged.set(5, new Error('EIO'));
  const it = shipper();
  it.start();
  await clock.passUntil(() => segments.givenBack.length === 1);
  assert.deepEqual(segments.givenBack, [6]);
  await clock.passUntil(() => it.facts.poisoned === 5);
  const poison = told.filter((line) => !line.startsWith('fault'));
  assert.deepEqual(poison, ['occupied 1', 'damaged 2', 'refused 3', 'refused 4', 'unreadable 5']);
  assert.equal(store.objects.get('1')?.toString(), 'other bytes');
  const offered = store.offered.length;
  await clock.passUntil(() => store.offered.length > offered + 5);
  assert.ok(clock.monotonicMs() >= 2 * limits.auditPoisonRetryMs - 60_000, String(clock.monotonicMs()));
  assert.deepEqual(
    told.filter((line) => !line.startsWith('fault')),
    poison,
    'told once',
  );
  store.refuses.clear();
  await clock.passUntil(() => told.includes('mended 3') && told.includes('mended 4'));
  assert.deepEqual(
    segments.closed().map(({ number }) => number),
    [1, 2, 5],
  );
  await it.stop();
});

test('shipper: a store that refuses everything makes no segment poison', async () => {
  const { segments, store, clock, told, shipper } = rig();
  let refuses = true;
  store.next = () => (refuses ? 'refused' : 'works');
  for (let number = 1; number <= 5; number += 1) segments.close(`segment ${number}`);
  const it = shipper();
  it.start();
  await clock.passUntil(() => clock.monotonicMs() > 3_600_000);
  assert.equal(it.facts.poisoned, 0);
  refuses = false;
  await clock.passUntil(() => segments.givenBack.length === 5);
  assert.deepEqual(segments.givenBack, [1, 2, 3, 4, 5]);
  assert.deepEqual(told, ['fault refused', 'fault over']);
  await it.stop();
});

test('shipper: at the end the tail is shipped at once, though the store was away, and a manifest lists the whole chain', async () => {
  const { segments, store, clock, shipper } = rig();
  let away = true;
  store.next = () => (away ? 'unavailable' : 'works');
  segments.close('one');
  segments.open = 'tail';
  const it = shipper();
  it.start();
  await clock.passUntil(() => clock.monotonicMs() > 600_000);
  const startedMs = clock.monotonicMs();
  away = false;
  let ended: Awaited<ReturnType<Shipper['end']>> | undefined;
  void it.end(limits.auditFlushMs).then((end) => {
    ended = end;
  });
  await clock.passUntil(() => ended !== undefined);
  assert.ok(clock.monotonicMs() - startedMs <= limits.auditFlushMs);
  assert.deepEqual(ended, { shipped: true, manifest: true });
  const manifest = JSON.parse(String(store.objects.get('manifest-20')));
  assert.deepEqual(
    manifest.segments.map(({ number, first_sequence, last_sequence, bytes }: Record<string, number>) => [
      number,
      first_sequence,
      last_sequence,
      bytes,
    ]),
    [
      [1, 1, 10, 3],
      [2, 11, 20, 4],
    ],
  );
  assert.deepEqual({ ...manifest, segments: [] }, { format: 'postern-audit-manifest/1', origin: ORIGIN, segments: [], ended: true });
});

test('shipper: an end that the store does not let happen ends in time, and loses nothing', async () => {
  const { segments, store, clock, shipper } = rig();
  store.next = () => 'hangs';
  segments.open = 'tail';
  const it = shipper();
  let ended: Awaited<ReturnType<Shipper['end']>> | undefined;
  void it.end(limits.auditFlushMs).then((end) => {
    ended = end;
  });
  await clock.passUntil(() => ended !== undefined);
  assert.deepEqual(ended, { shipped: false, manifest: false });
  assert.ok(clock.monotonicMs() <= limits.auditFlushMs);
  assert.deepEqual(
    segments.closed().map(({ number }) => number),
    [1],
  );
});

test('shipper: under random faults and restarts none is lost, none doubled, each in order, and only poison stays', async () => {
  const meets = fc.constantFrom<Meets>('works', 'works', 'works', 'unavailable', 'lost-reply', 'hangs', 'refused', 'unsafe');
  const fate = fc.constantFrom('good', 'good', 'good', 'good', 'occupied', 'damaged', 'unreadable', 'refused');
  const chains = fc.record({
    fates: fc.array(fate, { minLength: 1, maxLength: 12 }),
    script: fc.array(fc.tuple(meets, fc.boolean(), fc.boolean()), { maxLength: 40 }),
  });
  await fc.assert(
    fc.asyncProperty(chains, async ({ fates, script }) => {
      const { segments, store, clock, shipper } = rig();
      const poison: number[] = [];
      let left = [...fates];
      const closeNext = () => {
        const [now, ...rest] = left;
        if (now === undefined) return;
        left = rest;
        const number = fates.length - rest.length;
        if (now !== 'good') poison.push(number);
        if (now === 'occupied') store.objects.set(String(number), Buffer.from('theirs'));
        if (now === 'refused') store.refuses.add(number);
        if (now === 'damaged') segments.damaged.set(number, Buffer.from('damaged'));
        if (now === 'unreadable') segments.damaged.set(number, new Error('EIO'));
        segments.close(`segment ${number}`);
      };
      closeNext();
      let it = shipper();
      const steps = [...script];
      store.next = () => {
        const [what, restarts, closes] = steps.shift() ?? ['works', false, true];
        if (closes) closeNext();
        if (restarts) {
          // The old one is gone as in a crash: nothing it waits for ever comes.
          void it.stop();
          it = shipper();
          it.start();
        }
        return what;
      };
      it.start();
      // The last one is good, so that poison before it can be told from a store that refuses all.
      await clock.passUntil(() => steps.length === 0 || segments.closed().every(({ number }) => poison.includes(number)));
      while (left.length > 0) closeNext();
      const last = fates.length + 1;
      segments.close(`segment ${last}`);
      const good = Array.from({ length: last }, (_, index) => index + 1).filter((number) => !poison.includes(number));
      await clock.passUntil(() => segments.closed().length === poison.length);
      for (const number of good) assert.equal(store.objects.get(String(number))?.toString(), `segment ${number}`);
      assert.deepEqual(
        segments.closed().map(({ number }) => number),
        poison,
      );
      assert.deepEqual(
        [...segments.givenBack].sort((a, b) => a - b),
        good,
        'each once',
      );
      const stored = [...store.objects.keys()].map(Number).filter((number) => !poison.includes(number));
      // Whoever is refused while the next one is taken waits as poison does.
      if (!script.some(([what]) => what === 'refused')) assert.deepEqual(stored, good, 'in order');
      await it.stop();
    }),
    { numRuns: 300 },
  );
});
