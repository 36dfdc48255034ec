/**
 * Paths of the contract language (section 2.1): where a value is read in an answer.
 * RFC 6901 JSON Pointer plus `*` (every element or map value) and `[type=Ready]` (the one element whose
 * member equals); `/` alone is the whole document.
 *
 * A path never guesses: a place that is not there is `absent`, and two elements where one was promised are
 * `unusable`, so that neither can pass for an end of a walk.
 */
import type { JsonObject, JsonValue } from '#core/encoding/json-value.ts';

export type PathStep =
  | { readonly kind: 'member'; readonly name: string }
  | { readonly kind: 'every' }
  | { readonly kind: 'equals'; readonly member: string; readonly value: string };

export interface Path {
  /** As written, for messages. */
  readonly text: string;
  readonly steps: readonly PathStep[];
}

/** Exactly one place to read a value; `link` is RFC 8288. */
export type Locator =
  | { readonly kind: 'body'; readonly path: Path }
  | { readonly kind: 'header'; readonly name: string }
  | { readonly kind: 'link'; readonly rel: string; readonly where: Readonly<Record<string, string>>; readonly query?: string }
  | { readonly kind: 'lastItem'; readonly path: Path };

/** `at` counts UTF-16 units from the start of the text. */
export interface PathProblem {
  readonly kind: 'problem';
  readonly message: string;
  readonly at: number;
}

export type ParsedPath = { readonly kind: 'parsed'; readonly path: Path } | PathProblem;

/** `absent`: not there. `unusable`: something is there, but not the one value that was promised. */
export type Reading = { readonly kind: 'absent' } | { readonly kind: 'unusable' } | { readonly kind: 'value'; readonly value: JsonValue };

export const ABSENT: Reading = { kind: 'absent' };
export const UNUSABLE: Reading = { kind: 'unusable' };

const SELECTOR = /^\[([^=[\]]+)=([^[\]]*)\]$/;

/** Text such as `/items`, `/`, `/a~1b/0/*`, `/conditions/[type=Ready]/status`. */
export function parsePath(text: string): ParsedPath {
  if (text === '/') return { kind: 'parsed', path: { text, steps: [] } };
  if (!text.startsWith('/')) return { kind: 'problem', message: 'a path starts with "/"; "/" alone is the whole document', at: 0 };
  const steps: PathStep[] = [];
  let at = 1;
  for (const raw of text.slice(1).split('/')) {
    const step = parseStep(raw);
    if (typeof step === 'string') return { kind: 'problem', message: step, at };
    steps.push(step);
    at += raw.length + 1;
  }
  return { kind: 'parsed', path: { text, steps } };
}

function parseStep(raw: string): PathStep | string {
  if (raw === '') return 'a path has no empty segment; drop the extra "/"';
  if (raw === '*') return { kind: 'every' };
  if (/~(?![01])/.test(raw)) return '"~" is written "~0" and "/" inside a name "~1" (RFC 6901)';
  if (!raw.startsWith('[')) return { kind: 'member', name: unescaped(raw) };
  const match = SELECTOR.exec(raw);
  if (match?.[1] === undefined || match[2] === undefined) return 'a selector is written "[member=value]"';
  return { kind: 'equals', member: unescaped(match[1]), value: unescaped(match[2]) };
}

function unescaped(raw: string): string {
  return raw.replaceAll('~1', '/').replaceAll('~0', '~');
}

export interface PathReading {
  /** Every value the path leads to, in document order. */
  readonly found: readonly JsonValue[];
  /** Branches that ended before the path did: a member that is not there, a selector that matches none. */
  readonly missing: number;
  /** Branches where a selector matched more than one element, or a step met a value it cannot enter. */
  readonly ambiguous: number;
}

