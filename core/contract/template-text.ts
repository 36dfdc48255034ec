/**
 * From templates and values to plain text and JSON, before any position encodes it.
 * A value that does not fit its slot becomes the error of whoever it came from: the agent's is
 * INVALID_ARGUMENT with the argument's path, the remote's REMOTE_PROTOCOL, ours INTERNAL.
 */

import { PosternError } from '#core/error/postern-error.ts';
import type { JsonTemplate, JsonValue, Slot, Template } from './compiled.ts';
import { isMisfit, type Misfit, misfit, textOf } from './encode.ts';
import { applyFormat } from './slot-format.ts';
import { type SlotValues, slotOrigin, slotValue } from './slot-value.ts';

/** The slot when the template is one slot and nothing else. */
export function singleSlot(template: Template): Slot | undefined {
  const only = template[0];
  return template.length === 1 && typeof only === 'object' ? only : undefined;
}

/** The text of a template that is no slot at all. */
export function literalText(template: Template): string | undefined {
  if (template.length === 0) return '';
  return template.length === 1 && typeof template[0] === 'string' ? template[0] : undefined;
}

/** The value of one slot with its format applied; absent is `undefined`. */
export function formatted(slot: Slot, values: SlotValues): JsonValue | undefined {
  const value = slotValue(slot, values);
  // Left out like an absent argument, a key would make every repetition a new effect.
  if (value === undefined && slot.root === 'operation') throw missing(slot);
  if (value === undefined || slot.format === undefined) return value;
  const result = applyFormat(slot.format, value);
  if (isMisfit(result)) throw refuse(slot, result);
  return result;
}

/** Texts of a template in a place that repeats: one for each element of an array; none when absent. */
export function repeatedTexts(template: Template, values: SlotValues): readonly string[] {
  const slot = singleSlot(template);
  const value = slot === undefined ? undefined : formatted(slot, values);
  if (slot === undefined || !Array.isArray(value)) {
    const text = composedText(template, values);
    return text === undefined ? [] : [text];
  }
  return value.map((element: JsonValue, index) => scalarText(slot, element, index));
}

/** Text of a template; `undefined` when a slot in it is absent: half a text is never sent. */
export function composedText(template: Template, values: SlotValues): string | undefined {
  const literal = literalText(template);
  if (literal !== undefined) return literal;
  let text = '';
  for (const part of template) {
    if (typeof part === 'string') {
      text += part;
      continue;
    }
    const value = formatted(part, values);
    if (value === undefined) return undefined;
    text += scalarText(part, value);
  }
  return text;
}

/** A JSON value; absent members and elements are left out. */
export function composedJson(template: JsonTemplate, values: SlotValues): JsonValue | undefined {
  switch (template.kind) {
    case 'literal':
      return template.value;
    case 'slot':
      return formatted(template.slot, values);
    case 'text':
      return composedText(template.template, values);
    case 'list':
      return template.items.map((item) => composedJson(item, values)).filter((item) => item !== undefined);
    case 'object': {
      // Null prototype: a member named __proto__ is a member.
      const object: Record<string, JsonValue> = Object.create(null);
      for (const [name, member] of template.members) {
        const value = composedJson(member, values);
        if (value !== undefined) object[name] = value;
      }
      return object;
    }
  }
}

/** The error for a value that does not fit. `index`: which element of an array it is. */
export function refuse(slot: Slot, problem: Misfit, index?: number): PosternError {
  const origin = slotOrigin(slot.root);
  if (origin === 'agent') {
    const named = slot.root === 'each' ? ['each', ...slot.path] : slot.path;
    const path = `/${[...named, ...(index === undefined ? [] : [String(index)])].map(pointerToken).join('/')}`;
    const message = `${path} ${problem.why}.`;
    return new PosternError('INVALID_ARGUMENT', message, { fields: [{ path, rule: problem.rule, message }] });
  }
  const details = { slot: slot.text, rule: problem.rule };
  if (origin === 'remote')
    return new PosternError('REMOTE_PROTOCOL', `The remote gave a value for ${slot.text} that ${problem.why}.`, { details });
  return new PosternError('INTERNAL', `The value of ${slot.text} ${problem.why}; the contract should not have compiled.`, { details });
}

export function scalarText(slot: Slot, value: JsonValue, index?: number): string {
  const text = textOf(value);
  if (isMisfit(text)) throw refuse(slot, text, index);
  return text;
}

/** Refuses an absent slot where the request cannot do without it. */
export function missing(slot: Slot): PosternError {
  return refuse(slot, misfit('empty', 'must be present: the request cannot be built without it'));
}

function pointerToken(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
