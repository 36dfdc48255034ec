/**
 * The strict JSON reader for everything an agent sends: RFC 8259 minus every text that two readers may
 * understand differently (https://www.rfc-editor.org/rfc/rfc8259, I-JSON RFC 7493 for keys, numbers and text).
 *
 * - One pass builds the value: there is no second parser that could see something else (JSON-01, APR-01).
 * - Depth is refused at its limit, so 200,000 brackets cost a few dozen steps (JSON-07).
 * - Objects have a null prototype; `__proto__` is refused as well, for whoever copies them later (JSON-03).
 * - Messages carry offset and rule, never content.
 *
 * Whoever writes this text is hostile.
 */
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { JsonObject, JsonValue } from './json-value.ts';

export type JsonRule =
  | 'bom'
  | 'duplicate_key'
  | 'forbidden_key'
  | 'invalid_utf8'
  | 'lone_surrogate'
  | 'non_finite'
  | 'not_an_object'
  | 'syntax'
  | 'too_deep'
  | 'trailing_data'
  | 'unsafe_integer';

/** The first broken rule. */
export interface JsonViolation {
  readonly rule: JsonRule;
  /** Byte offset in the UTF-8 form of the text. */
  readonly offset: number;
  /** RFC 6901 path of the place, cut to limits.jsonPathCharsMax. Keys in it are the sender's own. */
  readonly path: string;
  /** Our own sentence with the offset. */
  readonly message: string;
}

export type ParsedJson = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false; readonly violation: JsonViolation };

export interface StrictJsonOptions {
  /** `object`: any other root is `not_an_object`. Default `any`. */
  readonly root?: 'any' | 'object';
  /** Levels of objects and lists, the root included. Default limits.argumentsDepthMax. */
  readonly depthMax?: number;
}

/**
 * Parses a JSON text given as UTF-8 bytes or as a string. Never throws on input.
 * -0 becomes 0, so that hash, path and query agree on one form (JSON-06).
 */
export function parseStrictJson(input: Uint8Array | string, options: StrictJsonOptions = {}): ParsedJson {
  const text = typeof input === 'string' ? input : decodeUtf8(input);
  if (typeof text !== 'string') return { ok: false, violation: text };
  try {
    return { ok: true, value: new Reader(text, options).read() };
  } catch (fault) {
    if (fault instanceof Refusal) return { ok: false, violation: fault.violation };
    throw fault;
  }
}

/** The arguments of a call. Throws INVALID_ARGUMENT with the rule, the path and the byte offset. */
export function parseArguments(bytes: Uint8Array): JsonObject {
  const parsed = parseStrictJson(bytes, { root: 'object' });
  if (parsed.ok) return parsed.value as JsonObject;
  const { rule, path, message } = parsed.violation;
  throw new PosternError('INVALID_ARGUMENT', `The arguments are not acceptable JSON: ${message}`, { fields: [{ path, rule, message }] });
}

const SENTENCES: Readonly<Record<JsonRule, string>> = {
  bom: 'a byte order mark is not allowed; send plain UTF-8',
  duplicate_key: 'the same key stands twice in one object',
  forbidden_key: 'the key __proto__ is not allowed',
  invalid_utf8: 'the bytes are not valid UTF-8',
  lone_surrogate: 'half of a surrogate pair is not text',
  non_finite: 'the number is too large to be represented',
  not_an_object: 'a JSON object is expected here',
  syntax: 'this is not JSON as RFC 8259 defines it',
  too_deep: 'objects and lists are nested too deeply',
  trailing_data: 'something follows after the end of the JSON text',
  unsafe_integer: 'an integer beyond 2^53-1 loses digits; send it as a string',
};

class Refusal extends Error {
  readonly violation: JsonViolation;
  constructor(violation: JsonViolation) {
    super(violation.rule);
    this.violation = violation;
  }
}

