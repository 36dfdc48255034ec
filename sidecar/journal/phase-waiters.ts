/** Whoever waits for an operation to change its phase. */
import type { Clock } from '#core/bounds/clock.ts';

export class PhaseWaiters {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Set<() => void>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  wake(operationId: string): void {
    for (const wake of this.#waiting.get(operationId) ?? []) wake();
    this.#waiting.delete(operationId);
  }

  /** Resolves when it is woken, after `waitMs`, or rejects when `signal` aborts. */
  async wait(operationId: string, waitMs: number, signal: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const waiters = this.#waiting.get(operationId) ?? new Set();
    this.#waiting.set(operationId, waiters);
    const woken = new Promise<void>((resolve) => {
      waiters.add(resolve);
      stop.signal.addEventListener('abort', () => waiters.delete(resolve), { once: true });
    });
    try {
      await Promise.race([woken, this.#clock.sleep(waitMs, AbortSignal.any([signal, stop.signal]))]);
    } finally {
      stop.abort();
      if (waiters.size === 0 && this.#waiting.get(operationId) === waiters) this.#waiting.delete(operationId);
    }
  }
}
