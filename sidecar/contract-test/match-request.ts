/**
 * Does a request that was really sent fit a recorded one, and if not, in what? The same comparison decides a match
 * and explains a miss, so the explanation is never about something else than the decision.
 */
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '#core/completeness/path.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { OutboundRequest } from '#sidecar/execute/http/transport.ts';
import type { RequestPattern } from './contract-test.ts';

/** One member that differs; `undefined`: not there. */
export interface Difference {
  /** `method`, `path`, `query.state`, `headers.accept`, `body./variables/after`. */
  readonly at: string;
  readonly expected: JsonValue | undefined;
  readonly got: JsonValue | undefined;
}

/** Empty when the request fits. */
export function compareRequest(pattern: RequestPattern, request: OutboundRequest): readonly Difference[] {
  const { path, query } = splitTarget(request.target);
  const differences: Difference[] = [];
  const same = (at: string, expected: JsonValue | undefined, got: JsonValue | undefined): void => {
    if (!isDeepStrictEqual(plain(expected), plain(got))) differences.push({ at, expected, got });
  };
  if (pattern.origin !== undefined) same('origin', pattern.origin, request.origin);
  same('method', pattern.method, request.method);
  same('path', pattern.path, path);
  for (const [name, expected] of Object.entries(pattern.query)) {
    const got = query.getAll(name);
    same(`query.${name}`, single(expected ?? []), single(got));
  }
  for (const [name, expected] of Object.entries(pattern.headers)) {
    const got = request.headers.filter(([header]) => header === name).map(([, value]) => value);
    same(`headers.${name}`, expected ?? undefined, single(got));
  }
  if (pattern.body !== undefined) compareBody(pattern.body, readBody(request), 'body.', differences);
  return differences;
}

/** What was sent, for a report: everything but the credential, which is not in an OutboundRequest the replay keeps. */
export function describeRequest(request: OutboundRequest): JsonValue {
  const { path, query } = splitTarget(request.target);
  const names = [...new Set(query.keys())];
  return {
    method: request.method,
    origin: request.origin,
    path,
    query: Object.fromEntries(names.map((name) => [name, single(query.getAll(name)) ?? null])),
    ...(request.body === undefined ? {} : { body: readBody(request) ?? null }),
  };
}

function splitTarget(target: string): { readonly path: string; readonly query: URLSearchParams } {
  const mark = target.indexOf('?');
  return mark < 0
    ? { path: target, query: new URLSearchParams() }
    : { path: target.slice(0, mark), query: new URLSearchParams(target.slice(mark + 1)) };
}

/** Subset, recursively: every member named must be there and equal; `null` also fits an absent member. Lists are compared whole. */
function compareBody(expected: JsonValue, got: JsonValue | undefined, at: string, differences: Difference[]): void {
  if (isObject(expected) && isObject(got)) {
    for (const [name, member] of Object.entries(expected)) {
      const value = Object.hasOwn(got, name) ? got[name] : undefined;
      if (member === null && value === undefined) continue;
      compareBody(member, value, `${at}/${name}`, differences);
    }
    return;
  }
  if (Array.isArray(expected) && Array.isArray(got) && expected.length === got.length) {
    expected.forEach((item: JsonValue, index) => {
      compareBody(item, got[index], `${at}/${index}`, differences);
    });
    return;
  }
  if (!isDeepStrictEqual(plain(expected), plain(got))) differences.push({ at, expected, got });
}

function readBody(request: OutboundRequest): JsonValue | undefined {
  if (request.body === undefined) return undefined;
  const text = new TextDecoder().decode(request.body);
  const type = request.headers.find(([name]) => name === 'content-type')?.[1] ?? '';
  if (type.startsWith('application/x-www-form-urlencoded')) return formFields(new URLSearchParams(text));
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    // Not JSON: a text body, compared as a whole.
    return text;
  }
}

function formFields(fields: URLSearchParams): JsonValue {
  return Object.fromEntries([...new Set(fields.keys())].map((name) => [name, single(fields.getAll(name)) ?? null]));
}

function single(values: readonly string[]): JsonValue | undefined {
  return values.length > 1 ? values : values[0];
}

/** Prototypes aside, which isDeepStrictEqual would compare. */
function plain(value: JsonValue | undefined): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
