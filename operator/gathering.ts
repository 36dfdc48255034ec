/**
 * Keys that may wait a little, so that many changes are one look: an account with 1,000 sidecars gives 1,000 acknowledgements for each
 * new bundle. The first change of a key starts its time; later ones do not prolong it, or a busy key would wait for ever.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { Key } from '#operator/kube/cache.ts';

export class Gathering {
  readonly #clock: Clock;
  readonly #ms: number;
  readonly #flush: (key: Key) => void;
  readonly #waiting = new Map<Key, () => void>();

  constructor(clock: Clock, ms: number, flush: (key: Key) => void) {
    this.#clock = clock;
    this.#ms = ms;
    this.#flush = flush;
  }

  note(key: Key): void {
    if (this.#waiting.has(key)) return;
    const cancel = this.#clock.alarm(this.#ms, () => {
      this.#waiting.delete(key);
      this.#flush(key);
    });
    this.#waiting.set(key, cancel);
  }

  /** Forgets what waits. */
  stop(): void {
    for (const cancel of this.#waiting.values()) cancel();
    this.#waiting.clear();
  }
}
