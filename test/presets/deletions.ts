/**
 * Every way to lose one rule of a preset: the spec without one entry of a list, one member of a block, one block.
 * Enumerated from the YAML, so that a rule added tomorrow is in it.
 */
import { isList, isObject, type JsonObject } from '#core/completeness/path.ts';
import type { JsonValue } from '#core/contract/compiled.ts';

export interface Deletion {
  /** `completeness.signals.timed-out`, `http.query.per_page`, `completeness.paging.end.nextIs.Absent`. */
  readonly path: string;
  readonly spec: JsonObject;
}

/** Words for the reader; nothing decides by them. */
const SILENT = new Set(['because', 'name']);

export function deletionsOf(spec: JsonObject): readonly Deletion[] {
  return placesIn(spec, []).map((place) => ({ path: nameOf(spec, place), spec: without(spec, place) as JsonObject }));
}

type Place = readonly (string | number)[];

function placesIn(value: JsonValue, at: Place): readonly Place[] {
  const places: Place[] = [];
  const entries: readonly (readonly [string | number, JsonValue])[] = isList(value)
    ? value.map((entry, index) => [index, entry] as const)
    : isObject(value)
      ? Object.entries(value)
      : [];
  for (const [key, entry] of entries) {
    if (SILENT.has(String(key))) continue;
    places.push([...at, key], ...placesIn(entry, [...at, key]));
  }
  // An empty list is no list: the only entry of one goes with it, and that is one deletion, not two.
  return places.filter((place) => !isOnlyEntry(value, at, place));
}

function isOnlyEntry(value: JsonValue, at: Place, place: Place): boolean {
  return isList(value) && value.length === 1 && place.length === at.length + 1;
}

function without(value: JsonValue, place: Place): JsonValue {
  const [key, ...rest] = place;
  if (isList(value)) {
    if (rest.length === 0) return value.filter((_, index) => index !== key);
    return value.map((entry, index) => (index === key ? without(entry, rest) : entry));
  }
  if (!isObject(value) || typeof key !== 'string') return value;
  const copy: Record<string, JsonValue> = { ...value };
  if (rest.length === 0) delete copy[key];
  else copy[key] = without(value[key] ?? null, rest);
  return copy;
}

/** Entries by their name, their text or their position; a list of one entry with that entry. */
function nameOf(spec: JsonObject, place: Place): string {
  let value: JsonValue = spec;
  const words: string[] = [];
  for (const key of place) {
    value = (isList(value) ? value[Number(key)] : isObject(value) ? value[String(key)] : null) ?? null;
    words.push(typeof key === 'number' ? entryName(value, key) : key);
  }
  if (isList(value) && value.length === 1) words.push(entryName(value[0] ?? null, 0));
  return words.join('.');
}

function entryName(entry: JsonValue, index: number): string {
  const name = isObject(entry) ? (entry.name ?? entry.match ?? entry.prefix) : entry;
  return typeof name === 'string' ? name : String(index);
}
