/**
 * A member of an object under examination, with the place it stands at. Reading through it can not fail:
 * a wrong value is reported once and a harmless stand-in is returned, so that every other problem is found in the same round.
 * Nothing compiled from a stand-in leaves the compiler, because the report then holds an error.
 */

import { type ParsedLocator, parseLocator, type WrittenLocator } from '#core/completeness/locator.ts';
import { isList, isObject, type JsonObject, type Locator, memberOf, type Path, parsePath } from '#core/completeness/path.ts';
import { compileRule, type Rule, type RuleVariable } from '#core/completeness/rule.ts';
import type { JsonValue } from './compiled.ts';
import { nearestName } from './nearest.ts';
import { plainText } from './plain-text.ts';
import type { ProblemCode } from './problem-codes.ts';
import { parseDuration, parseSize } from './quantity.ts';
import type { FindingExtra, Report } from './report.ts';
import type { SpecPath } from './spec-path.ts';

export class SpecNode {
  readonly value: JsonValue | undefined;
  readonly path: SpecPath;
  readonly report: Report;

  constructor(value: JsonValue | undefined, path: SpecPath, report: Report) {
    this.value = value;
    this.path = path;
    this.report = report;
  }

  get present(): boolean {
    return this.value !== undefined;
  }

  problem(code: ProblemCode, message: string, extra?: FindingExtra): void {
    this.report.add(this.path, code, message, extra);
  }

  at(name: string): SpecNode {
    const held = isObject(this.value) ? memberOf(this.value, name) : undefined;
    return new SpecNode(held, [...this.path, name], this.report);
  }

  /** The member when it is there. */
  maybe(name: string): SpecNode | undefined {
    const node = this.at(name);
    return node.present ? node : undefined;
  }

  /** The elements of a list; none when it is absent. */
  list(): readonly SpecNode[] {
    if (this.value === undefined) return [];
    if (isList(this.value)) return this.value.map((item, index) => new SpecNode(item, [...this.path, index], this.report));
    this.#wrongType('a list');
    return [];
  }

  /** The members of a map in the order written; none when it is absent. */
  entries(): readonly (readonly [string, SpecNode])[] {
    return Object.keys(this.object()).map((name) => [name, this.at(name)] as const);
  }

  object(): JsonObject {
    if (isObject(this.value)) return this.value;
    if (this.value !== undefined) this.#wrongType('a map');
    return {};
  }

  text(): string {
    if (typeof this.value === 'string') return this.value;
    if (this.value === undefined) this.#missing();
    else this.#wrongType('text');
    return '';
  }

  maybeText(name: string): string | undefined {
    return this.maybe(name)?.text();
  }

  /** An integer of at least `least`. */
  count(least: number, most: number = Number.MAX_SAFE_INTEGER): number {
    if (this.value === undefined) this.#missing();
    else if (typeof this.value !== 'number' || !Number.isSafeInteger(this.value)) this.#wrongType('a whole number');
    else if (this.value < least || this.value > most) {
      this.problem('out-of-range', `${this.value} is not between ${least} and ${most}.`);
    } else return this.value;
    return least;
  }

  choice<const T extends string>(allowed: readonly [T, ...T[]]): T {
    const found = allowed.find((each) => each === this.value);
    if (found !== undefined) return found;
    if (this.value === undefined) this.#missing();
    else {
      const nearest = typeof this.value === 'string' ? nearestName(this.value, allowed) : undefined;
      this.problem('unknown-value', `${JSON.stringify(this.value)} is none of ${allowed.join(', ')}.`, { nearest });
    }
    return allowed[0];
  }

  /** A duration of at least `least` milliseconds. */
  milliseconds(least = 0): number {
    const ms = this.#parsed('bad-duration', parseDuration, 'is not a duration');
    if (ms < least && parseDuration(plainText(this.value)) !== undefined)
      this.problem('out-of-range', `${JSON.stringify(this.value)} is less than ${least}ms.`);
    return ms;
  }

  bytes(): number {
    return this.#parsed('bad-size', parseSize, 'is not a size');
  }

  pointer(): Path {
    const text = this.text();
    const parsed = text === '' ? parsePath('/') : parsePath(text);
    if (text === '' && this.value === '') this.problem('bad-path', 'The path is empty.');
    if (parsed.kind === 'parsed') return parsed.path;
    this.problem('bad-path', `${JSON.stringify(text)}: ${parsed.message}.`);
    return { text: '/', steps: [] };
  }

  locator(): Locator {
    const parsed: ParsedLocator = isObject(this.value)
      ? parseLocator(writtenLocator(this))
      : { kind: 'problem', message: 'a locator is a map such as {body: /next}' };
    if (parsed.kind === 'parsed') return parsed.locator;
    const where = parsed.member === undefined ? this : this.at(parsed.member);
    if (!this.present) this.#missing();
    else where.problem(parsed.member === undefined ? 'exactly-one' : 'bad-path', `${parsed.message}.`);
    return { kind: 'body', path: { text: '/', steps: [] } };
  }

  rule(variables: readonly RuleVariable[]): Rule {
    const text = this.text();
    const compiled = compileRule(text === '' ? 'true' : text, variables);
    if (text === '' && this.value === '') this.problem('bad-expression', 'The expression is empty.');
    if (compiled.kind === 'compiled') return compiled.rule;
    this.problem('bad-expression', `${compiled.message} (at character ${compiled.at + 1} of ${JSON.stringify(text)}).`);
    return { text, evaluate: () => ({ ok: false, error: 'not compiled' }) };
  }

  #parsed(code: ProblemCode, parse: (text: string) => number | undefined, sentence: string): number {
    if (this.value === undefined) {
      this.#missing();
      return 0;
    }
    const value = parse(plainText(this.value));
    if (value !== undefined && (typeof this.value === 'string' || typeof this.value === 'number')) return value;
    this.problem(code, `${JSON.stringify(this.value)} ${sentence}.`);
    return 0;
  }

  #missing(): void {
    const field = String(this.path.at(-1) ?? 'spec');
    this.problem('missing-field', `${field} is required.`);
  }

  #wrongType(wanted: string): void {
    this.problem('wrong-type', `This is ${typeName(this.value)}, and ${wanted} is needed.`);
  }
}

export function typeName(value: JsonValue | undefined): string {
  if (value === null) return 'null';
  if (isList(value ?? null)) return 'a list';
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? 'text' : `a ${typeof value}`;
}

/** Only members of the right type are handed on; the others are reported. */
function writtenLocator(node: SpecNode): WrittenLocator {
  const written: { -readonly [K in keyof WrittenLocator]: WrittenLocator[K] } = {};
  for (const name of ['body', 'header', 'link', 'lastItem', 'query'] as const) {
    const text = node.maybeText(name);
    if (text !== undefined) written[name] = text;
  }
  const where = node.maybe('where');
  if (where !== undefined) {
    const guards: Record<string, string> = Object.create(null);
    for (const [name, value] of where.entries()) guards[name] = value.text();
    written.where = guards;
  }
  return written;
}
