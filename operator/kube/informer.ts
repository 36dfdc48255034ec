/**
 * Keeps one cache equal to one kind of the API server: a list, then watches from its version, for as long as the process lives.
 *
 * - No error ends it (failure cases OPR-01 to OPR-04): every failure leads to another try after a jittered wait.
 * - The version goes forward only, and is lost only to a list (OPR-14). What ends a watch without hurting the version is followed by
 *   a watch; what may have lost an event - 410, half a line, a version from the future - by a list.
 * - Objects are made into records as they arrive; no whole object is kept (OPR-19).
 * - A list removes what it does not hold, by key and UID (OPR-10, OPR-13). From time to time one is made at the very version the cache
 *   has, so that any difference is a miss of ours and is counted.
 * - One loop: a generation number ends an older one at its next step (OPR-08).
 *
 * `cache` is written here alone. `record` returns null for an object nobody needs, and may throw: the object is then as good as
 * gone, is counted, and the others go on (OPR-11).
 */
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { ApiTransport } from './api-transport.ts';
import { backoffMs } from './backoff.ts';
import type { Cache, Identified } from './cache.ts';
import { isKubeError, KubeError } from './kube-error.ts';
import { readList } from './list-into.ts';
import { RecordKeeper } from './record-keeper.ts';
import type { KubeObject } from './records.ts';
import type { ResourceKind } from './resource-kind.ts';
import { watchOnce } from './watch.ts';
import { type Frame, isOlder } from './watch-frame.ts';

/** Why a list was made. `started`: the first one. `stuck`: several watches from one version ended without a word. */
export type ListCause = 'started' | 'expired' | 'unreadable' | 'behind' | 'stuck' | 'periodic';

/** For metrics and the log. MUST not throw. */
export interface InformerObserver {
  relisted?(kind: string, cause: ListCause): void;
  /** A periodic list found so many differences that no watch had told. */
  missed?(kind: string, count: number): void;
  /** A line, or an object, that could not be read. */
  unreadable?(kind: string): void;
  failed?(kind: string, error: KubeError): void;
}

export interface InformerOptions<T extends Identified, O> {
  readonly transport: ApiTransport;
  readonly kind: ResourceKind;
  readonly cache: Cache<T>;
  readonly record: (object: O) => T | null;
  readonly clock?: Clock;
  readonly random?: () => number;
  readonly observer?: InformerObserver;
}

export class Informer<T extends Identified, O = KubeObject> {
  readonly #options: InformerOptions<T, O>;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #records: RecordKeeper<T, O>;
  readonly #synced = Promise.withResolvers<void>();
  #generation = 0;
  #stop = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Empty until the first list is whole. */
  #version = '';
  #relist: ListCause | undefined = 'started';
  #relistAtMs = 0;
  #heardMs: number | undefined;
  #failure: KubeError | undefined = undefined;
  /** Failures in a row: sets the pace. */
  #failures = 0;
  /** Watches in a row that told nothing and ended early: the version itself may be why. */
  #fruitless = 0;

