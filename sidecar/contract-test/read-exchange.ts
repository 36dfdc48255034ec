/** Reads the recorded exchanges of one call: the request as a pattern, the answer as the bytes that came. */
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { SpecPath } from '#core/contract/spec-path.ts';
import type { RecordedExchange, RecordedResponse, RequestPattern } from './contract-test.ts';
import { expandBody } from './expand-body.ts';
import type { FieldReader, Members } from './field-reader.ts';

export function readExchanges(value: JsonValue | undefined, path: SpecPath, reader: FieldReader): readonly RecordedExchange[] {
  const list = reader.list(value, path);
  if (list.length > limits.recordedExchangesMax) {
    reader.problem(path, 'too-many', `A call has at most ${limits.recordedExchangesMax} exchanges.`, 'Record a shorter walk.');
    return [];
  }
  return list.map((item, index) => readExchange(item, [...path, index], reader));
}

function readExchange(value: JsonValue, path: SpecPath, reader: FieldReader): RecordedExchange {
  const exchange = reader.members(value, path, ['request', 'response', 'failure', 'after'], ['request']);
  const failure = reader.word(exchange.failure, [...path, 'failure'], ['unreachable', 'timedOut', 'protocol']);
  if ((exchange.response === undefined) === (exchange.failure === undefined)) {
    reader.problem(path, 'one-of', 'An exchange has either a response or a failure.', 'Write exactly one of response and failure.');
  }
  const response = reader.members(exchange.response, [...path, 'response'], ['status', 'headers', 'body', 'text', 'fault', 'after']);
  if (exchange.after !== undefined && response.after !== undefined) {
    reader.problem([...path, 'after'], 'one-of', 'The clock can advance only once for one exchange.', 'Write after once.');
  }
  return {
    request: readRequest(exchange.request, [...path, 'request'], reader),
    answer: failure === undefined ? readResponse(response, [...path, 'response'], reader) : { kind: 'failure', failure },
    afterMs: reader.duration(exchange.after, [...path, 'after']) ?? reader.duration(response.after, [...path, 'response', 'after']) ?? 0,
  };
}

function readRequest(value: JsonValue | undefined, path: SpecPath, reader: FieldReader): RequestPattern {
  const request = reader.members(value, path, ['origin', 'method', 'path', 'query', 'headers', 'body'], ['method', 'path']);
  const target = reader.text(request.path, [...path, 'path']) ?? '/';
  if (!/^\/[^?#\s]*$/.test(target)) {
    reader.problem(
      [...path, 'path'],
      'wrong-path',
      'This is not a path on the wire.',
      'Start with /, percent-encode, and write the query under query.',
    );
  }
  const origin = reader.text(request.origin, [...path, 'origin']);
  const body = request.body;
  return {
    ...(origin === undefined ? {} : { origin }),
    method: reader.text(request.method, [...path, 'method']) ?? '',
    path: target,
    query: mapMembers(reader.map(request.query, [...path, 'query']), (member, name) =>
      queryValues(member, [...path, 'query', name], reader),
    ),
    headers: mapMembers(lowerCase(reader.map(request.headers, [...path, 'headers'])), (member, name) =>
      headerValue(member, [...path, 'headers', name], reader),
    ),
    ...(body === undefined ? {} : { body: expandBody(body, [...path, 'body'], reader) }),
  };
}

function readResponse(response: Members, path: SpecPath, reader: FieldReader): RecordedResponse {
  const headers = Object.entries(reader.map(response.headers, [...path, 'headers'])).flatMap(([name, value]) =>
    (Array.isArray(value) ? (value as readonly JsonValue[]) : [value]).map(
      (one) => [name.toLowerCase(), headerValue(one, [...path, 'headers', name], reader) ?? ''] as const,
    ),
  );
  if (response.body !== undefined && response.text !== undefined) {
    reader.problem(path, 'one-of', 'A response has either a body or a text.', 'Write the JSON value as body, or the raw text as text.');
  }
  const fault = reader.word(response.fault, [...path, 'fault'], ['cut', 'unframed']);
  return {
    kind: 'response',
    status: reader.wholeNumber(response.status, [...path, 'status'], 100, 599) ?? 200,
    headers,
    body: new TextEncoder().encode(bodyText(response, headers, path, reader)),
    ...(fault === undefined ? {} : { fault }),
  };
}

/** A text under another type than JSON is the raw body; every other value is sent as JSON text. */
function bodyText(response: Members, headers: readonly (readonly [string, string])[], path: SpecPath, reader: FieldReader): string {
  if (response.text !== undefined) {
    const text = expandBody(response.text, [...path, 'text'], reader);
    return reader.text(text, [...path, 'text']) ?? '';
  }
  if (response.body === undefined) return '';
  const body = expandBody(response.body, [...path, 'body'], reader);
  const type =
    headers
      .find(([name]) => name === 'content-type')?.[1]
      .split(';')[0]
      ?.trim()
      .toLowerCase() ?? '';
  const isJson = type.endsWith('/json') || type.endsWith('+json') || /^application\/x-amz-json-/.test(type);
  return typeof body === 'string' && !isJson ? body : JSON.stringify(body);
}

function queryValues(value: JsonValue, path: SpecPath, reader: FieldReader): readonly string[] | null {
  if (value === null) return null;
  return (Array.isArray(value) ? (value as readonly JsonValue[]) : [value]).map((one) => scalarText(one, path, reader));
}

function headerValue(value: JsonValue, path: SpecPath, reader: FieldReader): string | null {
  return value === null ? null : scalarText(value, path, reader);
}

function scalarText(value: JsonValue, path: SpecPath, reader: FieldReader): string {
  return (typeof value === 'number' || typeof value === 'boolean' ? String(value) : reader.text(value, path)) ?? '';
}

function mapMembers<Value>(members: Members, read: (member: JsonValue, name: string) => Value): Readonly<Record<string, Value>> {
  const result = Object.create(null) as Record<string, Value>;
  for (const [name, member] of Object.entries(members)) result[name] = read(member, name);
  return result;
}

function lowerCase(members: Members): Members {
  const result = Object.create(null) as Record<string, JsonValue>;
  for (const [name, member] of Object.entries(members)) result[name.toLowerCase()] = member;
  return result;
}
