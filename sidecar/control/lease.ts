/**
 * The lease: how long a bundle may be acted on without word from the operator (design section 2.13, failure case OPR-24).
 *
 * Time is CLOCK_MONOTONIC of the machine, which no one in the pod can set and which a restart of the container does not begin anew.
 * It is worth something only beside the id of the boot it counts from: after a reboot, or on a machine whose clock went back, a kept
 * lease is over.
 */
import { readFileSync } from 'node:fs';
import { limits } from '#core/bounds/limits.ts';

export interface BootClock {
  /** Milliseconds of CLOCK_MONOTONIC. */
  nowMs(): number;
  /** Id of the boot they count from; undefined where the kernel tells none, and then no lease outlives the process. */
  readonly bootId: string | undefined;
}

export function systemBootClock(): BootClock {
  return { nowMs: () => Number(process.hrtime.bigint() / 1_000_000n), bootId: bootId() };
}

function bootId(): string | undefined {
  try {
    const text = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return /^[0-9a-f-]{36}$/.test(text) ? text : undefined;
  } catch {
    // No such file below a sandbox; the lease then ends with the process.
    return undefined;
  }
}

/** Counted on one boot. */
export interface Lease {
  readonly grantedMs: number;
  readonly untilMs: number;
}

export const NO_LEASE: Lease = { grantedMs: 0, untilMs: 0 };

/** From the moment it arrives; what an operator says last counts, also when it is less. */
export function grantLease(leaseMs: number, nowMs: number): Lease {
  const grantedMs = Math.min(limits.controlLeaseMsMax, Math.max(0, leaseMs));
  return { grantedMs, untilMs: nowMs + grantedMs };
}

export function leaseLeftMs({ untilMs }: Lease, nowMs: number): number {
  return Math.max(0, untilMs - nowMs);
}

/** A lease as it was written to disk. */
export interface KeptLease extends Lease {
  readonly bootId: string;
  /** When it was written. */
  readonly writtenMs: number;
}

export function keepLease(lease: Lease, clock: BootClock): KeptLease | undefined {
  return clock.bootId === undefined ? undefined : { ...lease, bootId: clock.bootId, writtenMs: clock.nowMs() };
}

/** What is left of it after a restart; over on another boot, when the clock went back, and never longer than it was granted. */
export function restoreLease(kept: KeptLease | undefined, clock: BootClock): Lease {
  const nowMs = clock.nowMs();
  if (kept === undefined || kept.bootId !== clock.bootId || kept.writtenMs > nowMs) return NO_LEASE;
  if (kept.untilMs > kept.writtenMs + Math.min(kept.grantedMs, limits.controlLeaseMsMax)) return NO_LEASE;
  return { grantedMs: kept.grantedMs, untilMs: kept.untilMs };
}
