/** Reads records back from a log that is in use, one file in memory at a time. */

import type { Disk } from './disk.ts';
import { decodeFrame, nextFrame } from './frame.ts';
import { type CountedSegment, damaged, headerOf, readSegment } from './recover.ts';
import { SEGMENT_HEADER_BYTES } from './segment-header.ts';

export interface ReadRecord {
  readonly sequence: number;
  /** A view of the bytes of its file; keep a copy, not this. */
  readonly payload: Uint8Array;
}

/**
 * Records from sequence `from` to `to`, both included, of the segments as they were when this was called: what is appended meanwhile is
 * not met, what is dropped meanwhile is an error. Throws AUDIT_UNAVAILABLE (`unreadable`, `damaged`).
 */
export async function* readBack(
  { disk, folder }: { readonly disk: Disk; readonly folder: string },
  segments: readonly CountedSegment[],
  from: number,
  to: number,
): AsyncGenerator<ReadRecord> {
  for (const [index, segment] of segments.entries()) {
    const next = segments[index + 1]?.sequence ?? Number.POSITIVE_INFINITY;
    if (next <= from || segment.sequence > to) continue;
    yield* recordsOf(await readSegment(disk, folder, segment.number), segment, from, to);
  }
}

/**
 * Every frame up to the end was durable and whole once, so one that is not is damage. It is met only by who asks for what was in it: records
 * behind it must not be lost with it.
 */
function* recordsOf(bytes: Buffer, { number, sequence: first, end }: CountedSegment, from: number, to: number): Generator<ReadRecord> {
  const { salt } = headerOf(bytes, number);
  let [at, sequence] = [SEGMENT_HEADER_BYTES, first];
  while (at < end && sequence <= to) {
    const read = decodeFrame(bytes, at, salt);
    if (read === undefined || read.frame.sequence !== sequence || read.end > end) {
      const next = nextFrame(bytes, at + 1, salt);
      if (next === undefined || next.at >= end || next.sequence <= sequence || next.sequence > from) throw damaged(number, sequence);
      ({ at, sequence } = next);
      continue;
    }
    for (const payload of read.frame.payloads) {
      if (sequence >= from && sequence <= to) yield { sequence, payload };
      sequence += 1;
    }
    at = read.end;
  }
}
