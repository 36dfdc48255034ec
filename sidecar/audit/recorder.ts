/**
 * Records go into the chain, each as durable as what it is about asks for:
 *
 *   intent of an effect     on disk, and kept by the authority where it keeps intents, before the first byte
 *   intent of a read        on disk before the answer
 *   outcome of an effect    on disk before the answer, as far as the disk lets us
 *   all else                waited for by nobody: in the queue of the chain at once and in its order, on disk with the next commit that
 *                           somebody waits for, or limits.auditLingerMs later
 *
 * A record of something that has happened is never given up because the disk does not take it now: it is tried again, bounded, and what
 * finds no room is counted. Nothing that may come in floods is written one by one past a rate (counted.ts).
 */
import type { AuditRecord, CountedRecord, IntentRecord, OutcomeRecord } from '#core/audit/record.ts';
import { recordLine } from '#core/audit/record-line.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Entry, Recorded } from './audit-log.ts';
import type { Authority } from './authority.ts';
import { Counted } from './counted.ts';

export interface RecorderMeans {
  readonly clock: Clock;
  readonly log: {
    append(entry: Entry): Promise<Recorded | undefined>;
    /** What lingers goes now. */
    hurry?(): void;
    readonly fault: string | undefined;
    readonly isOff: boolean;
  };
  /** Asked for each effect: who keeps its intent beside this disk, if anybody. */
  keep(): Authority['keep'] | undefined;
  /** Of every record that is durable. */
  onRecord?(kind: AuditRecord['record']): void;
  /** Of everything that was counted instead. */
  onCounted?(count: number): void;
}

export class AuditRecorder {
  readonly #means: RecorderMeans;
  readonly #counted: Counted;
  /** What happened and is not written yet. */
  #unwritten: Entry[] = [];
  #writing: Promise<void> | undefined;
  #cancelRetry: (() => void) | undefined;
  readonly #underWay = new Set<Promise<unknown>>();

  constructor(means: RecorderMeans) {
    this.#means = means;
    this.#counted = new Counted(means.clock, (record) => this.#writeCounted(record));
  }

  /** Nothing is recorded, and nothing is worth preparing. */
  get isOff(): boolean {
    return this.#means.log.isOff;
  }

  /** Why records are not taken at the moment, as a closed word. */
  get fault(): string | undefined {
    return this.#means.log.fault ?? (this.#unwritten.length > 0 ? 'unwritten' : undefined);
  }

  /** Rejects with AUDIT_UNAVAILABLE: nothing may be sent then, or nothing answered. Of an effect, waits for whoever keeps intents too. */
  async intent(record: IntentRecord): Promise<void> {
    const recorded = await this.#append(record, false);
    const keep = record.effect === 'Read' ? undefined : this.#means.keep();
    if (recorded !== undefined) await keep?.(recorded.frameSequence, recorded.frame);
  }

  /** Resolves once it is durable, or once that was tried in vain: what happened has happened, and is written later. */
  outcome(record: OutcomeRecord): Promise<void> {
    return this.#tried(record, record.effect === 'Read');
  }

  /** Of what is rare: written for certain, not waited for. */
  tell(record: AuditRecord): void {
    void this.#tried(record, true);
  }

  /** Of what an agent can do as often as it likes. `make` is called only where it is written by itself. */
  tellOften(what: string, code: string, make: () => AuditRecord): void {
    if (this.isOff) return;
    if (!this.#counted.takeSingle() || this.#means.log.fault !== undefined) {
      this.count(what, code);
      return;
    }
    this.#follow(this.#append(make(), true).catch(() => this.count(what, code)));
  }

  count(what: string, code: string): void {
    if (this.isOff) return;
    this.#means.onCounted?.(1);
    this.#counted.count(what, code);
  }

  /** Everything that was told is in the chain, or was tried in vain once more. MUST be bounded by the caller: a disk may hang. */
  async flush(): Promise<void> {
    this.#counted.flush();
    this.#means.log.hurry?.();
    await Promise.allSettled(this.#underWay);
    await this.#write();
  }

  /** After the last flush: nothing is tried again. */
  close(): void {
    this.#counted.close();
    this.#cancelRetry?.();
  }

  #writeCounted(record: CountedRecord): void {
    this.#follow(this.#append(record, true).catch(() => this.#counted.putBack(record)));
  }

  async #tried(record: AuditRecord, lingers: boolean): Promise<void> {
    if (this.isOff) return;
    const entry = entryOf(record, this.#means.clock.wallMs(), lingers);
    const written = this.#appendEntry(entry).catch(() => this.#keepUnwritten(entry));
    this.#follow(written);
    await written;
  }

  #append(record: AuditRecord, lingers: boolean): Promise<Recorded | undefined> {
    if (this.isOff) return Promise.resolve(undefined);
    return this.#appendEntry(entryOf(record, this.#means.clock.wallMs(), lingers));
  }

  async #appendEntry(entry: Entry): Promise<Recorded | undefined> {
    const recorded = await this.#means.log.append(entry);
    if (recorded !== undefined) this.#means.onRecord?.(entry.kind);
    return recorded;
  }

  #follow(promise: Promise<unknown>): void {
    this.#underWay.add(promise);
    void promise.finally(() => this.#underWay.delete(promise));
  }

  #keepUnwritten(entry: Entry): void {
    this.#unwritten.push(entry);
    if (this.#unwritten.length > limits.auditUnwrittenRecordsMax) {
      // An outcome last of all: whoever breaks the disk must not hide what became of an effect behind questions and states.
      const least = this.#unwritten.findIndex(({ kind }) => kind !== 'outcome');
      const [lost] = this.#unwritten.splice(Math.max(0, least), 1);
      if (lost !== undefined) this.count(lost.kind, 'AUDIT_UNAVAILABLE');
    }
    this.#cancelRetry ??= this.#means.clock.alarm(limits.auditUnwrittenRetryMs, () => {
      this.#cancelRetry = undefined;
      void this.#write();
    });
  }

  /** One at a time; stops at the first that is not taken. */
  #write(): Promise<void> {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const waiting = this.#unwritten;
    this.#unwritten = [];
    for (const [at, entry] of waiting.entries()) {
      try {
        await this.#appendEntry({ ...entry, lingers: false });
      } catch {
        for (const left of waiting.slice(at)) this.#keepUnwritten(left);
        return;
      }
    }
  }
}

function entryOf(record: AuditRecord, atMs: number, lingers: boolean): Entry {
  const text = recordLine(record, atMs);
  if (!('operation_id' in record) || record.operation_id === undefined) return { kind: record.record, text, lingers };
  return { kind: record.record, operationId: record.operation_id, text, lingers };
}
