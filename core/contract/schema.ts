/**
 * Argument schemas: a small closed dialect of JSON Schema, in the compiled form an interpreter walks (arguments.ts).
 *
 * Proved by the compile step (compile-schema.ts), so that nothing undeclared can ever pass: every object is closed, every text and list is bounded, every pattern is
 * anchored and linear, nothing refers elsewhere, nothing is filled in. What the dialect does not know is a problem, never ignored
 * (failure cases JSON-14 to JSON-23). Contract authors are not trusted with code: no code is generated from a schema.
 */

import type { JsonValue } from './compiled.ts';
import type { Pattern } from './pattern.ts';

export type ArgumentsSchema = ObjectSchema;
export type ArgumentSchema = ObjectSchema | ListSchema | TextSchema | NumberSchema | BooleanSchema;

interface Described {
  readonly description?: string;
}

export interface ObjectSchema extends Described {
  readonly type: 'object';
  /** Null prototype. Nothing else may be there. */
  readonly properties: Readonly<Record<string, ArgumentSchema>>;
  readonly required: readonly string[];
}

export interface ListSchema extends Described {
  readonly type: 'array';
  readonly items: ArgumentSchema;
  readonly minItems: number;
  readonly maxItems: number;
  readonly uniqueItems: boolean;
}

export interface TextSchema extends Described {
  readonly type: 'string';
  readonly enum?: readonly string[];
  /** Code points. */
  readonly minLength: number;
  readonly maxLength: number;
  /** UTF-8 bytes. */
  readonly maxBytes: number;
  readonly pattern?: Pattern;
  readonly format?: TextFormat;
  /** Absent: an identifier, one line without anything invisible. */
  readonly free?: FreeText;
}

export type TextFormat = 'date' | 'date-time' | 'uuid';

/** `x-postern-text`: words for people. `lines`: how many the text may have. `mentions: refuse`: no `@name` and its like. */
export interface FreeText {
  readonly render: 'plain' | 'markdown' | 'jiraWiki';
  readonly mentions?: 'refuse' | 'escape';
  readonly lines: number;
}

export interface NumberSchema extends Described {
  readonly type: 'integer' | 'number';
  readonly enum?: readonly number[];
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface BooleanSchema extends Described {
  readonly type: 'boolean';
}

/** The schema as plain JSON for an agent to read: the same rules, with the bounds that apply by default. */
export function describeSchema(schema: ArgumentSchema): JsonValue {
  const { description } = schema;
  const words = description === undefined ? {} : { description };
  switch (schema.type) {
    case 'object': {
      const properties: Record<string, JsonValue> = Object.create(null);
      for (const [name, property] of Object.entries(schema.properties)) properties[name] = describeSchema(property);
      return { type: 'object', ...words, additionalProperties: false, required: schema.required, properties };
    }
    case 'array': {
      const { minItems, maxItems, uniqueItems, items } = schema;
      return { type: 'array', ...words, minItems, maxItems, uniqueItems, items: describeSchema(items) };
    }
    case 'string': {
      const { pattern, free, type, ...rest } = schema;
      const text = free === undefined ? {} : { 'x-postern-text': { ...free } };
      return { type, ...JSON.parse(JSON.stringify(rest)), ...(pattern === undefined ? {} : { pattern: pattern.text }), ...text };
    }
    default:
      return JSON.parse(JSON.stringify(schema));
  }
}
