/**
 * A chain as somebody would write or rewrite it: frames whose place, hashes and signatures are worked out when they are linked. Whoever
 * damages a chain in the vectors does it here with the powers that the damage grants: with hashes recomputed or not, with keys or without.
 */
import { hash } from 'node:crypto';
import { checkpointText } from '#core/audit/checkpoint.ts';
import { encodeFrame, type Frame, type FrameContent, originHash, type SealedKind, type StatementKind } from '#core/audit/frame.ts';
import { type SigningKey, signNote } from '#core/audit/signed-note.ts';

/** Where a frame is linked. */
export interface Place {
  readonly origin: string;
  readonly sequence: number;
  readonly epoch: number;
  readonly previous: Uint8Array;
  readonly time: string;
  readonly segment: number;
  readonly previousSegment?: { readonly bytes: number; readonly sha256: string };
  readonly previousEpoch?: { readonly sequence: number; readonly hash: string };
  /** Text of the checkpoint before. */
  readonly checkpoint: string;
}

export interface Draft {
  readonly epoch: number;
  readonly timeMs: number;
  readonly heads: readonly { readonly kind: SealedKind | StatementKind; readonly operationId?: string }[];
  readonly body: Uint8Array | ((place: Place) => string | Uint8Array);
  /** Last touch to the bytes, whose hash is worked out anew behind it. */
  readonly touch?: (bytes: Buffer) => void;
}

export interface LinkedFrame {
  readonly kind: SealedKind | StatementKind;
  readonly epoch: number;
  readonly sequence: number;
  readonly last: number;
  readonly hash: Uint8Array;
  readonly bytes: Buffer;
  readonly body: Uint8Array;
}

export interface LinkedChain {
  readonly origin: string;
  readonly segments: readonly (readonly LinkedFrame[])[];
  readonly files: readonly Buffer[];
}

const SEALED = new Set<string>(['session', 'intent', 'outcome', 'refused', 'replayed', 'approval', 'request', 'counted']);

/** All of it anew: sequences, hashes, and what bodies make of their place. */
export function link(origin: string, drafts: readonly (readonly Draft[])[]): LinkedChain {
  let previous: Uint8Array = originHash(origin);
  let sequence = 1;
  let checkpoint = '';
  let epochBefore: Place['previousEpoch'];
  let epoch = 0;
  const segments: LinkedFrame[][] = [];
  const files: Buffer[] = [];
  for (const segment of drafts) {
    const frames: LinkedFrame[] = [];
    for (const draft of segment) {
      epochBefore = draft.epoch === epoch ? undefined : { sequence: sequence - 1, hash: Buffer.from(previous).toString('hex') };
      epoch = draft.epoch;
      const before = files.at(-1);
      const place: Place = {
        ...{ origin, sequence, epoch, previous, time: timeText(draft.timeMs), segment: segments.length + 1, checkpoint },
        ...(before ? { previousSegment: { bytes: before.length, sha256: hash('sha256', before) } } : {}),
        ...(epochBefore && epochBefore.sequence > 0 ? { previousEpoch: epochBefore } : {}),
      };
      const frame = linkFrame(draft, place);
      if (frame.kind === 'checkpoint') checkpoint = noteText(frame.body);
      frames.push(frame);
      previous = frame.hash;
      sequence = frame.last + 1;
    }
    segments.push(frames);
    files.push(Buffer.concat(frames.map((frame) => frame.bytes)));
  }
  return { origin, segments, files };
}

function linkFrame(draft: Draft, place: Place): LinkedFrame {
  const made = typeof draft.body === 'function' ? draft.body(place) : draft.body;
  const body = typeof made === 'string' ? Buffer.from(made) : made;
  const start = { sequence: place.sequence, epoch: draft.epoch, timeMs: draft.timeMs, previous: place.previous };
  const frame: Frame = encodeFrame(start, contentOf(draft, body));
  const bytes = Buffer.from(frame.bytes);
  if (draft.touch) {
    draft.touch(bytes);
    rehash(bytes);
  }
  const kind = draft.heads[0]?.kind ?? 'session';
  const last = place.sequence + draft.heads.length - 1;
  return { kind, epoch: draft.epoch, sequence: place.sequence, last, hash: bytes.subarray(-32), bytes, body };
}

function contentOf({ heads }: Draft, body: Uint8Array): FrameContent {
  const form = SEALED.has(heads[0]?.kind ?? '') ? 'sealed' : 'statement';
  // A draft may claim what no writer would: the type of the encoder is for writers.
  return { form, heads, body } as FrameContent;
}

/** The hash at the end of a frame, over whatever is before it. */
export function rehash(frame: Buffer): void {
  hash('sha256', Buffer.concat([Buffer.from('postern/audit/frame/v1\0'), frame.subarray(0, -32)]), 'buffer').copy(frame, frame.length - 32);
}

export function noteText(body: Uint8Array): string {
  const note = Buffer.from(body).toString('utf8');
  return note.slice(0, note.lastIndexOf('\n\n') + 1);
}

export function timeText(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** A checkpoint of its place, signed by `key`. */
export function checkpointAt(key: SigningKey, change: Partial<Place & { readonly size: number }> = {}): (place: Place) => string {
  return (place) => {
    const { origin, epoch, time, previous, sequence } = { ...place, ...change };
    return signNote(checkpointText({ origin, size: change.size ?? sequence - 1, hash: previous, epoch, time }), key);
  };
}
