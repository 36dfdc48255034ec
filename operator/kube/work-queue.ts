/**
 * Keys of objects to look at. A key stands in it at most once however often it is added, and never runs twice at the same time: a
 * change during a run causes one more run. So thousands of events of a slow object are one key (failure case OPR-21).
 *
 * ```
 *           add                 a place is free               done
 *   (none) ------> ready ------------------------> running ----------> (none)
 *                    ^                                |  added meanwhile -> ready
 *                    |  time is over, or added        |  failed, or later
 *                    +------------ waiting <----------+
 * ```
 */
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { backoffMs } from './backoff.ts';
import type { Key } from './cache.ts';

/** What a run says about its key. */
export type Verdict =
  | { readonly kind: 'done' }
  /** To be looked at again after a time, whatever happens. */
  | { readonly kind: 'later'; readonly afterMs: number }
  /** Waits longer each time. `poison`: the key itself is at fault, and a change does not make it run at once. */
  | { readonly kind: 'failed'; readonly poison: boolean };

export interface QueueOptions {
  /** MUST NOT reject. `failures`: in a row, before this run. */
  readonly run: (key: Key, failures: number, signal: AbortSignal) => Promise<Verdict>;
  readonly concurrency: number;
  /** Keys beyond limits.queueKeysMax are dropped, and this is called once there is room: it MUST add what may be missing. */
  readonly onRoom?: () => void;
  readonly clock?: Clock;
  readonly random?: () => number;
}

interface Entry {
  state: 'ready' | 'running' | 'waiting';
  again: boolean;
  failures: number;
  poison: boolean;
  dueMs: number;
  cancel: () => void;
}

export class WorkQueue {
  readonly #options: QueueOptions;
  readonly #clock: Clock;
  readonly #entries = new Map<Key, Entry>();
  /** In order of arrival, from `#first` on; a Set would walk over the holes of all keys it gave out before. */
  #ready: Key[] = [];
  #first = 0;
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();
  #dropped = false;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  /** Keys that are ready or running; those that wait are not due. */
  get length(): number {
    return this.#ready.length - this.#first + this.#running.size;
  }

  /** Keys that keep failing. */
  get poisoned(): readonly Key[] {
    return [...this.#entries].filter(([, { poison }]) => poison).map(([key]) => key);
  }

  add(key: Key): void {
    if (this.#stop.signal.aborted) return;
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      if (this.#entries.size >= limits.queueKeysMax) {
        this.#dropped = true;
        return;
      }
      this.#entries.set(key, { state: 'ready', again: false, failures: 0, poison: false, dueMs: 0, cancel: () => {} });
      this.#ready.push(key);
    } else if (entry.state === 'running') {
      entry.again = true;
    } else if (entry.state === 'waiting') {
      if (entry.poison) this.#wait(key, entry, Math.min(entry.dueMs - this.#clock.monotonicMs(), limits.queuePoisonMsMin));
      else this.#makeReady(key, entry);
    }
    this.#pump();
  }

  /** Ends with the runs that are under way, whose signal aborts; nothing starts any more. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the controller was stopped'));
    for (const { cancel } of this.#entries.values()) cancel();
    this.#ready = [];
    this.#first = 0;
    await Promise.all(this.#running);
    this.#entries.clear();
  }

  #pump(): void {
    while (this.#running.size < this.#options.concurrency && !this.#stop.signal.aborted) {
      const key = this.#ready[this.#first];
      if (key === undefined) return;
      this.#first += 1;
      if (this.#first > 1000 && this.#first * 2 > this.#ready.length) {
        this.#ready = this.#ready.slice(this.#first);
        this.#first = 0;
      }
      const run = this.#run(key, this.#entries.get(key) as Entry).finally(() => {
        this.#running.delete(run);
        this.#pump();
      });
      this.#running.add(run);
    }
  }

  async #run(key: Key, entry: Entry): Promise<void> {
    entry.state = 'running';
    entry.again = false;
    const verdict = await this.#options.run(key, entry.failures, this.#stop.signal);
    if (this.#stop.signal.aborted) return;
    if (verdict.kind === 'failed') {
      entry.failures += 1;
      entry.poison = verdict.poison;
      this.#wait(key, entry, this.#failureMs(entry));
      return;
    }
    entry.failures = 0;
    entry.poison = false;
    if (entry.again) this.#makeReady(key, entry);
    else if (verdict.kind === 'later') this.#wait(key, entry, verdict.afterMs);
    else this.#forget(key);
  }

  #failureMs({ failures, poison, again }: Entry): number {
    const range = { minMs: limits.queueBackoffMsMin, maxMs: poison ? limits.queuePoisonMsMax : limits.queueBackoffMsMax };
    const ms = backoffMs(failures, this.#options.random ?? Math.random, range);
    // It changed while it failed: the new state deserves a try of its own, soon.
    return again ? Math.min(ms, poison ? limits.queuePoisonMsMin : limits.queueBackoffMsMin) : ms;
  }

  #wait(key: Key, entry: Entry, ms: number): void {
    entry.cancel();
    entry.state = 'waiting';
    entry.dueMs = this.#clock.monotonicMs() + ms;
    entry.cancel = this.#clock.alarm(Math.max(ms, 0), () => {
      this.#makeReady(key, entry);
      this.#pump();
    });
  }

  #makeReady(key: Key, entry: Entry): void {
    entry.cancel();
    entry.state = 'ready';
    this.#ready.push(key);
  }

  #forget(key: Key): void {
    this.#entries.delete(key);
    if (!this.#dropped || this.#entries.size > limits.queueKeysMax / 2) return;
    this.#dropped = false;
    this.#options.onRoom?.();
  }
}
