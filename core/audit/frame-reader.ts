/**
 * Frames out of bytes that come in pieces of any size. Holds less than one frame of the largest kind, and nothing in proportion to a length
 * it reads (AUD-22); a frame that lies whole in a piece is not copied.
 */
import { decodeFrame, type Frame, type NoFrame } from './frame.ts';

export class FrameReader {
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Of what is held with what comes: enough to say more. */
  #needed = 0;

  /** Bytes of a frame that has begun. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Calls `onFrame` for each frame in order, until one gives false. What is no frame ends it, too, and is given back. */
  push(piece: Buffer, onFrame: (frame: Frame) => boolean): NoFrame | undefined {
    let at = 0;
    while (this.#heldBytes > 0) {
      const taken = piece.subarray(at, at + this.#needed - this.#heldBytes);
      at += taken.length;
      this.#hold(taken);
      if (this.#heldBytes < this.#needed) return undefined;
      const held = Buffer.concat(this.#held);
      this.#held = [];
      this.#heldBytes = 0;
      const frame = decodeFrame(held, 0);
      if (!('no' in frame)) {
        if (!onFrame(frame)) return undefined;
      } else if (frame.no === 'short') {
        this.#needed = frame.needed;
        this.#hold(held);
      } else return frame.no;
    }
    return this.#whole(piece, at, onFrame);
  }

  #whole(piece: Buffer, from: number, onFrame: (frame: Frame) => boolean): NoFrame | undefined {
    for (let at = from; at < piece.length; ) {
      const frame = decodeFrame(piece, at);
      if ('no' in frame) {
        if (frame.no !== 'short') return frame.no;
        this.#needed = frame.needed;
        // A copy: the piece is its owner's again when this returns.
        this.#hold(Buffer.from(piece.subarray(at)));
        return undefined;
      }
      if (!onFrame(frame)) return undefined;
      at += frame.bytes.length;
    }
    return undefined;
  }

  #hold(bytes: Buffer): void {
    if (bytes.length === 0) return;
    this.#held.push(Buffer.from(bytes));
    this.#heldBytes += bytes.length;
  }
}
