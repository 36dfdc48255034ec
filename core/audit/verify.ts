/**
 * Checks a chain as FORMAT.md says ("Checking"), segment by segment, from bytes that may be anything. Takes no key to what is in the records,
 * no clock, no network. Memory: less than one frame, hashes of the last checkpoints, a hundred bytes an epoch.
 *
 *   begin(bytes) ──▶ push(piece)… ──▶ end() ──▶ begin … ──▶ verdict()
 *
 * The first frame that fails names the first broken sequence; nothing behind it counts.
 */
import { createHash, type Hash } from 'node:crypto';
import { limits } from '#core/bounds/limits.ts';
import { BROKEN, type BrokenReason, brokenBy } from './broken.ts';
import type { SegmentBytes } from './chain-state.ts';
import { ChainState, type StateOptions } from './chain-state.ts';
import { type TailVerdict, tailVerdict } from './chain-tail.ts';
import type { SignatureVerdict } from './epoch-ledger.ts';
import type { Frame } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import type { Heads } from './heads.ts';

export interface VerifyOptions extends StateOptions {
  /** To hold the chain's end against. */
  readonly heads?: readonly Heads[];
  /** Hears each frame that was good, in order; a view, valid during the call. */
  readonly onFrame?: (frame: Frame) => void;
}

export interface ChainVerdict {
  /** Of the first statement that could be read. */
  readonly origin: string | undefined;
  /** Of the good part. 0 and 0 where nothing is good. */
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly broken?: { readonly sequence: number; readonly reason: BrokenReason; readonly sentence: string };
  readonly signature: SignatureVerdict;
  readonly tail: TailVerdict;
  /** Sequences of frames whose time is far before that of the frame before (AUD-17); the first ones, and how many there are. */
  readonly clockSkews: { readonly count: number; readonly first: readonly { readonly sequence: number; readonly backMs: number }[] };
  readonly recipientChanges: { readonly count: number; readonly first: readonly number[] };
  /** Epochs, but the last one, that were cut off by a crash or by somebody. */
  readonly epochsWithoutEnd: { readonly count: number; readonly first: readonly number[] };
  /** The last epoch has ended in order. */
  readonly ended: boolean;
  /** Everything that was checked is right. */
  readonly good: boolean;
}

export class ChainVerifier {
  readonly #options: VerifyOptions;
  readonly #state: ChainState;
  #reader = new FrameReader();
  #digest: Hash = createHash('sha256');
  #bytes = 0;
  #broken: BrokenReason | undefined;

  constructor(options: VerifyOptions = {}) {
    this.#options = options;
    this.#state = new ChainState({ ...options, sizes: sizesOf(options.heads ?? []) });
  }

  /** Nothing more of the chain counts. */
  get isBroken(): boolean {
    return this.#broken !== undefined;
  }

  get origin(): string | undefined {
    return this.#state.origin;
  }

  /** Sequence of the last record that is good so far. */
  get lastSequence(): number {
    return this.#state.last;
  }

  /** `bytes`: of the whole segment. */
  begin(bytes: number): void {
    this.#reader = new FrameReader();
    this.#digest = createHash('sha256');
    this.#bytes = 0;
    this.#state.beginSegment();
    if (bytes > limits.auditSegmentFileBytesMax) this.#broken ??= 'too-long';
    if (bytes === 0) this.#broken ??= 'empty';
  }

  /** The next bytes of the segment. They are not changed, and not needed when this returns. */
  push(piece: Buffer): void {
    if (this.#broken !== undefined) return;
    this.#bytes += piece.length;
    if (this.#bytes > limits.auditSegmentFileBytesMax) {
      this.#broken = 'too-long';
      return;
    }
    this.#digest.update(piece);
    const no = this.#reader.push(piece, (frame) => {
      this.#broken = this.#state.take(frame);
      if (this.#broken === undefined) this.#options.onFrame?.(frame);
      return this.#broken === undefined;
    });
    if (no !== undefined) this.#broken ??= brokenBy(no);
  }

  end(): void {
    if (this.#broken !== undefined) return;
    if (this.#reader.heldBytes > 0) this.#broken = 'rest';
    else this.#state.endSegment({ bytes: this.#bytes, sha256: this.#digest.digest('hex') } satisfies SegmentBytes);
  }

  /** What holds the chain is damaged here; nothing more can be read of it. */
  damaged(): void {
    this.#broken ??= 'log';
  }

  /** `origins`: of all chains that were looked at; this one's when it is the only one. */
  verdict(origins: ReadonlySet<string> = new Set(this.origin === undefined ? [] : [this.origin])): ChainVerdict {
    const { origin, first, last, ledger, clockSkews, recipientChanges, hashes, next } = this.#state;
    const signature = ledger.verdict();
    const tail = tailVerdict({ origin, last, hashes }, this.#options.heads ?? [], origins);
    const good = this.#broken === undefined && signature.is !== 'INVALID' && ['not checked', 'complete'].includes(tail.is);
    const base = { origin, firstSequence: last < first ? 0 : first, lastSequence: last < first ? 0 : last };
    return {
      ...base,
      ...(this.#broken === undefined ? {} : { broken: { sequence: next, reason: this.#broken, sentence: BROKEN[this.#broken] } }),
      signature,
      tail,
      clockSkews,
      recipientChanges,
      epochsWithoutEnd: ledger.withoutEnd(),
      ended: this.#state.ended,
      good,
    };
  }
}

/** The order in which segments are checked: by the sequence their first frame has, whatever else they are; then by name, by bytes. */
export function compareSegments(one: SegmentPlace, other: SegmentPlace): number {
  const [a, b] = [one.firstSequence ?? FAR, other.firstSequence ?? FAR];
  if (a !== b) return a < b ? -1 : 1;
  return Buffer.compare(Buffer.from(one.name), Buffer.from(other.name));
}

export interface SegmentPlace {
  /** Without its folder. */
  readonly name: string;
  /** Bytes 8 to 15; undefined where it is too short for it. */
  readonly firstSequence: bigint | undefined;
}

/** Of the first bytes of a segment. */
export function firstSequenceOf(start: Buffer): bigint | undefined {
  return start.length < SEQUENCE_ENDS_AT ? undefined : start.readBigUInt64LE(SEQUENCE_AT);
}

const SEQUENCE_AT = 8;
export const SEQUENCE_ENDS_AT = 16;
const FAR = 2n ** 64n;

function sizesOf(heads: readonly Heads[]): ReadonlySet<number> {
  return new Set(heads.flatMap((given) => given.heads.map(({ size }) => size)));
}
