/**
 * Time of a replay. It stands still until a recorded answer takes time (`after`), or until everything waits:
 * then it jumps to the first timer. So a test of an hour's rate limit takes a millisecond, and a deadline never
 * fires before the wait it is meant to cut short.
 */
import type { Clock } from '#core/bounds/clock.ts';

interface Timer {
  readonly atMs: number;
  readonly fire: () => void;
}

/** Turns of the event loop with nothing happening after which everything is taken to wait for time. */
const QUIET_TURNS = 4;

export class ReplayClock implements Clock {
  readonly #startMs: number;
  readonly #timers = new Set<Timer>();
  #elapsedMs = 0;
  #watching = false;

  constructor(startMs: number) {
    this.#startMs = startMs;
  }

  wallMs(): number {
    return this.#startMs + this.#elapsedMs;
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const timer: Timer = {
        atMs: this.#elapsedMs + Math.max(0, ms),
        fire: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
      };
      const onAbort = () => {
        this.#timers.delete(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#timers.add(timer);
      this.#watch(QUIET_TURNS);
    });
  }

  /** Moves time on, firing what falls due on the way in its order. */
  advance(ms: number): void {
    const targetMs = this.#elapsedMs + ms;
    for (let due = this.#first(targetMs); due !== undefined; due = this.#first(targetMs)) {
      this.#elapsedMs = Math.max(this.#elapsedMs, due.atMs);
      this.#timers.delete(due);
      due.fire();
    }
    this.#elapsedMs = targetMs;
  }

  #first(untilMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs <= untilMs && (first === undefined || timer.atMs < first.atMs)) first = timer;
    }
    return first;
  }

  #watch(turns: number): void {
    if (this.#watching && turns === QUIET_TURNS) return;
    this.#watching = true;
    setImmediate(() => {
      if (this.#timers.size === 0) {
        this.#watching = false;
        return;
      }
      if (turns > 1) {
        this.#watch(turns - 1);
        return;
      }
      this.#watching = false;
      const first = this.#first(Number.POSITIVE_INFINITY);
      if (first !== undefined) this.advance(first.atMs - this.#elapsedMs);
      if (this.#timers.size > 0) this.#watch(QUIET_TURNS);
    });
  }
}
