/** A clock that stands until a test moves it; both of its times, apart if need be. */
import type { Clock } from '#core/bounds/clock.ts';

export class HandClock implements Clock {
  #wallMs = Date.parse('2026-11-30T12:00:00Z');
  #monotonicMs = 1_000;
  #alarms: { readonly atMs: number; readonly ring: () => void }[] = [];

  wallMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  sleep(): Promise<void> {
    return Promise.reject(new Error('nobody sleeps by this clock'));
  }

  alarm(ms: number, ring: () => void): () => void {
    const alarm = { atMs: this.#monotonicMs + ms, ring };
    this.#alarms.push(alarm);
    return () => {
      this.#alarms = this.#alarms.filter((each) => each !== alarm);
    };
  }

  /** Alarms that would keep a process. */
  get pending(): number {
    return this.#alarms.length;
  }

  /** Time goes by, on both. */
  pass(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
    const due = this.#alarms.filter(({ atMs }) => atMs <= this.#monotonicMs);
    this.#alarms = this.#alarms.filter((each) => !due.includes(each));
    for (const { ring } of due) ring();
  }

  /** Somebody sets the wall clock. */
  set(byMs: number): void {
    this.#wallMs += byMs;
  }
}
