/**
 * Writes of many streams, at a bounded pace: each waits once, in order of arrival, however often it asks, so that a sidecar that
 * reports much delays the others by one write. What is written is decided when its turn comes, so the newest is.
 */
import type { Clock } from '#core/bounds/clock.ts';

/** One stream. Resolves whatever happens. */
export type StatusWriter = () => Promise<void>;

export interface StatusQueueOptions {
  readonly clock: Clock;
  readonly perSecond: number;
  readonly atOnceMax: number;
}

export class StatusQueue {
  readonly #options: StatusQueueOptions;
  readonly #waiting = new Set<StatusWriter>();
  readonly #running = new Set<StatusWriter>();
  /** Asked again while it ran. */
  readonly #again = new Set<StatusWriter>();
  #left: number;
  #atMs: number;
  #cancelTurn: (() => void) | undefined;

  constructor(options: StatusQueueOptions) {
    this.#options = options;
    this.#left = options.perSecond;
    this.#atMs = options.clock.monotonicMs();
  }

  get length(): number {
    return this.#waiting.size;
  }

  request(writer: StatusWriter): void {
    if (this.#running.has(writer)) this.#again.add(writer);
    else this.#waiting.add(writer);
    this.#turn();
  }

  /** The writer has nothing more to say. */
  forget(writer: StatusWriter): void {
    this.#waiting.delete(writer);
    this.#again.delete(writer);
  }

  #turn(): void {
    for (const writer of this.#waiting) {
      if (this.#running.size >= this.#options.atOnceMax) return;
      const waitMs = this.#take();
      if (waitMs > 0) {
        this.#cancelTurn ??= this.#options.clock.alarm(waitMs, () => {
          this.#cancelTurn = undefined;
          this.#turn();
        });
        return;
      }
      this.#waiting.delete(writer);
      this.#running.add(writer);
      void writer().finally(() => {
        this.#running.delete(writer);
        if (this.#again.delete(writer)) this.#waiting.add(writer);
        this.#turn();
      });
    }
  }

  /** 0 when one more may go now, else milliseconds to wait. */
  #take(): number {
    const { clock, perSecond } = this.#options;
    const nowMs = clock.monotonicMs();
    this.#left = Math.min(perSecond, this.#left + ((nowMs - this.#atMs) * perSecond) / 1000);
    this.#atMs = nowMs;
    if (this.#left < 1) return Math.ceil(((1 - this.#left) * 1000) / perSecond);
    this.#left -= 1;
    return 0;
  }
}
