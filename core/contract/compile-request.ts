/**
 * One HTTP request of a contract: method, URL, query, headers, body. The destination is literal, names are literal, values are slots
 * in places of their own (design section 2, point 7).
 */
import { isList, isObject } from '#core/completeness/path.ts';
import type { BodyTemplate, JsonTemplate, RequestTemplate, Template } from './compiled.ts';
import { parseOrigin } from './destination.ts';
import { type Draft, rememberTemplate, type Stage, templateAt } from './draft.ts';
import { isHeaderName, isHeaderText, reservedBecause } from './header-rules.ts';
import { nearestName } from './nearest.ts';
import { segmentsAt } from './path-segments.ts';
import { parseTemplate } from './slot.ts';
import type { SpecNode } from './spec-node.ts';

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

/** The request at a node that has `method`, `url` and maybe `query`, `headers`, `body`. */
export function compileRequest(draft: Draft, node: SpecNode, stage: Stage): RequestTemplate {
  const method = methodAt(node.at('method'));
  const { origin, segments } = urlAt(draft, node.at('url'), stage);
  const body = bodyAt(draft, node.maybe('body'), stage);
  if (body !== undefined && (method === 'GET' || method === 'HEAD')) {
    node.at('body').problem('body-not-allowed', `${method} has no body.`);
  }
  const request = {
    method,
    origin,
    segments,
    query: queryAt(draft, node.at('query'), stage),
    headers: headersAt(draft, node.at('headers'), stage),
  };
  return body === undefined ? request : { ...request, body };
}

function methodAt(node: SpecNode): string {
  const method = METHODS.find((each) => each === node.value);
  if (method !== undefined) return method;
  if (!node.present) node.problem('missing-field', 'method is required.');
  else {
    const nearest = typeof node.value === 'string' ? nearestName(node.value, METHODS) : undefined;
    node.problem('method-fixed', `${JSON.stringify(node.value)} is none of ${METHODS.join(', ')}.`, { nearest });
  }
  return 'GET';
}

/** Neither white space nor controls, backslashes or characters outside of ASCII: URL parsers repair or fold them (failure case HTTP-29). */
const URL_TEXT = /^[!-[\]-~]*$/;