/** Every place a path leads to; without `*` that is at most one. */
export function readEvery(document: JsonValue | undefined, path: Path): PathReading {
  if (document === undefined) return { found: [], missing: 1, ambiguous: 0 };
  let found: JsonValue[] = [document];
  let missing = 0;
  let ambiguous = 0;
  for (const step of path.steps) {
    const next: JsonValue[] = [];
    for (const value of found) {
      const outcome = enter(value, step);
      if (outcome === 'missing') missing += 1;
      else if (outcome === 'ambiguous') ambiguous += 1;
      else for (const entered of outcome) next.push(entered);
    }
    found = next;
  }
  return { found, missing, ambiguous };
}

/** One value. A path with `*` reads as the list of all it found, absent when that is none. */
export function readPath(document: JsonValue | undefined, path: Path): Reading {
  const [only] = path.steps;
  // Nearly every path of a field is one name.
  if (path.steps.length === 1 && only?.kind === 'member' && isObject(document)) {
    const held = memberOf(document, only.name);
    return held === undefined ? ABSENT : { kind: 'value', value: held };
  }
  return path.steps.some(({ kind }) => kind === 'every') ? readList(document, path) : readOne(document, path);
}

function readList(document: JsonValue | undefined, path: Path): Reading {
  const { found, ambiguous } = readEvery(document, path);
  if (ambiguous > 0) return UNUSABLE;
  return found.length === 0 ? ABSENT : { kind: 'value', value: found };
}

function readOne(document: JsonValue | undefined, path: Path): Reading {
  let value = document;
  for (const step of path.steps) {
    if (value === undefined) return ABSENT;
    const entered = enter(value, step);
    if (entered === 'ambiguous') return UNUSABLE;
    value = entered === 'missing' ? undefined : entered[0];
  }
  return value === undefined ? ABSENT : { kind: 'value', value };
}

function enter(value: JsonValue, step: PathStep): readonly JsonValue[] | 'missing' | 'ambiguous' {
  if (value === null || typeof value !== 'object') return 'missing';
  if (step.kind === 'every') return isList(value) ? value : Object.values(value);
  if (step.kind === 'equals') return select(value, step.member, step.value);
  const entered = isList(value) ? value[listIndex(step.name)] : memberOf(value, step.name);
  return entered === undefined ? 'missing' : [entered];
}

function select(value: readonly JsonValue[] | JsonObject, member: string, text: string): readonly JsonValue[] | 'missing' | 'ambiguous' {
  const elements = isList(value) ? value : Object.values(value);
  const matches = elements.filter((element) => {
    if (element === null || typeof element !== 'object' || isList(element)) return false;
    const held = memberOf(element, member);
    return held !== undefined && scalarText(held) === text;
  });
  if (matches.length > 1) return 'ambiguous';
  return matches.length === 0 ? 'missing' : matches;
}

/** RFC 6901 section 4: digits without a leading zero. Anything else is no index. */
function listIndex(name: string): number {
  return /^(0|[1-9][0-9]{0,9})$/.test(name) ? Number(name) : -1;
}

export type { JsonObject };

export function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !isList(value);
}

/** Own members only: `constructor` and its like are never there unless the document has them. */
export function memberOf(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Scalars compare as text, so that `"true"`, `true` and the `true` of XML are equal; undefined for null, lists and objects. */
export function scalarText(value: JsonValue): string | undefined {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return undefined;
}

/** There, and nothing: null, an empty text, an empty list or object. */
export function isEmptyValue(value: JsonValue): boolean {
  return value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** Deep equality of two values of JSON; the order of members does not matter. */
export function sameValue(left: JsonValue, right: JsonValue): boolean {
  if (left === right) return true;
  if (isList(left))
    return isList(right) && left.length === right.length && left.every((value, index) => sameValue(value, right[index] ?? null));
  if (!isObject(left) || !isObject(right)) return false;
  const names = Object.keys(left);
  return (
    names.length === Object.keys(right).length &&
    names.every((name) => Object.hasOwn(right, name) && sameValue(left[name] ?? null, right[name] ?? null))
  );
}
