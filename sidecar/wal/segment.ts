/**
 * The segment that is written to: a file whose room is reserved before it has its name, so that a full disk is met when a segment
 * begins and not in the middle of a frame, and so that a write changes no size, which would be one more thing to make durable.
 *
 *   0000000007.new   header, frames to start with, zeros ── fsync ── rename ── fsync of the folder ──▶ 0000000007.wal
 *
 * A crash before the rename leaves a file that a start removes; after it, a segment without records. Nothing is acknowledged in it before
 * the folder is synced, or a power cut could take the name away with the records in it (AUD-13).
 */
import { join } from 'node:path';
import type { Disk, DiskFile } from './disk.ts';
import { ShortWrite } from './fault.ts';
import { encodeFrame, type Frame } from './frame.ts';
import { segmentName } from './recover.ts';
import { encodeSegmentHeader, SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment-header.ts';

/** A segment that is whole and durable, and does not count yet. */
export interface Unnamed {
  readonly header: SegmentHeader;
  /** Where its next frame goes. */
  readonly end: number;
  readonly roomBytes: number;
}

/** Written and durable, and nothing yet. Throws what the disk says, or ShortWrite; the file is removed then. */
export async function prepareSegment(
  place: { readonly disk: Disk; readonly folder: string },
  header: SegmentHeader,
  frames: Iterable<Frame>,
  reserveBytes: number,
): Promise<Unnamed> {
  const path = unnamedPath(place.folder, header.number);
  const file = await place.disk.create(path);
  try {
    let end = await writeAll(file, encodeSegmentHeader(header), 0);
    for (const frame of frames) end = await writeAll(file, encodeFrame(frame, header.salt), end);
    let room = end;
    while (room < end + reserveBytes) room = await writeAll(file, ZEROS.subarray(0, end + reserveBytes - room), room);
    await file.sync();
    await file.close();
    return { header, end, roomBytes: room };
  } catch (error) {
    await bestEffort(() => file.close());
    await bestEffort(() => place.disk.unlink(path));
    throw error;
  }
}

/** From here on a start may find the segment, also when this throws: whoever calls it MUST NOT write to an older one any more. */
export async function nameSegment(place: { readonly disk: Disk; readonly folder: string }, unnamed: Unnamed): Promise<Segment> {
  const { disk, folder } = place;
  const path = join(folder, segmentName(unnamed.header.number));
  await disk.rename(unnamedPath(folder, unnamed.header.number), path);
  await disk.syncFolder(folder);
  return new Segment(await disk.openDurable(path), unnamed);
}

export class Segment {
  readonly number: number;
  #end: number;
  readonly #file: DiskFile;
  readonly #unnamed: Unnamed;

  constructor(file: DiskFile, unnamed: Unnamed) {
    this.#file = file;
    this.#unnamed = unnamed;
    this.number = unnamed.header.number;
    this.#end = unnamed.end;
  }

  /** Behind the last frame that is durable. */
  get end(): number {
    return this.#end;
  }

  get empty(): boolean {
    return this.#end === SEGMENT_HEADER_BYTES;
  }

  fits(bytes: number): boolean {
    return this.#end + bytes <= this.#unnamed.roomBytes;
  }

  /**
   * Resolves once the frame is durable. After a rejection nobody can tell what is on disk: the segment MUST be given up, and is not
   * synced or written again, since the kernel may have dropped the pages it could not write and call the next sync a success (AUD-10).
   */
  async write(frame: Frame): Promise<void> {
    this.#end = await writeAll(this.#file, encodeFrame(frame, this.#unnamed.header.salt), this.#end);
  }

  /** Cuts off what stands behind `end` and was refused, if the disk still does as much (AUD-08, AUD-09); the next segment says where this one ended either way. */
  async giveUp(end: number): Promise<void> {
    await bestEffort(() => this.#file.truncate(end));
    await this.release();
  }

  async release(): Promise<void> {
    await bestEffort(() => this.#file.close());
  }
}

const ZEROS = Buffer.alloc(256 * 1024);

function unnamedPath(folder: string, number: number): string {
  return join(folder, segmentName(number).replace(/wal$/, 'new'));
}

/** One call: what it did not take is not offered again, because the rest would be another write (AUD-08). */
async function writeAll(file: DiskFile, bytes: Uint8Array, at: number): Promise<number> {
  const written = await file.write(bytes, at);
  if (written !== bytes.length) throw new ShortWrite(written, bytes.length);
  return at + written;
}

/** For what only saves room: the log is right without it. */
export async function bestEffort(work: () => Promise<unknown>): Promise<void> {
  await work().catch(() => undefined);
}