  constructor(options: InformerOptions<T, O>) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    const { cache, record, kind, observer } = options;
    this.#records = new RecordKeeper({ cache, record, onUnreadable: () => observer?.unreadable?.(kind.plural) });
  }

  get kind(): ResourceKind {
    return this.#options.kind;
  }

  /** Resolves with the first whole list; never rejects. */
  get synced(): Promise<void> {
    return this.#synced.promise;
  }

  get isSynced(): boolean {
    return this.#version !== '';
  }

  /** Milliseconds since the last event, bookmark or list; infinite before the first. */
  get ageMs(): number {
    return this.#heardMs === undefined ? Number.POSITIVE_INFINITY : this.#clock.monotonicMs() - this.#heardMs;
  }

  /** The last try failed, or nothing was heard for limits.kubeStaleMs: what the cache says may be over. */
  get isStale(): boolean {
    return this.#failure !== undefined || this.ageMs > limits.kubeStaleMs;
  }

  /** What is wrong now, for readiness; undefined when nothing is. */
  get problem(): string | undefined {
    const { plural } = this.#options.kind;
    if (this.#failure !== undefined) return `${plural}: ${this.#failure.message}`;
    if (!this.isSynced) return `${plural}: not listed yet`;
    return this.isStale ? `${plural}: no word from the API server for ${Math.round(this.ageMs / 1000)} s` : undefined;
  }

  /** Starts the loop, or starts it anew: an older loop ends at its next step. */
  start(): void {
    this.#stop.abort(STOPPED);
    this.#stop = new AbortController();
    this.#generation += 1;
    this.#running = this.#run(this.#generation, this.#stop.signal);
  }

  /** Resolves when the loop has ended; the cache keeps what it has. */
  async stop(): Promise<void> {
    this.#generation += 1;
    this.#stop.abort(STOPPED);
    await this.#running;
  }

  async #run(generation: number, signal: AbortSignal): Promise<void> {
    while (generation === this.#generation) {
      try {
        const waitMs = await this.#step(signal);
        if (waitMs > 0) await this.#clock.sleep(waitMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        // Nothing but a defect of ours comes here; the loop outlives it all the same, at the pace of failures.
        this.#fail(new KubeError('The informer failed', { status: 0, reason: 'Unknown', cause: error }));
        await this.#clock.sleep(this.#pauseMs(), signal).catch(() => {});
      }
    }
  }

  /** One list or one watch; how long to wait before the next. */
  async #step(signal: AbortSignal): Promise<number> {
    if (this.#relist === undefined && this.#clock.monotonicMs() >= this.#relistAtMs) this.#relist = 'periodic';
    try {
      if (this.#relist !== undefined) await this.#list(this.#relist, signal);
      return await this.#watch(signal);
    } catch (error) {
      if (signal.aborted || !isKubeError(error)) throw error;
      this.#fail(error);
      return Math.max(error.retryAfterMs ?? 0, this.#pauseMs());
    }
  }

  async #list(cause: ListCause, signal: AbortSignal): Promise<void> {
    const { transport, kind, cache, observer } = this.#options;
    const exact = cause === 'periodic' ? this.#version : undefined;
    let differences = 0;
    const uncount = cache.onChange(() => (differences += 1));
    try {
      this.#version = await readList({ transport, kind, records: this.#records, exact, signal });
    } catch (error) {
      if (exact !== undefined) this.#forgoPeriodic(isKubeError(error, 410));
      throw error;
    } finally {
      uncount();
    }
    observer?.relisted?.(kind.plural, cause);
    if (exact !== undefined && differences > 0) observer?.missed?.(kind.plural, differences);
    this.#relist = undefined;
    this.#relistAtMs = this.#clock.monotonicMs() + limits.kubeRelistMs * (0.75 + this.#random() / 2);
    this.#fruitless = 0;
    this.#hear();
    this.#synced.resolve();
  }

  /** Compacted away: a list of now will do, and nobody can say what was missed. Else the watch goes on, which is worth more. */
  #forgoPeriodic(compacted: boolean): void {
    this.#relist = compacted ? 'expired' : undefined;
    this.#relistAtMs = this.#clock.monotonicMs() + limits.kubeRelistMs / 10;
  }

  async #watch(signal: AbortSignal): Promise<number> {
    const { transport, kind } = this.#options;
    const from = this.#version;
    const end: WatchEnd = { openedMs: Number.POSITIVE_INFINITY, refusal: undefined, advanced: false };
    try {
      await watchOnce(transport, kind, {
        version: from,
        seconds: Math.round(limits.kubeWatchSeconds * (0.8 + this.#random() * 0.2)),
        clock: this.#clock,
        signal,
        onOpen: () => {
          end.openedMs = this.#clock.monotonicMs();
          this.#failure = undefined;
        },
        onFrame: (frame) => {
          if (frame.kind === 'error') end.refusal = frame;
          return this.#take(frame);
        },
      });
    } catch (error) {
      if (isKubeError(error, 410)) this.#relist = 'expired';
      else if (isKubeError(error) && versionMayBeWhy(error.status)) this.#noteFruitless();
      throw error;
    }
    end.advanced = this.#version !== from;
    return this.#after(end);
  }

  /** The wait before the next step. Watches that end at once, again and again, would be a storm (failure case OPR-07). */
  #after({ openedMs, refusal, advanced }: WatchEnd): number {
    const lived = this.#clock.monotonicMs() - openedMs >= limits.kubeWatchMsMin;
    if (lived || advanced) this.#failures = 0;
    if (refusal === undefined && this.#relist === undefined) {
      if (lived) return 0;
      if (!advanced) this.#noteFruitless();
      this.#failures += 1;
      return this.#pauseMs();
    }
    if (this.#relist === undefined) this.#noteFruitless();
    this.#fail(new KubeError('The API server ended a watch with an error', { status: 0, reason: this.#relist ?? 'Unknown' }));
    return Math.max(refusal?.retryAfterMs ?? 0, this.#pauseMs());
  }

  /** Whether the watch goes on. */
  #take(frame: Frame): boolean {
    const { kind, observer } = this.#options;
    switch (frame.kind) {
      case 'present':
        this.#records.happened(frame.object);
        return this.#advance(frame.object.metadata.resourceVersion);
      case 'deleted':
        this.#records.deleted(frame.object);
        return this.#advance(frame.object.metadata.resourceVersion);
      case 'bookmark':
        // Behind us: the API server's store was set back, and a watch from our version would be silent for days.
        if (isOlder(frame.version, this.#version)) {
          this.#relist = 'behind';
          return false;
        }
        return this.#advance(frame.version);
      case 'error':
        if (frame.expired) this.#relist = 'expired';
        return false;
      case 'unreadable':
        observer?.unreadable?.(kind.plural);
        this.#relist = 'unreadable';
        return false;
    }
  }

  #advance(version: string): true {
    if (!isOlder(version, this.#version)) this.#version = version;
    this.#fruitless = 0;
    this.#hear();
    return true;
  }

  #hear(): void {
    this.#heardMs = this.#clock.monotonicMs();
    this.#failure = undefined;
  }

  #noteFruitless(): void {
    this.#fruitless += 1;
    if (this.#fruitless >= limits.kubeFruitlessWatchesMax) this.#relist ??= 'stuck';
  }

  #fail(error: KubeError): void {
    this.#failure = error;
    this.#failures += 1;
    this.#options.observer?.failed?.(this.#options.kind.plural, error);
  }

  #pauseMs(failures = this.#failures): number {
    return backoffMs(failures, this.#random, { minMs: limits.kubeBackoffMsMin, maxMs: limits.kubeInformerBackoffMsMax });
  }
}

interface WatchEnd {
  openedMs: number;
  refusal: Extract<Frame, { kind: 'error' }> | undefined;
  advanced: boolean;
}

/** Not for a lack of rights or of capacity: a list would be refused too, or make it worse. */
function versionMayBeWhy(status: number): boolean {
  return status >= 400 && ![401, 403, 429, 503].includes(status);
}

const STOPPED = new Error('the informer was stopped');
