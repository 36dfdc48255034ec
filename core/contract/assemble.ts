/**
 * A request from its template and the values of one call.
 *
 * - Built from parts, each encoded by its position; then parsed again and compared with the template: same origin, same
 *   number of segments, same fixed segments, same query names as often as meant, same values. A difference is a fault
 *   of ours and nothing is sent (failure cases HTTP-05, HTTP-27 to HTTP-30).
 * - Nothing is repaired. A value that does not fit is refused with the argument's path.
 * - No credential is in it: that comes after the destination is final.
 *
 * @see RFC 3986 sections 2.2, 3.3 and 3.4
 */
import type { SentRequest } from '#core/completeness/exchange.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { compareForm, compareHeaders, compareTarget, type PathPart, type QueryPart } from './compare.ts';
import type { BodyTemplate, JsonValue, RequestTemplate, Template } from './compiled.ts';
import { type Encoders, isMisfit, type Misfit, percentEncode, strictEncoders } from './encode.ts';
import type { SlotValues } from './slot-value.ts';
import {
  composedJson,
  composedText,
  formatted,
  literalText,
  missing,
  refuse,
  repeatedTexts,
  scalarText,
  singleSlot,
} from './template-text.ts';

/** A request assembled, re-parsed and compared with its template; the credential is not in it yet. */
export interface OutboundRequest {
  readonly method: string;
  /** Canonical origin, `https://host[:port]`. */
  readonly origin: string;
  /** Path and query, percent-encoded, starting with `/`. */
  readonly target: string;
  /** Lower-case names; an allow-list built from the contract and nothing else. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: Uint8Array;
}

const assembled = new WeakSet<OutboundRequest>();

/** Whether this very object was built here: its destination is final and frozen. What attaches credentials asks. */
export function isAssembled(request: OutboundRequest): boolean {
  return assembled.has(request);
}

export interface Assembled {
  readonly outbound: OutboundRequest;
  readonly sent: SentRequest;
}

export interface AssembleOptions {
  /** Canonical literal origin of a source that has its own. */
  readonly origin?: string;
  /** Only for checking a contract against a worse encoder; production never sets it. */
  readonly encoders?: Encoders;
}

/**
 * @throws PosternError INVALID_ARGUMENT (field path and rule) for the agent's value, REMOTE_PROTOCOL for a cursor part of the
 * remote's, INTERNAL where the contract should not have compiled or the comparison fails.
 */
export function assemble(template: RequestTemplate, values: SlotValues, options: AssembleOptions = {}): Assembled {
  const encoders = options.encoders ?? strictEncoders;
  const origin = options.origin ?? template.origin;
  const path = buildPath(template, values, encoders);
  const query = buildPairs(template.query, values, encoders.query);
  const pathText = `/${path.map((part) => part.encoded).join('/')}`;
  const target = query.length === 0 ? pathText : `${pathText}?${joinPairs(query)}`;
  if (!compareTarget(origin, target, path, query)) throw mismatch();
  return finish(template, values, encoders, { origin, target, path: pathText, query: joinedValues(query) });
}

/**
 * The request for a followed link. The walk has already judged `target` (own path or one of `follow.paths`, only `vary`
 * parameters changed); here it must be exactly what a parser makes of it at our own origin.
 * Method, headers and body are the template's.
 */
export function assembleFollow(template: RequestTemplate, values: SlotValues, target: string, options: AssembleOptions = {}): Assembled {
  const origin = options.origin ?? template.origin;
  const url = URL.parse(origin + target);
  if (!/^\/(?!\/)/.test(target) || url === null || url.origin !== origin || url.hash !== '' || url.pathname + url.search !== target) {
    throw new PosternError(
      'REMOTE_PROTOCOL',
      'The remote gave a link to its next page that is not a plain path and query of the same origin.',
    );
  }
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of url.searchParams) query[name] = name in query ? `${query[name]},${value}` : value;
  return finish(template, values, options.encoders ?? strictEncoders, { origin, target, path: url.pathname, query });
}

interface Destination {
  readonly origin: string;
  readonly target: string;
  readonly path: string;
  readonly query: SentRequest['query'];
}

/** Headers and body, the same for an assembled and a followed request. */
function finish(template: RequestTemplate, values: SlotValues, encoders: Encoders, to: Destination): Assembled {
  const headers: [string, string][] = [];
  const sentHeaders: Record<string, string> = Object.create(null);
  for (const [name, value] of template.headers) {
    const text = composedText(value, values);
    if (text === undefined) continue;
    const encoded = encoders.header(text);
    if (isMisfit(encoded)) throw unfitText(value, values, encoded, 0);
    headers.push([name, encoded]);
    sentHeaders[name] = encoded;
  }
  const built = template.body === undefined ? undefined : buildBody(template.body, values, encoders);
  if (built !== undefined && template.body !== undefined) {
    headers.push(['content-type', template.body.contentType]);
    sentHeaders['content-type'] = template.body.contentType;
  }
  if (!compareHeaders(headers)) throw mismatch();
  const { origin, target, path, query } = to;
  const outbound: OutboundRequest = Object.freeze({
    method: template.method,
    origin,
    target,
    headers,
    ...(built && { body: built.bytes }),
  });
  assembled.add(outbound);
  return { outbound, sent: { method: template.method, path, query, headers: sentHeaders, body: built?.value ?? null } };
}

