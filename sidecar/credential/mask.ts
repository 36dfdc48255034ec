/**
 * Takes credentials out of what a remote sends back: the last net, not the wall (failure cases LEAK-04 to LEAK-06).
 *
 * What is looked for: each value in every form of needles.ts, under up to `maskPassesMax` layers of escapes. A reply is
 * looked at whole, so a value split over chunks, lines or compressed blocks is found like any other. Text that holds no
 * credential comes back as the same object: one search per pattern, and the escape layers only where `%`, `\` or `&` occur.
 *
 * **Not an oracle (LEAK-22).** An agent may send guesses in an argument that the remote echoes; were a right guess masked and a
 * wrong one not, the answer would tell. So what the caller supplied is answered like any other text: when the call's own
 * arguments hold a value in any form, that value is not masked in the replies to this call, in no form (the remote may
 * re-encode what it echoes). The caller loses nothing by it and learns nothing, because it sent the bytes itself, and it is counted:
 * `onAnomaly` is called once a call. The whole as it is *attached* - `Bearer VALUE`, the base64 of `user:VALUE` - is a pattern of its
 * own, and stays masked unless the caller sent that very text too; a remote that echoes request headers therefore answers a right guess of the
 * bare value as it answers a wrong one. What remains: a caller who sends `Bearer GUESS` whole, to a remote that echoes both. It learns
 * one bit per call about a complete value, never about a part of it, and each right guess is an anomaly someone sees.
 */
import { limits } from '#core/bounds/limits.ts';
import { type Needle, needlesOf } from './needles.ts';
import { unescapeMapped, unescapeOnce } from './unescape.ts';

/** What a binding sends, as it would come back. */
export interface Maskable {
  /** The values alone. */
  readonly values: readonly string[];
  /** The values with what is put around them on the way out. */
  readonly attached: readonly string[];
}

/** Masks the replies of one call. Returns the same object where there is nothing to mask. */
export interface ReplyMask {
  bytes(body: Uint8Array): Uint8Array;
  text(text: string): string;
}

/** What stands in the place of a credential; plain in JSON, XML, headers and lines. */
export const MASKED = '[masked]';

export class CredentialMask {
  readonly #values: readonly Needle[];
  readonly #attached: readonly Needle[];
  readonly #all: readonly Needle[];

  constructor(maskable: Maskable) {
    this.#values = uniqueNeedles(maskable.values);
    this.#attached = uniqueNeedles(maskable.attached);
    this.#all = [...this.#attached, ...this.#values];
  }

  /** The mask for a call whose arguments, as JSON text, are `args`. `onAnomaly`: they hold a credential. */
  forCall(args: string, onAnomaly: () => void): ReplyMask {
    if (this.#all.length === 0) return transparent;
    const text = latin1(args);
    if (!holds(text, this.#all)) return masking(this.#all);
    onAnomaly();
    const values = holds(text, this.#values) ? [] : this.#values;
    const attached = holds(text, this.#attached) ? [] : this.#attached;
    return masking([...attached, ...values]);
  }

  /** The mask where no caller is involved. */
  forAnyone(): ReplyMask {
    return masking(this.#all);
  }
}

const transparent: ReplyMask = { bytes: (body) => body, text: (text) => text };

function masking(needles: readonly Needle[]): ReplyMask {
  if (needles.length === 0) return transparent;
  return {
    bytes: (body) => {
      if (body.length < limits.secretBytesMin) return body;
      const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1');
      return holds(text, needles) ? Buffer.from(replaceAll(text, needles), 'latin1') : body;
    },
    text: (text) => {
      if (text.length < limits.secretBytesMin) return text;
      const bytes = latin1(text);
      return holds(bytes, needles) ? Buffer.from(replaceAll(bytes, needles), 'latin1').toString('utf8') : text;
    },
  };
}

function uniqueNeedles(values: readonly string[]): readonly Needle[] {
  const byText = new Map<string, Needle>();
  for (const needle of values.filter((value) => value !== '').flatMap(needlesOf)) byText.set(needle.text, needle);
  return [...byText.values()];
}

/** The UTF-8 bytes of a text, one character each; ASCII is its own. */
function latin1(text: string): string {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

function holds(text: string, needles: readonly Needle[]): boolean {
  let current = text;
  for (let pass = 0; ; pass++) {
    for (const needle of needles) if (current.includes(needle.text)) return true;
    if (pass === limits.maskPassesMax) return false;
    const next = unescapeOnce(current);
    if (next === current) return false;
    current = next;
  }
}

type Span = readonly [start: number, end: number];

/** The rare path: a credential is there. Every match of every layer is mapped back to the original bytes. */
function replaceAll(text: string, needles: readonly Needle[]): string {
  const spans: Span[] = [];
  let current = text;
  let origins: Int32Array | undefined;
  for (let pass = 0; ; pass++) {
    for (const [start, end] of matches(current, needles)) spans.push([origins?.[start] ?? start, origins?.[end] ?? end]);
    if (pass === limits.maskPassesMax) break;
    const next = unescapeMapped(current, origins);
    if (next.text === current) break;
    current = next.text;
    origins = next.origins;
  }
  return cut(text, spans);
}

function* matches(text: string, needles: readonly Needle[]): Generator<Span> {
  for (const needle of needles) {
    const { length } = needle.text;
    for (let at = text.indexOf(needle.text); at >= 0; at = text.indexOf(needle.text, at + 1)) {
      yield needle.inner ? widened(text, at, at + length) : [at, at + length];
    }
  }
}

/** One character on each side, unless it is the end of an escape: half an escape would break the text around it. */
function widened(text: string, start: number, end: number): Span {
  const before = BASE64.test(text[start - 1] ?? '') && text[start - 2] !== '\\' ? 1 : 0;
  const after = BASE64.test(text[end] ?? '') ? 1 : 0;
  return [start - before, end + after];
}

const BASE64 = /^[A-Za-z0-9+_-]$/;

function cut(text: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let done = 0;
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0] || b[1] - a[1])) {
    if (end <= done) continue;
    if (start >= done) parts.push(text.slice(done, start), MASKED);
    done = end;
  }
  parts.push(text.slice(done));
  return parts.join('');
}
