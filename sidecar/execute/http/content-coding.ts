/**
 * Content codings (RFC 9110 section 8.4.1) undone under a cap: a bomb stops at the cap, not at its end (failure case HTTP-14).
 */
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import { limits } from '#core/bounds/limits.ts';

export type Decoded = { readonly kind: 'bytes'; readonly bytes: Buffer } | { readonly kind: 'tooLarge' | 'broken' | 'unknown' };

/** The codings of a response in the order they were applied; empty for none. */
export function contentCodings(headers: readonly (readonly [string, string])[]): readonly string[] {
  let codings: string[] | undefined;
  for (const [name, value] of headers) {
    if (name !== 'content-encoding') continue;
    codings ??= [];
    for (const coding of value.toLowerCase().split(',')) {
      const token = coding.trim();
      if (token !== '' && token !== 'identity') codings.push(token);
    }
  }
  return codings ?? NONE;
}

/** Undoes the last applied coding first. Memory stays below the cap for each layer. */
export async function decodeContent(body: Buffer, codings: readonly string[], bytesMax: number): Promise<Decoded> {
  if (codings.length > limits.httpContentCodingsMax) return { kind: 'unknown' };
  let bytes = body;
  for (const coding of codings.toReversed()) {
    const undo = decoders[coding];
    if (undo === undefined) return { kind: 'unknown' };
    if (bytes.length === 0) break;
    try {
      bytes = await undo(bytes, { maxOutputLength: bytesMax });
    } catch (error) {
      return { kind: error instanceof RangeError ? 'tooLarge' : 'broken' };
    }
  }
  return { kind: 'bytes', bytes };
}

const NONE: readonly string[] = [];

type Undo = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const gzip: Undo = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip);

const decoders: Readonly<Record<string, Undo | undefined>> = Object.assign(Object.create(null), {
  gzip,
  'x-gzip': gzip,
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
});
