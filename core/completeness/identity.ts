/**
 * Identity of items over the whole walk: duplicates are dropped, totals count distinct items, evidence binds ids.
 *
 * A walk keeps its ids joined into one text. A short plain id of an unnamed source stands there as it is; any other as the
 * first 84 bits of a digest over its source and its texts, so that a walk of thousands fits a cursor: two ids of one walk
 * collide with a chance below 2^-60, and making one that collides with a listed id costs about 2^72 digests.
 * Both forms differ in length, so neither can be taken for the other.
 */
import { hash } from 'node:crypto';
import type { JsonValue } from '#core/contract/compiled.ts';
import { type Path, readPath, scalarText } from './path.ts';

/** base64url characters of one digest. */
const DIGEST_CHARS = 14;
/** Ids that are kept as they are: shorter than a digest, and free of marks. */
const SHORT_ID = /^[A-Za-z0-9._/:@-]{1,13}$/;
/** After each id: whether its item was kept or left out by `where`. */
const KEPT = '+';
const LEFT_OUT = '!';
const MARKED_ID = /[^+!]+[+!]/g;

/** Undefined when a part of the id is missing or no scalar. */
export function idOf(source: string, paths: readonly Path[], item: JsonValue): string | undefined {
  const texts: string[] = [];
  for (const path of paths) {
    const reading = readPath(item, path);
    const text = reading.kind === 'value' ? scalarText(reading.value) : undefined;
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return idKey(source, texts);
}

/** Scalars compare as text, so the id 7 and the id "7" of one source are the same. */
export function idKey(source: string, texts: readonly string[]): string {
  const [text = ''] = texts;
  if (source === '' && texts.length === 1 && SHORT_ID.test(text)) return text;
  return hash('sha256', `postern/id/v1\0${JSON.stringify([source, ...texts])}`, 'base64url').slice(0, DIGEST_CHARS);
}

export function markId(key: string, kept: boolean): string {
  return key + (kept ? KEPT : LEFT_OUT);
}

export function splitIds(joined: string): Set<string> {
  return new Set(joined.split(/[+!]/).slice(0, -1));
}

/** The items that were kept, each with its mark. */
export function keptIds(joined: string): string {
  return joined.includes(LEFT_OUT) ? joined.replace(/[^+!]+!/g, '') : joined;
}

/** The ids up to and with the one of the `rows`th kept item. */
export function firstKept(joined: string, rows: number): string {
  let at = 0;
  for (let kept = 0; kept < rows; kept += 1) {
    const mark = joined.indexOf(KEPT, at);
    if (mark < 0) return joined;
    at = mark + 1;
  }
  return joined.slice(0, at);
}

export function lastIds(joined: string, count: number): string {
  const marked = joined.match(MARKED_ID) ?? [];
  return count === 0 ? '' : marked.slice(-count).join('');
}

/** How many of the ids belong to items that were kept. */
export function countKept(joined: string): number {
  return countIds(keptIds(joined));
}

export function countIds(joined: string): number {
  let count = 0;
  for (let at = 0; at < joined.length; at += 1) if (joined[at] === KEPT || joined[at] === LEFT_OUT) count += 1;
  return count;
}

/** Whether the item of an id was kept; `joined` is what keptIds gives. */
export function hasId(joined: string, key: string): boolean {
  return joined.startsWith(key + KEPT) || joined.includes(`${KEPT}${key}${KEPT}`);
}

/** One digest for all items of a page, by id where they have one: tells whether a page read twice is the same page. */
export function pageDigest(items: readonly JsonValue[], ids: readonly (string | undefined)[]): string {
  const parts = items.map((item, index) => ids[index] ?? JSON.stringify(item));
  return hash('sha256', `postern/page/v1\0${parts.join('\0')}`, 'base64url').slice(0, 22);
}
