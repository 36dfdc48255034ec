/**
 * What a slot stands for in one call.
 *
 * - Absent stays absent (`undefined`): the caller drops the parameter or member, nothing is filled in.
 * - Only `args` and `each` carry the agent's bytes; `next` and `open` carry the remote's; the rest is ours.
 * - Own properties only: an argument named `constructor` never reads a prototype.
 */
import type { JsonValue, Slot, SlotRoot } from './compiled.ts';

type Named = Readonly<Record<string, JsonValue>>;

export interface SlotValues {
  /** The agent's arguments, already checked by the schema. */
  readonly args: Named;
  /** The contract's tables: argument -> label -> member -> value. */
  readonly resolve: Readonly<Record<string, Readonly<Record<string, Named>>>>;
  readonly constants: Named;
  readonly next: Named;
  readonly open: Named;
  /** Values of the source being walked. */
  readonly source: Named;
  /** `pageSize` and the other limits of the contract, by their names in it. */
  readonly limits: Named;
  /** What is left of this call: `millis`. */
  readonly budget: Named;
  /** `id` of the operation, and `key`, by which a remote tells a repetition: the id, for one element of a `forEach` `<id>-<index>`. */
  readonly operation: Named;
  /** The element a `forEach` request is for. */
  readonly each?: JsonValue;
}

/** The value of a slot before its format, or `undefined` when it is absent. */
export function slotValue(slot: Slot, values: SlotValues): JsonValue | undefined {
  if (slot.root === 'resolve') return resolved(slot.path, values);
  if (slot.root === 'each') return values.each === undefined ? undefined : descend(values.each, slot.path, 0);
  return descend(values[slot.root], slot.path, 0);
}

/** Whose bytes a slot carries: decides which error a value that does not fit becomes. */
export function slotOrigin(root: SlotRoot): 'agent' | 'remote' | 'contract' {
  if (root === 'args' || root === 'each') return 'agent';
  if (root === 'next' || root === 'open') return 'remote';
  return 'contract';
}

/** `resolve.ARGUMENT.MEMBER`: the member the argument's label stands for; one value per label of an array. */
function resolved(path: readonly string[], values: SlotValues): JsonValue | undefined {
  const argument = path[0];
  if (argument === undefined || !Object.hasOwn(values.resolve, argument)) return undefined;
  const label = own(values.args, argument);
  const table = values.resolve[argument];
  if (label === undefined || table === undefined) return undefined;
  if (!Array.isArray(label)) return memberOf(table, label, path);
  const members: JsonValue[] = [];
  for (const each of label) {
    const member = memberOf(table, each, path);
    if (member !== undefined) members.push(member);
  }
  return members;
}

function memberOf(table: Readonly<Record<string, Named>>, label: JsonValue, path: readonly string[]): JsonValue | undefined {
  // Labels are scalars; anything else has no text of its own to look up.
  if (typeof label === 'object') return undefined;
  const key = String(label);
  if (!Object.hasOwn(table, key)) return undefined;
  return descend(table[key] ?? null, path, 1);
}

function descend(from: JsonValue, path: readonly string[], start: number): JsonValue | undefined {
  let value: JsonValue | undefined = from;
  for (let index = start; index < path.length; index++) {
    const name = path[index];
    if (name === undefined || value === undefined) return undefined;
    value = own(value, name);
  }
  return value;
}

function own(value: JsonValue, name: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Named)[name];
}
