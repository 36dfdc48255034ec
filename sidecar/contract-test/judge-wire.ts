/**
 * Whether a request that arrived is the one its template means, and nothing more: one request, the same host, the same
 * fixed segments, exactly the declared names as often as meant, the header block from its allow-list, a body with the
 * template's structure, every value in its own slot, and the credential in its place only.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '#core/completeness/path.ts';
import type { BodyTemplate, JsonTemplate, JsonValue, RequestTemplate, Slot, Template } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { isAbsent, meansText, onlySlot, slotMeaning } from './intended-text.ts';
import { parseForm, parseWire, utf8, type WireRequest } from './parse-wire.ts';

export interface Intended {
  readonly template: RequestTemplate;
  readonly values: SlotValues;
  /** `host[:port]` as the Host header says it. */
  readonly host: string;
  /** Headers the client and the credential add; their values are not looked at, save for `credential`. */
  readonly addedHeaders: readonly string[];
  /** The secret as text, and the headers the credential added: it may stand in them and nowhere else. */
  readonly credential: { readonly secret: string; readonly headers: readonly string[] };
}

export interface Escape {
  /** `connection`, `host`, `path`, `query.NAME`, `headers.NAME`, `body`, `credential`. */
  readonly where: string;
  readonly what: string;
}

/** Empty when all is as meant. `connections`: the raw bytes of each connection the one call made. */
export function judgeWire(connections: readonly Uint8Array[], intended: Intended): readonly Escape[] {
  const [bytes] = connections;
  if (connections.length !== 1 || bytes === undefined)
    return [{ where: 'connection', what: `${connections.length} connections instead of one` }];
  const reading = parseWire(bytes);
  if (reading.kind === 'short') return [{ where: 'connection', what: 'the request never became whole' }];
  if (reading.kind === 'fault') return [{ where: 'connection', what: reading.fault }];
  const { request } = reading;
  return [
    ...judgeStart(request, intended),
    ...judgeQuery(request, intended),
    ...judgeHeaders(request, intended),
    ...judgeBody(request, intended),
    ...judgeCredential(request, intended),
  ];
}

function judgeStart(request: WireRequest, { template, values, host }: Intended): readonly Escape[] {
  const escapes: Escape[] = [];
  if (request.method !== template.method) escapes.push({ where: 'method', what: `${request.method} instead of ${template.method}` });
  const hosts = request.headers.filter(([name]) => name === 'host').map(([, value]) => value);
  if (hosts.length !== 1 || hosts[0] !== host) escapes.push({ where: 'host', what: 'the Host header is not the contract’s' });
  const declared = template.segments.flatMap((segment) => meantSegments(segment, values));
  // The root path has one empty segment on the wire.
  const meant = declared.length === 0 ? [''] : declared;
  if (meant.length !== request.segments.length) {
    return [...escapes, { where: 'path', what: `${request.segments.length} segments instead of ${meant.length}` }];
  }
  for (const [index, expected] of meant.entries()) {
    const got = request.segments[index] ?? '';
    if (got !== expected) escapes.push({ where: 'path', what: `segment ${index + 1} is another` });
  }
  return escapes;
}

/** What each template segment stands for, decoded; a spread slot stands for several. */
function meantSegments(segment: Template, values: SlotValues): readonly string[] {
  const slot = onlySlot(segment);
  if (slot === undefined) return [decodeURIComponent(segment.map(String).join(''))];
  const value = slotMeaning(slot, values);
  if (!slot.spread) return [String(value)];
  return Array.isArray(value) ? value.map(String) : String(value).split('/');
}

function judgeQuery(request: WireRequest, { template, values }: Intended): readonly Escape[] {
  return judgePairs(template.query, request.query, values, 'query');
}

/** Pairs in the template's order; a list repeats its name, an absent value leaves it out. */
function judgePairs(
  templates: readonly (readonly [string, Template])[],
  got: readonly (readonly [string, string])[],
  values: SlotValues,
  place: string,
): readonly Escape[] {
  const meant = templates.flatMap(([name, template]) => repeats(template, values).map((one) => ({ name, one })));
  if (meant.length !== got.length) return [{ where: place, what: `${got.length} parameters instead of ${meant.length}` }];
  return meant.flatMap(({ name, one }, index) => {
    const [gotName, gotText] = got[index] ?? ['', ''];
    if (gotName !== name) return [{ where: `${place}.${name}`, what: 'another parameter stands in its place' }];
    const means = one(gotText);
    return means === true ? [] : [{ where: `${place}.${name}`, what: means }];
  });
}

function repeats(template: Template, values: SlotValues): readonly ((text: string) => true | string)[] {
  if (isAbsent(template, values)) return [];
  const slot = onlySlot(template);
  const value = slot === undefined ? undefined : slotMeaning(slot, values);
  if (slot?.format === undefined && Array.isArray(value)) {
    return (value as readonly JsonValue[]).map(
      (element) => (text) => text === String(element) || `${slot?.text} does not read back as its value`,
    );
  }
  return [(text) => meansText(template, text, values)];
}

