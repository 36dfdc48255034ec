/**
 * Whether the store may be used: tried before the first object, and again from time to time, because a store changes hands without a restart
 * of ours. One that does not keep what was created first gets nothing (failure case AUD-18): what stands there could be replaced by who holds
 * the bucket, and every receipt of ours would say it was kept.
 *
 * A replica with an unsafe store stays ready: admission and control streams must not end with a bucket. Effects wait for it, unless
 * the chart says that the pod's own disk will do.
 */
import { StoreFault, type StoreFaultKind } from '#core/audit/object-store.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { OpenStore, StoreWarning } from '#core/runtime/open-store.ts';
import type { S3Objects } from '#core/runtime/s3-objects.ts';

/** As opened from an address of S3: it can be put to by permit. */
export type WitnessStore = OpenStore & Pick<S3Objects, 'presign' | 'look'>;

const STORE_STATES = ['unprobed', 'safe', 'unsafe', 'unavailable', 'refused'] as const;
export type StoreState = (typeof STORE_STATES)[number];

export interface StoreWatchOptions {
  readonly store: WitnessStore;
  readonly clock: Clock;
  /** From 0 to below 1, for the jitter of waits. Default Math.random. */
  readonly random?: () => number;
  /** The state or the warnings are others now. MUST not throw. */
  onState?(state: StoreState, warnings: readonly StoreWarning[], fault: StoreFault | undefined): void;
}

/** Sentences for people, with the cure. */
export const STORE_CURES: Readonly<Record<Exclude<StoreState, 'safe'>, string>> = {
  unprobed: 'The operator has not tried the audit store yet; wait a moment.',
  unsafe: 'The audit store does not keep what was created first, so nothing is stored in it: use one that honours If-None-Match.',
  unavailable: 'The audit store cannot be reached; see its endpoint, and the network of the operator.',
  refused: 'The audit store refuses the operator; see the key in the Secret of the store, its rights, bucket and region.',
};

export class StoreWatch {
  readonly store: WitnessStore;
  readonly #options: StoreWatchOptions;
  readonly #listeners = new Set<() => void>();
  #state: StoreState = 'unprobed';
  #warnings: readonly StoreWarning[] = [];

  constructor(options: StoreWatchOptions) {
    this.#options = options;
    this.store = options.store;
  }

  get state(): StoreState {
    return this.#state;
  }

  get warnings(): readonly StoreWarning[] {
    return this.#warnings;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Until the signal. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    let failures = 0;
    while (!signal.aborted) {
      await this.probe(signal);
      failures = this.#state === 'safe' ? 0 : failures + 1;
      const retryMs = Math.min(limits.auditProbeRetryMsMax, limits.auditProbeRetryMsMin * 2 ** (failures - 1));
      // Replicas that started together need not ask together.
      const waitMs = (failures === 0 ? limits.auditProbeMs : retryMs) * (0.75 + 0.25 * random());
      await clock.sleep(waitMs, signal).catch(() => undefined);
    }
  }

  /** One try. */
  async probe(signal?: AbortSignal): Promise<void> {
    try {
      const warnings = await this.store.probe(signal);
      this.#become('safe', [...warnings].sort(), undefined);
    } catch (error) {
      if (signal?.aborted === true) return;
      const fault = error instanceof StoreFault ? error : new StoreFault('unavailable', 'The store could not be tried.', error);
      const state = STATE_OF[fault.kind];
      // It was safe, and is away: what is asked of it says so by itself, and nothing has to be tried anew when it is back.
      if (state === 'unavailable' && this.#state === 'safe') return;
      this.#become(state, [], fault);
    }
  }

  #become(state: StoreState, warnings: readonly StoreWarning[], fault: StoreFault | undefined): void {
    if (state === this.#state && warnings.join() === this.#warnings.join()) return;
    this.#state = state;
    this.#warnings = warnings;
    this.#options.onState?.(state, warnings, fault);
    for (const listener of this.#listeners) listener();
  }
}

const STATE_OF: Readonly<Record<StoreFaultKind, StoreState>> = {
  unsafe: 'unsafe',
  unavailable: 'unavailable',
  refused: 'refused',
  // Of a probe's own new names: somebody else writes them.
  occupied: 'unsafe',
  'too-large': 'unsafe',
};
