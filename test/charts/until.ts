import { setTimeout as sleep } from 'node:timers/promises';

const LIMIT_MS = 120_000;

/** Looks again until there is an answer; throws what it waited for, and what `says` adds, when there is none within two minutes. */
export async function until<T>(what: string, look: () => Promise<T | undefined>, says: () => string = () => ''): Promise<T> {
  for (const end = Date.now() + LIMIT_MS; Date.now() < end; ) {
    const found = await look();
    if (found !== undefined) return found;
    await sleep(250);
  }
  throw new Error(`waited two minutes in vain until ${what}${says()}`);
}