function violationOf(rule: JsonRule, offset: number, path: string): JsonViolation {
  return { rule, offset, path, message: `${SENTENCES[rule]} (byte ${offset}).` };
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
// A run of characters that stand for themselves; quote, backslash and controls end it.
// biome-ignore lint/suspicious/noControlCharactersInRegex: RFC 8259 forbids exactly these inside a string.
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const SPACE = /[ \t\n\r]*/y;
const HEX4 = /[0-9a-fA-F]{4}/y;
const ESCAPES: Readonly<Record<string, string>> = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

class Reader {
  readonly #text: string;
  readonly #root: 'any' | 'object';
  readonly #depthMax: number;
  readonly #path: (string | number)[] = [];
  #at = 0;

  constructor(text: string, options: StrictJsonOptions) {
    this.#text = text;
    this.#root = options.root ?? 'any';
    this.#depthMax = options.depthMax ?? limits.argumentsDepthMax;
  }

  read(): JsonValue {
    if (this.#text.charCodeAt(0) === 0xfeff) this.#refuse('bom');
    this.#skip(SPACE);
    if (this.#root === 'object' && this.#text[this.#at] !== '{') this.#refuse(this.#at < this.#text.length ? 'not_an_object' : 'syntax');
    const value = this.#value(1);
    this.#skip(SPACE);
    if (this.#at < this.#text.length) this.#refuse('trailing_data');
    return value;
  }

  #value(depth: number): JsonValue {
    switch (this.#text[this.#at]) {
      case '{':
        return this.#object(depth);
      case '[':
        return this.#list(depth);
      case '"':
        return this.#string();
      case 't':
        return this.#word('true', true);
      case 'f':
        return this.#word('false', false);
      case 'n':
        return this.#word('null', null);
      default:
        return this.#number();
    }
  }

  #object(depth: number): JsonObject {
    if (depth > this.#depthMax) this.#refuse('too_deep');
    const object: Record<string, JsonValue> = Object.create(null);
    this.#at += 1;
    this.#skip(SPACE);
    if (this.#take('}')) return object;
    do {
      this.#skip(SPACE);
      const keyAt = this.#at;
      if (this.#text[keyAt] !== '"') this.#refuse('syntax');
      const key = this.#string();
      // Compared after unescaping: "\u0065nv" and "env" are one key (JSON-02).
      if (key === '__proto__') this.#refuse('forbidden_key', keyAt);
      this.#path.push(key);
      if (key in object) this.#refuse('duplicate_key', keyAt);
      this.#skip(SPACE);
      if (!this.#take(':')) this.#refuse('syntax');
      this.#skip(SPACE);
      object[key] = this.#value(depth + 1);
      this.#path.pop();
      this.#skip(SPACE);
    } while (this.#take(','));
    if (!this.#take('}')) this.#refuse('syntax');
    return object;
  }

  #list(depth: number): JsonValue {
    if (depth > this.#depthMax) this.#refuse('too_deep');
    const list: JsonValue[] = [];
    this.#at += 1;
    this.#skip(SPACE);
    if (this.#take(']')) return list;
    do {
      this.#skip(SPACE);
      this.#path.push(list.length);
      list.push(this.#value(depth + 1));
      this.#path.pop();
      this.#skip(SPACE);
    } while (this.#take(','));
    if (!this.#take(']')) this.#refuse('syntax');
    return list;
  }

  #string(): string {
    const start = this.#at;
    this.#at += 1;
    let value = this.#match(PLAIN);
    while (this.#text[this.#at] === '\\') value += this.#escape() + this.#match(PLAIN);
    if (!this.#take('"')) this.#refuse('syntax');
    // JSON-09: a lone half becomes U+FFFD in UTF-8, and two different texts would get one hash.
    if (!value.isWellFormed()) this.#refuse('lone_surrogate', start);
    return value;
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1] ?? '';
    if (letter === 'u') {
      this.#at += 2;
      const digits = this.#match(HEX4);
      if (digits === '') this.#refuse('syntax');
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const plain = Object.hasOwn(ESCAPES, letter) ? ESCAPES[letter] : undefined;
    if (plain === undefined) this.#refuse('syntax');
    this.#at += 2;
    return plain;
  }

  #number(): number {
    const start = this.#at;
    const digits = this.#match(NUMBER);
    if (digits === '') this.#refuse('syntax');
    const value = Number(digits);
    if (!Number.isFinite(value)) this.#refuse('non_finite', start);
    if (Number.isInteger(value) && !Number.isSafeInteger(value)) this.#refuse('unsafe_integer', start);
    return value === 0 ? 0 : value;
  }

  #word<T extends boolean | null>(word: string, value: T): T {
    if (!this.#text.startsWith(word, this.#at)) this.#refuse('syntax');
    this.#at += word.length;
    return value;
  }

  #take(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at += 1;
    return true;
  }

  #skip(pattern: RegExp): void {
    this.#match(pattern);
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? '';
    this.#at += found.length;
    return found;
  }

  #refuse(rule: JsonRule, at: number = this.#at): never {
    const path = this.#path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
    const offset = Buffer.byteLength(this.#text.slice(0, at), 'utf8');
    throw new Refusal(violationOf(rule, offset, path.slice(0, limits.jsonPathCharsMax).toWellFormed()));
  }
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decodeUtf8(bytes: Uint8Array): string | JsonViolation {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    // The decoder does not say where; the offset is found below.
    return violationOf('invalid_utf8', firstInvalidByte(bytes), '');
  }
}

/** The first U+FFFD of a lenient reading that the bytes do not spell themselves. */
function firstInvalidByte(bytes: Uint8Array): number {
  const lenient = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let offset = 0;
  for (const character of lenient) {
    const size = Buffer.byteLength(character, 'utf8');
    if (character === '\ufffd' && !(bytes[offset] === 0xef && bytes[offset + 1] === 0xbf && bytes[offset + 2] === 0xbd)) return offset;
    offset += size;
  }
  return offset;
}