function judgeHeaders(request: WireRequest, { template, values, addedHeaders }: Intended): readonly Escape[] {
  const escapes: Escape[] = [];
  const declared = new Map(template.headers.filter(([, value]) => !isAbsent(value, values)));
  const seen = new Set<string>();
  for (const [name, value] of request.headers) {
    if (seen.has(name)) escapes.push({ where: `headers.${name}`, what: 'the header stands twice' });
    seen.add(name);
    const meant = declared.get(name);
    if (meant !== undefined) {
      const means = meansText(meant, value, values);
      if (means !== true) escapes.push({ where: `headers.${name}`, what: means });
    } else if (!addedHeaders.includes(name)) escapes.push({ where: `headers.${name}`, what: 'a header the contract does not name' });
  }
  for (const name of declared.keys()) {
    if (!seen.has(name)) escapes.push({ where: `headers.${name}`, what: 'the header is missing' });
  }
  return escapes;
}

function judgeBody(request: WireRequest, { template, values }: Intended): readonly Escape[] {
  const { body } = template;
  if (body === undefined) return request.body.length === 0 ? [] : [{ where: 'body', what: 'a body the contract does not have' }];
  const type = request.headers.find(([name]) => name === 'content-type')?.[1];
  if (type !== body.contentType) return [{ where: 'headers.content-type', what: 'the type of the body is another' }];
  return judgeContent(body, request.body, values);
}

function judgeContent(body: BodyTemplate, bytes: Uint8Array, values: SlotValues): readonly Escape[] {
  if (body.kind === 'form') {
    const pairs = parseForm(bytes);
    return typeof pairs === 'string' ? [{ where: 'body', what: pairs }] : judgePairs(body.fields, pairs, values, 'body');
  }
  const text = utf8(bytes);
  if (text === null) return [{ where: 'body', what: 'the body is not UTF-8' }];
  if (body.kind === 'text') {
    const means = meansText(body.text, text, values);
    return means === true ? [] : [{ where: 'body', what: means }];
  }
  try {
    return judgeJson(body.json, JSON.parse(text) as JsonValue, values, 'body');
  } catch {
    return [{ where: 'body', what: 'the body is not JSON' }];
  }
}

function judgeJson(template: JsonTemplate, got: JsonValue | undefined, values: SlotValues, at: string): readonly Escape[] {
  switch (template.kind) {
    case 'literal':
      return same(template.value, got) ? [] : [{ where: at, what: 'a fixed value changed' }];
    case 'slot':
      return judgeJsonSlot(template.slot, got, values, at);
    case 'text': {
      const means = typeof got === 'string' ? meansText(template.template, got, values) : 'a text became something else';
      return means === true ? [] : [{ where: at, what: means }];
    }
    case 'list': {
      const present = template.items.filter((item) => !isAbsentJson(item, values));
      if (!Array.isArray(got) || got.length !== present.length) return [{ where: at, what: 'the list has another length' }];
      return present.flatMap((item, index) => judgeJson(item, got[index], values, `${at}/${index}`));
    }
    case 'object': {
      const present = template.members.filter(([, member]) => !isAbsentJson(member, values));
      const names = present.map(([name]) => name);
      if (!isObject(got) || !isDeepStrictEqual(Object.keys(got).sort(), [...names].sort())) {
        return [{ where: at, what: 'the object has other members' }];
      }
      return present.flatMap(([name, member]) => judgeJson(member, got[name], values, `${at}/${name}`));
    }
  }
}

/** A value without a format keeps its JSON type; one with a format is a text, or for times a number. */
function judgeJsonSlot(slot: Slot, got: JsonValue | undefined, values: SlotValues, at: string): readonly Escape[] {
  const fits =
    slot.format === undefined
      ? same(slotMeaning(slot, values), got)
      : (typeof got === 'string' || typeof got === 'number') && meansText([slot], String(got), values) === true;
  return fits ? [] : [{ where: at, what: `${slot.text} does not read back as its value` }];
}

function isAbsentJson(template: JsonTemplate, values: SlotValues): boolean {
  if (template.kind === 'slot') return slotMeaning(template.slot, values) === undefined;
  return template.kind === 'text' && isAbsent(template.template, values);
}

function judgeCredential(request: WireRequest, { credential }: Intended): readonly Escape[] {
  const elsewhere = [
    request.path,
    ...request.segments,
    ...request.query.flat(),
    ...request.headers.filter(([name]) => !credential.headers.includes(name)).flat(),
    utf8(request.body) ?? '',
  ];
  return elsewhere.some((text) => text.includes(credential.secret))
    ? [{ where: 'credential', what: 'the credential stands outside its headers' }]
    : [];
}

function same(expected: JsonValue | undefined, got: JsonValue | undefined): boolean {
  return expected !== undefined && got !== undefined && isDeepStrictEqual(JSON.parse(JSON.stringify(expected)), got);
}
