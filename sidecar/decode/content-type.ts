/**
 * Whether the media type of an answer is one the contract takes (RFC 9110 section 8.3.1). Parameters do not count, except a
 * charset other than UTF-8, which no decoder here reads.
 *
 * `application/json` in a contract also takes the types whose syntax is JSON by their suffix (`application/problem+json`,
 * RFC 6839), `application/xml` and `text/xml` likewise `+xml`; a type with a suffix takes itself only. `none` takes an answer without the header.
 */
export type ContentTypeCheck = (header: string | undefined) => boolean;

/** Built once per contract. An empty list takes the usual types of the decoder. */
export function contentTypeCheck(contentTypes: readonly string[], decoder: 'JSON' | 'XML' | 'NDJSON' | 'Lines'): ContentTypeCheck {
  const allowed = new Set(contentTypes.length > 0 ? contentTypes.map((type) => type.toLowerCase()) : USUAL[decoder]);
  const takesJson = allowed.has('application/json');
  const takesXml = allowed.has('application/xml') || allowed.has('text/xml');
  return (header) => {
    if (header === undefined) return allowed.has('none');
    const type = mediaType(header);
    if (!readable(header)) return false;
    return allowed.has(type) || (takesJson && type.endsWith('+json')) || (takesXml && type.endsWith('+xml'));
  };
}

const USUAL = {
  JSON: ['application/json'],
  XML: ['application/xml', 'text/xml'],
  NDJSON: ['application/x-ndjson', 'application/ndjson', 'application/jsonl', 'application/json-lines'],
  Lines: ['text/plain'],
} as const;

function mediaType(header: string): string {
  const end = header.indexOf(';');
  return (end < 0 ? header : header.slice(0, end)).trim().toLowerCase();
}

function readable(header: string): boolean {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(header)?.[1]?.toLowerCase();
  return charset === undefined || charset === 'utf-8' || charset === 'utf8' || charset === 'us-ascii';
}
