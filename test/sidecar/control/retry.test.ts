import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { limits } from '#core/bounds/limits.ts';
import { retryAfterMs } from '#sidecar/control/retry.ts';

test('retry: every wait is at least the least, at most the most, and chance spreads it over the whole span', () => {
  fc.assert(
    fc.property(fc.nat(10_000), fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), (failures, chance) => {
      const ms = retryAfterMs(failures, chance);
      assert.ok(ms >= limits.controlRetryMsLeast && ms <= limits.controlRetryMsLeast + limits.controlRetryMsMax);
      assert.ok(retryAfterMs(failures + 1, chance) >= ms);
    }),
  );
  assert.equal(retryAfterMs(0, 0), limits.controlRetryMsLeast);
  assert.equal(retryAfterMs(50, 0.5), limits.controlRetryMsLeast + limits.controlRetryMsMax / 2);
});
