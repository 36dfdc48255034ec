/**
 * What comes too often to be recorded one by one is counted, by kind and code: an agent that loops must not fill the disk, and nothing it did
 * may go unmentioned. Kinds and codes are closed sets, so the counts are bounded whatever is sent.
 */
import type { CountedRecord } from '#core/audit/record.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';

export class Counted {
  readonly #clock: Clock;
  /** Hears a record once a period in which something was counted. */
  readonly #write: (record: CountedRecord) => void;
  readonly #counts = new Map<string, CountedRecord['counts'][number]>();
  #sinceMs = 0;
  #room: number = limits.auditSingleRecordsAtOnce;
  #roomAtMs: number;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, write: (record: CountedRecord) => void) {
    this.#clock = clock;
    this.#roomAtMs = clock.monotonicMs();
    this.#write = write;
  }

  /** Whether there is room to record one by itself. What finds none costs nothing: after a flood it is soon as before. */
  takeSingle(): boolean {
    const nowMs = this.#clock.monotonicMs();
    const regained = ((nowMs - this.#roomAtMs) * limits.auditSingleRecordsPerSecond) / 1000;
    this.#room = Math.min(limits.auditSingleRecordsAtOnce, this.#room + regained);
    this.#roomAtMs = nowMs;
    if (this.#room < 1) return false;
    this.#room -= 1;
    return true;
  }

  count(what: string, code: string, count = 1): void {
    if (this.#cancel === undefined) {
      this.#sinceMs = this.#clock.wallMs();
      this.#cancel = this.#clock.alarm(limits.auditCountedMs, () => this.flush());
    }
    const key = `${what} ${code}`;
    const before = this.#counts.get(key)?.count ?? 0;
    this.#counts.set(key, { what, code, count: before + count });
  }

  /** A record that was not taken: what it says is counted on, into the next one. */
  putBack({ counts }: CountedRecord): void {
    for (const { what, code, count } of counts) this.count(what, code, count);
  }

  /** Writes what was counted so far, if anything. */
  flush(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#counts.size === 0) return;
    const counts = [...this.#counts.values()];
    this.#counts.clear();
    this.#write({ record: 'counted', since: new Date(this.#sinceMs).toISOString(), counts });
  }

  /** Counts that come from here on are not written. */
  close(): void {
    this.#cancel?.();
  }
}
