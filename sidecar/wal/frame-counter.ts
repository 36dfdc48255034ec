/** Many records as frames, for a log that is rewritten. */
import { limits } from '#core/bounds/limits.ts';
import { type Frame, recordBytes } from './frame.ts';

/** Frames of many records; `sequence` is that of the next record once it was read to its end. */
export class FrameCounter implements Iterable<Frame> {
  readonly #payloads: Iterable<Uint8Array>;
  sequence: number;

  constructor(payloads: Iterable<Uint8Array>, sequence: number) {
    this.#payloads = payloads;
    this.sequence = sequence;
  }

  *[Symbol.iterator](): Iterator<Frame> {
    let [batch, bytes]: [Uint8Array[], number] = [[], 0];
    for (const payload of this.#payloads) {
      if (batch.length > 0 && bytes + recordBytes(payload) > limits.walBatchBytesMax) {
        yield this.#frame(batch);
        [batch, bytes] = [[], 0];
      }
      batch.push(payload);
      bytes += recordBytes(payload);
    }
    if (batch.length > 0) yield this.#frame(batch);
  }

  #frame(payloads: readonly Uint8Array[]): Frame {
    const sequence = this.sequence;
    this.sequence += payloads.length;
    return { kind: 'records', sequence, payloads };
  }
}
