/**
 * Which segments of a chain were shipped, for its manifest, and when it began, for the folder they go to. A cache in one file of lines: a
 * line that is damaged, torn or of another chain is passed over, a lost file is empty. Nothing is dropped or kept because of it.
 *
 * Lines are added and not synced: what a crash takes is missing in a manifest, which then begins later. One document would be written whole
 * for each segment.
 */
import { hash } from 'node:crypto';
import { appendFile, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { limits } from '#core/bounds/limits.ts';
import type { ListedSegment } from './manifest.ts';

export interface ShippedList {
  /** When the first segment was begun, milliseconds since 1970; undefined while it is not known. */
  readonly beganMs: number | undefined;
  began(ms: number): Promise<void>;
  add(segment: ListedSegment): Promise<void>;
  /** As far as they are known, in the order in which they were added; one may be there twice. */
  segments(): Promise<readonly ListedSegment[]>;
}

/** Whatever cannot be read or written, this goes on without it. */
export async function openShippedList(path: string, origin: string): Promise<ShippedList> {
  let beganMs = (await linesOf(path, origin)).map(({ began_ms }) => began_ms).find((ms) => isCount(ms));
  return {
    get beganMs() {
      return beganMs;
    },
    began: async (ms) => {
      if (beganMs !== undefined) return;
      beganMs = ms;
      await append(path, origin, { began_ms: ms });
    },
    add: async (segment) => {
      await shorten(path, origin, beganMs);
      await append(path, origin, lineOf(segment));
    },
    segments: async () => (await linesOf(path, origin)).flatMap(segmentOf),
  };
}

type Line = Readonly<Record<string, unknown>>;

const CHECK_CHARS = 16;

/** Damage would make the manifest say what is not so. */
function checkOf(origin: string, text: string): string {
  return hash('sha256', `${origin}\n${text}`, 'hex').slice(0, CHECK_CHARS);
}

async function append(path: string, origin: string, line: Line): Promise<void> {
  const text = JSON.stringify(line);
  // A line feed before it, so that one cut off by a crash spoils only itself.
  await appendFile(path, `\n${checkOf(origin, text)} ${text}\n`, { mode: 0o600 }).catch(() => {});
}

async function linesOf(path: string, origin: string): Promise<Line[]> {
  try {
    if ((await stat(path)).size > 2 * limits.auditShippedListBytesMax) return [];
    return (await readFile(path, 'utf8')).split('\n').flatMap((line) => {
      const text = line.slice(CHECK_CHARS + 1);
      return text !== '' && line.slice(0, CHECK_CHARS) === checkOf(origin, text) ? [JSON.parse(text) as Line] : [];
    });
  } catch {
    return [];
  }
}

/** The audit's volume is for records: past its size the older half of the list goes. */
async function shorten(path: string, origin: string, beganMs: number | undefined): Promise<void> {
  try {
    if ((await stat(path)).size <= limits.auditShippedListBytesMax) return;
    const lines = (await linesOf(path, origin)).filter((line) => line.number !== undefined);
    const kept: Line[] = [...(beganMs === undefined ? [] : [{ began_ms: beganMs }]), ...lines.slice(Math.ceil(lines.length / 2))];
    const texts = kept.map((line) => JSON.stringify(line)).map((text) => `${checkOf(origin, text)} ${text}\n`);
    await writeFile(`${path}.new`, texts.join(''), { mode: 0o600 });
    await rename(`${path}.new`, path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return;
    await rm(path, { force: true }).catch(() => {});
  }
}

function lineOf({ number, firstSequence, lastSequence, bytes, sha256 }: ListedSegment): Line {
  return { number, first: firstSequence, last: lastSequence, bytes, sha256: Buffer.from(sha256).toString('hex') };
}

function segmentOf({ number, first, last, bytes, sha256 }: Line): readonly ListedSegment[] {
  if (!isCount(number) || !isCount(first) || !isCount(last) || !isCount(bytes) || typeof sha256 !== 'string') return [];
  return [{ number, firstSequence: first, lastSequence: last, bytes, sha256: Buffer.from(sha256, 'hex') }];
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
