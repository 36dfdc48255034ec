/**
 * Identity of items over the whole walk: duplicates are dropped, totals count distinct items, evidence binds ids.
 *
 * An id is kept as the first 84 bits of a digest over its source and its texts, so a walk of thousands fits a
 * cursor; two ids of one walk collide with a chance below 2^-60, and making one that collides with a listed id
 * costs about 2^72 digests.
 */
import { hash } from 'node:crypto';
import type { JsonValue } from '#core/contract/compiled.ts';
import { type Path, readPath, scalarText } from './path.ts';

/** base64url characters of one digest. */
const DIGEST_CHARS = 14;
/** One id as the walk keeps it: its digest and whether its item was kept (`+`) or left out by `where` (`-`). */
export const ID_CHARS = DIGEST_CHARS + 1;

/** Undefined when a part of the id is missing or no scalar. */
export function idOf(source: string, paths: readonly Path[], item: JsonValue): string | undefined {
  const texts: string[] = [];
  for (const path of paths) {
    const reading = readPath(item, path);
    const text = reading.kind === 'value' ? scalarText(reading.value) : undefined;
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return idDigest(source, texts);
}

/** Scalars compare as text, so the id 7 and the id "7" of one source are the same. */
export function idDigest(source: string, texts: readonly string[]): string {
  return hash('sha256', `postern/id/v1\0${JSON.stringify([source, ...texts])}`, 'base64url').slice(0, DIGEST_CHARS);
}

export function markId(digest: string, kept: boolean): string {
  return digest + (kept ? '+' : '-');
}

export function splitIds(joined: string): Set<string> {
  const ids = new Set<string>();
  for (let at = 0; at < joined.length; at += ID_CHARS) ids.add(joined.slice(at, at + DIGEST_CHARS));
  return ids;
}

/** Digests of the items that were kept, joined without marks. */
export function keptIds(joined: string): string {
  let kept = '';
  for (let at = 0; at < joined.length; at += ID_CHARS) {
    if (joined[at + DIGEST_CHARS] === '+') kept += joined.slice(at, at + DIGEST_CHARS);
  }
  return kept;
}

/** The ids up to and with the one of the `rows`th kept item. */
export function firstKept(joined: string, rows: number): string {
  let kept = 0;
  let at = 0;
  for (; at < joined.length && kept < rows; at += ID_CHARS) if (joined[at + DIGEST_CHARS] === '+') kept += 1;
  return joined.slice(0, at);
}

export function lastIds(joined: string, count: number): string {
  return count === 0 ? '' : joined.slice(-count * ID_CHARS);
}

/** How many of the ids belong to items that were kept. */
export function countKept(joined: string): number {
  return keptIds(joined).length / DIGEST_CHARS;
}

export function countIds(joined: string): number {
  return joined.length / ID_CHARS;
}

/** Whether an id is among joined digests; `joined` is what keptIds gives. */
export function hasId(joined: string, digest: string): boolean {
  for (let at = 0; at < joined.length; at += DIGEST_CHARS) if (joined.startsWith(digest, at)) return true;
  return false;
}

/** One digest for all items of a page, by id where they have one: tells whether a page read twice is the same page. */
export function pageDigest(items: readonly JsonValue[], ids: readonly (string | undefined)[]): string {
  const parts = items.map((item, index) => ids[index] ?? JSON.stringify(item));
  return hash('sha256', `postern/page/v1\0${parts.join('\0')}`, 'base64url').slice(0, 22);
}
