/**
 * The journal over any log: memory and disk differ only in where a record goes.
 *
 * - A record is applied after the log has it, never before: what memory says has happened is what a start would find.
 * - Of one operation, or one kept name, at most one record is on its way. Everybody else waits and then judges what is there: that is
 *   how one of a hundred callers of `begin` gets `begun`.
 * - When the log refuses, nothing is applied and the caller hears AUDIT_UNAVAILABLE. The record may still be found by a start after a
 *   crash, as the last one; what follows from it is never more than "unknown".
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { Entries } from './entries.ts';
import type { Entry, OperationRecord } from './entry.ts';
import { foldRecord } from './fold.ts';
import type { Journal } from './journal.ts';
import { encodeJournalRecord, type JournalRecord, type OperationJournalRecord } from './journal-record.ts';
import { PhaseWaiters } from './phase-waiters.ts';
import { Turns } from './turns.ts';
import { WriteGate } from './write-gate.ts';

export interface RecordLog {
  /** Resolves when the record is durable; rejects with AUDIT_UNAVAILABLE. */
  append(payload: Uint8Array): Promise<unknown>;
  close(): Promise<void>;
}

export class RecordedJournal implements Journal {
  readonly durable: boolean;
  protected readonly entries: Entries;
  readonly #clock: Clock;
  readonly #log: RecordLog;
  readonly #turns = new Turns();
  readonly #waiters: PhaseWaiters;
  readonly #gate: WriteGate;
  /** Room that plans on their way to the log will take. */
  #comingEntries = 0;
  #comingBytes = 0;

  constructor(options: {
    readonly clock: Clock;
    readonly log: RecordLog;
    readonly durable: boolean;
    readonly entries?: Entries;
    readonly gate?: WriteGate;
  }) {
    this.#clock = options.clock;
    this.#log = options.log;
    this.durable = options.durable;
    this.entries = options.entries ?? new Entries();
    this.#waiters = new PhaseWaiters(options.clock);
    this.#gate = options.gate ?? new WriteGate();
  }

  plan(record: OperationRecord): Promise<Entry> {
    const id = record.operationId;
    return this.#turns.take(id, async () => {
      const known = this.get(id);
      if (known !== undefined) return samePlan(known, record);
      const payload = encodeJournalRecord({ kind: 'plan', id, record });
      if (payload.length > limits.journalPlanBytesMax)
        throw full('plan_bytes', limits.journalPlanBytesMax, 'The plan is too large to keep.');
      const drops = this.#makeRoom(payload.length);
      this.#comingEntries += 1;
      this.#comingBytes += payload.length;
      try {
        await Promise.all([...drops, this.#write({ kind: 'plan', id, record }, payload)]);
      } finally {
        this.#comingEntries -= 1;
        this.#comingBytes -= payload.length;
      }
      return this.#known(id);
    });
  }

