import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { limits } from '#core/bounds/limits.ts';
import { type BootClock, grantLease, keepLease, leaseLeftMs, restoreLease, systemBootClock } from '#sidecar/control/lease.ts';

const BOOT = '11111111-2222-3333-4444-555555555555';

/** A kernel that tells no id. */
const UNTOLD: BootClock = { nowMs: () => 31_000, bootId: undefined };

function at(nowMs: number, bootId = BOOT): BootClock {
  return { nowMs: () => nowMs, bootId };
}

test('lease: the kernel tells a boot and a clock that only goes forward', () => {
  const clock = systemBootClock();
  assert.match(clock.bootId ?? '', /^[0-9a-f-]{36}$/);
  const before = clock.nowMs();
  assert.ok(clock.nowMs() >= before);
});

test('lease: runs from the moment it arrives, is cut to a day, and the last word counts even when it is less', () => {
  assert.equal(leaseLeftMs(grantLease(60_000, 1_000), 31_000), 30_000);
  assert.equal(leaseLeftMs(grantLease(60_000, 1_000), 61_000), 0);
  assert.equal(grantLease(1e15, 0).untilMs, limits.controlLeaseMsMax);
  assert.equal(leaseLeftMs(grantLease(-5, 1_000), 1_000), 0);
});

test('lease: after a restart of the container the rest of it is left, on the same boot only', () => {
  const kept = keepLease(grantLease(60_000, 1_000), at(10_000));
  assert.equal(leaseLeftMs(restoreLease(kept, at(31_000)), 31_000), 30_000);
  assert.equal(leaseLeftMs(restoreLease(kept, at(31_000, '99999999-2222-3333-4444-555555555555')), 31_000), 0);
  assert.equal(leaseLeftMs(restoreLease(kept, UNTOLD), 31_000), 0);
  assert.equal(keepLease(grantLease(60_000, 0), UNTOLD), undefined);
});

test('lease: a clock that went back ends it, and no kept lease is longer than it was granted', () => {
  fc.assert(
    fc.property(fc.nat(1e9), fc.nat(1e8), fc.nat(1e9), fc.nat(1e9), (grantedAt, leaseMs, writtenMs, nowMs) => {
      const lease = grantLease(leaseMs, grantedAt);
      const kept = keepLease(lease, at(writtenMs));
      const left = leaseLeftMs(restoreLease(kept, at(nowMs)), nowMs);
      if (nowMs < writtenMs) assert.equal(left, 0);
      assert.ok(left <= leaseMs, `${left} of ${leaseMs}`);
      assert.ok(left === 0 || left === leaseLeftMs(lease, nowMs));
    }),
  );
});
