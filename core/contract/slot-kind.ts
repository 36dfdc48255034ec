/**
 * What can be proved about the value of a slot before any call: its type, whether it may be absent, whether it is inert inside of
 * other text, and every value it can have where the contract fixes them.
 */
import { isList, isObject, memberOf } from '#core/completeness/path.ts';
import { schemaAt } from './argument-path.ts';
import type { JsonValue, Slot } from './compiled.ts';
import { nearestName } from './nearest.ts';
import type { ArgumentSchema, ArgumentsSchema } from './schema.ts';
import type { SpecNode } from './spec-node.ts';
import type { SpecPath } from './spec-path.ts';

export interface SlotKind {
  readonly shape: 'text' | 'number' | 'boolean' | 'list' | 'object' | 'unknown';
  /** Digits, a date, a label or a fixed value: it cannot change what the text around it means. */
  readonly inert: boolean;
  readonly optional: boolean;
  /** Words for people. */
  readonly free: boolean;
  readonly format?: 'date' | 'date-time' | 'uuid';
  /** An argument without enum, pattern or format: the agent's own choice. */
  readonly chosen: boolean;
  /** A list's element. */
  readonly items?: SlotKind;
  /** Every value it can have, with the place each is written at. */
  readonly fixed?: readonly { readonly value: JsonValue; readonly path: SpecPath }[];
}

/** What a contract declares for its slots. */
export interface Declared {
  readonly spec: SpecNode;
  readonly arguments: ArgumentsSchema;
  readonly next: readonly string[];
  /** Names of `next` that are there from page two on, and those that are there from page one on. */
  readonly nextLater: readonly string[];
  readonly nextAlways: readonly string[];
  readonly counter?: string;
  readonly open: readonly string[];
}

export interface UnknownName {
  readonly kind: 'unknown';
  readonly message: string;
  readonly nearest?: string | undefined;
}

/** `later`: in a request that is only sent from page two on. */
export function kindOf(slot: Slot, declared: Declared, later = false): SlotKind | UnknownName {
  const [first = '', second = ''] = slot.path;
  switch (slot.root) {
    case 'args':
      return argumentKind(slot.path, declared.arguments, slot);
    case 'resolve':
      return resolveKind(first, second, declared, slot);
    case 'next':
      return (
        nextKind(first, declared, later) ??
        unknown(slot, declared.counter === undefined ? declared.next : [...declared.next, declared.counter])
      );
    case 'open':
      return declared.open.includes(first) ? { ...ANY, optional: false } : unknown(slot, declared.open);
    case 'source':
      return sourceKind(first, declared, slot);
    case 'each':
      return eachKind(declared, slot);
    case 'constants':
      return constantKind(slot, declared);
    default:
      return numberKind(slot);
  }
}

export function isUnknown(kind: SlotKind | UnknownName): kind is UnknownName {
  return 'kind' in kind;
}

/** The remote's: of any type, and nothing is known of it. */
const ANY: SlotKind = { shape: 'unknown', inert: false, optional: true, free: false, chosen: false };
const FIXED: SlotKind = { shape: 'unknown', inert: true, optional: false, free: false, chosen: false };

function unknown(slot: Slot, names: readonly string[]): UnknownName {
  const listed = names.length === 0 ? 'nothing is declared there' : `there are: ${names.join(', ')}`;
  return { kind: 'unknown', message: `${slot.text} names nothing; ${listed}.`, nearest: nearestName(slot.path.at(-1) ?? '', names) };
}

function nextKind(name: string, declared: Declared, later: boolean): SlotKind | undefined {
  if (name === declared.counter) return { ...ANY, shape: 'number', inert: true, optional: false };
  const there = later ? declared.nextLater : declared.nextAlways;
  return declared.next.includes(name) ? { ...ANY, optional: !there.includes(name) } : undefined;
}

const NUMBERS: Readonly<Record<string, readonly string[]>> = {
  limits: ['pages', 'items', 'bytes', 'time', 'pageSize'],
  budget: ['millis'],
  operation: ['id'],
};

function numberKind(slot: Slot): SlotKind | UnknownName {
  if (slot.root === 'operation' && slot.path[0] === 'key')
    return { kind: 'unknown', message: `${slot.text} is put in its place by idempotency with mode: Key, and written nowhere else.` };
  const names = NUMBERS[slot.root] ?? [];
  if (!names.includes(slot.path[0] ?? '')) return unknown(slot, names);
  return { ...FIXED, shape: slot.root === 'operation' ? 'text' : 'number' };
}

