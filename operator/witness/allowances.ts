/**
 * What each session may still put into the store at this replica. Kept by session and not by stream: a sidecar that was taken over would
 * connect again for the next burst.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { Rate } from '#core/bounds/rate.ts';

export class Allowance {
  readonly #clock: Clock;
  readonly #objects: Rate;
  #bytes: number = limits.auditStoredBytesBurst;
  #atMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#objects = new Rate(clock, limits.auditPermitsBurst, limits.auditPermitsPerSecond);
    this.#atMs = clock.monotonicMs();
  }

  /** False when this is too much for now. */
  takeSegment(bytes: number): boolean {
    return this.#has(bytes) && this.#objects.take() && this.takeBytes(bytes);
  }

  takeBytes(bytes: number): boolean {
    if (!this.#has(bytes)) return false;
    this.#bytes -= bytes;
    return true;
  }

  #has(bytes: number): boolean {
    const nowMs = this.#clock.monotonicMs();
    this.#bytes = Math.min(limits.auditStoredBytesBurst, this.#bytes + ((nowMs - this.#atMs) * limits.auditStoredBytesPerSecond) / 1000);
    this.#atMs = nowMs;
    return bytes <= this.#bytes;
  }
}

export class Allowances {
  readonly #clock: Clock;
  /** By UID of the session, the one used last at the end. */
  readonly #known = new Map<string, Allowance>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  of(sessionUid: string): Allowance {
    const allowance = this.#known.get(sessionUid) ?? new Allowance(this.#clock);
    this.#known.delete(sessionUid);
    this.#known.set(sessionUid, allowance);
    const [oldest] = this.#known.keys();
    if (this.#known.size > limits.auditAllowancesMax && oldest !== undefined) this.#known.delete(oldest);
    return allowance;
  }
}
