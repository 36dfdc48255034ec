/**
 * Looks for secrets in whatever came out of a sidecar, without the code that masks them: every reading of the text - as it is,
 * unescaped layer by layer, each run of base64 and hex decoded at every offset - is searched for any 12 bytes in a row.
 */

export interface Canary {
  readonly name: string;
  /** At least 12 bytes. */
  readonly value: string;
}

const WINDOW = 12;
const layersMax = 4;

/** Names of the canaries of which at least 12 bytes in a row are in `data`, under any encoding. */
export function canariesIn(data: string | Uint8Array, canaries: readonly Canary[]): readonly string[] {
  const found = new Set<string>();
  const windows = canaries.map(({ name, value }) => ({ name, parts: windowsOf(latin1(value)) }));
  for (const reading of readings(typeof data === 'string' ? latin1(data) : Buffer.from(data).toString('latin1'))) {
    for (const { name, parts } of windows) if (parts.some((part) => reading.includes(part))) found.add(name);
  }
  return [...found];
}

function windowsOf(value: string): readonly string[] {
  if (value.length < WINDOW) throw new RangeError('a canary this short would be found by chance');
  return Array.from({ length: value.length - WINDOW + 1 }, (_, at) => value.slice(at, at + WINDOW));
}

/** `depth`: how many codes inside one another are still undone. */
function* readings(text: string, depth = 2): Generator<string> {
  let current = text;
  for (let layer = 0; layer < layersMax; layer += 1) {
    yield current;
    // A form writes a space as a plus.
    if (current.includes('+')) yield current.replaceAll('+', ' ');
    if (depth > 0) for (const inner of decodedRuns(current)) yield* readings(inner, depth - 1);
    const next = unescaped(current);
    if (next === current) return;
    current = next;
  }
}

function* decodedRuns(text: string): Generator<string> {
  for (const [run] of text.matchAll(/[A-Za-z0-9+/_-]{16,}/g)) {
    const plain = run.replaceAll('-', '+').replaceAll('_', '/');
    for (let offset = 0; offset < 4; offset += 1) yield Buffer.from(plain.slice(offset), 'base64').toString('latin1');
  }
  for (const [run] of text.matchAll(/[0-9a-fA-F]{24,}/g))
    for (let offset = 0; offset < 2; offset += 1) yield Buffer.from(run.slice(offset), 'hex').toString('latin1');
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/', plus: '+', equals: '=' };

/** One layer, from left to right: an escaped backslash escapes nothing. */
const ESCAPES = /%([0-9a-f]{2})|\\u([0-9a-f]{4})|\\x([0-9a-f]{2})|\\(["\\/'])|&#x([0-9a-f]{1,6});?|&#([0-9]{1,7});?|&([a-z]{2,6});/gi;

function unescaped(text: string): string {
  return text.replace(ESCAPES, (whole, ...groups: (string | undefined)[]) => {
    const [percent, unicode, hex, mark, reference, decimal, name] = groups;
    if (mark !== undefined) return mark;
    if (name !== undefined) return NAMED[name] ?? whole;
    const code = decimal === undefined ? Number.parseInt(percent ?? unicode ?? hex ?? reference ?? '', 16) : Number(decimal);
    if (code > 0x10ffff) return whole;
    return percent === undefined ? latin1(String.fromCodePoint(code)) : String.fromCharCode(code);
  });
}

function latin1(text: string): string {
  return Buffer.from(text, 'utf8').toString('latin1');
}
