/**
 * The operations and kept values that a journal knows at this moment, and what may be forgotten when there is no more room.
 *
 * Holds only what is durable: whoever writes a record applies it here after the log has it.
 */
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import type { Entry } from './entry.ts';
import { foldRecord } from './fold.ts';
import type { JournalRecord, OperationJournalRecord } from './journal-record.ts';
import { Uses } from './uses.ts';

interface Kept {
  readonly value: JsonValue;
  readonly bytes: number;
}

export class Entries {
  readonly #entries = new Map<string, { readonly entry: Entry; readonly bytes: number }>();
  readonly #kept = new Map<string, Kept>();
  /** Ids by contract and arguments, of those that are running or unknown. */
  readonly #open = new Map<string, Set<string>>();
  /** Ids of those that are done or failed, in the order in which they ended. */
  readonly #ended = new Set<string>();
  readonly uses = new Uses();
  #bytes = 0;

  get size(): number {
    return this.#entries.size;
  }

  get names(): number {
    return this.#kept.size;
  }

  /** Of all records that made what is known now; what a rewritten log would hold is about this. */
  get bytes(): number {
    return this.#bytes;
  }

  get(operationId: string): Entry | undefined {
    return this.#entries.get(operationId)?.entry;
  }

  /** Oldest plan first. */
  *all(): Iterable<Entry> {
    for (const { entry } of this.#entries.values()) yield entry;
  }

  *kept(prefix: string): Iterable<readonly [string, JsonValue]> {
    for (const [name, { value }] of this.#kept) if (name.startsWith(prefix)) yield [name, value];
  }

  has(name: string): boolean {
    return this.#kept.has(name);
  }

  /** A running one before an unknown one: it is what an equal call waits for. */
  held(contract: string, argsDigest: string): Entry | undefined {
    const held = [...(this.#open.get(openKey(contract, argsDigest)) ?? [])]
      .map((id) => this.get(id))
      .filter((entry) => entry !== undefined);
    return held.find(({ phase }) => phase === 'running') ?? held[0];
  }

  /** Undefined when it was applied; else why the record cannot be true. `bytes` is its length in the log. */
  apply(record: JournalRecord, bytes: number): string | undefined {
    if (record.kind === 'keep') {
      this.#keep(record.name, record.value, bytes);
      return undefined;
    }
    if (record.kind === 'uses') {
      this.uses.restore(record.approval, record.count);
      return undefined;
    }
    const before = this.#entries.get(record.id);
    const folded = foldRecord(before?.entry, record);
    if (folded === 'forgotten') {
      this.#forget(record.id);
      return undefined;
    }
    if ('refused' in folded) return folded.refused;
    this.#put(record, record.kind === 'begin' ? this.uses.begun(folded.entry) : folded.entry, bytes + (before?.bytes ?? 0));
    return undefined;
  }

  /**
   * What must go, oldest first: what ended longer than journalKeptMs ago, and then as many of those that ended, or were planned and not
   * begun in their time, as one more entry needs, with `bytes` for it and for the `coming` ones that are on their way to the log. Undefined when that is not enough: what is running, unknown, or waits for a
   * person is never dropped. `busy` says which are being written to right now.
   */
  roomFor(bytes: number, coming: number, nowMs: number, busy: (operationId: string) => boolean): readonly string[] | undefined {
    const dropped: string[] = [];
    let [left, used] = [this.size + coming, this.#bytes];
    const fits = () => left + 1 <= limits.journalEntriesMax && used + bytes <= limits.journalBytesMax;
    for (const id of this.#droppable(nowMs, fits)) {
      if (busy(id)) continue;
      dropped.push(id);
      left -= 1;
      used -= this.#entries.get(id)?.bytes ?? 0;
    }
    return fits() ? dropped : undefined;
  }

  /** Gives those that are over their time, and then more for as long as it does not fit. */
  *#droppable(nowMs: number, fits: () => boolean): Iterable<string> {
    for (const id of this.#ended) {
      const endedAtMs = this.get(id)?.endedAtMs ?? 0;
      if (endedAtMs + limits.journalKeptMs > nowMs && fits()) break;
      yield id;
    }
    if (fits()) return;
    for (const { record, phase } of this.all()) {
      if (fits()) return;
      if (phase === 'planned' && record.expiresAtMs <= nowMs) yield record.operationId;
    }
  }

  #keep(name: string, value: JsonValue, bytes: number): void {
    this.#bytes -= this.#kept.get(name)?.bytes ?? 0;
    const isNew = !this.#kept.delete(name);
    if (value === null) {
      if (!isNew) this.uses.forgotten(name);
      return;
    }
    if (isNew) this.uses.kept(name);
    this.#kept.set(name, { value, bytes });
    this.#bytes += bytes;
  }

  #put({ id }: OperationJournalRecord, entry: Entry, bytes: number): void {
    this.#bytes += bytes - (this.#entries.get(id)?.bytes ?? 0);
    this.#entries.set(id, { entry, bytes });
    const key = openKey(entry.record.contract, entry.record.argsDigest);
    const open = this.#open.get(key) ?? new Set();
    if (entry.phase === 'running' || entry.phase === 'unknown') this.#open.set(key, open.add(id));
    else this.#close(key, id);
    if (entry.phase === 'done' || entry.phase === 'failed') this.#ended.add(id);
  }

  #forget(id: string): void {
    const gone = this.#entries.get(id);
    this.#entries.delete(id);
    this.#ended.delete(id);
    this.#bytes -= gone?.bytes ?? 0;
  }

  #close(key: string, id: string): void {
    const open = this.#open.get(key);
    open?.delete(id);
    if (open?.size === 0) this.#open.delete(key);
  }
}

function openKey(contract: string, argsDigest: string): string {
  return `${contract}\0${argsDigest}`;
}
