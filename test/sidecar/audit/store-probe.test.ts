/** Whether a store is asked before anything goes into it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StoreFault, type StoreFaultKind } from '#core/audit/object-store.ts';
import { limits } from '#core/bounds/limits.ts';
import type { ShippedObject } from '#sidecar/audit/segment-sink.ts';
import { StoreProbe } from '#sidecar/audit/store-probe.ts';

test('store probe: a store that was away is asked when it is back, gets nothing while it is unsafe, and is asked again each hour (AUD-18)', async () => {
  let now = 0;
  let found: StoreFaultKind | 'safe' = 'unavailable';
  let asked = 0;
  const warned: string[] = [];
  const stored: number[] = [];
  const probe = new StoreProbe({
    store: {
      probe: async () => {
        asked += 1;
        if (found !== 'safe') throw new StoreFault(found, 'as the test says');
        return ['deletable'];
      },
    },
    clock: { monotonicMs: () => now } as never,
    onWarning: (warning) => warned.push(warning),
  });
  const sink = probe.before({
    put: async ({ number }) => {
      stored.push(number);
      return 'created';
    },
  });
  const put = (number: number) => sink.put({ number } as ShippedObject, new AbortController().signal);
  const kind = (wanted: StoreFaultKind) => (fault: unknown) => fault instanceof StoreFault && fault.kind === wanted;

  await assert.rejects(probe.ask(), kind('unavailable'));
  assert.ok(!probe.unsafe);
  found = 'unsafe';
  await assert.rejects(put(1), kind('unsafe'));
  assert.ok(probe.unsafe);
  assert.deepEqual(stored, []);
  found = 'safe';
  await put(1);
  await put(2);
  assert.deepEqual([stored, asked, probe.unsafe], [[1, 2], 3, false]);
  found = 'unsafe';
  now = limits.auditProbeMs;
  await assert.rejects(put(3), kind('unsafe'));
  assert.deepEqual([stored, warned], [[1, 2], ['deletable']]);
});
