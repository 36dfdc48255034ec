/**
 * Random bytes in small numbers: nonces and ids. The system is asked for many at once, because asking costs more than the
 * bytes; each byte is given out once.
 */
import { randomFillSync } from 'node:crypto';

const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/** At most POOL_BYTES bytes, a copy of their own; they are wiped from the pool. */
export function smallRandom(size: number): Uint8Array {
  if (size > POOL_BYTES) throw new RangeError(`at most ${POOL_BYTES} random bytes at once`);
  if (used + size > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const bytes = Uint8Array.prototype.slice.call(pool, used, used + size);
  pool.fill(0, used, used + size);
  used += size;
  return bytes;
}

/** `length` characters of an alphabet of at most 256, each equally likely. */
export function randomText(alphabet: string, length: number): string {
  // Bytes beyond the last whole alphabet would favour its first characters.
  const fair = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    for (const byte of smallRandom(Math.min(length - text.length, POOL_BYTES))) if (byte < fair) text += alphabet[byte % alphabet.length];
  }
  return text;
}
