/** Chains in files and folders of this machine. Links to folders are not followed: a loop has no end. */
import { constants } from 'node:fs';
import { type FileHandle, lstat, open, readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { visibleText } from '#core/encoding/visible-text.ts';
import { readBounded, unreadable } from './audit-input.ts';
import { type BesideSource, type ChainSource, placeOf, type SegmentSource } from './audit-source.ts';
import { UsageError } from './report-failure.ts';

/** A folder gives a chain for each folder in it that has one; files named one by one are one chain together. Throws UsageError. */
export async function fileChains(paths: readonly string[]): Promise<readonly ChainSource[]> {
  const chains: ChainSource[] = [];
  const single: SegmentSource[] = [];
  for (const path of paths) {
    const found = await told(path, () => stat(path));
    if (found.isDirectory()) chains.push(...(await folderChains(path)));
    else if (found.isFile()) single.push(fileSegment(path, found.size));
    else throw new UsageError(`${visibleText(path)} is neither a file nor a folder.`, 'Name segment files, or the folder that holds them.');
  }
  return single.length === 0 ? chains : [...chains, { place: paths.join(' '), segments: single, beside: [] }];
}

async function folderChains(folder: string): Promise<readonly ChainSource[]> {
  const entries = await told(folder, () => readdir(folder, { withFileTypes: true }));
  const here: { segments: SegmentSource[]; beside: BesideSource[] } = { segments: [], beside: [] };
  const below: ChainSource[] = [];
  let isLog = false;
  for (const entry of entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))) {
    const path = join(folder, entry.name);
    if (LOG_SEGMENT.test(entry.name)) isLog = true;
    else if (entry.isDirectory() && entry.name === 'intents') here.beside.push(...(await intentsIn(path)));
    // A state folder has the log of what effects did beside the chain; that is none.
    else if (entry.isDirectory() && entry.name === JOURNAL) continue;
    else if (entry.isDirectory()) below.push(...(await folderChains(path)));
    else await addFile(here, path);
  }
  const own: ChainSource[] = here.segments.length > 0 || here.beside.length > 0 ? [{ place: folder, ...here }] : [];
  const log: ChainSource[] = isLog ? [{ place: folder, log: folder, segments: [], beside: [] }] : [];
  return [...own, ...log, ...below];
}

const JOURNAL = 'journal';
const LOG_SEGMENT = /^[0-9]{10}\.wal$/;

async function addFile(here: { segments: SegmentSource[]; beside: BesideSource[] }, path: string): Promise<void> {
  const place = placeOf(path);
  if (place === undefined) return;
  // A link to a file is one; a pipe or a device would keep its reader for ever.
  const found = await told(path, () => stat(path));
  if (!found.isFile()) return;
  if (place.kind === 'segment') here.segments.push(fileSegment(path, found.size));
  else here.beside.push({ kind: place.kind, sequence: place.sequence, read: (bytesMax) => readBounded(path, bytesMax) });
}

async function intentsIn(folder: string): Promise<readonly BesideSource[]> {
  const found: { segments: SegmentSource[]; beside: BesideSource[] } = { segments: [], beside: [] };
  for (const name of await told(folder, () => readdir(folder))) {
    const path = join(folder, name);
    if (placeOf(path)?.kind === 'intent' && (await told(path, () => lstat(path))).isFile()) await addFile(found, path);
  }
  return found.beside;
}

/** Read in pieces of one buffer: a chain may be larger than memory. */
function fileSegment(path: string, bytes: number): SegmentSource {
  return {
    name: basename(path),
    bytes,
    async *pieces() {
      await using file = await told(path, () => open(path, constants.O_RDONLY));
      for (let at = 0; ; ) {
        const got = await told(path, () => file.read(PIECE, 0, PIECE.length, at));
        if (got.bytesRead === 0) return;
        at += got.bytesRead;
        yield PIECE.subarray(0, got.bytesRead);
      }
    },
    start: async (count) => {
      await using file: FileHandle = await told(path, () => open(path, constants.O_RDONLY));
      const start = Buffer.alloc(count);
      const { bytesRead } = await told(path, () => file.read(start, 0, count, 0));
      return start.subarray(0, bytesRead);
    },
  };
}

/** One for all: segments are read one after the other. */
const PIECE = Buffer.allocUnsafeSlow(4 * 1024 * 1024);

async function told<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw unreadable(path, cause);
  }
}
