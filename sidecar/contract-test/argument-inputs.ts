/**
 * Inputs for the arguments of a contract, made from its schema: one that is plainly good, and many that are as nasty
 * as the schema lets them be. Nothing here decides whether an input is legal; the real check does.
 */
import { isObject } from '#core/completeness/path.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { HOSTILE_PIECES } from './hostile-values.ts';
import type { RandomSource } from './random-source.ts';
import { samplePattern } from './sample-pattern.ts';

export type ArgumentPath = readonly (string | number)[];

/** One place of the arguments that holds a scalar, with its schema; lists are entered at their first element. */
export interface ArgumentLeaf {
  readonly path: ArgumentPath;
  readonly schema: JsonValue;
}

const LENGTH_DEFAULT = 40;
const SAMPLE_TRIES = 20;

/** Every scalar the schema declares, optional ones too. */
export function argumentLeaves(schema: JsonValue, path: ArgumentPath = []): readonly ArgumentLeaf[] {
  const { properties, items, type } = fieldsOf(schema);
  if (type === 'object')
    return Object.entries(isObject(properties) ? properties : {}).flatMap(([name, member]) => argumentLeaves(member, [...path, name]));
  if (type === 'array') return argumentLeaves(items ?? null, [...path, 0]);
  return [{ path, schema }];
}

/** A plainly good value: every property present, so that every slot is exercised. */
export function sampleValue(schema: JsonValue, random: RandomSource): JsonValue {
  const { type, properties, items, minItems } = fieldsOf(schema);
  if (type === 'object') {
    const members = Object.create(null) as Record<string, JsonValue>;
    for (const [name, member] of Object.entries(isObject(properties) ? properties : {})) members[name] = sampleValue(member, random);
    return members;
  }
  if (type === 'array')
    return Array.from({ length: Math.max(1, numberOf(minItems, 1)) }, (_, index) => sampleElement(items ?? null, index, random));
  return sampleScalar(schema, random);
}

/** A value at the edge of its schema: a legal one if there is such, built from characters with a meaning somewhere. */
export function nastyValue(schema: JsonValue, random: RandomSource): JsonValue {
  const { type, pattern, minLength, maxLength, enum: choices, format } = fieldsOf(schema);
  if (Array.isArray(choices)) return random.pick(choices as readonly JsonValue[]) ?? null;
  if (type === 'integer' || type === 'number') return nastyNumber(schema, random);
  if (type !== 'string' || typeof format === 'string') return sampleScalar(schema, random);
  if (typeof pattern === 'string') return samplePattern(pattern, random) ?? sampleScalar(schema, random);
  const longest = Math.max(1, Math.min(numberOf(maxLength, LENGTH_DEFAULT), 200));
  const length = Math.max(numberOf(minLength, 0), 1 + random.below(longest));
  let text = '';
  while ([...text].length < length) text += random.pick(HOSTILE_PIECES) ?? '';
  return [...text].slice(0, length).join('');
}

/** `text` cut or repeated until its length is legal: a trick that is refused for its length alone proves nothing. */
export function fitLength(text: string, schema: JsonValue): string {
  const { minLength, maxLength } = fieldsOf(schema);
  const characters = [...text];
  const most = numberOf(maxLength, Number.POSITIVE_INFINITY);
  if (characters.length > most) return characters.slice(0, most).join('');
  const least = numberOf(minLength, 0);
  if (text === '' || characters.length >= least) return text;
  return text.repeat(Math.ceil(least / characters.length));
}

/** `value` with the member at `path` replaced; lists and objects on the way are copied. */
export function withValue(value: JsonValue, path: ArgumentPath, replacement: JsonValue): JsonValue {
  const [step, ...rest] = path;
  if (step === undefined) return replacement;
  if (typeof step === 'number') {
    const list = Array.isArray(value) ? [...(value as readonly JsonValue[])] : [];
    list[step] = withValue(list[step] ?? null, rest, replacement);
    return list;
  }
  const members = Object.assign(Object.create(null) as Record<string, JsonValue>, isObject(value) ? value : {});
  members[step] = withValue(members[step] ?? null, rest, replacement);
  return members;
}

function sampleElement(schema: JsonValue, index: number, random: RandomSource): JsonValue {
  const { enum: choices } = fieldsOf(schema);
  if (Array.isArray(choices)) return (choices as readonly JsonValue[])[index % choices.length] ?? null;
  return sampleValue(schema, random);
}

function sampleScalar(schema: JsonValue, random: RandomSource): JsonValue {
  const { type, enum: choices, format, pattern, minimum, minLength, const: constant } = fieldsOf(schema);
  if (constant !== undefined) return constant;
  if (Array.isArray(choices)) return (choices as readonly JsonValue[])[0] ?? null;
  if (type === 'boolean') return true;
  if (type === 'integer' || type === 'number') return numberOf(minimum, 1);
  if (format === 'date-time') return '2026-01-02T03:04:05Z';
  if (format === 'date') return '2026-01-02';
  if (format === 'uuid') return '0b0e6a4e-4b0a-4c3e-9a2f-6d2f3c1d5e7a';
  if (typeof pattern === 'string') return plainestOf(pattern, numberOf(minLength, 0), random);
  return 'word'.repeat(Math.ceil(Math.max(1, numberOf(minLength, 0)) / 4));
}

/** Of several samples the one with most letters and digits: a good value should not be refused for its place. */
function plainestOf(pattern: string, least: number, random: RandomSource): string {
  let best = '';
  let bestScore = Number.NEGATIVE_INFINITY;
  for (let index = 0; index < SAMPLE_TRIES; index += 1) {
    const text = samplePattern(pattern, random) ?? '';
    const score = text.replace(/[^A-Za-z0-9]/g, '').length * 2 - text.length - (text.length < least || text === '' ? 1000 : 0);
    if (score > bestScore) [best, bestScore] = [text, score];
  }
  return best;
}

function nastyNumber(schema: JsonValue, random: RandomSource): JsonValue {
  const { type, minimum, maximum } = fieldsOf(schema);
  const edges = [numberOf(minimum, -1), numberOf(maximum, Number.MAX_SAFE_INTEGER), 0, 1, -1];
  return random.pick(type === 'integer' ? edges : [...edges, 0.1, -0, 1e21, 5e-324]) ?? 0;
}

function fieldsOf(value: JsonValue | undefined): { readonly [key: string]: JsonValue | undefined } {
  return isObject(value) ? value : {};
}

function numberOf(value: JsonValue | undefined, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}
