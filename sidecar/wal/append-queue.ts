/** Records that wait for the disk, in the order they came; bounded in number and bytes (AUD-15). */
import { limits } from '#core/bounds/limits.ts';
import { recordBytes } from './frame.ts';
import type { Position } from './wal.ts';

export interface Waiting {
  readonly payload: Uint8Array;
  /** Monotonic. */
  readonly atMs: number;
  resolve(position: Position): void;
  reject(error: unknown): void;
}

export class AppendQueue {
  #waiting: Waiting[] = [];
  #bytes = 0;

  /** False when there is no room. */
  push(waiting: Waiting): boolean {
    const bytes = this.#bytes + recordBytes(waiting.payload);
    if (this.#waiting.length >= limits.walQueueEntriesMax || bytes > limits.walQueueBytesMax) return false;
    this.#waiting.push(waiting);
    this.#bytes = bytes;
    return true;
  }

  /** What one frame takes: at least one record, if there is any. */
  takeBatch(): readonly Waiting[] {
    let [count, bytes] = [0, 0];
    for (const { payload } of this.#waiting) {
      if (count > 0 && (count >= limits.walBatchEntriesMax || bytes + recordBytes(payload) > limits.walBatchBytesMax)) break;
      count += 1;
      bytes += recordBytes(payload);
    }
    this.#bytes -= bytes;
    return this.#waiting.splice(0, count);
  }

  takeAll(): readonly Waiting[] {
    this.#bytes = 0;
    return this.#waiting.splice(0);
  }
}
