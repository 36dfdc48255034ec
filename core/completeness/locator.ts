/**
 * Locators of the contract language (section 2.1): one place in an answer, `body`, `header`, `link` or `lastItem`.
 * A link that is there without the promised parameter is `unusable`, never `absent`: absent may end a walk.
 */

import type { JsonValue } from '#core/contract/compiled.ts';
import type { Exchange } from './exchange.ts';
import { parseLinkHeader } from './link-header.ts';
import { ABSENT, type Locator, type ParsedPath, parsePath, type Reading, readPath, UNUSABLE } from './path.ts';

/** `lastItem`: the last raw item of the page, undefined on an empty one. */
export function readLocator(locator: Locator, exchange: Exchange, lastItem: JsonValue | undefined): Reading {
  if (locator.kind === 'lastItem') return readPath(lastItem, locator.path);
  const { reply } = exchange;
  if (reply.kind !== 'reply') return ABSENT;
  if (locator.kind === 'body') return readPath(reply.body, locator.path);
  if (locator.kind === 'header') return headerOf(reply.headers, locator.name);
  return readLink(locator, reply.headers);
}

/** The first locator of a fallback chain that is not absent. */
export function readFirst(locators: readonly Locator[], exchange: Exchange, lastItem: JsonValue | undefined): Reading {
  for (const locator of locators) {
    const reading = readLocator(locator, exchange, lastItem);
    if (reading.kind !== 'absent') return reading;
  }
  return ABSENT;
}

function headerOf(headers: Readonly<Record<string, string>>, name: string): Reading {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  return value === undefined ? ABSENT : { kind: 'value', value };
}

function readLink(locator: Locator & { readonly kind: 'link' }, headers: Readonly<Record<string, string>>): Reading {
  const header = headerOf(headers, 'link');
  if (header.kind !== 'value' || typeof header.value !== 'string') return ABSENT;
  const links = parseLinkHeader(header.value);
  if (links === undefined) return UNUSABLE;
  const targets = new Set<string>();
  for (const link of links) {
    const relations = (link.attributes.rel ?? '').toLowerCase().split(/\s+/);
    const guarded = Object.entries(locator.where).every(([name, value]) => link.attributes[name.toLowerCase()] === value);
    if (relations.includes(locator.rel.toLowerCase()) && guarded) targets.add(link.target);
  }
  const [target] = targets;
  if (target === undefined) return ABSENT;
  if (targets.size > 1) return UNUSABLE;
  return locator.query === undefined ? { kind: 'value', value: target } : queryParameter(target, locator.query);
}

/** One parameter of a link's target; the host of a relative reference does not matter and is never called. */
function queryParameter(target: string, name: string): Reading {
  const url = URL.parse(target, 'http://relative.invalid/');
  const [value, ...more] = url === null ? [] : url.searchParams.getAll(name);
  return value === undefined || more.length > 0 ? UNUSABLE : { kind: 'value', value };
}

export type ParsedLocator =
  | { readonly kind: 'parsed'; readonly locator: Locator }
  | { readonly kind: 'problem'; readonly message: string; readonly member?: string };

/** The written form: exactly one of `body`, `header`, `link`, `lastItem`; `where` and `query` only beside `link`. */
export interface WrittenLocator {
  readonly body?: string;
  readonly header?: string;
  readonly link?: string;
  readonly lastItem?: string;
  readonly where?: Readonly<Record<string, string>>;
  readonly query?: string;
}

export function parseLocator(written: WrittenLocator): ParsedLocator {
  const places = [written.body, written.header, written.link, written.lastItem].filter((place) => place !== undefined);
  if (places.length !== 1) return { kind: 'problem', message: 'a locator has exactly one of body, header, link and lastItem' };
  if (written.link === undefined && (written.where !== undefined || written.query !== undefined)) {
    return { kind: 'problem', message: 'where and query belong to a link', member: written.where === undefined ? 'query' : 'where' };
  }
  if (written.body !== undefined) return withPath(parsePath(written.body), 'body');
  if (written.lastItem !== undefined) return withPath(parsePath(written.lastItem), 'lastItem');
  if (written.header !== undefined) return headerLocator(written.header);
  if (written.link === undefined || !/^[a-zA-Z][a-zA-Z0-9.:/-]*$/.test(written.link)) {
    return { kind: 'problem', message: 'a link names a relation type such as next (RFC 8288)', member: 'link' };
  }
  const where = written.where ?? {};
  return {
    kind: 'parsed',
    locator:
      written.query === undefined
        ? { kind: 'link', rel: written.link, where }
        : { kind: 'link', rel: written.link, where, query: written.query },
  };
}

function withPath(parsed: ParsedPath, kind: 'body' | 'lastItem'): ParsedLocator {
  if (parsed.kind === 'problem') return { kind: 'problem', message: parsed.message, member: kind };
  return { kind: 'parsed', locator: { kind, path: parsed.path } };
}

function headerLocator(name: string): ParsedLocator {
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
    return { kind: 'problem', message: 'not a header name (RFC 9110 section 5.1)', member: 'header' };
  return { kind: 'parsed', locator: { kind: 'header', name: name.toLowerCase() } };
}
