/**
 * From the bytes of a reply to what the rules of a contract may see: masked, decoded, with every reason why it cannot be
 * believed to be whole.
 *
 * Masking comes first, on the bytes, so that nothing behind it ever holds a reflected credential, and again on the decoded strings
 * where decoding can put a value together that was not in the bytes: escapes, XML sections. Headers are masked like the body.
 */
import type { Reply } from '#core/completeness/exchange.ts';
import type { JsonValue, ResultRules } from '#core/contract/compiled.ts';
import { type ContentTypeCheck, contentTypeCheck } from './content-type.ts';
import { type Decoded, decodeJson } from './json.ts';
import type { RawReply } from './raw-reply.ts';
import { type DecodeLines, decodeNdjson, linesDecoder, splitLines } from './records.ts';
import { decodeText } from './text.ts';
import { decodeXml } from './xml.ts';

/** Takes credentials out; MUST return the same object when there is none. */
export interface Mask {
  bytes(body: Uint8Array): Uint8Array;
  text(text: string): string;
}

/** From the bytes of one reply, received at `nowMs` of the wall clock. */
type DecodeReply = (raw: RawReply, mask: Mask, nowMs: number) => Reply;

/** The decoder of one contract: keep it, its patterns are compiled once. */
function replyDecoder(rules: ResultRules): DecodeReply {
  const accepts = contentTypeCheck(rules.contentTypes, rules.decoder);
  const decodeBody = bodyDecoder(rules);
  return (raw, mask, nowMs) => {
    const headers = maskHeaders(raw.headers, mask);
    const bytes = mask.bytes(raw.body);
    const judged = judge({ ...raw, body: bytes }, headers.values['content-type'], accepts, decodeBody);
    const decoded = judged.decoded === undefined ? undefined : maskStrings(judged.decoded.value, judged.mayJoin, mask);
    return {
      kind: 'reply',
      status: raw.status,
      headers: headers.values,
      body: decoded?.value,
      ...(judged.fault && { fault: judged.fault }),
      bytes: raw.body.byteLength,
      normalized: judged.decoded?.normalized ?? [],
      reflected: headers.reflected || bytes !== raw.body || decoded?.reflected === true,
      receivedAtMs: nowMs,
    };
  };
}

/** The same, with one decoder kept for each rules object: they are frozen and live as long as their contract. */
export function decodeReply(raw: RawReply, rules: ResultRules, mask: Mask, nowMs: number): Reply {
  let decode = decoders.get(rules);
  if (decode === undefined) {
    decode = replyDecoder(rules);
    decoders.set(rules, decode);
  }
  return decode(raw, mask, nowMs);
}

const decoders = new WeakMap<ResultRules, DecodeReply>();

interface Judged {
  readonly decoded?: Decoded;
  readonly fault?: Reply['fault'];
  /** Decoding may have joined text that stood apart in the bytes. */
  readonly mayJoin: boolean;
}

function judge(raw: RawReply, contentType: string | undefined, accepts: ContentTypeCheck, decodeBody: DecodeBody): Judged {
  const nothing = { mayJoin: false };
  if (raw.fault === 'tooLarge') return { ...nothing, fault: 'tooLarge' };
  if (raw.body.byteLength === 0 && mayBeEmpty(raw.status)) return raw.fault === 'cut' ? { ...nothing, fault: 'cut' } : nothing;
  if (!accepts(contentType)) return { ...nothing, fault: 'contentType' };
  const text = decodeText(raw.body);
  const decoded = text === undefined ? undefined : decodeBody(text, raw.fault === 'cut');
  if (raw.fault === 'cut') return { ...(decoded && { decoded }), fault: 'cut', mayJoin: true };
  if (text === undefined || decoded === undefined) return { ...nothing, fault: 'undecodable' };
  return { decoded, ...(raw.fault && { fault: raw.fault }), mayJoin: text.includes('\\') || text.trimStart().startsWith('<') };
}

/** An answer that says everything by its status; an empty 200 does not. */
function mayBeEmpty(status: number): boolean {
  return status === 204 || status === 205 || status < 200 || status > 299;
}

/** `cut`: the body ends where the connection did; only whole records of it count. */
export type DecodeBody = (text: string, cut: boolean) => Decoded | undefined;

export function bodyDecoder(rules: ResultRules): DecodeBody {
  const whole =
    (decode: (text: string) => Decoded | undefined): DecodeBody =>
    (text, cut) =>
      cut ? undefined : decode(text);
  switch (rules.decoder) {
    case 'JSON':
      return whole(decodeJson);
    case 'XML':
      return whole((text) => plain(decodeXml(text)));
    case 'NDJSON':
      return (text, cut) => decodeNdjson(splitLines(text, cut));
    case 'Lines': {
      const decodeLines = linesDecoder(rules.lines ?? { unmatched: 'Keep' });
      const oneObject = rules.shape.kind === 'object';
      return (text, cut) => plain(oneObject ? linesObject(rules, splitLines(text, cut), decodeLines) : decodeLines(splitLines(text, cut)));
    }
  }
}

/** Lines read as one object are its member `lines`, so that a field can name them; without a pattern they are texts. */
function linesObject(rules: ResultRules, lines: readonly string[], decodeLines: DecodeLines): JsonValue | undefined {
  const rows = rules.lines?.match === undefined ? lines : decodeLines(lines);
  return rows === undefined ? undefined : { lines: rows };
}

function plain(value: JsonValue | undefined): Decoded | undefined {
  return value === undefined ? undefined : { value, normalized: [] };
}

/** Repeated headers are joined by a comma (RFC 9110 section 5.2). */
function maskHeaders(headers: RawReply['headers'], mask: Mask): { values: Readonly<Record<string, string>>; reflected: boolean } {
  const values: Record<string, string> = Object.create(null);
  for (const [name, value] of headers) values[name] = values[name] === undefined ? value : `${values[name]}, ${value}`;
  // One look at all of them: hardly ever is there anything to mask.
  const joined = headers.flat().join('\n');
  if (mask.text(joined) === joined) return { values, reflected: false };
  const masked: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(values)) masked[mask.text(name)] = mask.text(value);
  return { values: masked, reflected: true };
}

/** Where decoding can put text together that stood apart in the bytes; the same object when there is nothing to mask. */
export function maskStrings(value: JsonValue, mayJoin: boolean, mask: Mask): { value: JsonValue; reflected: boolean } {
  if (!mayJoin) return { value, reflected: false };
  const texts: string[] = [];
  collectStrings(value, texts);
  const joined = texts.join('\n');
  if (mask.text(joined) === joined) return { value, reflected: false };
  return { value: maskValue(value, mask), reflected: true };
}

function collectStrings(value: JsonValue, into: string[]): void {
  if (typeof value === 'string') into.push(value);
  else if (Array.isArray(value)) for (const element of value) collectStrings(element, into);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, member] of Object.entries(value)) {
      into.push(name);
      collectStrings(member, into);
    }
  }
}

function maskValue(value: JsonValue, mask: Mask): JsonValue {
  if (typeof value === 'string') return mask.text(value);
  if (Array.isArray(value)) return value.map((element: JsonValue) => maskValue(element, mask));
  if (typeof value !== 'object' || value === null) return value;
  const masked: Record<string, JsonValue> = Object.create(null);
  for (const [name, member] of Object.entries(value)) masked[mask.text(name)] = maskValue(member, mask);
  return masked;
}
