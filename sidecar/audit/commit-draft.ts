/** The frames of one commit, before anybody may say that they are in the chain. */
import { type Checkpoint, signCheckpoint } from '#core/audit/checkpoint.ts';
import { encodeFrame, type Frame, type FrameContent, type SealedKind, type StatementKind } from '#core/audit/frame.ts';
import type { FrameSealer } from '#core/audit/seal.ts';
import type { SigningKey } from '#core/audit/signed-note.ts';
import type { Entry } from './audit-log.ts';
import type { WaitingEntry } from './commit-queue.ts';

export class CommitDraft {
  readonly frames: Frame[] = [];
  readonly #epoch: number;
  readonly #timeMs: number;
  #size: number;
  #hash: Uint8Array;

  constructor(head: { readonly size: number; readonly hash: Uint8Array }, epoch: number, timeMs: number) {
    this.#size = head.size;
    this.#hash = head.hash;
    this.#epoch = epoch;
    this.#timeMs = timeMs;
  }

  statement(kind: StatementKind, body: Uint8Array): Frame {
    return this.#add({ form: 'statement', heads: [{ kind }], body });
  }

  /** The sequence of the first of them is that of the frame. */
  sealed(entries: readonly Entry[], body: Uint8Array): Frame {
    const heads = entries.map(({ kind, operationId }): { kind: SealedKind; operationId?: string } =>
      operationId === undefined ? { kind } : { kind, operationId },
    );
    return this.#add({ form: 'sealed', heads, body });
  }

  /** One frame for all of them; undefined for none. */
  async batch(batch: readonly WaitingEntry[], sealer: FrameSealer): Promise<Frame | undefined> {
    if (batch.length === 0) return undefined;
    const entries = batch.map(({ entry }) => entry);
    return this.sealed(entries, await sealer.seal(entries.map(({ text }) => `${text}\n`).join('')));
  }

  /** Signs all that is before it, and returns the note. */
  checkpoint(origin: string, key: SigningKey): string {
    const checkpoint: Checkpoint = { origin, size: this.#size, hash: this.#hash, epoch: this.#epoch, time: this.time };
    const note = signCheckpoint(checkpoint, key);
    this.statement('checkpoint', Buffer.from(note, 'utf8'));
    return note;
  }

  /** RFC 3339. */
  get time(): string {
    return new Date(this.#timeMs).toISOString();
  }

  payload(): Uint8Array {
    return Buffer.concat(this.frames.map(({ bytes }) => bytes));
  }

  #add(content: FrameContent): Frame {
    const frame = encodeFrame({ sequence: this.#size + 1, epoch: this.#epoch, timeMs: this.#timeMs, previous: this.#hash }, content);
    this.#size += content.heads.length;
    this.#hash = frame.hash;
    this.frames.push(frame);
    return frame;
  }
}
