/**
 * Reads one HTTP/1.1 request out of raw bytes, as a remote would, and shares no code with what wrote them: no URL
 * class, no encoder, no client library. A second reader that agrees by construction would find nothing.
 *
 * Stricter than any server: whatever two servers could read differently is a fault here.
 * @see RFC 9112 sections 3, 5 and 6; RFC 3986 section 2.1
 */
export interface WireRequest {
  readonly method: string;
  /** Everything before the first `?`, as sent. */
  readonly path: string;
  /** Segments after the leading `/`, percent-decoded once; a dot segment or a decoded separator stays visible. */
  readonly segments: readonly string[];
  /** `name=value` pairs in order, decoded. */
  readonly query: readonly (readonly [string, string])[];
  /** Lower-case names, in order, values as sent. */
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
}

export type WireReading =
  | { readonly kind: 'request'; readonly request: WireRequest }
  /** Not whole yet: more bytes are needed. */
  | { readonly kind: 'short' }
  | { readonly kind: 'fault'; readonly fault: string };

/** Reads exactly one request; bytes behind it are a fault, for they would be a second request. */
export function parseWire(bytes: Uint8Array): WireReading {
  const text = latin1(bytes);
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return { kind: 'short' };
  const [start = '', ...lines] = text.slice(0, end).split('\r\n');
  try {
    const headers = lines.map(readHeader);
    const length = bodyLength(headers);
    const from = end + 4;
    if (bytes.length < from + length) return { kind: 'short' };
    if (bytes.length > from + length) return { kind: 'fault', fault: `${bytes.length - from - length} bytes follow the request` };
    return { kind: 'request', request: { ...readStart(start), headers, body: bytes.slice(from) } };
  } catch (error) {
    if (error instanceof WireFault) return { kind: 'fault', fault: error.message };
    throw error;
  }
}

class WireFault extends Error {}

function readStart(line: string): Pick<WireRequest, 'method' | 'path' | 'segments' | 'query'> {
  const parts = line.split(' ');
  const [method = '', target = '', version = ''] = parts;
  if (parts.length !== 3 || version !== 'HTTP/1.1' || !/^[A-Z]+$/.test(method)) throw new WireFault('the request line has not three parts');
  if (!target.startsWith('/') || target.startsWith('//')) throw new WireFault('the target is not a path of this host');
  if (!/^[!-~]+$/.test(target)) throw new WireFault('the target has a byte that is not visible ASCII');
  if (/[#\\"<>^`{|}]/.test(target)) throw new WireFault('the target has a character that must be percent-encoded');
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  return {
    method,
    path,
    segments: path.slice(1).split('/').map(decodeSegment),
    query: mark < 0 ? [] : readPairs(target.slice(mark + 1), false),
  };
}

function decodeSegment(segment: string): string {
  if (segment.includes(';')) throw new WireFault('a path segment has a bare semicolon, which some servers cut at');
  const text = percentDecode(segment);
  if (text === '.' || text === '..') throw new WireFault('a dot segment is in the path');
  if (/[/\\]/.test(text)) throw new WireFault('a path segment decodes to one with a separator');
  if (/%[0-9a-fA-F]{2}/.test(text)) throw new WireFault('a path segment still has an escape after decoding');
  return text;
}

/** Pairs of a query, or of a form where `+` is a space. A `+` in a query is read as a space by half of the servers: a fault. */
export function readPairs(text: string, form: boolean): readonly (readonly [string, string])[] {
  if (text === '') return [];
  return text.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    if (equals < 0) throw new WireFault('a parameter has no value');
    if (pair.includes(';')) throw new WireFault('a parameter has a bare semicolon, which some servers split at');
    if (!form && pair.includes('+')) throw new WireFault('a query has a bare plus, which some servers read as a space');
    const [name, value] = [pair.slice(0, equals), pair.slice(equals + 1)].map((part) =>
      percentDecode(form ? part.replaceAll('+', ' ') : part),
    );
    return [name ?? '', value ?? ''] as const;
  });
}

/** Pairs of a form body, or what is wrong with it. */
export function parseForm(body: Uint8Array): readonly (readonly [string, string])[] | string {
  const text = latin1(body);
  if (!/^[!-~]*$/.test(text)) return 'a form has a byte that is not visible ASCII';
  try {
    return readPairs(text, true);
  } catch (error) {
    if (error instanceof WireFault) return error.message;
    throw error;
  }
}

function percentDecode(text: string): string {
  const bytes: number[] = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] !== '%') {
      bytes.push(text.charCodeAt(at));
      continue;
    }
    const digits = text.slice(at + 1, at + 3);
    if (!/^[0-9a-fA-F]{2}$/.test(digits)) throw new WireFault('a percent sign is not followed by two digits');
    bytes.push(Number.parseInt(digits, 16));
    at += 2;
  }
  const decoded = utf8(Uint8Array.from(bytes));
  if (decoded === null) throw new WireFault('an escape is not UTF-8');
  return decoded;
}

function readHeader(line: string): readonly [string, string] {
  const parts = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/s.exec(line);
  if (parts === null) throw new WireFault('a header line has no name');
  const [, name = '', value = ''] = parts;
  // Field values of ours are visible ASCII and spaces; anything else is read in two ways (failure case HTTP-04).
  if (!/^[ -~]*$/.test(value)) throw new WireFault(`the header ${name.toLowerCase()} has a byte that is not visible ASCII`);
  return [name.toLowerCase(), value];
}

function bodyLength(headers: readonly (readonly [string, string])[]): number {
  if (headers.some(([name]) => name === 'transfer-encoding')) throw new WireFault('the request is chunked');
  const lengths = headers.filter(([name]) => name === 'content-length').map(([, value]) => value);
  if (lengths.length > 1) throw new WireFault('the request has two lengths');
  const [length = '0'] = lengths;
  if (!/^\d{1,9}$/.test(length)) throw new WireFault('the length is not a number');
  return Number(length);
}

export function utf8(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    // Not UTF-8: the caller says what that means.
    return null;
  }
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
}
