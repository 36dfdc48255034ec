/** Records that wait for their commit, in the order they came; bounded in number and bytes (AUD-15). */
import { FRAME_START_BYTES, HASH_BYTES, HEAD_BYTES } from '#core/audit/frame.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Entry, Recorded } from './audit-log.ts';

export interface WaitingEntry {
  readonly entry: Entry;
  readonly bytes: number;
  /** Monotonic. */
  readonly atMs: number;
  resolve(recorded: Recorded): void;
  reject(error: unknown): void;
}

/**
 * A frame may hold the intent of an effect, which goes to the authority in the frame it stands in: so no frame is longer than the authority
 * takes, and no effect is refused for what others had recorded beside it. A frame is longer than its text: a header with a stanza for each
 * recipient, 16 bytes for each 64 KiB, and what is beside the body.
 */
const BATCH_BYTES_MAX = limits.auditIntentBytesMax - 16 * 1024 - FRAME_START_BYTES - HASH_BYTES;
const OPERATION_ID = /^op_[a-z0-9]{26}$/;

/** Bytes of its line. Throws RangeError for an entry that no frame may hold: a fault of ours, which must not reach the others of its batch. */
export function lineBytes({ text, operationId }: Entry): number {
  const bytes = Buffer.byteLength(text, 'utf8');
  if (bytes === 0 || bytes > limits.auditRecordBytesMax) throw new RangeError(`an audit record of ${bytes} bytes`);
  if (text.includes('\n')) throw new RangeError('an audit record of several lines');
  if (operationId !== undefined && !OPERATION_ID.test(operationId)) throw new RangeError('an operation id that is none');
  return bytes + 1;
}

/** A note that came from outside. */
export interface Note {
  readonly kind: 'certificate' | 'receipt';
  readonly body: Uint8Array;
  /** It is durable. */
  resolve(): void;
}

export class CommitQueue {
  #waiting: WaitingEntry[] = [];
  #bytes = 0;
  /** Of those, that somebody waits for. */
  #awaited = 0;
  #hurries = false;

  get length(): number {
    return this.#waiting.length;
  }

  /** Since when the first one waits; undefined where none does. */
  get oldestMs(): number | undefined {
    return this.#waiting[0]?.atMs;
  }

  /** When its next commit is to be, monotonic: at once where somebody waits, never where there is nothing. */
  get dueMs(): number {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return Number.POSITIVE_INFINITY;
    return this.#hurries || this.#awaited > 0 ? Number.NEGATIVE_INFINITY : oldest.atMs + limits.auditLingerMs;
  }

  /** What waits now does not linger. */
  hurry(): void {
    this.#hurries = this.#waiting.length > 0;
  }

  /** False when there is no room. */
  push(waiting: WaitingEntry): boolean {
    if (this.#waiting.length >= limits.auditQueueRecordsMax || this.#bytes + waiting.bytes > limits.auditQueueBytesMax) return false;
    this.#waiting.push(waiting);
    this.#bytes += waiting.bytes;
    if (waiting.entry.lingers !== true) this.#awaited += 1;
    return true;
  }

  /** What one frame takes: at least one record, if there is any. */
  takeBatch(): readonly WaitingEntry[] {
    let [count, bytes] = [0, 0];
    for (const waiting of this.#waiting) {
      const more = waiting.bytes + HEAD_BYTES;
      if (count >= limits.auditFrameRecordsMax || bytes + more > BATCH_BYTES_MAX) break;
      count += 1;
      bytes += more;
    }
    return this.#taken(this.#waiting.splice(0, count));
  }

  takeAll(): readonly WaitingEntry[] {
    return this.#taken(this.#waiting.splice(0));
  }

  takeWhere(condition: (waiting: WaitingEntry) => boolean): readonly WaitingEntry[] {
    const taken = this.#waiting.filter(condition);
    if (taken.length > 0) this.#waiting = this.#waiting.filter((waiting) => !taken.includes(waiting));
    return this.#taken(taken);
  }

  #taken(taken: readonly WaitingEntry[]): readonly WaitingEntry[] {
    for (const { bytes, entry } of taken) {
      this.#bytes -= bytes;
      if (entry.lingers !== true) this.#awaited -= 1;
    }
    if (this.#waiting.length === 0) this.#hurries = false;
    return taken;
  }
}
