/**
 * Bytes to text: UTF-8 or nothing. Bytes that are not UTF-8 are never replaced by U+FFFD, because two different values would
 * then look equal. A byte order mark at the start is not part of the text (RFC 8259 section 8.1 allows to ignore it).
 */
import { isUtf8 } from 'node:buffer';

export function decodeText(body: Uint8Array): string | undefined {
  if (!isUtf8(body)) return undefined;
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  return text.charCodeAt(0) === 0xfeff ? text.slice(1) : text;
}
