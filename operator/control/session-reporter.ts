/** Writes what a stream learns into its session: soon after it changes, and from time to time that the stream still stands. */
import { isDeepStrictEqual } from 'node:util';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { ControlRefusal } from '#core/wire/control-refusal.ts';
import { secondTime } from '#operator/kube/micro-time.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import type { SessionHold } from './session-hold.ts';
import type { StreamStatus } from './session-status.ts';
import type { StatusQueue } from './status-queue.ts';

export interface ReporterMeans {
  readonly clock: Clock;
  readonly writes: StatusQueue;
  onWriteFailed(session: SessionRecord, error: unknown): void;
}

export class SessionReporter {
  readonly #means: ReporterMeans;
  readonly #hold: SessionHold;
  /** The session is another's, or gone. */
  readonly #onLost: (refusal: ControlRefusal) => void;
  #cancelSeen: (() => void) | undefined;
  #cancelNoted: (() => void) | undefined;
  /** When something noted was last to be written, monotonic. */
  #notedMs = Number.NEGATIVE_INFINITY;
  /** Who waits until what is in the status is in the API server. */
  #waiting: (() => void)[] = [];
  #stopped = false;

  constructor(means: ReporterMeans, hold: SessionHold, onLost: (refusal: ControlRefusal) => void) {
    this.#means = means;
    this.#hold = hold;
    this.#onLost = onLost;
  }

  start(): void {
    this.#means.writes.request(this.#write);
    this.#seenLater();
  }

  stop(): void {
    this.#stopped = true;
    this.#cancelSeen?.();
    this.#cancelNoted?.();
    this.#means.writes.forget(this.#write);
  }

  /** A report that says what was said before costs no write. */
  change(update: (status: StreamStatus, nowMs: number) => StreamStatus): void {
    const before = this.#hold.status;
    this.#hold.change(update);
    if (!isDeepStrictEqual(before, this.#hold.status)) this.#means.writes.request(this.#write);
  }

  /** The same for what changes all the time: by a write of its own at most once in limits.auditHeadWriteMs, the first time soon. */
  note(update: (status: StreamStatus, nowMs: number) => StreamStatus): void {
    const { clock, writes } = this.#means;
    this.#hold.change(update);
    this.#cancelNoted ??= clock.alarm(Math.max(0, this.#notedMs + limits.auditHeadWriteMs - clock.monotonicMs()), () => {
      this.#cancelNoted = undefined;
      this.#notedMs = clock.monotonicMs();
      writes.request(this.#write);
    });
  }

  /** Resolves once what is in the status now has been written; never, where the stream ends before. */
  written(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#means.writes.request(this.#write);
    });
  }

  #seenLater(): void {
    this.#cancelSeen = this.#means.clock.alarm(limits.controlSeenMs, () => {
      this.#means.writes.request(this.#write);
      this.#seenLater();
    });
  }

  readonly #write = async (): Promise<void> => {
    if (this.#stopped) return;
    const { clock, writes, onWriteFailed } = this.#means;
    // A stream that stands has answered a ping within the last half minute.
    this.#hold.change((status, nowMs) => ({ ...status, lastSeenAt: secondTime(nowMs) }));
    const waiting = this.#waiting.splice(0);
    try {
      const result = await this.#hold.write();
      if (result === 'lost') this.#onLost(new ControlRefusal('STREAM_REPLACED', 'This sidecar has a newer stream.'));
      if (result === 'written') for (const resolve of waiting) resolve();
      if (result === 'gone') this.#onLost(new ControlRefusal('NOT_READY', 'The AgentSession was deleted; connect again.'));
    } catch (error) {
      this.#waiting.unshift(...waiting);
      onWriteFailed(this.#hold.session, error);
      clock.alarm(limits.controlWriteRetryMs, () => {
        if (!this.#stopped) writes.request(this.#write);
      });
    }
  };
}
