/**
 * The byte patterns under which a value may come back, before escapes: itself, base64 and base64url at each of the three
 * alignments, hex. Escapes (percent, JSON, HTML) are undone before looking, not enumerated (failure case LEAK-05).
 *
 * Patterns are latin1 strings: one character per byte, which V8 searches as fast as a Buffer.
 */
import { limits } from '#core/bounds/limits.ts';
import { unescapeOnce } from './unescape.ts';

export interface Needle {
  readonly text: string;
  /** Taken out of the middle of base64: the characters beside it carry a few bits of the value too. */
  readonly inner: boolean;
}

/** Patterns of one value, without doubles. `text` is not empty. */
export function needlesOf(text: string): readonly Needle[] {
  const bytes = Buffer.from(text, 'utf8');
  const raw = bytes.toString('latin1');
  const hex = bytes.toString('hex');
  const exact = new Set([raw, hex, hex.toUpperCase()]);
  // application/x-www-form-urlencoded writes a space as +, which no percent decoding undoes.
  if (raw.includes(' ')) exact.add(raw.replaceAll(' ', '+'));
  // A value that looks escaped itself loses its own escapes together with the ones around it.
  for (let next = unescapeOnce(raw), last = raw; next !== last && next.length >= limits.secretBytesMin; next = unescapeOnce(next)) {
    exact.add(next);
    last = next;
  }
  const inner = new Set<string>();
  for (const shift of [0, 1, 2]) {
    const encoded = innerBase64(bytes, shift);
    inner.add(encoded);
    inner.add(encoded.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return [...[...exact].map((found) => ({ text: found, inner: false })), ...[...inner].map((found) => ({ text: found, inner: true }))];
}

/** The characters of base64 that depend on the value alone when `shift` unknown bytes stand before it. */
function innerBase64(bytes: Buffer, shift: number): string {
  const encoded = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  return encoded.slice(Math.ceil((shift * 8) / 6), Math.floor(((shift + bytes.length) * 8) / 6));
}
