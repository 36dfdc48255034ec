/**
 * Checks an agent's arguments against a compiled schema by walking it: an interpreter over a closed dialect, never generated code
 * (failure case JSON-23). Nothing is coerced, trimmed, filled in or dropped; what passes is exactly what was sent, in one canonical form of its
 * numbers, frozen.
 *
 * The value comes from the strict JSON parser, so duplicate keys, unsafe integers and lone surrogates were refused before.
 */

import { limits } from '#core/bounds/limits.ts';
import { isList, isObject } from '#core/completeness/path.ts';
import type { FieldViolation } from '#core/error/postern-error.ts';
import { textViolations } from './argument-text.ts';
import type { JsonValue } from './compiled.ts';
import { nearestName } from './nearest.ts';
import type { ArgumentSchema, ArgumentsSchema, ListSchema, NumberSchema, ObjectSchema } from './schema.ts';
import { typeName } from './spec-node.ts';

export type CheckedArguments =
  | { readonly kind: 'arguments'; readonly args: Readonly<Record<string, JsonValue>> }
  /** All broken rules at once, at most `VIOLATIONS_MAX`. */
  | { readonly kind: 'violations'; readonly violations: readonly FieldViolation[] };

/** More findings than a caller can use; the rest is left out. */
const VIOLATIONS_MAX = 50;

export function checkArguments(schema: ArgumentsSchema, value: JsonValue): CheckedArguments {
  if (!isObject(value)) {
    return {
      kind: 'violations',
      violations: [{ path: '', rule: 'not_an_object', message: `Arguments are an object; this is ${typeName(value)}.` }],
    };
  }
  const violations: FieldViolation[] = [];
  const checked = walk(schema, value, { path: '', depth: 1, found: violations });
  if (violations.length > 0 || !isObject(checked)) return { kind: 'violations', violations: violations.slice(0, VIOLATIONS_MAX) };
  return { kind: 'arguments', args: checked };
}

interface Place {
  /** RFC 6901. */
  readonly path: string;
  readonly depth: number;
  readonly found: FieldViolation[];
}

function walk(schema: ArgumentSchema, value: JsonValue, place: Place): JsonValue {
  if (place.found.length >= VIOLATIONS_MAX) return null;
  // The schema bounds depth already; this holds if a schema ever does not (failure case JSON-07).
  if (place.depth > limits.argumentsDepthMax)
    return refuse(place, 'too_deep', `Values are nested deeper than ${limits.argumentsDepthMax}.`);
  switch (schema.type) {
    case 'object':
      return isObject(value) ? walkObject(schema, value, place) : wrongType(schema.type, value, place);
    case 'array':
      return isList(value) ? walkList(schema, value, place) : wrongType(schema.type, value, place);
    case 'string':
      if (typeof value !== 'string') return wrongType(schema.type, value, place);
      place.found.push(...textViolations(schema, value, place.path));
      return value;
    case 'boolean':
      return typeof value === 'boolean' ? value : wrongType(schema.type, value, place);
    default:
      return typeof value === 'number' ? checkNumber(schema, value, place) : wrongType(schema.type, value, place);
  }
}

function refuse(place: Place, rule: string, message: string): null {
  // A list of a thousand equal elements has 999 repeats to tell.
  if (place.found.length < VIOLATIONS_MAX) place.found.push({ path: place.path, rule, message });
  return null;
}

function wrongType(wanted: string, value: JsonValue, place: Place): null {
  const need = {
    object: 'an object',
    array: 'a list',
    string: 'text',
    integer: 'a whole number',
    number: 'a number',
    boolean: 'true or false',
  }[wanted];
  return refuse(place, 'wrong_type', `The value is ${typeName(value)}; ${need ?? wanted} is needed. Nothing is converted.`);
}

function step(place: Place, name: string | number): Place {
  const token = String(name).replaceAll('~', '~0').replaceAll('/', '~1');
  const path = `${place.path}/${token}`;
  return { path: path.length > limits.jsonPathCharsMax ? place.path : path, depth: place.depth + 1, found: place.found };
}

function walkObject(schema: ObjectSchema, value: { readonly [key: string]: JsonValue }, place: Place): JsonValue {
  const checked: Record<string, JsonValue> = Object.create(null);
  const names = Object.keys(schema.properties);
  for (const [name, held] of Object.entries(value)) {
    const property = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
    if (property !== undefined) checked[name] = walk(property, held, step(place, name));
    else if (place.found.length < VIOLATIONS_MAX) {
      const nearest = nearestName(name, names);
      const hint = nearest === undefined ? `There are: ${names.join(', ') || 'none'}.` : `Did you mean ${JSON.stringify(nearest)}?`;
      refuse(step(place, name), 'unknown_argument', `No such argument. ${hint}`);
    }
  }
  for (const name of schema.required) {
    if (!Object.hasOwn(value, name)) refuse(step(place, name), 'required', 'The argument is required.');
  }
  return Object.freeze(checked);
}

function walkList(schema: ListSchema, value: readonly JsonValue[], place: Place): JsonValue {
  if (value.length < schema.minItems)
    return refuse(place, 'too_few_items', `The list has ${value.length} elements; at least ${schema.minItems} are needed.`);
  if (value.length > schema.maxItems)
    return refuse(place, 'too_many_items', `The list has ${value.length} elements; at most ${schema.maxItems} are allowed.`);
  const checked = value.map((item, index) => walk(schema.items, item, step(place, index)));
  if (schema.uniqueItems) {
    const seen = new Map<JsonValue, number>();
    for (const [index, item] of checked.entries()) {
      const first = seen.get(item);
      if (first !== undefined && item !== null) refuse(step(place, index), 'duplicate_item', `The element repeats element ${first}.`);
      seen.set(item, index);
    }
  }
  return Object.freeze(checked);
}

/** One canonical form: -0 is 0; 1.0 and 1e2 are 1 and 100, since JSON has one kind of number (failure case JSON-06). */
function checkNumber(schema: NumberSchema, value: number, place: Place): JsonValue {
  const canonical = value === 0 ? 0 : value;
  if (!Number.isFinite(canonical)) return refuse(place, 'not_finite', 'The number is not finite.');
  if (schema.type === 'integer' && !Number.isInteger(canonical)) return refuse(place, 'not_an_integer', 'The number is not whole.');
  if (Number.isInteger(canonical) && !Number.isSafeInteger(canonical)) {
    return refuse(place, 'unsafe_integer', 'The number is beyond 2^53 and cannot be kept exactly.');
  }
  if (schema.enum !== undefined && !schema.enum.includes(canonical)) {
    return refuse(place, 'enum', `The value is none of ${schema.enum.join(', ')}.`);
  }
  if (schema.minimum !== undefined && canonical < schema.minimum)
    return refuse(place, 'too_small', `The number is below ${schema.minimum}.`);
  if (schema.maximum !== undefined && canonical > schema.maximum)
    return refuse(place, 'too_large', `The number is above ${schema.maximum}.`);
  return canonical;
}
