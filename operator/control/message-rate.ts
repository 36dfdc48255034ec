/** Messages one sidecar may send: so many at once, then at a pace. */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';

export class MessageRate {
  readonly #clock: Clock;
  #left: number = limits.controlMessagesBurst;
  #atMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#atMs = clock.monotonicMs();
  }

  /** False when this one is too many. */
  take(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const regained = ((nowMs - this.#atMs) * limits.controlMessagesPerSecond) / 1000;
    this.#left = Math.min(limits.controlMessagesBurst, this.#left + regained) - 1;
    this.#atMs = nowMs;
    return this.#left >= 0;
  }
}
