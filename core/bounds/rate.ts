/** So many at once, then at a pace. */
import type { Clock } from './clock.ts';

export class Rate {
  readonly #clock: Clock;
  readonly #burst: number;
  readonly #perSecond: number;
  #left: number;
  #atMs: number;

  constructor(clock: Clock, burst: number, perSecond: number) {
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
