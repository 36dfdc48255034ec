/**
 * Operations of this process: running, done, failed. In memory and bounded on purpose: a read has no effect to
 * remember, and an answer that claims a durable history would lie. The durable journal comes with effects.
 *
 * Invariant: at most `keptMax` ended operations are kept, oldest dropped first and counted; running ones are
 * bounded by the calls in flight.
 */

import type { Clock } from '#core/bounds/clock.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Reason } from '#core/error/reasons.ts';

/** Gone with the process, and dropped when newer ones need the room: the lists say so. */
export interface Operation {
  readonly operationId: string;
  readonly requestId: string;
  readonly action: string;
  readonly state: 'running' | 'done' | 'failed';
  readonly startedAtMs: number;
  readonly finishedAtMs?: number;
  readonly error?: { readonly reason: Reason; readonly message: string };
  readonly complete?: boolean;
  readonly returned?: number;
}

export type OperationEnd =
  | { readonly state: 'done'; readonly complete: boolean; readonly returned: number }
  | { readonly state: 'failed'; readonly error: { readonly reason: Reason; readonly message: string } };

export class Operations {
  readonly keptMax: number;
  readonly #clock: Clock;
  readonly #byId = new Map<string, Operation>();
  readonly #waiters = new Map<string, Set<() => void>>();
  #ended = 0;
  #dropped = 0;

  constructor(clock: Clock, keptMax: number) {
    this.#clock = clock;
    this.keptMax = keptMax;
  }

  /** Kept now, running ones included. */
  get size(): number {
    return this.#byId.size;
  }

  get dropped(): number {
    return this.#dropped;
  }

  /** Throws IDEMPOTENCY_BUSY while an operation of this id is running: two calls would be one operation with two ends. */
  begin(operationId: string, requestId: string, action: string): void {
    const earlier = this.#byId.get(operationId);
    if (earlier?.state === 'running') {
      throw new PosternError('IDEMPOTENCY_BUSY', 'An operation of this id is running; wait for it with GetOperation.', { operationId });
    }
    // The same operation again: its earlier end is no longer kept, nor counted as kept.
    if (this.#byId.delete(operationId)) this.#ended -= 1;
    this.#byId.set(operationId, { operationId, requestId, action, state: 'running', startedAtMs: this.#clock.wallMs() });
  }

  finish(operationId: string, end: OperationEnd): void {
    const running = this.#byId.get(operationId);
    if (running === undefined || running.state !== 'running') return;
    this.#byId.delete(operationId);
    this.#byId.set(operationId, { ...running, ...end, finishedAtMs: this.#clock.wallMs() });
    this.#ended += 1;
    if (this.#ended > this.keptMax) this.#dropOldestEnded();
    for (const wake of this.#waiters.get(operationId) ?? []) wake();
    this.#waiters.delete(operationId);
  }

  /** Throws INVALID_ARGUMENT for an id that is not known here: it may have been dropped, or belong to an earlier process. */
  get(operationId: string): Operation {
    const found = this.#byId.get(operationId);
    if (found !== undefined) return found;
    throw new PosternError(
      'INVALID_ARGUMENT',
      'No such operation is remembered. Operations live in memory: the last ones of this process only.',
      {
        fields: [{ path: '/operation_id', rule: 'unknown_operation', message: 'Use an operation_id of a call this process answered.' }],
      },
    );
  }

  /** Resolves when the operation has ended, when `waitMs` is over, or rejects when `signal` aborts. */
  async wait(operationId: string, waitMs: number, signal: AbortSignal): Promise<Operation> {
    if (this.get(operationId).state !== 'running' || waitMs <= 0) return this.get(operationId);
    const stop = new AbortController();
    const ended = new Promise<void>((resolve) => {
      const waiters = this.#waiters.get(operationId) ?? new Set();
      waiters.add(resolve);
      this.#waiters.set(operationId, waiters);
      stop.signal.addEventListener('abort', () => waiters.delete(resolve), { once: true });
    });
    try {
      await Promise.race([ended, this.#clock.sleep(waitMs, AbortSignal.any([signal, stop.signal]))]);
    } finally {
      stop.abort();
    }
    return this.get(operationId);
  }

  /** Newest first. */
  list(): readonly Operation[] {
    return [...this.#byId.values()].reverse();
  }

  #dropOldestEnded(): void {
    for (const [id, operation] of this.#byId) {
      if (operation.state === 'running') continue;
      this.#byId.delete(id);
      this.#ended -= 1;
      this.#dropped += 1;
      return;
    }
  }
}
