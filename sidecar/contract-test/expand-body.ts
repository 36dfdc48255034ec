/**
 * The directives that keep recorded bodies short: a page of a hundred rows is one line.
 *
 * `{$repeat: n, from: k, item: x}`: a list of n copies of x, `{n}` in texts and member names counting from k (1).
 * `{$number: text}`: the number a text spells, so that counted ids can be numbers.
 * `{$lines: list}`: texts joined by newlines. `{$concat: [...]}`: lists joined, or texts and lists of texts joined.
 *
 * An object is a directive only when it has exactly a directive's members: `$skipToken`, `$filter` and their like are
 * ordinary names of real APIs.
 */
import { limits } from '#core/bounds/limits.ts';
import { isObject } from '#core/completeness/path.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { SpecPath } from '#core/contract/spec-path.ts';
import type { FieldReader } from './field-reader.ts';

/** The expanded value; on a problem `null` stands in its place. */
export function expandBody(value: JsonValue, path: SpecPath, reader: FieldReader): JsonValue {
  return new Expansion(reader).expand(value, path, undefined);
}

class Expansion {
  readonly #reader: FieldReader;
  #values = 0;

  constructor(reader: FieldReader) {
    this.#reader = reader;
  }

  expand(value: JsonValue, path: SpecPath, n: number | undefined): JsonValue {
    this.#values += 1;
    // Said once, then nothing more is expanded: nested repeats multiply.
    if (this.#values === limits.recordedValuesMax)
      this.#bad(path, `This body expands to more than ${limits.recordedValuesMax} values.`, 'Repeat fewer items.');
    if (this.#values >= limits.recordedValuesMax) return null;
    if (typeof value === 'string') return counted(value, n);
    if (Array.isArray(value)) return value.map((item: JsonValue, index) => this.expand(item, [...path, index], n));
    return isObject(value) ? this.#object(value, path, n) : value;
  }

  #object(value: { readonly [key: string]: JsonValue }, path: SpecPath, n: number | undefined): JsonValue {
    if (isDirective(value, '$repeat', ['from', 'item'])) return this.#repeat(value, path);
    if (isDirective(value, '$number')) return this.#number(value, path, n);
    if (isDirective(value, '$lines')) return this.#texts(value.$lines ?? null, [...path, '$lines'], n).join('\n');
    if (isDirective(value, '$concat')) return this.#concat(value.$concat ?? null, [...path, '$concat'], n);
    const members = Object.create(null) as Record<string, JsonValue>;
    for (const [name, member] of Object.entries(value)) members[counted(name, n)] = this.expand(member, [...path, name], n);
    return members;
  }

  #repeat(value: { readonly [key: string]: JsonValue }, path: SpecPath): JsonValue {
    const copies = this.#reader.wholeNumber(value.$repeat, [...path, '$repeat'], 0, limits.recordedCopiesMax) ?? 0;
    const from = this.#reader.wholeNumber(value.from, [...path, 'from'], 0, Number.MAX_SAFE_INTEGER - limits.recordedCopiesMax) ?? 1;
    const item = value.item;
    if (item === undefined) {
      this.#bad([...path, 'item'], 'A $repeat needs the item to repeat.', 'Write {$repeat: 3, from: 1, item: {id: "row-{n}"}}.');
      return [];
    }
    return Array.from({ length: copies }, (_, index) => this.expand(item, [...path, 'item'], from + index));
  }

  #number(value: { readonly [key: string]: JsonValue }, path: SpecPath, n: number | undefined): JsonValue {
    const text = this.expand(value.$number ?? null, [...path, '$number'], n);
    const number = typeof text === 'string' && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (Number.isFinite(number)) return number;
    this.#bad([...path, '$number'], 'This does not spell a number.', 'Write {$number: "{n}"}.');
    return null;
  }

  #concat(value: JsonValue, path: SpecPath, n: number | undefined): JsonValue {
    const parts = this.expand(value, path, n);
    if (Array.isArray(parts) && parts.length > 0 && parts.every((part) => Array.isArray(part))) return parts.flat(1) as JsonValue;
    return this.#flatTexts(parts, path).join('');
  }

  #texts(value: JsonValue, path: SpecPath, n: number | undefined): readonly string[] {
    return this.#flatTexts(this.expand(value, path, n), path);
  }

  #flatTexts(value: JsonValue, path: SpecPath): readonly string[] {
    const parts: readonly JsonValue[] = Array.isArray(value) ? (value.flat(1) as JsonValue[]) : [null];
    const texts = parts.filter((part) => typeof part === 'string');
    if (texts.length !== parts.length)
      this.#bad(path, 'Only texts and lists of texts can be joined here.', 'Write a list of texts, or a $repeat of a text.');
    return texts;
  }

  #bad(path: SpecPath, message: string, cure: string): void {
    this.#reader.problem(path, 'directive', message, cure);
  }
}

function isDirective(value: { readonly [key: string]: JsonValue }, name: string, others: readonly string[] = []): boolean {
  return Object.hasOwn(value, name) && Object.keys(value).every((key) => key === name || others.includes(key));
}

function counted(text: string, n: number | undefined): string {
  return n === undefined ? text : text.replaceAll('{n}', String(n));
}