function argumentKind(path: readonly string[], schema: ArgumentsSchema, slot: Slot): SlotKind | UnknownName {
  let here: ArgumentSchema = schema;
  let optional = false;
  for (const name of path) {
    if (here.type !== 'object') return unknown(slot, []);
    const property: ArgumentSchema | undefined = Object.hasOwn(here.properties, name) ? here.properties[name] : undefined;
    if (property === undefined) return unknown({ ...slot, path: [name] }, Object.keys(here.properties));
    optional ||= !here.required.includes(name);
    here = property;
  }
  return { ...schemaKind(here), optional };
}

function schemaKind(schema: ArgumentSchema): SlotKind {
  const base = { optional: false, free: false, chosen: false };
  switch (schema.type) {
    case 'object':
      return { ...base, shape: 'object', inert: false };
    case 'array':
      return { ...base, shape: 'list', inert: false, items: schemaKind(schema.items) };
    case 'boolean':
      return { ...base, shape: 'boolean', inert: true };
    case 'string': {
      const inert = schema.enum !== undefined || schema.format !== undefined;
      const chosen = !inert && schema.pattern === undefined;
      return {
        shape: 'text',
        inert,
        optional: false,
        free: schema.free !== undefined,
        chosen,
        ...(schema.format === undefined ? {} : { format: schema.format }),
      };
    }
    default:
      return { ...base, shape: 'number', inert: true };
  }
}

function fixedKind(values: readonly { value: JsonValue; path: SpecPath }[], more: Partial<SlotKind> = {}): SlotKind {
  const shapes = new Set(values.map(({ value }) => shapeOf(value)));
  const [shape = 'unknown'] = shapes;
  return { ...FIXED, shape: shapes.size > 1 ? 'unknown' : shape, fixed: values, ...more };
}

function shapeOf(value: JsonValue): SlotKind['shape'] {
  if (isList(value)) return 'list';
  if (isObject(value)) return 'object';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  return typeof value === 'boolean' ? 'boolean' : 'unknown';
}

function resolveKind(argument: string, member: string, declared: Declared, slot: Slot): SlotKind | UnknownName {
  const tables = declared.spec.at('resolve').object();
  const table = memberOf(tables, argument);
  if (!isObject(table)) return unknown({ ...slot, path: [argument] }, Object.keys(tables));
  const values: { value: JsonValue; path: SpecPath }[] = [];
  const names = new Set<string>();
  for (const [label, members] of Object.entries(table)) {
    if (!isObject(members)) continue;
    for (const name of Object.keys(members)) names.add(name);
    const value = memberOf(members, member);
    if (value !== undefined) values.push({ value, path: ['spec', 'resolve', argument, label, member] });
  }
  if (values.length === 0) return unknown(slot, [...names]);
  const schema = declared.arguments.properties[argument];
  const optional = !declared.arguments.required.includes(argument);
  const one = fixedKind(values, { optional });
  return schema?.type === 'array' ? { ...one, shape: 'list', items: one } : one;
}

function sourceKind(name: string, declared: Declared, slot: Slot): SlotKind | UnknownName {
  const list = declared.spec.at('completeness').at('sources').at('list').list();
  const values: { value: JsonValue; path: SpecPath }[] = [];
  const names = new Set<string>();
  for (const source of list) {
    const held = source.at('values');
    for (const key of Object.keys(held.object())) names.add(key);
    const value = held.at(name);
    if (value.value !== undefined) values.push({ value: value.value, path: value.path });
  }
  return values.length === 0 ? unknown(slot, [...names]) : fixedKind(values);
}

function constantKind(slot: Slot, declared: Declared): SlotKind | UnknownName {
  let node = declared.spec.at('constants');
  for (const name of slot.path) {
    const held = isObject(node.value) ? Object.keys(node.value) : [];
    if (!held.includes(name)) return unknown({ ...slot, path: [name] }, held);
    node = node.at(name);
  }
  return fixedKind([{ value: node.value ?? null, path: node.path }]);
}

function eachKind(declared: Declared, slot: Slot): SlotKind | UnknownName {
  const over = declared.spec.at('forEach').at('argument').value;
  const schema = typeof over === 'string' ? schemaAt(over.split('/').slice(1), declared.arguments) : undefined;
  if (schema?.type !== 'array') return { kind: 'unknown', message: `${slot.text} stands for an element of forEach, and there is none.` };
  return { ...schemaKind(schema.items), inert: false };
}
