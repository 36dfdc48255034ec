/** A log in a fresh folder, and what is found in it. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { Wal, type WalOptions } from '#sidecar/wal/wal.ts';

export function freshFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'postern-wal-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export interface OpenLog {
  readonly wal: Wal;
  readonly found: string[];
}

export async function openLog(folder: string, options: Partial<WalOptions> = {}): Promise<OpenLog> {
  const found: string[] = [];
  const onRecord = (payload: Uint8Array) => found.push(Buffer.from(payload).toString());
  const wal = await Wal.open({
    folder,
    clock: systemClock,
    segmentBytes: 4_096,
    onRecord: (payload) => void onRecord(payload),
    ...options,
  });
  return { wal, found };
}

/** What a start finds; the folder is free again. */
export async function recordsIn(folder: string): Promise<readonly string[]> {
  const { wal, found } = await openLog(folder);
  await wal.close();
  return found;
}

export function text(payload: string): Uint8Array {
  return Buffer.from(payload);
}
