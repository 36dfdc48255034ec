/** Looks at the store, a few at once over all streams: where a store keeps no digest of its own, each look holds an object in memory. */
import { limits } from '#core/bounds/limits.ts';
import type { Found, PlannedObject } from '#core/runtime/s3-objects.ts';
import type { WitnessStore } from './store-watch.ts';

export class ReadBack {
  readonly #store: Pick<WitnessStore, 'look'>;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(store: Pick<WitnessStore, 'look'>) {
    this.#store = store;
  }

  /** Throws StoreFault. */
  async look(object: PlannedObject): Promise<Found> {
    if (this.#running >= limits.auditReadBackAtOnceMax) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running += 1;
    try {
      return await this.#store.look(object);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
