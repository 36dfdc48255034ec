/**
 * The formats of `$(root.name|format)`: a closed list, each with the proof that what it returns is inert
 * in the language it is written for. A value that has no faithful form is refused, never rounded or repaired.
 */
import type { JsonValue, SlotFormat } from './compiled.ts';
import { isMisfit, type Misfit, misfit, textOf } from './encode.ts';

/** The formatted value: a number for the epoch formats (so that it stays a number in JSON), else text. */
export function applyFormat(format: SlotFormat, value: JsonValue): string | number | Misfit {
  return formats[format](value);
}

const formats: Readonly<Record<SlotFormat, (value: JsonValue) => string | number | Misfit>> = {
  epochSeconds,
  epochMillis,
  date,
  csv,
  base64,
  githubPhrase,
  jqlString,
};

/**
 * Seconds since 1970 of an RFC 3339 time (or date, at its first moment in UTC).
 * Inert: digits and a sign. A fraction is refused: rounding an upper bound down would lose items silently.
 */
function epochSeconds(value: JsonValue): number | Misfit {
  const ms = epochMillis(value);
  if (isMisfit(ms)) return ms;
  return ms % 1000 === 0 ? ms / 1000 : misfit('fraction', 'must be a whole number of seconds');
}

/** Milliseconds since 1970. Inert: digits and a sign. */
function epochMillis(value: JsonValue): number | Misfit {
  const parts = typeof value === 'string' ? RFC3339.exec(value) : null;
  if (!parts) return misfit('time', 'must be a time such as 2026-01-31T08:00:00Z');
  const [, day, time, fraction = '', zone] = parts;
  if (/[1-9]/.test(fraction.slice(3))) return misfit('fraction', 'must be a whole number of milliseconds');
  const dayMs = midnightMs(day ?? '');
  if (dayMs === undefined) return misfit('time', 'must be a day that exists');
  if (time === undefined) return dayMs;
  const ms = Date.parse(`${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}${zone?.toUpperCase()}`);
  return Number.isNaN(ms) ? misfit('time', 'must be a time that exists') : ms;
}

/** The UTC day of a time, or the day itself: `2026-01-31`. Inert: digits and hyphens. */
function date(value: JsonValue): string | Misfit {
  const ms = epochMillis(value);
  return isMisfit(ms) ? ms : new Date(ms).toISOString().slice(0, 10);
}

// RFC 3339 section 5.6, with the date alone as well.
const RFC3339 = /^(\d{4}-\d{2}-\d{2})(?:[Tt]((?:[01]\d|2[0-3]):\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[+-]\d{2}:\d{2}))?$/;

/** Date.parse takes 2026-02-31 for March 3; comparing back refuses it. */
function midnightMs(day: string): number | undefined {
  const ms = Date.parse(`${day}T00:00:00Z`);
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day) ? ms : undefined;
}

/**
 * The elements of a list joined by commas. Inert: no element holds a comma, a quote or a control, and none is empty,
 * so splitting at commas gives the list back. Quoting (RFC 4180) is no way out: most services that take `a,b` do not unquote.
 */
function csv(value: JsonValue): string | Misfit {
  const elements: readonly JsonValue[] = Array.isArray(value) ? value : [value as JsonValue];
  if (elements.length === 0) return misfit('empty', 'must have at least one element');
  const texts: string[] = [];
  for (const element of elements) {
    const text = textOf(element);
    if (isMisfit(text)) return text;
    if (text === '') return misfit('empty', 'must not have an empty element');
    if (/[,"]/.test(text)) return misfit('separator', 'must not contain a comma or a double quote: the list is joined by commas');
    if (UNPRINTABLE.test(text)) return misfit('control', 'must not contain control characters');
    texts.push(text);
  }
  return texts.join(',');
}

/** Standard base64 (RFC 4648 section 4, padded) of the text in UTF-8. Inert: 65 characters. */
function base64(value: JsonValue): string | Misfit {
  const text = textOf(value);
  return isMisfit(text) ? text : Buffer.from(text, 'utf8').toString('base64');
}

/**
 * `"words"` for GitHub's search. Inert: inside is neither a quote nor a backslash, so the phrase ends where we end it and
 * no qualifier (`repo:`, `org:`, `OR`) in it is read as one. GitHub's engines differ in how they unescape, so both are refused.
 * @see https://docs.github.com/en/search-github/github-code-search/understanding-github-code-search-syntax
 */
function githubPhrase(value: JsonValue): string | Misfit {
  const text = textOf(value);
  if (isMisfit(text)) return text;
  if (/["\\]/.test(text))
    return misfit('quote', 'must not contain a double quote or a backslash: GitHub cannot search for them in a phrase');
  if (UNPRINTABLE.test(text)) return misfit('control', 'must be one line without control characters');
  return `"${text}"`;
}

/**
 * `"words"` for JQL. Inert: every backslash and quote inside is escaped by a backslash, so the string ends where we end it.
 * @see https://support.atlassian.com/jira-software-cloud/docs/search-syntax-for-text-fields/
 */
function jqlString(value: JsonValue): string | Misfit {
  const text = textOf(value);
  if (isMisfit(text)) return text;
  if (UNPRINTABLE.test(text)) return misfit('control', 'must be one line without control characters');
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}

/** C0, DEL, C1 and the Unicode line ends: each is a line end or nothing in some parser. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: refusing control characters is what it is for
const UNPRINTABLE = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/;
