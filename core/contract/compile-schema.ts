/**
 * The compile step of argument schemas: proves that a schema is closed, bounded and linear, or says everything that keeps it from being so.
 * What the dialect does not know is a problem, never ignored.
 */
import { limits } from '#core/bounds/limits.ts';
import { nearestName } from './nearest.ts';
import type { ArgumentSchema, ArgumentsSchema, BooleanSchema, ListSchema, NumberSchema, ObjectSchema } from './schema.ts';
import { checkEnum, compileText } from './schema-text.ts';
import { type SpecNode, typeName } from './spec-node.ts';

/** Every broken proof goes to the node's report with its path. */
export function compileArgumentsSchema(node: SpecNode): ArgumentsSchema {
  const schema = compileSchema(node, 0);
  if (schema.type === 'object') return schema;
  if (!node.report.saidAbout(node.path)) node.problem('schema-not-object', 'Arguments are an object, so their schema has type: object.');
  return { type: 'object', properties: {}, required: [] };
}

const KEYWORDS = {
  object: ['type', 'description', 'additionalProperties', 'required', 'properties'],
  array: ['type', 'description', 'items', 'minItems', 'maxItems', 'uniqueItems'],
  string: ['type', 'description', 'enum', 'minLength', 'maxLength', 'x-postern-max-bytes', 'pattern', 'format', 'x-postern-text'],
  integer: ['type', 'description', 'enum', 'minimum', 'maximum'],
  number: ['type', 'description', 'enum', 'minimum', 'maximum'],
  boolean: ['type', 'description'],
} as const;

const TYPES = ['object', 'array', 'string', 'integer', 'number', 'boolean'] as const;

/** The stand-in for a schema that has problems. */
const NOTHING: BooleanSchema = { type: 'boolean' };

function compileSchema(node: SpecNode, depth: number): ArgumentSchema {
  const written = node.object();
  if (!node.present) node.problem('missing-field', 'A schema is required.');
  if (depth > limits.argumentSchemaDepthMax) {
    node.problem('schema-bounds', `Schemas are nested deeper than ${limits.argumentSchemaDepthMax}.`);
    return NOTHING;
  }
  const type = TYPES.find((each) => each === written.type);
  checkKeywords(node, type === undefined ? Object.values(KEYWORDS).flat() : KEYWORDS[type], type);
  if (type === undefined) {
    if (node.present) node.at('type').choice(TYPES);
    return NOTHING;
  }
  const words = describedBy(node);
  if (type === 'object') return { ...words, ...compileObject(node, depth) };
  if (type === 'array') return { ...words, ...compileList(node, depth) };
  if (type === 'string') return { ...words, ...compileText(node) };
  return type === 'boolean' ? { type, ...words } : { ...words, ...compileNumber(node, type) };
}

function checkKeywords(node: SpecNode, known: readonly string[], type: string | undefined): void {
  for (const [keyword, held] of node.entries()) {
    if (known.includes(keyword)) continue;
    const sentence = Object.values(KEYWORDS).some((words) => (words as readonly string[]).includes(keyword))
      ? `${keyword} says nothing about type ${type}.`
      : `The keyword ${JSON.stringify(keyword)} is not in the dialect.`;
    const cure = keyword === 'default' ? 'Say in the description what the remote does without the argument.' : undefined;
    held.problem('schema-unknown-keyword', sentence, { nearest: nearestName(keyword, known), cure });
  }
}

function describedBy(node: SpecNode): { readonly description?: string } {
  const description = node.maybeText('description');
  return description === undefined ? {} : { description };
}

/**
 * Names no argument may have. A contract fixes where a call goes and what it carries; an argument of such a name asks the agent for it.
 */
const RESERVED = new Set([
  'url',
  'uri',
  'headers',
  'command',
  'credential',
  'credentials',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'valueOf',
  'hasOwnProperty',
]);
const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

function compileObject(node: SpecNode, depth: number): ObjectSchema {
  if (node.at('additionalProperties').value !== false) {
    node.problem('schema-open-object', 'The object is open: a member nobody declared would pass.');
  }
  const properties: Record<string, ArgumentSchema> = Object.create(null);
  const declared = node.at('properties').entries();
  if (declared.length > limits.argumentPropertiesMax) {
    node.at('properties').problem('schema-bounds', `More than ${limits.argumentPropertiesMax} properties.`);
  }
  for (const [name, property] of declared) {
    if (RESERVED.has(name)) property.problem('schema-reserved-name', `No argument may be called ${JSON.stringify(name)}.`);
    else if (!NAME.test(name))
      property.problem('bad-name', `${JSON.stringify(name)} is not a name.`, { cure: 'Use letters, digits, _ and -.' });
    properties[name] = compileSchema(property, depth + 1);
  }
  const required = node
    .at('required')
    .list()
    .map((entry) => requiredName(entry, properties));
  return { type: 'object', properties, required: [...new Set(required)] };
}

function requiredName(entry: SpecNode, properties: Readonly<Record<string, ArgumentSchema>>): string {
  const name = entry.text();
  if (!Object.hasOwn(properties, name)) {
    const nearest = nearestName(name, Object.keys(properties));
    entry.problem('schema-required', `${JSON.stringify(name)} is no property of this object.`, { nearest });
  }
  return name;
}

function compileList(node: SpecNode, depth: number): ListSchema {
  const items = compileSchema(node.at('items'), depth + 1);
  const minItems = node.maybe('minItems')?.count(0) ?? 0;
  const most = node.maybe('maxItems');
  if (most === undefined) node.problem('schema-unbounded', 'The list has no maxItems.');
  const maxItems = most?.count(0, limits.argumentItemsMax) ?? 0;
  if (most !== undefined && minItems > maxItems) node.at('minItems').problem('schema-bounds', 'minItems is above maxItems.');
  const unique = node.at('uniqueItems');
  const uniqueItems = unique.value === true;
  if (unique.present && typeof unique.value !== 'boolean')
    unique.problem('wrong-type', `This is ${typeName(unique.value)}, and true or false is needed.`);
  if (uniqueItems && (items.type === 'object' || items.type === 'array')) {
    unique.problem('schema-unique-items', `uniqueItems on ${items.type} elements costs quadratic time.`);
  }
  return { type: 'array', items, minItems, maxItems, uniqueItems };
}

function compileNumber(node: SpecNode, type: 'integer' | 'number'): NumberSchema {
  const minimum = boundOf(node.maybe('minimum'), type);
  const maximum = boundOf(node.maybe('maximum'), type);
  if (minimum !== undefined && maximum !== undefined && minimum > maximum)
    node.at('minimum').problem('schema-bounds', 'minimum is above maximum.');
  const values = node.maybe('enum');
  const allowed = values?.list().map((entry) => boundOf(entry, type) ?? 0);
  if (values !== undefined && allowed !== undefined) checkEnum(values, allowed);
  return {
    type,
    ...(allowed === undefined ? {} : { enum: allowed }),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
}

function boundOf(node: SpecNode | undefined, type: 'integer' | 'number'): number | undefined {
  if (node === undefined) return undefined;
  const { value } = node;
  if (typeof value === 'number' && (type === 'number' || Number.isSafeInteger(value))) return value;
  node.problem('wrong-type', `This is ${typeName(value)}, and ${type === 'integer' ? 'a whole number' : 'a number'} is needed.`);
  return undefined;
}
