/**
 * One frame: all records of one group commit, under one checksum, written by one call. FORMAT.md has the bytes.
 *
 * That a batch is one frame is what makes a torn tail certain: the next frame is written after this one is durable, so a bad frame with
 * another behind it was good once (AUD-12). With a frame for each record, a power cut could keep the last of a batch and lose the first.
 */
import { crc32 } from 'node:zlib';
import { limits } from '#core/bounds/limits.ts';

/** `records`: payloads. `seal`: written when the log is closed in order; nothing follows it in this segment. */
export type FrameKind = 'records' | 'seal';

export interface Frame {
  readonly kind: FrameKind;
  /** Sequence of its first record; of the next record, in a seal. */
  readonly sequence: number;
  readonly payloads: readonly Uint8Array[];
}

/** Random, of one segment: nobody who chooses payloads can make a frame of it (a payload that looks like one is not found as one). */
export type Salt = Uint8Array;
export const SALT_BYTES = 8;

export const FRAME_HEADER_BYTES = 40;
const RECORD_HEADER_BYTES = 4;
const MAGIC = Buffer.from([0xf7, 0x57, 0x41, 0x4c]);
const KINDS: readonly FrameKind[] = ['records', 'seal'];

/** Bytes a payload takes in a frame. */
export function recordBytes(payload: Uint8Array): number {
  return RECORD_HEADER_BYTES + payload.length;
}

export function encodeFrame(frame: Frame, salt: Salt): Buffer {
  const length = frame.payloads.reduce((bytes, payload) => bytes + recordBytes(payload), 0);
  const bytes = Buffer.alloc(FRAME_HEADER_BYTES + length);
  let at = FRAME_HEADER_BYTES;
  for (const payload of frame.payloads) {
    at = bytes.writeUInt32LE(payload.length, at);
    bytes.set(payload, at);
    at += payload.length;
  }
  MAGIC.copy(bytes, 0);
  bytes.writeUInt32LE(length, 4);
  bytes.set(salt, 8);
  bytes.writeBigUInt64LE(BigInt(frame.sequence), 16);
  bytes.writeUInt32LE(frame.payloads.length, 24);
  bytes.writeUInt32LE(KINDS.indexOf(frame.kind) + 1, 28);
  bytes.writeUInt32LE(crc32(bytes.subarray(FRAME_HEADER_BYTES)), 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 36)), 36);
  return bytes;
}

/** A frame at `at` and where the next one begins; undefined when what stands there is none. Payloads are views into `bytes`. */
export function decodeFrame(bytes: Buffer, at: number, salt: Salt): { readonly frame: Frame; readonly end: number } | undefined {
  const header = readHeader(bytes, at, salt);
  if (header === undefined) return undefined;
  const end = at + FRAME_HEADER_BYTES + header.length;
  if (end > bytes.length) return undefined;
  const body = bytes.subarray(at + FRAME_HEADER_BYTES, end);
  const payloads = crc32(body) === header.bodyChecksum ? splitPayloads(body, header.count) : undefined;
  return payloads === undefined ? undefined : { frame: { kind: header.kind, sequence: header.sequence, payloads }, end };
}

/** Where, from `from` on, the first frame of this segment begins, and with which sequence. Its body may be bad: that it was begun says enough. */
export function nextFrame(bytes: Buffer, from: number, salt: Salt): { readonly at: number; readonly sequence: number } | undefined {
  for (let at = bytes.indexOf(MAGIC, from); at >= 0; at = bytes.indexOf(MAGIC, at + 1)) {
    const header = readHeader(bytes, at, salt);
    if (header !== undefined) return { at, sequence: header.sequence };
  }
  return undefined;
}

interface Header {
  readonly kind: FrameKind;
  readonly sequence: number;
  readonly count: number;
  readonly length: number;
  readonly bodyChecksum: number;
}

function readHeader(bytes: Buffer, at: number, salt: Salt): Header | undefined {
  if (at + FRAME_HEADER_BYTES > bytes.length) return undefined;
  const header = bytes.subarray(at, at + FRAME_HEADER_BYTES);
  if (!header.subarray(0, 4).equals(MAGIC) || !header.subarray(8, 16).equals(salt)) return undefined;
  if (crc32(header.subarray(0, 36)) !== header.readUInt32LE(36)) return undefined;
  const kind = KINDS[header.readUInt32LE(28) - 1];
  const length = header.readUInt32LE(4);
  if (kind === undefined || length > FRAME_BODY_BYTES_MAX) return undefined;
  const sequence = Number(header.readBigUInt64LE(16));
  return { kind, sequence, count: header.readUInt32LE(24), length, bodyChecksum: header.readUInt32LE(32) };
}

const FRAME_BODY_BYTES_MAX = limits.walBatchBytesMax + limits.walPayloadBytesMax + RECORD_HEADER_BYTES;

function splitPayloads(body: Buffer, count: number): readonly Uint8Array[] | undefined {
  const payloads: Uint8Array[] = [];
  let at = 0;
  while (at < body.length) {
    if (at + RECORD_HEADER_BYTES > body.length) return undefined;
    const end = at + RECORD_HEADER_BYTES + body.readUInt32LE(at);
    if (end > body.length) return undefined;
    payloads.push(body.subarray(at + RECORD_HEADER_BYTES, end));
    at = end;
  }
  return payloads.length === count ? payloads : undefined;
}
