/**
 * One frame of the chain as bytes: all records of one group commit, or one statement. FORMAT.md has every byte and what it defends.
 *
 * Pure: no clock, no randomness, no disk. What a frame may hold where is judged by whoever reads a chain (verify.ts).
 */
import { createHash, hash } from 'node:crypto';
import { limits } from '#core/bounds/limits.ts';

export const SEALED_KINDS = ['session', 'intent', 'outcome', 'refused', 'replayed', 'approval', 'request', 'counted'] as const;
export const STATEMENT_KINDS = ['segment', 'certificate', 'checkpoint', 'receipt', 'end'] as const;
export type SealedKind = (typeof SEALED_KINDS)[number];
export type StatementKind = (typeof STATEMENT_KINDS)[number];
export type RecordKind = SealedKind | StatementKind;

/** What of a record stands in clear. */
export interface Head<Kind extends RecordKind = RecordKind> {
  readonly kind: Kind;
  /** `op_` and 26 characters. */
  readonly operationId?: string;
}

export interface FrameStart {
  /** Of its first record, from 1. */
  readonly sequence: number;
  readonly epoch: number;
  /** Milliseconds since 1970. */
  readonly timeMs: number;
  /** 32 bytes. */
  readonly previous: Uint8Array;
}

export type FrameContent =
  | { readonly form: 'sealed'; readonly heads: readonly Head<SealedKind>[]; readonly body: Uint8Array }
  | { readonly form: 'statement'; readonly heads: readonly [Head<StatementKind>]; readonly body: Uint8Array };

export type Frame = FrameStart &
  FrameContent & {
    /** 32 bytes; the next frame's `previous`. */
    readonly hash: Uint8Array;
    /** With all that is above. A view where it was decoded. */
    readonly bytes: Uint8Array;
  };

export const HASH_BYTES = 32;
export const FRAME_START_BYTES = 64;
export const HEAD_BYTES = 32;
const MAGIC = Buffer.from([0xf7, 0x50, 0x41, 0x46]);
const VERSION = 1;
const FORMS = ['sealed', 'statement'] as const;
const OPERATION_CHARS = 26;
const OPERATION_AT = HEAD_BYTES - OPERATION_CHARS;
const STATEMENTS_FROM = 32;
const FRAME_LABEL = Buffer.from('postern/audit/frame/v1\0');
/** What is hashed in one call is put together here. */
const SCRATCH = Buffer.allocUnsafeSlow(8192);
const OPERATION_ID = /^op_[a-z0-9]{26}$/;
const NO_OPERATION = '\0'.repeat(OPERATION_CHARS);
const OPERATION_BYTES = /^[a-z0-9]{26}$/;

/** `H` of FORMAT.md: a hash made for one purpose is never one for another. */
export function labelledHash(label: string, bytes: Uint8Array): Buffer {
  return prefixedHash(Buffer.from(`${label}\0`), bytes);
}

/** One call is faster for a few bytes, no copy for many. */
function prefixedHash(prefix: Buffer, bytes: Uint8Array): Buffer {
  const end = prefix.length + bytes.length;
  if (end > SCRATCH.length) return createHash('sha256').update(prefix).update(bytes).digest();
  SCRATCH.set(prefix, 0);
  SCRATCH.set(bytes, prefix.length);
  return hash('sha256', SCRATCH.subarray(0, end), 'buffer');
}

/** What the first frame of a chain has before it. */
export function originHash(origin: string): Buffer {
  return labelledHash('postern/audit/origin/v1', Buffer.from(origin, 'utf8'));
}

