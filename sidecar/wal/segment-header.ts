/** The first bytes of a segment: who it is, and what came before it. FORMAT.md has the bytes. */
import { crc32 } from 'node:zlib';
import { SALT_BYTES, type Salt } from './frame.ts';

export interface SegmentHeader {
  readonly number: number;
  readonly salt: Salt;
  /** Sequence of its first record. */
  readonly sequence: number;
  /**
   * The segment before it and the byte where that one ends. What stands there beyond it was refused, or torn, and is void: this is how a
   * failed write is taken back without touching the file it failed in (AUD-09, AUD-10). Undefined in the first segment, and in one that
   * replaces all before it.
   */
  readonly previous?: { readonly number: number; readonly end: number };
  /** Number of the oldest segment that counts; undefined where all count that are met going backwards. */
  readonly floor?: number;
  readonly createdAtMs: number;
}

export const SEGMENT_HEADER_BYTES = 72;
const VERSION = 1;
const MAGIC = Buffer.from([0xf7, 0x50, 0x53, 0x54, 0x57, 0x41, 0x4c, 0x0a]);

export function encodeSegmentHeader(header: SegmentHeader): Buffer {
  const bytes = Buffer.alloc(SEGMENT_HEADER_BYTES);
  MAGIC.copy(bytes, 0);
  bytes.writeUInt32LE(VERSION, 8);
  bytes.writeUInt32LE(header.floor ?? 0, 12);
  bytes.set(header.salt, 16);
  bytes.writeBigUInt64LE(BigInt(header.number), 24);
  bytes.writeBigUInt64LE(BigInt(header.sequence), 32);
  bytes.writeBigUInt64LE(BigInt(header.previous?.number ?? 0), 40);
  bytes.writeBigUInt64LE(BigInt(header.previous?.end ?? 0), 48);
  bytes.writeBigUInt64LE(BigInt(header.createdAtMs), 56);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 68)), 68);
  return bytes;
}

/** `newer`: whole, and of a version this release does not know. `damaged`: the checksum does not fit, or it is no segment at all. */
export function decodeSegmentHeader(bytes: Buffer): SegmentHeader | 'newer' | 'damaged' {
  if (bytes.length < SEGMENT_HEADER_BYTES || !bytes.subarray(0, 8).equals(MAGIC)) return 'damaged';
  if (crc32(bytes.subarray(0, 68)) !== bytes.readUInt32LE(68)) return 'damaged';
  if (bytes.readUInt32LE(8) !== VERSION) return 'newer';
  const number = (at: number) => Number(bytes.readBigUInt64LE(at));
  const previous = number(40);
  const floor = bytes.readUInt32LE(12);
  return {
    number: number(24),
    salt: Buffer.from(bytes.subarray(16, 16 + SALT_BYTES)),
    sequence: number(32),
    ...(previous === 0 ? {} : { previous: { number: previous, end: number(48) } }),
    ...(floor === 0 ? {} : { floor }),
    createdAtMs: number(56),
  };
}
