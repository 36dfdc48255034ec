/** Time that passes only when told: the next alarm rings once nothing else has been going on for a while. */
import { setImmediate as tick } from 'node:timers/promises';
import type { Clock } from '#core/bounds/clock.ts';

export class VirtualClock implements Clock {
  #nowMs = 0;
  readonly #alarms = new Set<{ readonly atMs: number; readonly ring: () => void }>();

  wallMs = () => Date.UTC(2026, 11, 1) + this.#nowMs;
  monotonicMs = () => this.#nowMs;

  alarm = (ms: number, ring: () => void) => {
    const alarm = { atMs: this.#nowMs + ms, ring };
    this.#alarms.add(alarm);
    return () => void this.#alarms.delete(alarm);
  };

  sleep = (ms: number) => new Promise<void>((resolve) => void this.alarm(ms, resolve));

  /** Time passes until `done`. Throws when there is nothing left to wait for, or after `ms`. */
  async passUntil(done: () => boolean, ms = 48 * 3_600_000): Promise<void> {
    const untilMs = this.#nowMs + ms;
    while (!done()) {
      for (let ticks = 0; ticks < 10 && !done(); ticks += 1) await tick();
      if (done()) return;
      const next = [...this.#alarms].sort((a, b) => a.atMs - b.atMs)[0];
      if (next === undefined || next.atMs > untilMs) throw new Error(`nothing more happens after ${this.#nowMs} ms`);
      this.#alarms.delete(next);
      this.#nowMs = next.atMs;
      next.ring();
    }
  }
}
