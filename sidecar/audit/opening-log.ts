/**
 * The log of a chain that may not be open yet: its origin and its recipients come from the operator. Records wait for it in order, bounded;
 * where nobody is to read them nothing is recorded.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { AuditLog, Entry, Recorded } from './audit-log.ts';

interface Waiting {
  readonly entry: Entry;
  readonly resolve: (recorded: Recorded | undefined | Promise<Recorded | undefined>) => void;
  readonly reject: (error: PosternError) => void;
  readonly cancel: () => void;
}

export class OpeningLog {
  readonly #clock: Clock;
  #log: AuditLog | 'off' | undefined;
  #waiting = new Set<Waiting>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `off`: nothing is recorded from here on. What waited goes first, in its order. */
  use(log: AuditLog | 'off'): void {
    this.#log = log;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    this.#bytes = 0;
    for (const { entry, resolve, cancel } of waiting) {
      cancel();
      resolve(log === 'off' ? undefined : log.append(entry));
    }
  }

  /** The log is gone, and another may come. */
  wait(): void {
    this.#log = undefined;
  }

  get isOff(): boolean {
    return this.#log === 'off';
  }

  /** `opening`: the log is not there yet. */
  get fault(): string | undefined {
    if (this.#log === 'off') return undefined;
    return this.#log === undefined ? 'opening' : this.#log.fault;
  }

  hurry(): void {
    if (this.#log !== 'off') this.#log?.hurry?.();
  }

  /** As AuditLog.append; undefined where nothing is recorded. */
  append(entry: Entry): Promise<Recorded | undefined> {
    if (this.#log === 'off') return Promise.resolve(undefined);
    if (this.#log !== undefined) return this.#log.append(entry);
    if (this.#waiting.size >= limits.auditQueueRecordsMax || this.#bytes + entry.text.length > limits.auditQueueBytesMax)
      return Promise.reject(notOpen());
    return new Promise((resolve, reject) => {
      const waits: Waiting = {
        entry,
        resolve,
        reject,
        // A call does not wait for an operator; what happened may.
        cancel: entry.kind === 'intent' ? this.#clock.alarm(limits.walAppendMs, () => this.#giveUp(waits)) : () => {},
      };
      this.#waiting.add(waits);
      this.#bytes += entry.text.length;
    });
  }

  #giveUp(waits: Waiting): void {
    if (!this.#waiting.delete(waits)) return;
    this.#bytes -= waits.entry.text.length;
    waits.reject(notOpen());
  }
}

function notOpen(): PosternError {
  return new PosternError('AUDIT_UNAVAILABLE', 'The chain of this session is not open yet; call again in a few seconds.');
}
