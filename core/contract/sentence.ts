/**
 * The one sentence of a contract, for two readers: filled in for a call, or with argument names for a list of actions.
 * Lists are counted and shortened (contract language, point 31); every agent's byte goes through the one sanitizer.
 */
import { visibleText } from '#core/encoding/visible-text.ts';
import type { JsonValue, Slot, Template } from './compiled.ts';
import { type SlotValues, slotValue } from './slot-value.ts';

const LISTED_MAX = 3;

/** `List open issues of storefront`. An absent optional argument reads `(not given)`. */
export function renderSentence(sentence: Template, values: SlotValues): string {
  return sentence.map((part) => (typeof part === 'string' ? part : shown(slotValue(part, values)))).join('');
}

/** `List open issues of {repository}`: never a value. */
export function describeSentence(sentence: Template): string {
  return sentence.map((part) => (typeof part === 'string' ? part : `{${named(part)}}`)).join('');
}

function named(slot: Slot): string {
  return slot.path[0] ?? slot.root;
}

function shown(value: JsonValue | undefined): string {
  if (value === undefined) return '(not given)';
  if (Array.isArray(value)) {
    const first = value.slice(0, LISTED_MAX).map(shown).join(', ');
    return value.length > LISTED_MAX ? `${value.length} values (${first}, ...)` : first;
  }
  return visibleText(typeof value === 'string' ? value : JSON.stringify(value));
}