/** Throws RangeError for content that no reader would take: a fault of ours. */
export function encodeFrame(start: FrameStart, content: FrameContent): Frame {
  const { heads, body } = content;
  if (heads.length === 0 || heads.length > limits.auditFrameRecordsMax) throw new RangeError(`a frame of ${heads.length} records`);
  if (body.length === 0 || body.length > limits.auditFrameBodyBytesMax) throw new RangeError(`a frame with a body of ${body.length} bytes`);
  requirePlace(start, heads.length);
  if (content.form === 'statement' && (heads.length !== 1 || content.heads[0].operationId !== undefined))
    throw new RangeError('a statement of several records, or with an operation');
  const bodyAt = FRAME_START_BYTES + HEAD_BYTES * heads.length;
  const bytes = Buffer.alloc(bodyAt + body.length + HASH_BYTES);
  MAGIC.copy(bytes, 0);
  bytes[4] = VERSION;
  bytes[5] = FORMS.indexOf(content.form) + 1;
  bytes.writeUInt16LE(heads.length, 6);
  bytes.writeBigUInt64LE(BigInt(start.sequence), 8);
  bytes.writeUInt32LE(start.epoch, 16);
  bytes.writeUInt32LE(body.length, 20);
  bytes.writeBigUInt64LE(BigInt(Math.max(0, Math.round(start.timeMs))), 24);
  bytes.set(start.previous, 32);
  for (const [index, head] of heads.entries()) writeHead(bytes, FRAME_START_BYTES + HEAD_BYTES * index, head);
  bytes.set(body, bodyAt);
  const end = bytes.length - HASH_BYTES;
  bytes.set(frameHash(bytes.subarray(0, end)), end);
  return { ...start, ...content, hash: bytes.subarray(end), bytes };
}

function requirePlace({ sequence, epoch, previous }: FrameStart, records: number): void {
  if (!Number.isSafeInteger(sequence) || sequence < 1 || sequence + (records - 1) > SEQUENCE_MAX) throw new RangeError('a sequence');
  if (!Number.isSafeInteger(epoch) || epoch < 1) throw new RangeError('an epoch');
  if (previous.length !== HASH_BYTES) throw new RangeError('a hash of another length');
}

/** Why no frame can be read at a place. `short`: the bytes end before it does, so more of them might make one. */
export type NoFrame = 'short' | 'foreign' | 'version' | 'form' | 'count' | 'sequence' | 'epoch' | 'length' | 'head' | 'hash';

/**
 * The frame at `at`. Allocates nothing in proportion to a length it reads. With `short`, `needed` says how many bytes from `at` on decide:
 * at most a frame of the largest kind.
 */
export function decodeFrame(bytes: Buffer, at: number): Frame | { readonly no: NoFrame; readonly needed: number } {
  const lengths = frameLengths(bytes, at);
  if ('no' in lengths) return lengths;
  const { count, bodyBytes, total } = lengths;
  if (bytes.length - at < total) return { no: 'short', needed: total };
  const view = bytes.subarray(at, at + total);
  const form = FORMS[(view[5] ?? 0) - 1];
  const heads = readHeads(view, count);
  const sequence = readNumber(view, 8);
  if (form === undefined) return { no: 'form', needed: total };
  const epoch = view.readUInt32LE(16);
  if (epoch === 0) return { no: 'epoch', needed: total };
  if (sequence < 1 || sequence > SEQUENCE_MAX - (count - 1)) return { no: 'sequence', needed: total };
  if (heads === undefined) return { no: 'head', needed: total };
  const end = total - HASH_BYTES;
  if (!frameHash(view.subarray(0, end)).equals(view.subarray(end))) return { no: 'hash', needed: total };
  const content = contentOf(
    form,
    heads,
    view.subarray(FRAME_START_BYTES + HEAD_BYTES * count, FRAME_START_BYTES + HEAD_BYTES * count + bodyBytes),
  );
  if (content === undefined) return { no: 'form', needed: total };
  return {
    sequence,
    epoch,
    timeMs: readNumber(view, 24),
    previous: view.subarray(32, FRAME_START_BYTES),
    ...content,
    hash: view.subarray(end),
    bytes: view,
  };
}

