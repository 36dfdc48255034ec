/**
 * Undoes one layer of escapes of every kind at once: percent (RFC 3986), backslash (JSON, JavaScript), HTML and XML
 * character references. Works on latin1 strings, one character per byte; code points become their UTF-8 bytes.
 * Unknown escapes stay as they are. Lossy on purpose: the result is for looking, never for sending.
 */

/** The text with one layer undone, or the same string when there is nothing to undo. */
export function unescapeOnce(text: string): string {
  return mayEscape(text) ? text.replace(ESCAPE, decodeEscape) : text;
}

/** The same, with the position each character comes from; one more entry for the end. */
export function unescapeMapped(text: string, origins: Int32Array | undefined): { readonly text: string; readonly origins: Int32Array } {
  const starts = new Int32Array(text.length + 1);
  const parts: string[] = [];
  let length = 0;
  const copy = (from: number, to: number) => {
    parts.push(text.slice(from, to));
    for (let index = from; index < to; index++) starts[length++] = index;
  };
  let from = 0;
  for (const match of text.matchAll(ESCAPE)) {
    copy(from, match.index);
    const decoded = decodeEscape(match[0]);
    parts.push(decoded);
    starts.fill(match.index, length, length + decoded.length);
    length += decoded.length;
    from = match.index + match[0].length;
  }
  copy(from, text.length);
  starts[length] = text.length;
  const own = starts.subarray(0, length + 1);
  return { text: parts.join(''), origins: origins === undefined ? own : own.map((index) => origins[index] ?? 0) };
}

function mayEscape(text: string): boolean {
  return text.includes('%') || text.includes('\\') || text.includes('&');
}

// Surrogate pairs first, so that they become one code point.
const ESCAPE =
  /%[0-9A-Fa-f]{2}|\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\["\\/bfnrt']|&#[0-9]{1,7};?|&#[xX][0-9A-Fa-f]{1,6};?|&[a-zA-Z]{2,8};/g;

function decodeEscape(written: string): string {
  switch (written[0]) {
    case '%':
      return String.fromCharCode(Number.parseInt(written.slice(1), 16));
    case '\\':
      return decodeBackslash(written);
    default:
      return decodeReference(written);
  }
}

function decodeBackslash(written: string): string {
  if (written[1] === 'u') {
    const units = written.split('\\u').slice(1);
    return utf8(String.fromCharCode(...units.map((unit) => Number.parseInt(unit, 16))));
  }
  if (written[1] === 'x') return String.fromCharCode(Number.parseInt(written.slice(2), 16));
  return BACKSLASH[written[1] ?? ''] ?? written;
}

function decodeReference(written: string): string {
  const body = written.replace(/^&|;$/g, '');
  if (!body.startsWith('#')) return NAMED[body] ?? written;
  const code = /^#[xX]/.test(body) ? Number.parseInt(body.slice(2), 16) : Number.parseInt(body.slice(1), 10);
  return code <= 0x10ffff ? utf8(String.fromCodePoint(code)) : written;
}

function utf8(text: string): string {
  const code = text.charCodeAt(0);
  return code < 0x80 ? text : Buffer.from(text, 'utf8').toString('latin1');
}

const BACKSLASH: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  "'": "'",
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** The names an HTML escaper may use for what stands in credentials. */
const NAMED: Readonly<Record<string, string | undefined>> = Object.assign(Object.create(null), {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  sol: '/',
  bsol: '\\',
  plus: '+',
  equals: '=',
  colon: ':',
  semi: ';',
  comma: ',',
  period: '.',
  lowbar: '_',
  hyphen: '-',
  num: '#',
  dollar: '$',
  percnt: '%',
  ast: '*',
  excl: '!',
  quest: '?',
  commat: '@',
  lpar: '(',
  rpar: ')',
  tilde: '~',
  grave: '`',
  Hat: '^',
  vert: '|',
});
