/**
 * One writer for a folder (AUD-16), by a lock of the kernel that ends with the process, however it ends.
 *
 * Node has no call for file locks. SQLite has: `BEGIN EXCLUSIVE` holds fcntl record locks on a file that stays empty, counts the
 * connections of its own process (where fcntl would not help), and needs nothing that Node does not bring. What was rejected:
 * - a file with a process id: after kill -9 somebody must judge whether it is stale, and two can judge at once; ids repeat over pods;
 * - an abstract unix socket: exclusive in one network namespace only, and two containers can share a folder without sharing that;
 * - a native package: one more thing to build for each platform.
 *
 * Nobody else may open the lock file in this process: closing any descriptor of it would give the fcntl lock away.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { logFault } from './fault.ts';

const SQLITE_BUSY = 5;

/** Throws AUDIT_UNAVAILABLE: `locked` while another holds it, `unreadable` when the folder takes no lock. */
export function lockFolder(folder: string): { release(): void } {
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(join(folder, 'lock'), { timeout: 0 });
    // No journal file beside it: nothing is written, and a full disk must not keep the lock from being taken.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
  } catch (cause) {
    database?.close();
    throw logFault((cause as { readonly errcode?: unknown }).errcode === SQLITE_BUSY ? 'locked' : 'unreadable', cause);
  }
  const held = database;
  return { release: () => held.close() };
}
