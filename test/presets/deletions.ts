/**
 * Every way to lose one rule of a preset: the spec without one entry of a list, one member of a block, one block, one
 * word of a choice inside an expression.
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
  return placesIn(spec, []).flatMap((place) => [
    { path: nameOf(spec, place), spec: replaced(spec, place, undefined) as JsonObject },
    ...wordsLost(spec, place),
  ]);
}

/** Lists in expressions, `in ['a', 'b']`, and alternatives in their patterns, `(a|b)`: without one word each. */
const CHOICES = [
  { list: / in \[([^\]]*,[^\]]*)\]/g, separator: ', ' },
  { list: /\(([A-Za-z]+(?:\|[A-Za-z]+)+)\)/g, separator: '|' },
];

function wordsLost(spec: JsonObject, place: Place): readonly Deletion[] {
  const text = valueAt(spec, place);
  if (place.at(-1) !== 'when' || typeof text !== 'string') return [];
  return CHOICES.flatMap(({ list, separator }) =>
    [...text.matchAll(list)].flatMap((found) => {
      const words = (found[1] ?? '').split(separator);
      return words.map((word) => {
        const fewer = found[0].replace(found[1] ?? '', words.filter((other) => other !== word).join(separator));
        const lost = `${text.slice(0, found.index)}${fewer}${text.slice(found.index + found[0].length)}`;
        return { path: `${nameOf(spec, place)} without ${word}`, spec: replaced(spec, place, lost) as JsonObject };
      });
    }),
  );
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

function valueAt(value: JsonValue, place: Place): JsonValue {
  return place.reduce<JsonValue>(
    (inner, key) => (isList(inner) ? inner[Number(key)] : isObject(inner) ? inner[String(key)] : null) ?? null,
    value,
  );
}

/** The value with another one at this place, or with nothing there. */
function replaced(value: JsonValue, place: Place, by: JsonValue | undefined): JsonValue {
  const [key, ...rest] = place;
  if (isList(value)) {
    return value.flatMap((entry, index) => {
      if (index !== key) return [entry];
      return rest.length > 0 ? [replaced(entry, rest, by)] : by === undefined ? [] : [by];
    });
  }
  if (!isObject(value) || typeof key !== 'string') return value;
  const copy: Record<string, JsonValue> = { ...value };
  if (rest.length > 0) copy[key] = replaced(value[key] ?? null, rest, by);
  else if (by === undefined) delete copy[key];
  else copy[key] = by;
  return copy;
}

/** Entries by their name, their text or their position; a list of one entry with that entry. */
function nameOf(spec: JsonObject, place: Place): string {
  const words = place.map((key, depth) => (typeof key === 'number' ? entryName(valueAt(spec, place.slice(0, depth + 1)), key) : key));
  const value = valueAt(spec, place);
  if (isList(value) && value.length === 1) words.push(entryName(value[0] ?? null, 0));
  return words.join('.');
}

function entryName(entry: JsonValue, index: number): string {
  const name = isObject(entry) ? (entry.name ?? entry.match ?? entry.prefix) : entry;
  return typeof name === 'string' ? name : String(index);
}
