/**
 * Reads a foreign object member by member and notes every problem at once, each with its path, its rule,
 * what to write instead and the nearest name that exists.
 */
import { isObject } from '#core/completeness/path.ts';
import type { JsonValue, Problem } from '#core/contract/compiled.ts';
import { nearestName } from '#core/contract/nearest.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { type SpecPath, showPath } from '#core/contract/spec-path.ts';

export type Members = Readonly<Record<string, JsonValue>>;

export class FieldReader {
  readonly problems: Problem[] = [];
  readonly #object: Pick<ResourceObject, 'kind' | 'name' | 'source'>;

  constructor(object: Pick<ResourceObject, 'kind' | 'name' | 'source'>) {
    this.#object = object;
  }

  problem(path: SpecPath, code: string, message: string, cure: string, nearest?: string): void {
    const { kind, name, source } = this.#object;
    this.problems.push({
      object: { kind, name, ...(source === undefined ? {} : { file: source.file, line: source.lineAt(path) }) },
      path: showPath(path),
      code,
      severity: 'error',
      message,
      cure,
      ...(nearest === undefined ? {} : { nearest }),
    });
  }

  /** The members of a closed object, null prototype; empty when it is none, so that reading goes on. */
  members(value: JsonValue | undefined, path: SpecPath, allowed: readonly string[], required: readonly string[] = []): Members {
    const members = this.map(value, path);
    for (const name of Object.keys(members)) {
      if (allowed.includes(name)) continue;
      this.problem(
        [...path, name],
        'unknown-field',
        `There is no field ${quote(name)} here.`,
        `Use one of ${allowed.join(', ')}.`,
        nearestName(name, allowed),
      );
    }
    if (!isObject(value)) return members;
    for (const name of required) {
      if (members[name] === undefined) this.problem([...path, name], 'missing-field', 'This field is required.', `Write ${name}.`);
    }
    return members;
  }

  /** Any object, null prototype. */
  map(value: JsonValue | undefined, path: SpecPath): Members {
    if (isObject(value)) return Object.assign(Object.create(null) as Record<string, JsonValue>, value);
    if (value !== undefined) this.problem(path, 'wrong-type', `This is ${kindOf(value)}, not an object.`, 'Write an object.');
    return Object.create(null) as Members;
  }

  list(value: JsonValue | undefined, path: SpecPath): readonly JsonValue[] {
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    this.problem(path, 'wrong-type', `This is ${kindOf(value)}, not a list.`, 'Write a list.');
    return [];
  }

  text(value: JsonValue | undefined, path: SpecPath): string | undefined {
    if (value === undefined || typeof value === 'string') return value;
    this.problem(
      path,
      'wrong-type',
      `This is ${kindOf(value)}, not a text.`,
      'Write a text; quote it if it looks like a number or a date.',
    );
    return undefined;
  }

  word<const Word extends string>(value: JsonValue | undefined, path: SpecPath, words: readonly Word[]): Word | undefined {
    if (value === undefined) return undefined;
    const found = words.find((word) => word === value);
    if (found !== undefined) return found;
    const nearest = typeof value === 'string' ? nearestName(value, words) : undefined;
    this.problem(
      path,
      'not-a-choice',
      `${quote(String(value))} is not one of the values allowed here.`,
      `Use one of ${words.join(', ')}.`,
      nearest,
    );
    return undefined;
  }

  words<const Word extends string>(value: JsonValue | undefined, path: SpecPath, words: readonly Word[]): readonly Word[] {
    return this.list(value, path).flatMap((item, index) => this.word(item, [...path, index], words) ?? []);
  }

  wholeNumber(value: JsonValue | undefined, path: SpecPath, min: number, max: number): number | undefined {
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min && value <= max) return value;
    this.problem(path, 'wrong-number', 'This is not a whole number in the allowed range.', `Write a whole number from ${min} to ${max}.`);
    return undefined;
  }

  flag(value: JsonValue | undefined, path: SpecPath): boolean | undefined {
    if (value === undefined || typeof value === 'boolean') return value;
    this.problem(path, 'wrong-type', `This is ${kindOf(value)}, not true or false.`, 'Write true or false.');
    return undefined;
  }

  /** `500ms`, `20s`, `5m`, `1h`, `7d` as milliseconds. */
  duration(value: JsonValue | undefined, path: SpecPath): number | undefined {
    if (value === undefined) return undefined;
    const parts = typeof value === 'string' ? /^([0-9]{1,9})(ms|s|m|h|d)$/.exec(value) : null;
    if (parts !== null) return Number(parts[1]) * (UNIT_MS[parts[2] as keyof typeof UNIT_MS] ?? 1);
    this.problem(path, 'wrong-duration', 'This is not a duration.', 'Write a number and a unit: 500ms, 20s, 5m, 1h, 7d.');
    return undefined;
  }

  /** An RFC 3339 time as milliseconds since the Unix epoch. */
  time(value: JsonValue | undefined, path: SpecPath): number | undefined {
    if (value === undefined) return undefined;
    const ms =
      typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(value) ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(ms)) return ms;
    this.problem(path, 'wrong-time', 'This is not a time of RFC 3339.', 'Write it as "2026-01-01T00:00:00Z".');
    return undefined;
  }
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value === 'string' ? 'text' : typeof value}`;
}
