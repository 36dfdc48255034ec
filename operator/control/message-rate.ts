/** Messages one sidecar may send: so many at once, then at a pace. */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';

export class MessageRate {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #atMs: number;

  constructor(clock: Clock, burst: number = limits.controlMessagesBurst, perSecond: number = limits.controlMessagesPerSecond) {
    this.#clock = clock;
    this.#burst = burst;
    this.#perSecond = perSecond;
    this.#left = burst;
    this.#atMs = clock.monotonicMs();
  }

  /** False when this one is too many. */
  take(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const regained = ((nowMs - this.#atMs) * this.#perSecond) / 1000;
    this.#left = Math.min(this.#burst, this.#left + regained) - 1;
    this.#atMs = nowMs;
    return this.#left >= 0;
  }
}
