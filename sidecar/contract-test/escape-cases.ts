/** The inputs one contract is attacked with: the fixed corpus and seeded random ones, at every slot that carries foreign bytes. */
import { isObject } from '#core/completeness/path.ts';
import type { BodyTemplate, HttpTarget, JsonTemplate, JsonValue, RequestTemplate, Slot, Template } from '#core/contract/compiled.ts';
import { type ArgumentLeaf, argumentLeaves, fitLength, nastyValue, sampleValue, withValue } from './argument-inputs.ts';
import { HOSTILE_TEXTS } from './hostile-values.ts';
import { type RandomSource, randomSource } from './random-source.ts';

export interface EscapeCase {
  /** `args.repository` or `next.after`. */
  readonly slot: string;
  readonly aim: string;
  readonly value: JsonValue;
  readonly args: JsonValue;
  /** Values the remote gave, for `$(next.NAME)` and `$(open.NAME)`. */
  readonly next: Readonly<Record<string, JsonValue>>;
  readonly open: Readonly<Record<string, JsonValue>>;
}

export interface CaseOptions {
  readonly schema: JsonValue;
  /** Arguments known to be good, such as those of a contract test; made from the schema when absent. */
  readonly base?: JsonValue;
  /** Random inputs of the whole contract. */
  readonly runs: number;
  readonly seed: number;
}

/** All cases in a fixed order: equal options give equal cases. */
export function* escapeCases(target: HttpTarget, options: CaseOptions): Generator<EscapeCase> {
  const random = randomSource(options.seed);
  const base = options.base ?? sampleValue(options.schema, random);
  const remote = remoteSlots(target);
  const plain = { next: plainValues(remote.next), open: plainValues(remote.open) };
  const leaves = argumentLeaves(options.schema);
  yield { slot: 'none', aim: 'plain call', value: null, args: base, ...plain };
  yield { slot: 'none', aim: 'plain call without optional arguments', value: null, args: onlyRequired(options.schema, base), ...plain };
  for (const leaf of leaves) yield* attackLeaf(leaf, base, plain);
  for (const name of remote.next) {
    for (const { aim, text } of HOSTILE_TEXTS)
      yield { slot: `next.${name}`, aim, value: text, args: base, ...plain, next: { ...plain.next, [name]: text } };
  }
  for (const name of remote.open) {
    for (const { aim, text } of HOSTILE_TEXTS)
      yield { slot: `open.${name}`, aim, value: text, args: base, ...plain, open: { ...plain.open, [name]: text } };
  }
  yield* randomCases(leaves, base, plain, { runs: options.runs, random });
}

/** What the cases attack, for the report. */
export function attackedSlots(target: HttpTarget, schema: JsonValue): readonly string[] {
  const remote = remoteSlots(target);
  return [
    ...argumentLeaves(schema).map(({ path }) => `args.${path.join('.')}`),
    ...remote.next.map((name) => `next.${name}`),
    ...remote.open.map((name) => `open.${name}`),
  ];
}

type Plain = Pick<EscapeCase, 'next' | 'open'>;

/** Each trick as it is and, where the length alone would refuse it, cut or repeated to a legal length. */
function* attackLeaf(leaf: ArgumentLeaf, base: JsonValue, plain: Plain): Generator<EscapeCase> {
  const slot = `args.${leaf.path.join('.')}`;
  for (const { aim, text } of HOSTILE_TEXTS) {
    const fitted = fitLength(text, leaf.schema);
    for (const value of fitted === text ? [text] : [text, fitted])
      yield { slot, aim, value, args: withValue(base, leaf.path, value), ...plain };
  }
  for (const value of OTHER_TYPES) yield { slot, aim: 'be another type', value, args: withValue(base, leaf.path, value), ...plain };
}

const OTHER_TYPES: readonly JsonValue[] = [null, true, 0, -1, 0.5, 1e21, [], ['x'], {}, { admin: true }];

function* randomCases(
  leaves: readonly ArgumentLeaf[],
  base: JsonValue,
  plain: Plain,
  { runs, random }: { runs: number; random: RandomSource },
): Generator<EscapeCase> {
  for (let run = 0; run < runs; run += 1) {
    const leaf = random.pick(leaves);
    if (leaf === undefined) return;
    const value = nastyValue(leaf.schema, random);
    yield { slot: `args.${leaf.path.join('.')}`, aim: 'random', value, args: withValue(base, leaf.path, value), ...plain };
  }
}

function onlyRequired(schema: JsonValue, base: JsonValue): JsonValue {
  if (!isObject(schema) || !isObject(base)) return base;
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.fromEntries(Object.entries(base).filter(([name]) => required.includes(name)));
}

function plainValues(names: readonly string[]): Readonly<Record<string, JsonValue>> {
  return Object.fromEntries(names.map((name) => [name, 'cursor1']));
}

function remoteSlots(target: HttpTarget): { readonly next: readonly string[]; readonly open: readonly string[] } {
  const slots = requestTemplates(target).flatMap(([, template]) => slotsOf(template));
  const names = (root: Slot['root']) => [...new Set(slots.filter((slot) => slot.root === root).map(({ path }) => path[0] ?? ''))];
  return { next: names('next'), open: names('open') };
}

/** Every request a call of the contract may make, by its name in the contract. */
export function requestTemplates({ request, open, next, close }: HttpTarget): readonly (readonly [string, RequestTemplate])[] {
  const all: readonly (readonly [string, RequestTemplate | undefined])[] = [
    ['request', request],
    ['open', open],
    ['next', next],
    ['close', close],
  ];
  return all.flatMap(([name, template]) => (template === undefined ? [] : [[name, template] as const]));
}

function slotsOf(template: RequestTemplate): readonly Slot[] {
  const texts = [...template.segments, ...template.query.map(([, value]) => value), ...template.headers.map(([, value]) => value)];
  return [...texts.flatMap(slotsOfText), ...(template.body === undefined ? [] : slotsOfBody(template.body))];
}

function slotsOfBody(body: BodyTemplate): readonly Slot[] {
  if (body.kind === 'json') return slotsOfJson(body.json);
  return body.kind === 'text' ? slotsOfText(body.text) : body.fields.flatMap(([, value]) => slotsOfText(value));
}

function slotsOfJson(json: JsonTemplate): readonly Slot[] {
  switch (json.kind) {
    case 'literal':
      return [];
    case 'slot':
      return [json.slot];
    case 'text':
      return slotsOfText(json.template);
    case 'list':
      return json.items.flatMap(slotsOfJson);
    case 'object':
      return json.members.flatMap(([, member]) => slotsOfJson(member));
  }
}

function slotsOfText(template: Template): readonly Slot[] {
  return template.filter((part) => typeof part !== 'string');
}
