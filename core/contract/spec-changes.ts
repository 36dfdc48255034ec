/** Every difference between two specs. Lists of named entries are compared by name, so that an inserted rule is one change. */
import { isList, isObject, type JsonObject, memberOf } from '#core/completeness/path.ts';
import type { JsonValue } from './compiled.ts';

export interface SpecChange {
  /** Names only: an entry of a named list stands for itself, `signals`, `partial`, `when`. */
  readonly path: readonly string[];
  /** Absent: added or removed. */
  readonly before?: JsonValue;
  readonly after?: JsonValue;
}

export function specChanges(before: JsonObject, after: JsonObject): readonly SpecChange[] {
  return changesBetween(before, after, []);
}

function changesBetween(before: JsonValue | undefined, after: JsonValue | undefined, path: readonly string[]): readonly SpecChange[] {
  const left = entriesOf(before);
  const right = entriesOf(after);
  if (left === undefined || right === undefined) {
    if (same(before, after)) return [];
    return [{ path, ...(before === undefined ? {} : { before }), ...(after === undefined ? {} : { after }) }];
  }
  const names = new Set([...left.keys(), ...right.keys()]);
  return [...names].flatMap((name) => changesBetween(left.get(name), right.get(name), [...path, name]));
}

/** The members of a map, or the entries of a list by their identity; nothing for what is compared whole. */
function entriesOf(value: JsonValue | undefined): ReadonlyMap<string, JsonValue> | undefined {
  if (isObject(value)) return new Map(Object.entries(value));
  if (!isList(value ?? null)) return undefined;
  const entries = new Map<string, JsonValue>();
  for (const [index, item] of (value as readonly JsonValue[]).entries()) {
    const name = identityOf(item) ?? `#${index}`;
    entries.set(entries.has(name) ? `${name}#${index}` : name, item);
  }
  return entries;
}

function identityOf(item: JsonValue): string | undefined {
  if (typeof item === 'string' || typeof item === 'number') return String(item);
  if (!isObject(item)) return undefined;
  for (const key of ['name', 'serviceAccount', 'origin', 'evidenceArgument']) {
    const held = memberOf(item, key);
    if (typeof held === 'string') return held;
  }
  return undefined;
}

function same(before: JsonValue | undefined, after: JsonValue | undefined): boolean {
  return before === after || (before !== undefined && after !== undefined && JSON.stringify(before) === JSON.stringify(after));
}