function urlAt(draft: Draft, node: SpecNode, stage: Stage): { origin: string; segments: readonly Template[] } {
  const text = node.text();
  if (text === '') return { origin: '', segments: [] };
  const [, start = '', path = '', query, fragment] = /^([^/?#]*:\/\/[^/?#]*|[^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(text) ?? [];
  if (query !== undefined) node.problem('url-query', 'The URL has a query.');
  if (fragment !== undefined) node.problem('url-fragment', 'The URL has a fragment.');
  const parsed = parseOrigin(start);
  for (const fault of parsed.faults) node.problem(fault.code, fault.message, { cure: fault.cure });
  if (parsed.origin?.scheme === 'ssh') node.problem('url-scheme', 'An http target is not reached by ssh://.');
  // A name can be made to point elsewhere, and nothing proves who answers (failure case HTTP-X1).
  if (parsed.origin?.scheme === 'http' && parsed.origin.address === undefined) {
    node.problem('url-plaintext', `${parsed.origin.text} would send the credential in clear to whoever answers for the name.`);
  }
  if (!URL_TEXT.test(path))
    node.problem('url-character', 'The path has white space, a backslash, a control or a character outside of ASCII.');
  return { origin: parsed.origin?.text ?? '', segments: segmentsAt(draft, node, path, stage) };
}

function queryAt(draft: Draft, node: SpecNode, stage: Stage): readonly (readonly [string, Template])[] {
  return sorted(
    node.entries().map(([name, value]) => {
      if (!isPlainName(name)) value.problem('query-name', `${JSON.stringify(name)} is not a literal name.`);
      return [name, templateAt(draft, value, 'query', stage)] as const;
    }),
  );
}

/** Any visible text without a slot; the encoder takes care of the rest. */
function isPlainName(name: string): boolean {
  return name !== '' && name.isWellFormed() && !/[\p{C}\p{Z}]/u.test(name) && !name.includes('$(');
}

function headersAt(draft: Draft, node: SpecNode, stage: Stage): readonly (readonly [string, Template])[] {
  const seen = new Set<string>();
  return sorted(
    node.entries().map(([written, value]) => {
      const name = written.toLowerCase();
      const reserved = reservedBecause(name);
      if (!isHeaderName(written) || written.includes('$('))
        value.problem('header-name', `${JSON.stringify(written)} is not a header name.`);
      else if (reserved !== undefined) value.problem('header-reserved', `The header ${name} ${reserved}.`);
      if (seen.has(name)) value.problem('duplicate-name', `The header ${name} stands twice.`);
      seen.add(name);
      const template = templateAt(draft, value, 'header', stage);
      // A slot stands as one visible character: what is left is the contract's own text.
      const own = template.map((part) => (typeof part === 'string' ? part : 'x')).join('');
      if (!isHeaderText(own))
        value.problem('header-value', 'The value has a character that is not visible ASCII, or white space at an end.');
      return [name, template] as const;
    }),
  );
}

/** By name: the order of keys in a file says nothing, so it must not reach the wire or the revision. */
function sorted<T>(entries: readonly (readonly [string, T])[]): readonly (readonly [string, T])[] {
  return entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
}

const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+(?:; ?[a-z0-9-]+=[A-Za-z0-9._-]+)*$/;

function bodyAt(draft: Draft, node: SpecNode | undefined, stage: Stage): BodyTemplate | undefined {
  if (node === undefined) return undefined;
  const kinds = (['json', 'form', 'text'] as const).filter((kind) => node.at(kind).present);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    node.problem('exactly-one', 'A body has exactly one of json, form and text.');
    return undefined;
  }
  const contentType = contentTypeAt(node.maybe('contentType'), kind);
  const held = node.at(kind);
  if (kind === 'json') return { kind, contentType, json: jsonAt(draft, held, stage) };
  if (kind === 'text') return { kind, contentType, text: templateAt(draft, held, 'text', stage) };
  const fields = held.entries().map(([name, value]) => {
    if (!isPlainName(name)) value.problem('body-name', `${JSON.stringify(name)} is not a literal name.`);
    return [name, templateAt(draft, value, 'form', stage)] as const;
  });
  return { kind, contentType, fields: sorted(fields) };
}

const CONTENT_TYPES = { json: 'application/json', form: 'application/x-www-form-urlencoded', text: 'text/plain; charset=utf-8' } as const;

function contentTypeAt(node: SpecNode | undefined, kind: 'json' | 'form' | 'text'): string {
  const written = node?.text();
  if (written === undefined) return CONTENT_TYPES[kind];
  if (!MEDIA_TYPE.test(written)) node?.problem('body-content-type', `${JSON.stringify(written)} is not a media type.`);
  return written;
}

/** A JSON value whose texts may be slots. Member names are literal. */
export function jsonAt(draft: Draft, node: SpecNode, stage: Stage): JsonTemplate {
  const { value } = node;
  if (typeof value === 'string') return textAt(draft, node, value, stage);
  if (isList(value ?? null)) return { kind: 'list', items: node.list().map((item) => jsonAt(draft, item, stage)) };
  if (!isObject(value)) return { kind: 'literal', value: value ?? null };
  const members = node.entries().map(([name, held]) => {
    if (parseTemplate(name).template.some((part) => typeof part !== 'string'))
      held.problem('body-name', `The member name ${JSON.stringify(name)} has a slot.`);
    return [name, jsonAt(draft, held, stage)] as const;
  });
  return { kind: 'object', members: sorted(members) };
}

function textAt(draft: Draft, node: SpecNode, text: string, stage: Stage): JsonTemplate {
  const template = rememberTemplate(draft, node, text, 'json', stage);
  const [first] = template;
  if (template.every((part) => typeof part === 'string')) return { kind: 'literal', value: template.join('') };
  if (template.length === 1 && first !== undefined && typeof first !== 'string') return { kind: 'slot', slot: first };
  return { kind: 'text', template };
}
