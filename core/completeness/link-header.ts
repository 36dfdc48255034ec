/**
 * The Link header, RFC 8288 section 3. The text comes from the remote: what does not parse is reported as
 * malformed and never skipped, because a skipped `rel=next` would read as the end of the list.
 */
export interface Link {
  readonly target: string;
  /** Lower-case names, first occurrence wins (RFC 8288 section 3.4.1). Null prototype. */
  readonly attributes: Readonly<Record<string, string>>;
}

const TARGET = /[\s,]*<([^>]*)>/y;
const ATTRIBUTE = /\s*;\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"]*)))?/y;
const END = /\s*;?\s*(,|$)/y;

/** `undefined` when the header is malformed. */
export function parseLinkHeader(text: string): readonly Link[] | undefined {
  const links: Link[] = [];
  let at = 0;
  while (at < text.length) {
    if (/^[\s,]*$/.test(text.slice(at))) break;
    const link = parseLink(text, at);
    if (link === undefined) return undefined;
    links.push(link.link);
    at = link.end;
  }
  return links;
}

function parseLink(text: string, start: number): { readonly link: Link; readonly end: number } | undefined {
  TARGET.lastIndex = start;
  const target = TARGET.exec(text)?.[1];
  if (target === undefined) return undefined;
  const attributes: Record<string, string> = Object.create(null);
  let at = TARGET.lastIndex;
  for (;;) {
    ATTRIBUTE.lastIndex = at;
    const match = ATTRIBUTE.exec(text);
    if (match?.[1] === undefined) break;
    const name = match[1].toLowerCase();
    if (!Object.hasOwn(attributes, name)) attributes[name] = match[2]?.replace(/\\(.)/g, '$1') ?? match[3] ?? '';
    at = ATTRIBUTE.lastIndex;
  }
  END.lastIndex = at;
  if (END.exec(text) === null) return undefined;
  return { link: { target, attributes }, end: END.lastIndex };
}
