/**
 * The raw items of one answer, before identity, `where` and fields (contract language 2.4).
 *
 * A path that ends in `*` names the items themselves; any other names lists, which are joined. What is neither
 * there nor a list is never taken for an empty one unless the contract says so (`absentItems: Empty`).
 */
import type { JsonValue, ResultRules } from '#core/contract/compiled.ts';
import { isList, isObject, type Path, readEvery, readPath } from './path.ts';

export type ItemsRead = { readonly kind: 'items'; readonly items: readonly JsonValue[] } | { readonly kind: 'notThere' };

/** `object` results read as one item. */
export function readItems(result: ResultRules, body: JsonValue | undefined): ItemsRead {
  if (result.shape.kind === 'object') {
    const reading = readPath(body, result.shape.path);
    return reading.kind === 'value' && isThing(result, reading.value) ? { kind: 'items', items: [reading.value] } : { kind: 'notThere' };
  }
  const items: JsonValue[] = [];
  for (const path of result.shape.paths) {
    const read = readList(result, body, path);
    if (read === undefined) return { kind: 'notThere' };
    for (const item of read) items.push(item);
  }
  return { kind: 'items', items };
}

/** A list or a word where an object was promised would read as an object without members. */
function isThing({ fields }: ResultRules, value: JsonValue): boolean {
  if (value === null) return false;
  return isObject(value) || fields === 'All' || fields.some(({ path }) => readPath(value, path).kind === 'value');
}

function readList(result: ResultRules, body: JsonValue | undefined, path: Path): readonly JsonValue[] | undefined {
  const { found, missing, ambiguous } = readEvery(body, path);
  if (ambiguous > 0 || (missing > 0 && result.absentItems === 'Error')) return undefined;
  if (path.steps.at(-1)?.kind === 'every') return found;
  const items: JsonValue[] = [];
  for (const value of found) {
    const list = listOf(result, value);
    if (list === undefined) return undefined;
    for (const item of list) items.push(item);
  }
  return items;
}

/** `null` is how some encoders write a list without elements: absent, as the contract treats absent. XML has no list of one. */
function listOf(result: ResultRules, value: JsonValue): readonly JsonValue[] | undefined {
  if (isList(value)) return value;
  if (value === null) return result.absentItems === 'Empty' ? [] : undefined;
  return result.decoder === 'XML' && (isObject(value) || typeof value === 'string') ? [value] : undefined;
}
