/**
 * One condition about a part of a pod, in two forms from one source: CEL for the policies in the API server, and a judge for the
 * operator and the command line. A differential test creates pods on a real API server and compares the two.
 *
 * Paths are relative to the part: `projected.sources[].secret.name`, where `[]` means any element of a list and `{}` any value of a
 * map. What is absent, or null as Go writes an empty list, meets no test.
 */
import { celLiteral } from './cel-text.ts';

export type Test =
  | { readonly startsWith: string }
  | { readonly equals: string | boolean }
  | { readonly oneOf: readonly string[] }
  /** The field is there at all. */
  | { readonly there: true }
  /**
   * A capability of this list, as container runtimes read it: in any case, with or without `CAP_`. They fold case by Unicode's rules,
   * CEL by ASCII's, so every name that is not plain ASCII is taken for one of the list (`\u017FYS_PTRACE` is SYS_PTRACE to them).
   */
  | { readonly capability: readonly string[] };

export type Condition =
  | { readonly any: readonly string[]; readonly test: Test }
  | { readonly every: readonly Condition[] }
  | { readonly not: Condition };

const PLAIN_CAPABILITY = '^[A-Za-z_]+$';

/** A CEL expression of type bool about the value that the expression `root` stands for. */
export function conditionCel(condition: Condition, root: string): string {
  if ('not' in condition) return `!(${conditionCel(condition.not, root)})`;
  if ('every' in condition) return condition.every.map((part) => `(${conditionCel(part, root)})`).join(' && ');
  return condition.any.map((path) => pathCel(root, path.split('.'), condition.test, 0)).join(' || ');
}

/** Whether the value meets the condition. */
export function conditionHolds(condition: Condition, value: unknown): boolean {
  return metAt(condition, value) !== undefined;
}

/** Path of the first value that meets the condition, relative and with indexes; undefined when none does. Empty for `not`. */
export function metAt(condition: Condition, value: unknown): string | undefined {
  if ('not' in condition) return metAt(condition.not, value) === undefined ? '' : undefined;
  if ('every' in condition) {
    const met = condition.every.map((part) => metAt(part, value));
    return met.includes(undefined) ? undefined : met.findLast((path) => path !== '');
  }
  for (const path of condition.any) {
    for (const found of valuesAt(value, path.split('.'), '')) if (passes(condition.test, found.value)) return found.path;
  }
  return undefined;
}

function pathCel(root: string, [segment = '', ...rest]: readonly string[], test: Test, depth: number): string {
  const field = `${root}.${segment.replace(/(\[\]|\{\})$/, '')}`;
  const item = `x${depth}`;
  if (segment.endsWith('[]')) {
    const inner = rest.length === 0 ? testCel(item, test) : pathCel(item, rest, test, depth + 1);
    return `has(${field}) && ${field} != null && ${field}.exists(${item}, ${inner})`;
  }
  if (segment.endsWith('{}')) return `has(${field}) && ${field} != null && ${field}.exists(${item}, ${testCel(`${field}[${item}]`, test)})`;
  if (rest.length > 0) return `has(${field}) && ${pathCel(field, rest, test, depth)}`;
  return 'there' in test ? `has(${field})` : `has(${field}) && ${testCel(field, test)}`;
}

function testCel(value: string, test: Test): string {
  if ('startsWith' in test) return `${value}.startsWith(${celLiteral(test.startsWith)})`;
  if ('equals' in test) return `${value} == ${celLiteral(test.equals)}`;
  if ('oneOf' in test) return `${value} in ${celLiteral(test.oneOf)}`;
  if ('capability' in test) {
    const plain = `${value}.upperAscii().replace('CAP_', '')`;
    return `(!${value}.matches(${celLiteral(PLAIN_CAPABILITY)}) || ${plain} in ${celLiteral(test.capability)})`;
  }
  return `${value} != null`;
}

function passes(test: Test, value: unknown): boolean {
  if ('startsWith' in test) return typeof value === 'string' && value.startsWith(test.startsWith);
  if ('equals' in test) return value === test.equals;
  if ('oneOf' in test) return typeof value === 'string' && test.oneOf.includes(value);
  if ('capability' in test) {
    if (typeof value !== 'string') return false;
    return !new RegExp(PLAIN_CAPABILITY).test(value) || test.capability.includes(value.toUpperCase().replaceAll('CAP_', ''));
  }
  return true;
}

interface Found {
  readonly path: string;
  readonly value: unknown;
}

function* valuesAt(value: unknown, [segment, ...rest]: readonly string[], path: string): Generator<Found> {
  if (segment === undefined) {
    yield { path, value };
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  const name = segment.replace(/(\[\]|\{\})$/, '');
  const member = (value as Readonly<Record<string, unknown>>)[name];
  if (member === undefined || member === null) return;
  const at = path === '' ? name : `${path}.${name}`;
  if (name === segment) yield* valuesAt(member, rest, at);
  else if (Array.isArray(member)) for (const [index, item] of member.entries()) yield* valuesAt(item, rest, `${at}[${index}]`);
  else for (const [key, item] of Object.entries(member)) yield* valuesAt(item, rest, `${at}[${key}]`);
}
