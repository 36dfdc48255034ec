/**
 * Values between JSON and CEL: answers are looked at where they are, results are turned back.
 */
import { type CelInput, type CelList, type CelMap, type CelValue, celList, celMap, isCelList, isCelMap, isCelUint } from '@bufbuild/cel';
import type { JsonValue } from '#core/contract/compiled.ts';
import { spend } from './rule-cost.ts';

/**
 * JSON as CEL sees it, converted only where an expression looks. Two faults of the stock conversion are
 * mended: objects without a prototype are refused by it, and a member that is null is not there for it.
 */
export function view(value: JsonValue | undefined): CelValue | undefined {
  if (value === undefined || value === null || typeof value !== 'object') return value;
  return isJsonList(value) ? listView(value) : objectView(value);
}

interface ListView extends CelList {
  json: readonly JsonValue[];
}

interface MapView extends CelMap {
  json: { readonly [key: string]: JsonValue };
}

/** One prototype for all views: an answer has thousands of values, and each view is made while a rule runs. */
const LIST_VIEW: CelList = Object.defineProperty(
  Object.assign(celList([]), {
    get(this: ListView, index: number) {
      return view(this.json[index]);
    },
    *values(this: ListView): Generator<CelValue> {
      for (const value of this.json) {
        spend(1);
        const viewed = view(value);
        if (viewed !== undefined) yield viewed;
      }
    },
  }),
  'size',
  {
    get(this: ListView) {
      return this.json.length;
    },
  },
);

const MAP_VIEW: CelMap = Object.defineProperty(
  Object.assign(celMap(new Map<string, CelInput>()), {
    has(this: MapView, key: unknown) {
      return typeof key === 'string' && Object.hasOwn(this.json, key);
    },
    get(this: MapView, key: unknown) {
      return typeof key === 'string' && Object.hasOwn(this.json, key) ? view(this.json[key]) : undefined;
    },
    *keys(this: MapView): MapIterator<string> {
      for (const [key] of this.entries()) yield String(key);
    },
    *entries(this: MapView): MapIterator<[string, CelValue]> {
      for (const key of Object.keys(this.json)) {
        spend(1);
        yield [key, view(this.json[key]) ?? null];
      }
    },
    *values(this: MapView): MapIterator<CelValue> {
      for (const [, value] of this.entries()) yield value;
    },
  }),
  'size',
  {
    get(this: MapView) {
      return Object.keys(this.json).length;
    },
  },
);

function listView(json: readonly JsonValue[]): CelList {
  const viewed: ListView = Object.create(LIST_VIEW);
  viewed.json = json;
  return viewed;
}

function objectView(json: { readonly [key: string]: JsonValue }): CelMap {
  const viewed: MapView = Object.create(MAP_VIEW);
  viewed.json = json;
  return viewed;
}

function isJsonList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

/** The value of an expression as JSON. Throws TypeError for what JSON cannot say. */
export function toJson(value: unknown): JsonValue {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return Number(value);
  if (isCelUint(value)) return Number(value.value);
  if (isCelList(value)) return Array.from(value, toJson);
  if (!isCelMap(value)) throw new TypeError('not a value of JSON');
  const object: Record<string, JsonValue> = Object.create(null);
  for (const [key, held] of value) object[String(key)] = toJson(held);
  return object;
}
