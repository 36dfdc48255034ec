/**
 * A lock between processes: a file that names its holder's process id.
 * It appears by link(2), so it is never seen without its content, and a holder that died is noticed
 * by its id. Two waiters that break the same dead lock at once may both go on; what they guard must
 * therefore publish by rename (see build.ts), and the lock only saves work.
 */
import { randomUUID } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const pollMs = 500;

/** Resolves once the lock is held; `onWait` is called once if it is not free at first. */
export async function acquireLock(path: string, onWait: () => void): Promise<AsyncDisposable> {
  const own = `${path}.${process.pid}.${randomUUID()}`;
  await writeFile(own, String(process.pid));
  try {
    let told = false;
    while (!(await tryLink(own, path))) {
      if (await isAbandoned(path)) {
        await rm(path, { force: true });
        continue;
      }
      if (!told) onWait();
      told = true;
      await sleep(pollMs);
    }
  } finally {
    await rm(own, { force: true });
  }
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

async function tryLink(own: string, path: string): Promise<boolean> {
  try {
    await link(own, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

async function isAbandoned(path: string): Promise<boolean> {
  // No file: just released; the next try to link decides, there is nothing to break.
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text === undefined) return false;
  try {
    process.kill(Number(text), 0);
    return false;
  } catch (error) {
    // EPERM would mean that it lives, under another user.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
