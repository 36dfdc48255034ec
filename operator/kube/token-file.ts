/** The token the kubelet writes and renews. */
import { readFile } from 'node:fs/promises';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';

/**
 * Returns a reader of the file: at most one look each limits.kubeTokenCheckMs, and at once after a rejection (failure case OPR-15).
 * The file is read, not its time compared: the kubelet swaps a symbolic link, and a kilobyte costs as much as a stat.
 * A file that cannot be read for now leaves the last token in use; without any, the reader rejects.
 */
export function tokenFile(path: string, clock: Clock): (rejected: boolean) => Promise<string> {
  let token = '';
  let readAtMs = Number.NEGATIVE_INFINITY;
  return async (rejected) => {
    if (!rejected && clock.monotonicMs() - readAtMs < limits.kubeTokenCheckMs) return token;
    try {
      const text = (await readFile(path, 'utf8')).trim();
      // Printable ASCII only: anything else would be refused as a header, with the token in that error's text.
      if (!/^[\x21-\x7e]+$/.test(text)) throw new Error('the file holds no token');
      token = text;
    } catch (error) {
      if (token === '') throw error;
    }
    readAtMs = clock.monotonicMs();
    return token;
  };
}
