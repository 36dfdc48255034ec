/**
 * JSON of a remote (RFC 8259).
 *
 * - Integers beyond 2^53 and numbers beyond the range of a double become strings with their digits; where, is reported. Looked for only
 *   when the text holds such digits at all.
 * - Of two members with one name the last counts, as in the parsers most services and clients use. A check costs as much as
 *   parsing; arguments, which an attacker writes to be read twice, are checked (see core/encoding).
 * - A member `__proto__` is an own member and nothing else; nothing here copies members into objects with a prototype.
 * - Nesting is bounded: everything behind this walks recursively.
 */
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/contract/compiled.ts';

export interface Decoded {
  readonly value: JsonValue;
  /** Paths of the numbers that became strings, list positions as `*`, each once. */
  readonly normalized: readonly string[];
}

/** `undefined` when the text is not JSON or nests too deep. */
export function decodeJson(text: string): Decoded | undefined {
  if (nestsTooDeep(text)) return undefined;
  try {
    if (!UNSAFE_NUMBER.test(text)) return { value: JSON.parse(text), normalized: NOTHING };
    const normalized = new Set<string>();
    const value = restore(JSON.parse(text, keepDigits), '', normalized);
    return { value, normalized: [...normalized] };
  } catch {
    // The parser's message quotes the text; it must not travel.
    return undefined;
  }
}

const NOTHING: readonly string[] = [];

// Sixteen digits in a row, or an exponent of three: fewer are always exact enough or in range.
const UNSAFE_NUMBER = /[0-9]{16}|[0-9][eE]\+?[0-9]{3}/;

/** A number that lost digits, between parsing and `restore`. */
class Digits {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

function keepDigits(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  const lost = !Number.isFinite(value) || (!Number.isSafeInteger(value) && /^-?[0-9]+$/.test(context.source));
  return lost ? new Digits(context.source) : value;
}

/** Puts text in the place of Digits, in place: the tree is ours alone. */
function restore(value: unknown, path: string, normalized: Set<string>): JsonValue {
  if (value instanceof Digits) {
    normalized.add(path === '' ? '/' : path);
    return value.text;
  }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = restore(value[index], `${path}/*`, normalized);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      const kept = restore(member, `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, normalized);
      // defineProperty, since assigning to __proto__ would not make a member.
      if (kept !== member) Object.defineProperty(value, name, { value: kept, enumerable: true, writable: true, configurable: true });
    }
  }
  return value as JsonValue;
}

/** Exact, and cheap where few brackets open: then the text cannot nest deep. */
function nestsTooDeep(text: string): boolean {
  return opensMoreThan(text, limits.answerDepthMax) && depthOf(text) > limits.answerDepthMax;
}

function opensMoreThan(text: string, most: number): boolean {
  let opens = 0;
  for (const bracket of ['[', '{']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      opens += 1;
      if (opens > most) return true;
    }
  }
  return false;
}

function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x22:
        at = endOfString(text, at);
        break;
      case 0x5b:
      case 0x7b:
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case 0x5d:
      case 0x7d:
        depth -= 1;
    }
  }
  return deepest;
}

/** Position of the quote that ends the string opened at `start`, or the end of a text that is not JSON anyway. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === 0x5c) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
