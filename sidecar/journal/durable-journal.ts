/**
 * The journal on disk: a write-ahead log of its own, read again at every start.
 *
 * A start says, by a durable record each, what became of operations the last process left running (`afterCrash`): nothing was sent, so
 * planned again; a request is out, so unknown; or all of its requests are known, so over. Only then can anybody ask for them.
 *
 * The log is rewritten with what still counts when most of it no longer does. Nobody writes meanwhile: what is rewritten is what is
 * applied, and everything that is acknowledged is applied.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { type FaultKind, Wal, type WalOptions } from '#sidecar/wal/wal.ts';
import { Entries } from './entries.ts';
import { afterCrash } from './fold.ts';
import { decodeJournalRecord, encodeJournalRecord, type JournalRecord } from './journal-record.ts';
import { RecordedJournal } from './recorded-journal.ts';
import { WriteGate } from './write-gate.ts';

export interface DurableJournalOptions {
  /** A folder of its own below `--state`; made when it is not there. */
  readonly folder: string;
  readonly clock: Clock;
  /** Hears when records are no longer taken, and why; undefined when they are again. While there is a fault, effects are refused. */
  readonly onFault?: (fault: FaultKind | undefined) => void;
  /** For tests, but for a disk that counts; the others stand in limits. */
  readonly log?: Pick<WalOptions, 'disk' | 'segmentBytes' | 'segmentAgeMs' | 'appendMs'>;
  /** Default limits.journalCompactBytesMin and journalCompactFactor. */
  readonly compact?: { readonly bytesMin: number; readonly factor: number };
}

/** What a start found. */
export interface JournalFound {
  readonly records: number;
  /** Of a write that was cut off, and was never acknowledged. */
  readonly tornBytes: number;
  /** Operations that were running, by what became of them. */
  readonly restarted: Readonly<Record<'planned' | 'done' | 'failed' | 'unknown', number>>;
}

export class DurableJournal extends RecordedJournal {
  readonly found: JournalFound;
  readonly #wal: Wal;
  readonly #gate: WriteGate;
  readonly #compact: { readonly bytesMin: number; readonly factor: number };
  #compacting: Promise<void> | undefined;
  /** After one that failed: not before the log has grown so long. */
  #compactFromBytes = 0;

  /**
   * Throws AUDIT_UNAVAILABLE when the log cannot be read, is damaged, belongs to another process, or holds what this release does not
   * understand; nothing is changed then. Also when there is no room to say what became of running operations.
   */
  static async open(options: DurableJournalOptions): Promise<DurableJournal> {
    const entries = new Entries();
    let records = 0;
    const onRecord = (payload: Uint8Array, sequence: number) => {
      const refused = entries.apply(decodeJournalRecord(payload), payload.length);
      if (refused !== undefined) throw contradiction(sequence, refused);
      records += 1;
    };
    const { folder, clock, onFault } = options;
    const wal = await Wal.open({ ...options.log, folder, clock, onRecord, ...(onFault === undefined ? {} : { onFault }) });
    try {
      const restarted = await restart(wal, entries, clock);
      return new DurableJournal(options, wal, entries, { records, tornBytes: wal.recovered.tornBytes, restarted });
    } catch (error) {
      await wal.close();
      throw error;
    }
  }

  private constructor(options: DurableJournalOptions, wal: Wal, entries: Entries, found: JournalFound) {
    const gate = new WriteGate();
    super({ clock: options.clock, log: wal, durable: true, entries, gate });
    this.#gate = gate;
    this.#wal = wal;
    this.#compact = options.compact ?? { bytesMin: limits.journalCompactBytesMin, factor: limits.journalCompactFactor };
    this.found = found;
    gate.onQuiet = () => this.#compactIfWorthIt();
  }

  /** Why records are not taken at the moment. */
  get fault(): FaultKind | undefined {
    return this.#wal.fault;
  }

  /** On disk. */
  get bytes(): number {
    return this.#wal.bytes;
  }

  override async close(): Promise<void> {
    await this.#compacting;
    await super.close();
  }

  #compactIfWorthIt(): void {
    const worth = Math.max(this.#compact.bytesMin, this.#compactFromBytes, this.#compact.factor * this.entries.bytes);
    if (this.#compacting !== undefined || this.#wal.bytes < worth || this.#wal.fault !== undefined) return;
    this.#compacting = this.#gate
      .alone(() => this.#wal.rewrite(whatCounts(this.entries)))
      // The log goes on as it was, and says by its fault why it could not be rewritten.
      .then(
        () => 0,
        () => this.#wal.bytes + this.#compact.bytesMin,
      )
      .then((fromBytes) => {
        this.#compactFromBytes = fromBytes;
        this.#compacting = undefined;
      });
  }
}

async function restart(wal: Wal, entries: Entries, clock: Clock): Promise<JournalFound['restarted']> {
  const restarted = { planned: 0, done: 0, failed: 0, unknown: 0 };
  const running = [...entries.all()].filter(({ phase }) => phase === 'running');
  for (let at = 0; at < running.length; at += RESTARTS_AT_ONCE) {
    await Promise.all(
      running.slice(at, at + RESTARTS_AT_ONCE).map(async (entry) => {
        const phase = afterCrash(entry);
        const record: JournalRecord = { kind: 'restart', id: entry.record.operationId, phase, atMs: clock.wallMs() };
        const payload = encodeJournalRecord(record);
        await wal.append(payload);
        entries.apply(record, payload.length);
        restarted[phase] += 1;
      }),
    );
  }
  return restarted;
}

const RESTARTS_AT_ONCE = 256;

function* whatCounts(entries: Entries): Iterable<Uint8Array> {
  for (const entry of entries.all()) yield encodeJournalRecord({ kind: 'entry', id: entry.record.operationId, entry });
  for (const [name, value] of entries.kept('')) yield encodeJournalRecord({ kind: 'keep', name, value });
  // After the names they are about.
  for (const [approval, count] of entries.uses.all()) yield encodeJournalRecord({ kind: 'uses', approval, count });
}

function contradiction(sequence: number, refused: string): PosternError {
  return new PosternError(
    'AUDIT_UNAVAILABLE',
    `The journal contradicts itself at record ${sequence}, and nothing in it was changed: it was not written by this program. ${refused}`,
    { details: { log: 'damaged' } },
  );
}
