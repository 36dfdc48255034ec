/**
 * Whether a store of this sidecar's own keeps what was created first: asked before its first object, and again from time to time, because a
 * store changes hands without a restart of ours. One that replaces gets nothing (failure case AUD-18): the chain goes on here, and is shipped
 * once the store keeps what it has. What was away at the start is asked when it is back, not believed.
 */
import { StoreFault } from '#core/audit/object-store.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { OpenStore, StoreWarning } from '#core/runtime/open-store.ts';
import type { SegmentSink } from './segment-sink.ts';

export interface StoreProbeOptions {
  readonly store: Pick<OpenStore, 'probe'>;
  readonly clock: Clock;
  /** What somebody should change, each once. */
  onWarning(warning: StoreWarning): void;
}

export class StoreProbe {
  readonly #options: StoreProbeOptions;
  readonly #warned = new Set<StoreWarning>();
  /** Until then, monotonic. */
  #safeMs = Number.NEGATIVE_INFINITY;
  #unsafe = false;

  constructor(options: StoreProbeOptions) {
    this.#options = options;
  }

  /** It was found to replace what was created first. */
  get unsafe(): boolean {
    return this.#unsafe;
  }

  /** Throws StoreFault: `unsafe`, or as every request. */
  async ask(signal?: AbortSignal): Promise<void> {
    const { store, clock, onWarning } = this.#options;
    if (clock.monotonicMs() < this.#safeMs) return;
    try {
      const warnings = await store.probe(signal);
      this.#safeMs = clock.monotonicMs() + limits.auditProbeMs;
      this.#unsafe = false;
      for (const warning of warnings) {
        if (!this.#warned.has(warning)) onWarning(warning);
        this.#warned.add(warning);
      }
    } catch (fault) {
      if (fault instanceof StoreFault && fault.kind === 'unsafe') this.#unsafe = true;
      throw fault;
    }
  }

  /** Nothing goes into it before the store is known to keep it. */
  before(sink: SegmentSink): SegmentSink {
    return {
      put: async (object, signal) => {
        await this.ask(signal);
        return sink.put(object, signal);
      },
    };
  }
}
