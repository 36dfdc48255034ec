/**
 * Reads a log as it is on disk, changing nothing: the newest segment, and from there backwards what it says came before.
 *
 * - Only the newest segment may end in a torn frame; every other one is read to the byte its successor names, and must be whole.
 * - A frame that is bad while another begins behind it is damage, not a torn tail: refused, with the first sequence that is broken.
 * - Anything that cannot be read refuses as well. A log is never taken for empty because a call failed (AUD-11).
 */
import { join } from 'node:path';
import { limits } from '#core/bounds/limits.ts';
import type { Disk } from './disk.ts';
import { logFault } from './fault.ts';
import { decodeFrame, nextFrame } from './frame.ts';
import { decodeSegmentHeader, SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment-header.ts';

export interface Recovered {
  /** Where the next segment follows on; undefined in an empty folder. */
  readonly tail?: { readonly number: number; readonly end: number };
  /** Of the next record. */
  readonly sequence: number;
  /** Highest number that was ever given in this folder. */
  readonly lastNumber: number;
  /** Segments that hold what was read, oldest first, with the bytes that count. */
  readonly segments: readonly CountedSegment[];
  /** As the newest segment says; 0: there is none. */
  readonly floor: number;
  /** Files that hold nothing that counts: never finished, given up, or replaced. */
  readonly leftovers: readonly string[];
  /** Bytes behind the last whole frame that are not zero: a write that was cut off, and was never acknowledged. */
  readonly tornBytes: number;
  /** The log was closed in order. */
  readonly sealed: boolean;
  /** The one frame that may stand in the kernel's memory only: whoever died while writing it, or was told that it failed, did not wait. */
  readonly lastFrame?: LastFrame;
}

/** A segment that counts. */
export interface CountedSegment {
  readonly number: number;
  /** Of its first record. */
  readonly sequence: number;
  /** Behind its last byte that counts. */
  readonly end: number;
}

export interface LastFrame {
  readonly number: number;
  readonly at: number;
  readonly bytes: Uint8Array;
}

export type OnRecord = (payload: Uint8Array, sequence: number) => void;

const SEGMENT_NAME = /^([0-9]{10})\.wal$/;
const UNFINISHED_NAME = /^[0-9]{10}\.new$/;

export function segmentName(number: number): string {
  return `${String(number).padStart(10, '0')}.wal`;
}

/** Calls `onRecord` for each record in order. Throws AUDIT_UNAVAILABLE: `unreadable`, `damaged` or `newer`; what `onRecord` throws. */
export async function recover(disk: Disk, folder: string, onRecord: OnRecord): Promise<Recovered> {
  const names = await reading(() => disk.list(folder));
  const numbers = names.flatMap((name) => Number(SEGMENT_NAME.exec(name)?.[1] ?? 0) || []).sort((a, b) => a - b);
  const unfinished = names.filter((name) => UNFINISHED_NAME.test(name));
  const last = numbers.at(-1);
  if (last === undefined) return { sequence: 1, lastNumber: 0, segments: [], floor: 0, leftovers: unfinished, tornBytes: 0, sealed: true };

  const chain = await chainTo(disk, folder, last, new Set(numbers));
  const segments: CountedSegment[] = [];
  let state: SegmentEnd = { sequence: chain[0]?.header.sequence ?? 1, end: 0, tornBytes: 0, sealed: false };
  for (const link of chain) {
    const { number, sequence } = link.header;
    state = readFrames(await readSegment(disk, folder, number), link, state.sequence, onRecord);
    segments.push({ number, sequence, end: state.end });
  }
  const counted = new Set(chain.map(({ header }) => header.number));
  const leftovers = [...unfinished, ...numbers.filter((number) => !counted.has(number)).map(segmentName)];
  const floor = chain.at(-1)?.header.floor ?? 0;
  return { ...state, tail: { number: last, end: state.end }, lastNumber: last, segments, floor, leftovers };
}

interface Link {
  readonly header: SegmentHeader;
  /** Where it ends, if its successor says so. */
  readonly end?: number;
}

/** Oldest first: back to the floor that the newest one states, or to the one that has none before it. */
async function chainTo(disk: Disk, folder: string, last: number, numbers: ReadonlySet<number>): Promise<readonly Link[]> {
  const chain: Link[] = [];
  let next: { readonly number: number; readonly end?: number } | undefined = { number: last };
  let floor = 0;
  while (next !== undefined) {
    if (!numbers.has(next.number)) throw logFault('damaged', undefined, `segment ${next.number} is missing`);
    const header = headerOf(await readSegment(disk, folder, next.number), next.number);
    chain.push({ header, ...(next.end === undefined ? {} : { end: next.end }) });
    if (header.number === last) floor = header.floor ?? 0;
    next = before(header, floor);
  }
  return chain.reverse();
}

/** `floor`: of the newest segment, 0 for none. */
function before(header: SegmentHeader, floor: number): SegmentHeader['previous'] {
  const { number, previous } = header;
  if (number < floor || (previous !== undefined && previous.number >= number)) throw damagedHeader(number);
  if (number === floor) return undefined;
  if (floor > 0 && (previous?.number ?? 0) < floor) throw logFault('damaged', undefined, `segment ${floor} is missing`);
  return previous;
}

export function headerOf(bytes: Buffer, number: number): SegmentHeader {
  const header = decodeSegmentHeader(bytes);
  if (header === 'newer') throw logFault('newer', undefined, `segment ${number}`);
  // A segment gets its name when it is whole: there is no crash that leaves a bad header under it.
  if (header === 'damaged' || header.number !== number) throw damagedHeader(number);
  return header;
}

interface SegmentEnd {
  readonly sequence: number;
  readonly end: number;
  readonly tornBytes: number;
  readonly sealed: boolean;
  readonly lastFrame?: LastFrame;
}

function readFrames(bytes: Buffer, { header, end: statedEnd }: Link, sequence: number, onRecord: OnRecord): SegmentEnd {
  const { number, salt } = header;
  if (header.sequence !== sequence) throw damaged(number, sequence);
  let state: SegmentEnd = { sequence, end: SEGMENT_HEADER_BYTES, tornBytes: 0, sealed: false };
  while (state.end !== statedEnd && !state.sealed) {
    const { end: at, sequence: next } = state;
    const read = decodeFrame(bytes, at, salt);
    if (read === undefined) {
      if (statedEnd !== undefined || nextFrame(bytes, at + 1, salt) !== undefined) throw damaged(number, next);
      return { ...state, tornBytes: tornBytes(bytes, at) };
    }
    const { frame, end } = read;
    if (frame.sequence !== next || end > (statedEnd ?? end)) throw damaged(number, next);
    frame.payloads.forEach((payload, index) => {
      onRecord(payload, next + index);
    });
    const lastFrame = { number, at, bytes: bytes.subarray(at, end) };
    state = { sequence: next + frame.payloads.length, end, tornBytes: 0, sealed: frame.kind === 'seal', lastFrame };
  }
  if (statedEnd !== undefined && state.end !== statedEnd) throw damaged(number, state.sequence);
  return state;
}

/** Up to the last byte that is not zero: reserved room is zero. */
function tornBytes(bytes: Buffer, from: number): number {
  let end = bytes.length;
  while (end > from && bytes[end - 1] === 0) end -= 1;
  return end - from;
}

/** Throws AUDIT_UNAVAILABLE. */
export async function readSegment(disk: Disk, folder: string, number: number): Promise<Buffer> {
  const path = join(folder, segmentName(number));
  return reading(async () => {
    if ((await disk.sizeOf(path)) > limits.walSegmentFileBytesMax)
      throw logFault('damaged', undefined, `segment ${number} is longer than any`);
    return disk.read(path);
  });
}

async function reading<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    if ((cause as { readonly reason?: unknown }).reason === 'AUDIT_UNAVAILABLE') throw cause;
    throw logFault('unreadable', cause);
  }
}

export function damaged(segment: number, sequence: number): Error {
  return logFault('damaged', undefined, `segment ${segment}, first broken record ${sequence}`);
}

function damagedHeader(segment: number): Error {
  return logFault('damaged', undefined, `the header of segment ${segment}`);
}
