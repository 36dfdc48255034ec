/** A disk whose durable writes are timed and counted. It changes none of them, and counts none that failed. */
import type { Clock } from '#core/bounds/clock.ts';
import type { Disk, DiskFile } from './disk.ts';

/** `onSynced`: one write that is durable, how long it took, and its bytes. MUST NOT throw. */
export function countedDisk(disk: Disk, clock: Pick<Clock, 'monotonicMs'>, onSynced: (durationMs: number, bytes: number) => void): Disk {
  return { ...disk, openDurable: async (path) => counted(await disk.openDurable(path), clock, onSynced) };
}

function counted(file: DiskFile, clock: Pick<Clock, 'monotonicMs'>, onSynced: (durationMs: number, bytes: number) => void): DiskFile {
  return {
    write: async (bytes, position) => {
      const startedMs = clock.monotonicMs();
      const written = await file.write(bytes, position);
      onSynced(clock.monotonicMs() - startedMs, written);
      return written;
    },
    sync: () => file.sync(),
    truncate: (bytes) => file.truncate(bytes),
    close: () => file.close(),
  };
}