function buildPath(template: RequestTemplate, values: SlotValues, encoders: Encoders): readonly PathPart[] {
  const parts: PathPart[] = [];
  for (const segment of template.segments) {
    const slot = singleSlot(segment);
    if (slot === undefined) {
      const literal = literalText(segment);
      if (literal === undefined)
        throw new PosternError('INTERNAL', 'A path segment mixes text and slots; the contract should not have compiled.');
      parts.push({ encoded: literal, fixed: true });
      continue;
    }
    const value = formatted(slot, values);
    if (value === undefined) throw missing(slot);
    for (const [index, piece] of pieces(value, slot.spread === true)) {
      const text = scalarText(slot, piece, index);
      const encoded = encoders.segment(text);
      if (isMisfit(encoded)) throw refuse(slot, encoded, index);
      parts.push({ encoded, fixed: false, text });
    }
  }
  return parts;
}

/** `$(args.path...)`: the elements of a list, or the parts of a text between slashes; each is checked alone. */
function pieces(value: JsonValue, spread: boolean): readonly (readonly [number | undefined, JsonValue])[] {
  if (!spread) return [[undefined, value]];
  if (typeof value === 'string') return value.split('/').map((piece) => [undefined, piece]);
  if (!Array.isArray(value) || value.length === 0) return [[undefined, '']];
  return value.map((piece: JsonValue, index) => [index, piece]);
}

function buildPairs(
  templates: RequestTemplate['query'],
  values: SlotValues,
  encode: (text: string) => string | Misfit,
): readonly QueryPart[] {
  const pairs: QueryPart[] = [];
  for (const { name, encodedName, template, fixed } of planOf(templates)) {
    if (fixed !== undefined) {
      pairs.push(fixed);
      continue;
    }
    for (const [index, text] of repeatedTexts(template, values).entries()) {
      const encoded = encode(text);
      if (isMisfit(encoded)) throw unfitText(template, values, encoded, index);
      pairs.push({ name, text, encodedName, encoded });
    }
  }
  return pairs;
}

interface PairPlan {
  readonly name: string;
  readonly encodedName: string;
  readonly template: Template;
  /** The whole pair where no slot is in it. */
  readonly fixed?: QueryPart;
}

/** What does not depend on a call, once for each template: templates are frozen and live as long as their contract. */
const plans = new WeakMap<RequestTemplate['query'], readonly PairPlan[]>();

function planOf(templates: RequestTemplate['query']): readonly PairPlan[] {
  let plan = plans.get(templates);
  if (plan === undefined) {
    plan = templates.map(([name, template]) => {
      const encodedName = percentEncode(name);
      const text = literalText(template);
      const encoded = text === undefined ? undefined : percentEncode(text);
      if (isMisfit(encodedName) || isMisfit(encoded)) throw mismatch();
      const fixed = text === undefined || encoded === undefined ? undefined : { name, text, encodedName, encoded };
      return { name, encodedName, template, ...(fixed && { fixed }) };
    });
    plans.set(templates, plan);
  }
  return plan;
}

function buildBody(body: BodyTemplate, values: SlotValues, encoders: Encoders): { bytes: Uint8Array; value: JsonValue } {
  if (body.kind === 'json') {
    const value = composedJson(body.json, values) ?? null;
    return { bytes: Buffer.from(encoders.json(value), 'utf8'), value };
  }
  if (body.kind === 'text') {
    const text = composedText(body.text, values) ?? '';
    return { bytes: Buffer.from(text, 'utf8'), value: text };
  }
  const pairs = buildPairs(body.fields, values, encoders.form);
  const text = joinPairs(pairs);
  if (!compareForm(text, pairs)) throw mismatch();
  return { bytes: Buffer.from(text, 'utf8'), value: joinedValues(pairs) };
}

function joinPairs(pairs: readonly QueryPart[]): string {
  return pairs.map((pair) => `${pair.encodedName}=${pair.encoded}`).join('&');
}

function joinedValues(pairs: readonly QueryPart[]): Readonly<Record<string, string>> {
  const values: Record<string, string> = Object.create(null);
  for (const { name, text } of pairs) values[name] = name in values ? `${values[name]},${text}` : text;
  return values;
}

/** A text that does not fit is the fault of the slot in it: literals were checked when the contract was compiled. */
function unfitText(template: Template, values: SlotValues, problem: Misfit, index: number): PosternError {
  const slot = template.find((part) => typeof part === 'object');
  if (slot === undefined) return mismatch();
  const repeats = template.length === 1 && Array.isArray(formatted(slot, values));
  return refuse(slot, problem, repeats ? index : undefined);
}

function mismatch(): PosternError {
  return new PosternError('INTERNAL', 'The assembled request is not the one the contract describes; nothing was sent.');
}
