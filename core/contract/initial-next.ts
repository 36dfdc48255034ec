/** The first page's values of `$(next.NAME)`, where a part states `initial` (contract language, section 2.5). */
import type { JsonValue, PagingRules } from './compiled.ts';
import type { SlotValues } from './slot-value.ts';
import { composedText, formatted, singleSlot } from './template-text.ts';

/** Typed where `initial` is one slot; a part whose initial value is absent is left out. Throws PosternError for a value that does not fit. */
export function initialNext(paging: PagingRules, values: SlotValues): Readonly<Record<string, JsonValue>> {
  const next: Record<string, JsonValue> = Object.create(null);
  for (const part of paging.next) {
    if (part.initial === undefined) continue;
    const slot = singleSlot(part.initial);
    const value = slot === undefined ? composedText(part.initial, values) : formatted(slot, values);
    if (value !== undefined) next[part.name] = value;
  }
  return next;
}
