/** The folder of a log, before anything is written in it. */
import { mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Disk } from './disk.ts';
import { logFault, ShortWrite } from './fault.ts';
import { type Recovered, segmentName } from './recover.ts';

/** What is read as whole must be whole after a power cut too: names are synced, and the last frame is written again as it is. */
export async function makeDurable({ disk, folder }: { readonly disk: Disk; readonly folder: string }, recovered: Recovered): Promise<void> {
  try {
    await disk.syncFolder(folder);
    if (recovered.lastFrame === undefined) return;
    const { number, at, bytes } = recovered.lastFrame;
    const file = await disk.openDurable(join(folder, segmentName(number)));
    try {
      if ((await file.write(bytes, at)) !== bytes.length) throw new ShortWrite(0, bytes.length);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw logFault('unreadable', cause);
  }
}

export async function makeFolder({ disk, folder }: { readonly disk: Disk; readonly folder: string }): Promise<void> {
  try {
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    if (made !== undefined) await disk.syncFolder(dirname(made));
  } catch (cause) {
    throw logFault('unreadable', cause);
  }
}
