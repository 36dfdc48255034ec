/**
 * When the chain began, in a file of its own beside the log, once the first segment is no longer in it: the place of its segments in a
 * store is named after that day. A convenience: lost or changed, segments are stored under another day, and verify as before.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile } from './chain-file.ts';

const NAME = 'began';
const MS = /^\d{1,15}\n$/;

/** Milliseconds since 1970; undefined where nothing says so. */
export async function readBegan(folder: string): Promise<number | undefined> {
  const text = await readFile(join(folder, NAME), 'latin1').catch(() => '');
  return MS.test(text) ? Number(text) : undefined;
}

/** Durable with the next sync of the folder, which the log makes before it removes a file. Throws what the disk says. */
export async function writeBegan(folder: string, beganMs: number): Promise<void> {
  await replaceFile(join(folder, NAME), `${Math.round(beganMs)}\n`);
}
