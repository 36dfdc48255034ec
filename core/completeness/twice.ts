/**
 * Whether an item whose id stands on its page already is the item that stands there. Dropped as a duplicate, a row of
 * another thing would be hidden: a name that is unique in a namespace only, listed over all of them.
 *
 * Of earlier pages only ids are kept: an item that comes again there is taken for one that moved.
 */
import type { JsonValue } from '#core/contract/compiled.ts';
import { isList, isObject, scalarText } from './path.ts';

export class Twice {
  readonly #items: readonly JsonValue[];
  readonly #ids: readonly (string | undefined)[];
  #page: ReadonlyMap<string, JsonValue> | undefined;
  #differed = false;

  /** `items` and their `ids`, of one page. */
  constructor(items: readonly JsonValue[], ids: readonly (string | undefined)[]) {
    this.#items = items;
    this.#ids = ids;
  }

  /** Asked for an item whose id was seen before it, on this page or an earlier one. */
  isSame(id: string, item: JsonValue): boolean {
    // One difference is enough; a page of nothing else must not cost a comparison for each item.
    if (this.#differed) return false;
    this.#page ??= this.#index();
    const first = this.#page.get(id);
    this.#differed = first !== undefined && !isAlike(first, item);
    return !this.#differed;
  }

  #index(): ReadonlyMap<string, JsonValue> {
    const page = new Map<string, JsonValue>();
    for (const [index, item] of this.#items.entries()) {
      const id = this.#ids[index];
      if (id !== undefined && !page.has(id)) page.set(id, item);
    }
    return page;
  }
}

/** Deep equality in which scalars compare as text, as the ids do. */
function isAlike(left: JsonValue, right: JsonValue): boolean {
  const text = scalarText(left);
  if (text !== undefined) return text === scalarText(right);
  if (isList(left)) return isList(right) && left.length === right.length && left.every((value, at) => isAlike(value, right[at] ?? null));
  if (!isObject(left) || !isObject(right)) return left === right;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && isAlike(left[name] ?? null, right[name] ?? null))
  );
}
