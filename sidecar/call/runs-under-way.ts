/**
 * Operations that run in this process, and who waits for them. Until the first byte is sent an operation that nobody waits for any more is
 * abandoned; from then on it goes to its own end (failure cases GRPC-07, GRPC-11).
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Ended } from './execute.ts';
import type { Outcome } from './outcome.ts';

export interface RunControl {
  readonly abandoned: AbortSignal;
  dispatched(): void;
}

interface Run {
  readonly ended: Promise<Outcome>;
  readonly abandon: AbortController;
  waiting: number;
  isDispatched: boolean;
}

export class RunsUnderWay {
  readonly #clock: Clock;
  readonly #runs = new Map<string, Run>();
  /** Those whose end the journal could not write. */
  readonly #unwritten = new Map<string, Ended>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#runs.size;
  }

  has(operationId: string): boolean {
    return this.#runs.has(operationId);
  }

  isDispatched(operationId: string): boolean {
    return this.#runs.get(operationId)?.isDispatched === true;
  }

  /** An end that the journal could not write, for whoever asks again before it is. */
  keep(operationId: string, ended: Ended): void {
    this.#unwritten.set(operationId, ended);
    const [oldest] = this.#unwritten.keys();
    if (this.#unwritten.size > limits.callsInFlightMax && oldest !== undefined) this.#unwritten.delete(oldest);
  }

  unwritten(operationId: string): Ended | undefined {
    return this.#unwritten.get(operationId);
  }

  written(operationId: string): void {
    this.#unwritten.delete(operationId);
  }

  /** MUST be asked only where `has` says no, in the same turn. Somebody MUST `wait` for it in that turn too. */
  start(operationId: string, make: (run: RunControl) => Promise<Outcome>): void {
    const abandon = new AbortController();
    const control: RunControl = {
      abandoned: abandon.signal,
      dispatched: () => {
        run.isDispatched = true;
      },
    };
    const ended = Promise.resolve()
      .then(() => make(control))
      .finally(() => this.#runs.delete(operationId));
    const run: Run = { ended, abandon, waiting: 0, isDispatched: false };
    // Whoever waits gets the rejection; when all have left nobody needs it.
    ended.catch(() => {});
    this.#runs.set(operationId, run);
  }

  /** `left`: the caller has gone, or its time is over, before the end. */
  async wait(operationId: string, signal: AbortSignal, deadlineMs: number | undefined): Promise<Outcome | 'left'> {
    const run = this.#runs.get(operationId);
    if (run === undefined) throw new TypeError('nobody runs this operation');
    run.waiting += 1;
    const leave = Promise.withResolvers<'left'>();
    const go = () => leave.resolve('left');
    if (signal.aborted) go();
    signal.addEventListener('abort', go, { once: true });
    const cancelAlarm = deadlineMs === undefined ? undefined : this.#clock.alarm(deadlineMs, go);
    try {
      return await Promise.race([run.ended, leave.promise]);
    } finally {
      cancelAlarm?.();
      signal.removeEventListener('abort', go);
      run.waiting -= 1;
      if (run.waiting === 0 && !run.isDispatched) run.abandon.abort();
    }
  }

  /** Resolves when all have ended, or after `graceMs`. */
  async idle(graceMs: number): Promise<void> {
    const all = Promise.allSettled([...this.#runs.values()].map(({ ended }) => ended));
    const stop = new AbortController();
    await Promise.race([all, this.#clock.sleep(graceMs, stop.signal).catch(() => {})]);
    stop.abort();
  }
}
