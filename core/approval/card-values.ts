/** How a value stands on a card: with its borders visible, so that no value reads like two, or like our own words beside it. */

import type { ArgumentPath } from '#core/contract/effect-rules.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';

/** Ids, names, paths: what has no border to forge. */
const BARE = /^[\p{L}\p{N}\p{M}._:@/+-]+$/u;

/** One value among others: bare, or in the quotes of JSON. Not sanitized yet. */
export function elementText(value: JsonValue): string {
  if (typeof value === 'string') return BARE.test(value) ? value : JSON.stringify(value);
  return jsonText(value);
}

/** A value that has its line to itself. Not sanitized yet. */
export function aloneText(value: JsonValue): string {
  if (typeof value === 'string') return value === '' ? '""' : value;
  return jsonText(value);
}

function jsonText(value: JsonValue): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(sorted(value)) : String(value);
}

/** As canonical JSON has it, but for what a remote said too: half of a surrogate pair is written as an escape. */
function sorted(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  const object = value as Readonly<Record<string, JsonValue>>;
  // Null prototype: a member named __proto__ is a member.
  const copy: Record<string, JsonValue> = Object.create(null);
  for (const name of Object.keys(object).sort()) copy[name] = sorted(object[name] ?? null);
  return copy;
}

/** The argument a path names; own members only. */
export function argumentAt(args: Readonly<Record<string, JsonValue>>, path: ArgumentPath): JsonValue | undefined {
  let value: JsonValue | undefined = args;
  for (const name of path) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, name)) return undefined;
    value = (value as Readonly<Record<string, JsonValue>>)[name];
  }
  return value;
}

/** The 64 digits alone: they fill one line of a card. */
export function bareDigest(digest: string): string {
  return digest.replace(/^sha256:/, '');
}