/** Bytes of the longest frame there can be. */
export const FRAME_BYTES_MAX = FRAME_START_BYTES + HEAD_BYTES * limits.auditFrameRecordsMax + limits.auditFrameBodyBytesMax + HASH_BYTES;

const SEQUENCE_MAX = Number.MAX_SAFE_INTEGER;

function frameLengths(
  bytes: Buffer,
  at: number,
): { readonly no: NoFrame; readonly needed: number } | { readonly count: number; readonly bodyBytes: number; readonly total: number } {
  const there = bytes.length - at;
  const magic = Math.min(there, MAGIC.length);
  if (!bytes.subarray(at, at + magic).equals(MAGIC.subarray(0, magic))) return { no: 'foreign', needed: FRAME_START_BYTES };
  if (there > 4 && bytes[at + 4] !== VERSION) return { no: 'version', needed: FRAME_START_BYTES };
  if (there < FRAME_START_BYTES) return { no: 'short', needed: FRAME_START_BYTES };
  const count = bytes.readUInt16LE(at + 6);
  const bodyBytes = bytes.readUInt32LE(at + 20);
  if (count === 0 || count > limits.auditFrameRecordsMax) return { no: 'count', needed: FRAME_START_BYTES };
  if (bodyBytes === 0 || bodyBytes > limits.auditFrameBodyBytesMax) return { no: 'length', needed: FRAME_START_BYTES };
  return { count, bodyBytes, total: FRAME_START_BYTES + HEAD_BYTES * count + bodyBytes + HASH_BYTES };
}

function contentOf(form: (typeof FORMS)[number], heads: readonly Head[], body: Uint8Array): FrameContent | undefined {
  const [first] = heads;
  if (form === 'statement')
    return heads.length === 1 && first !== undefined && isStatement(first) && first.operationId === undefined
      ? { form, heads: [first], body }
      : undefined;
  return heads.every(isSealed) ? { form, heads: heads.filter(isSealed), body } : undefined;
}

function isStatement(head: Head): head is Head<StatementKind> {
  return (STATEMENT_KINDS as readonly string[]).includes(head.kind);
}

function isSealed(head: Head): head is Head<SealedKind> {
  return !isStatement(head);
}

function frameHash(bytes: Uint8Array): Buffer {
  return prefixedHash(FRAME_LABEL, bytes);
}

function writeHead(bytes: Buffer, at: number, { kind, operationId }: Head): void {
  const sealed = (SEALED_KINDS as readonly string[]).indexOf(kind);
  bytes[at] = sealed >= 0 ? sealed + 1 : STATEMENTS_FROM + (STATEMENT_KINDS as readonly string[]).indexOf(kind);
  if (operationId === undefined) return;
  if (!OPERATION_ID.test(operationId)) throw new RangeError('an operation id that is none');
  bytes.write(operationId.slice(3), at + OPERATION_AT, 'latin1');
}

/** 8 bytes; from 2^53 on rounded, and never to a smaller number than that. */
function readNumber(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}

function readHeads(frame: Buffer, count: number): readonly Head[] | undefined {
  const heads: Head[] = [];
  for (let index = 0; index < count; index += 1) {
    const head = readHead(frame, FRAME_START_BYTES + HEAD_BYTES * index);
    if (head === undefined) return undefined;
    heads.push(head);
  }
  return heads;
}

function readHead(frame: Buffer, at: number): Head | undefined {
  const number = frame[at] ?? 0;
  const kind = number >= STATEMENTS_FROM ? STATEMENT_KINDS[number - STATEMENTS_FROM] : SEALED_KINDS[number - 1];
  if (kind === undefined || frame.readUIntLE(at + 1, OPERATION_AT - 1) !== 0) return undefined;
  const text = frame.toString('latin1', at + OPERATION_AT, at + HEAD_BYTES);
  if (text === NO_OPERATION) return { kind };
  return OPERATION_BYTES.test(text) ? { kind, operationId: `op_${text}` } : undefined;
}
