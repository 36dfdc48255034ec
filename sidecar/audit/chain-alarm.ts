/** The one alarm of a chain. It rings too early rather than being set anew for each commit: whoever hears it looks what is due. */
import type { Clock } from '#core/bounds/clock.ts';

/** Timers hold no longer. */
const ALARM_MS_MAX = 2 ** 31 - 1;

export class ChainAlarm {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #atMs = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => {};

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  /** Rings at `dueMs` (monotonic) at the latest. */
  by(dueMs: number): void {
    if (this.#atMs <= dueMs) return;
    this.cancel();
    this.#atMs = dueMs;
    const inMs = Math.min(Math.max(0, dueMs - this.#clock.monotonicMs()), ALARM_MS_MAX);
    this.#cancel = this.#clock.alarm(inMs, () => {
      this.#atMs = Number.POSITIVE_INFINITY;
      this.#ring();
    });
  }

  cancel(): void {
    this.#atMs = Number.POSITIVE_INFINITY;
    this.#cancel();
  }
}
