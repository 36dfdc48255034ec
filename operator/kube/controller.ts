/**
 * Runs `reconcile` for the objects of a queue, and outlives whatever it throws (failure case OPR-11). An object that fails again and
 * again is set apart: it is tried at long intervals, is reported once, and the others go on as if it were not there.
 */
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Key } from './cache.ts';
import { isKubeError } from './kube-error.ts';
import { type Verdict, WorkQueue } from './work-queue.ts';

export type ReconcileOutcome = 'done' | 'failed';

/** For metrics and the log. MUST not throw. */
export interface ControllerObserver {
  reconciled?(controller: string, outcome: ReconcileOutcome, durationMs: number): void;
  /** `failures` in a row, this one included. */
  failed?(controller: string, key: Key, error: unknown, failures: number): void;
}

export interface ControllerOptions {
  /** Word for metrics: `contracts`. */
  readonly name: string;
  /** Makes one object what it should be; also called for one that is gone. Resolves with when to look again, or without a wish. */
  readonly reconcile: (key: Key, signal: AbortSignal) => Promise<{ readonly afterMs: number } | undefined>;
  /** Every key there is: enqueued at the start, and when keys had to be dropped. */
  readonly keys: () => Iterable<Key>;
  readonly concurrency?: number;
  /** The object fails for good, as far as anybody can tell: the place to say so in a condition. What it throws is ignored. */
  readonly onPoison?: (key: Key, error: unknown) => Promise<void>;
  readonly observer?: ControllerObserver;
  readonly clock?: Clock;
  readonly random?: () => number;
}

export class Controller {
  readonly #options: ControllerOptions;
  readonly #clock: Clock;
  #queue: WorkQueue | undefined;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  get name(): string {
    return this.#options.name;
  }

  get length(): number {
    return this.#queue?.length ?? 0;
  }

  /** Objects set apart. */
  get poisoned(): readonly Key[] {
    return this.#queue?.poisoned ?? [];
  }

  /** Looks at every object there is, then at what is enqueued. A second start without a stop does nothing. */
  start(): void {
    if (this.#queue !== undefined) return;
    const { clock, random, concurrency = limits.reconcileConcurrency } = { ...this.#options, clock: this.#clock };
    this.#queue = new WorkQueue({
      run: (key, failures, signal) => this.#run(key, failures, signal),
      onRoom: () => this.#enqueueAll(),
      concurrency,
      clock,
      ...(random !== undefined && { random }),
    });
    this.#enqueueAll();
  }

  /** Only keys that are enqueued while it runs are looked at; a start looks at all of them anyway. */
  enqueue(key: Key): void {
    this.#queue?.add(key);
  }

  /** Resolves when nothing runs any more. It can be started again: a replica may lead twice. */
  async stop(): Promise<void> {
    const queue = this.#queue;
    this.#queue = undefined;
    await queue?.stop();
  }

  #enqueueAll(): void {
    for (const key of this.#options.keys()) this.#queue?.add(key);
  }

  async #run(key: Key, failures: number, signal: AbortSignal): Promise<Verdict> {
    const { name, reconcile, observer } = this.#options;
    const startedMs = this.#clock.monotonicMs();
    try {
      const wish = await reconcile(key, signal);
      observer?.reconciled?.(name, 'done', this.#clock.monotonicMs() - startedMs);
      return wish === undefined ? { kind: 'done' } : { kind: 'later', afterMs: wish.afterMs };
    } catch (error) {
      observer?.reconciled?.(name, 'failed', this.#clock.monotonicMs() - startedMs);
      if (signal.aborted) return { kind: 'done' };
      observer?.failed?.(name, key, error, failures + 1);
      return { kind: 'failed', poison: await this.#isPoison(key, failures + 1, error) };
    }
  }

  /** An API server that is away, and a write that came second, say nothing about the object. */
  async #isPoison(key: Key, failures: number, error: unknown): Promise<boolean> {
    if (failures < limits.queuePoisonFailures || (isKubeError(error) && (error.transient || error.status === 409))) return false;
    if (failures === limits.queuePoisonFailures) {
      await this.#options.onPoison?.(key, error).catch(() => {
        // It is reported by the metric and the log as well; the object must not fail twice for it.
      });
    }
    return true;
  }
}
