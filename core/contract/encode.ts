/**
 * One encoder per position of a request. The position decides, never the author: a contract has no way to say "raw".
 *
 * - An encoder returns the encoded text or a Misfit; it never drops, trims or replaces a character.
 * - Every byte outside RFC 3986 `unreserved` is percent-encoded, so no value opens a query, a fragment, a parameter or a segment.
 * - Values that a second parser would read differently (`..`, `%2e`, `\`, `;`) are refused in a path although each
 *   character could be encoded: the remote may decode once more than we do (failure cases HTTP-27, HTTP-28, HTTP-29).
 */
import type { JsonValue } from './compiled.ts';

/** Why a value does not fit its place: a closed word and the end of a sentence that begins with the argument's name. */
export interface Misfit {
  readonly rule: MisfitRule;
  readonly why: string;
}

export type MisfitRule =
  | 'dot_segment'
  | 'percent'
  | 'separator'
  | 'reserved'
  | 'control'
  | 'empty'
  | 'lone_surrogate'
  | 'not_scalar'
  | 'not_ascii'
  | 'edge_space'
  | 'quote'
  | 'time'
  | 'fraction'
  | 'leading_dash'
  | 'too_long';

/** Text in, encoded text out. Exposed as one object so that a check of a contract can try a worse one. */
export interface Encoders {
  segment(text: string): string | Misfit;
  query(text: string): string | Misfit;
  header(text: string): string | Misfit;
  form(text: string): string | Misfit;
  json(value: JsonValue): string;
}

export const strictEncoders: Encoders = {
  segment: encodeSegment,
  query: encodeQuery,
  header: encodeHeader,
  form: encodeForm,
  json: (value) => JSON.stringify(value),
};

export function misfit(rule: MisfitRule, why: string): Misfit {
  return { rule, why };
}

export function isMisfit(value: unknown): value is Misfit {
  return typeof value === 'object' && value !== null && 'rule' in value && 'why' in value;
}

/** The text of a scalar; lists, objects and null have none. */
export function textOf(value: JsonValue): string | Misfit {
  if (typeof value === 'string') return value.isWellFormed() ? value : misfit('lone_surrogate', 'must be well-formed Unicode');
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return misfit('not_scalar', 'must be text, a number or a boolean here');
}

// Nothing to encode and nothing to refuse: most ids and labels. `.` is left out so that `..` takes the long way.
const PLAIN = /^[A-Za-z0-9_~-]+$/;

/** One path segment (RFC 3986 section 3.3). */
export function encodeSegment(text: string): string | Misfit {
  if (PLAIN.test(text)) return text;
  const fault = segmentFault(text) ?? (ASCII.test(text) ? undefined : segmentFault(text.normalize('NFKC')));
  return fault ?? percentEncode(text);
}

/** Also asked of the compatibility form: servers that map full-width dots and slashes to plain ones are known. */
function segmentFault(text: string): Misfit | undefined {
  if (text === '') return misfit('empty', 'must not be empty: it is a part of the path');
  if (CONTROL.test(text)) return misfit('control', 'must not contain control characters');
  // `..;x` is `..` with a parameter to servers that know path parameters.
  const bare = text.split(';', 1)[0];
  if (bare === '.' || bare === '..') return misfit('dot_segment', 'must not be . or ..: servers take it for another path');
  if (text.includes('%')) return misfit('percent', 'must not contain %: some servers decode twice');
  if (/[/\\]/.test(text)) return misfit('separator', 'must not contain / or \\: it is one part of the path');
  if (text.includes(';')) return misfit('reserved', 'must not contain a semicolon: some servers cut the path there');
  return undefined;
}

/** The value of one query parameter. */
export function encodeQuery(text: string): string | Misfit {
  if (PLAIN.test(text)) return text;
  if (CONTROL.test(text)) return misfit('control', 'must not contain control characters');
  return percentEncode(text);
}

/**
 * A header's value (RFC 9110 section 5.5), ASCII only: beyond it, clients cut characters down to bytes and
 * U+010A becomes a line feed (failure case HTTP-04).
 */
export function encodeHeader(text: string): string | Misfit {
  if (CONTROL.test(text)) return misfit('control', 'must not contain control characters');
  if (!HEADER_TEXT.test(text)) return misfit('not_ascii', 'must be ASCII: it is sent in a header');
  if (text.startsWith(' ') || text.endsWith(' ')) return misfit('edge_space', 'must not begin or end with a space: it is sent in a header');
  return text;
}

/** A value of application/x-www-form-urlencoded. Line ends and tabs are data there; other controls are refused. */
export function encodeForm(text: string): string | Misfit {
  if (PLAIN.test(text)) return text;
  if (FORM_CONTROL.test(text)) return misfit('control', 'must not contain control characters');
  return percentEncode(text);
}

/** RFC 3986 section 2.3: all but unreserved. `encodeURIComponent` leaves `!'()*` bare. */
export function percentEncode(text: string): string | Misfit {
  if (!text.isWellFormed()) return misfit('lone_surrogate', 'must be well-formed Unicode');
  return encodeURIComponent(text).replace(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
}

// C0, DEL, C1 and the Unicode line ends.
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is what it is for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is what it is for
const FORM_CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant
const ASCII = /^[\u0000-\u007f]*$/;
const HEADER_TEXT = /^[\u0020-\u007e]*$/;