  begin(operationId: string, approval?: string): Promise<'begun' | Entry> {
    return this.#turns.take(operationId, async () => {
      const entry = this.#known(operationId);
      if (entry.phase !== 'planned') return entry;
      if (entry.record.expiresAtMs <= this.#clock.wallMs()) {
        throw new PosternError('APPROVAL_EXPIRED', 'The plan was not begun in its time; call again for a new one.', { operationId });
      }
      await this.#write({ kind: 'begin', id: operationId, ...(approval === undefined ? {} : { approval }) });
      return 'begun';
    });
  }

  again(operationId: string): Promise<'begun' | Entry> {
    return this.#turns.take(operationId, async () => {
      const entry = this.#known(operationId);
      if (entry.phase !== 'unknown' || entry.record.idempotency === 'None') return entry;
      await this.#write({ kind: 'again', id: operationId });
      return 'begun';
    });
  }

  intent(operationId: string, index: number): Promise<void> {
    return this.#record({ kind: 'intent', id: operationId, index });
  }

  step(operationId: string, index: number, state: 'done' | 'notDone' | 'unknown'): Promise<void> {
    return this.#record({ kind: 'step', id: operationId, index, state });
  }

  end(operationId: string, phase: 'done' | 'failed' | 'unknown', outcome: JsonValue): Promise<void> {
    const kept = Buffer.byteLength(JSON.stringify(outcome)) <= limits.journalOutcomeBytesMax ? { outcome } : { outcome: TOO_LARGE };
    return this.#record({ kind: 'end', id: operationId, phase, atMs: this.#clock.wallMs(), ...kept });
  }

  resolve(operationId: string, verdict: 'done' | 'notDone', by: string): Promise<Entry> {
    return this.#turns.take(operationId, async () => {
      if (this.#known(operationId).phase !== 'unknown') {
        throw new PosternError('INVALID_ARGUMENT', 'Only an operation of unknown outcome can be resolved.', {
          operationId,
          fields: [{ path: '/operation_id', rule: 'not_unknown', message: 'Use the id of an operation whose outcome is unknown.' }],
        });
      }
      await this.#write({ kind: 'resolve', id: operationId, verdict, by, atMs: this.#clock.wallMs() });
      return this.#known(operationId);
    });
  }

  keep(name: string, value: JsonValue | null): Promise<void> {
    // A name and an operation id never meet: an id has no blank.
    return this.#turns.take(`name ${name}`, async () => {
      if (value === null && !this.entries.has(name)) return;
      const record = { kind: 'keep', name, value } as const;
      const payload = encodeJournalRecord(record);
      if (payload.length > limits.journalValueBytesMax)
        throw full('value_bytes', limits.journalValueBytesMax, 'The value is too large to keep.');
      if (value !== null && !this.entries.has(name)) this.#roomForName(payload.length);
      await this.#write(record, payload);
    });
  }

  kept(prefix: string): readonly (readonly [string, JsonValue])[] {
    return [...this.entries.kept(prefix)];
  }

  uses(approval: string): number {
    return this.entries.uses.of(approval);
  }

  get(operationId: string): Entry | undefined {
    return this.entries.get(operationId);
  }

  list(): readonly Entry[] {
    return [...this.entries.all()].reverse();
  }

  held(contract: string, argsDigest: string): Entry | undefined {
    return this.entries.held(contract, argsDigest);
  }

  changed(operationId: string, waitMs: number, signal: AbortSignal): Promise<void> {
    return this.#waiters.wait(operationId, waitMs, signal);
  }

  async close(): Promise<void> {
    await this.#log.close();
  }

  #record(record: OperationJournalRecord): Promise<void> {
    return this.#turns.take(record.id, async () => {
      this.#known(record.id);
      await this.#write(record);
    });
  }

  async #write(record: Exclude<JournalRecord, { kind: 'uses' }>, payload = encodeJournalRecord(record)): Promise<void> {
    const turn = this.#gate.enter();
    if (turn !== undefined) await turn;
    try {
      const before = record.kind === 'keep' ? undefined : this.get(record.id);
      if (record.kind !== 'keep') assertPossible(before, record);
      await this.#log.append(payload);
      this.entries.apply(record, payload.length);
      if (record.kind !== 'keep' && before?.phase !== this.get(record.id)?.phase) this.#waiters.wake(record.id);
    } finally {
      this.#gate.leave();
    }
  }

  #makeRoom(bytes: number): readonly Promise<void>[] {
    const coming = this.#comingBytes + bytes;
    const dropped = this.entries.roomFor(coming, this.#comingEntries, this.#clock.wallMs(), (id) => this.#turns.taken(id));
    if (dropped === undefined) {
      throw full(
        'journal',
        limits.journalEntriesMax,
        'The journal is full of operations that wait for a person or whose outcome is unknown; decide or resolve some, then call again.',
      );
    }
    return dropped.map((id) => this.#turns.take(id, () => this.#write({ kind: 'drop', id })));
  }

  #roomForName(bytes: number): void {
    if (this.entries.names < limits.journalNamesMax && this.entries.bytes + this.#comingBytes + bytes <= limits.journalBytesMax) return;
    throw full(
      'journal_names',
      limits.journalNamesMax,
      'The journal keeps as many questions and decisions as it can; call again when some are over.',
    );
  }

  #known(operationId: string): Entry {
    const entry = this.get(operationId);
    if (entry !== undefined) return entry;
    throw new PosternError('INVALID_ARGUMENT', 'No such operation is remembered; it may have been forgotten after its time.', {
      fields: [{ path: '/operation_id', rule: 'unknown_operation', message: 'Use an operation_id of a call this sidecar answered.' }],
    });
  }
}

const TOO_LARGE: JsonValue = { dropped: 'too_large' };

function assertPossible(entry: Entry | undefined, record: OperationJournalRecord): void {
  const folded = foldRecord(entry, record);
  if (folded === 'forgotten' || !('refused' in folded)) return;
  // The last guard before a second send; a caller that meets it has lost count of its own requests.
  throw new PosternError('IDEMPOTENCY_BUSY', `The journal does not take this step of the operation. ${folded.refused}`, {
    operationId: record.id,
  });
}

function samePlan(known: Entry, record: OperationRecord): Entry {
  const { planDigest, argsDigest, contract } = known.record;
  if (planDigest === record.planDigest && argsDigest === record.argsDigest && contract === record.contract) return known;
  throw new PosternError('IDEMPOTENCY_CONFLICT', 'This operation id belongs to another plan; leave it out to get a new one.', {
    operationId: record.operationId,
  });
}

function full(limit: string, value: number, message: string): PosternError {
  return new PosternError('LIMIT_EXCEEDED', message, { details: { limit, value: String(value) } });
}
