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

/**
 * Real milliseconds without a request, a wait or an advance after which everything is taken to wait for time. Signing and
 * decompression run on other threads and take less.
 */
const QUIET_MS = 3;

export class ReplayClock implements Clock {
  readonly #startMs: number;
  readonly #timers = new Set<Timer>();
  #elapsedMs = 0;
  #watching = false;
  #activity = 0;

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
      this.#start(timer);
    });
  }

  alarm(ms: number, ring: () => void): () => void {
    const timer: Timer = { atMs: this.#elapsedMs + Math.max(0, ms), fire: ring };
    this.#start(timer);
    return () => this.#timers.delete(timer);
  }

  #start(timer: Timer): void {
    this.#timers.add(timer);
    this.#activity += 1;
    this.#watch();
  }

  /** Moves time on, firing what falls due on the way in its order. By nothing: says that something happens. */
  advance(ms: number): void {
    this.#activity += 1;
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

  /** Waits until nothing happens any more, then lets time pass. One watch at a time. */
  #watch(): void {
    if (this.#watching) return;
    this.#watching = true;
    const seen = this.#activity;
    setTimeout(() => {
      this.#watching = false;
      if (this.#timers.size === 0) return;
      const first = this.#first(Number.POSITIVE_INFINITY);
      if (seen === this.#activity && first !== undefined) this.advance(first.atMs - this.#elapsedMs);
      if (this.#timers.size > 0) this.#watch();
    }, QUIET_MS);
  }
}
