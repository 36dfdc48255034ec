/**
 * The second pair of eyes on an assembled request: what a parser reads out of the bytes must be what was meant.
 * Independent of the encoders on purpose, so that a bad encoder is caught here and not at the remote.
 */

/** `fixed`: written in the contract; else `text` is the value that was meant. */
export type PathPart =
  | { readonly encoded: string; readonly fixed: true }
  | { readonly encoded: string; readonly fixed: false; readonly text: string };

export interface QueryPart {
  readonly name: string;
  readonly text: string;
  readonly encodedName: string;
  readonly encoded: string;
}

/** Whether `origin + target` parses to exactly this origin, these segments and these parameters. */
export function compareTarget(origin: string, target: string, path: readonly PathPart[], query: readonly QueryPart[]): boolean {
  const url = URL.parse(origin + target);
  if (url === null || url.origin !== origin || url.hash !== '' || url.username !== '') return false;
  // The parser removes dot segments, tabs and line ends, and adds escapes: any of it is a difference here.
  if (url.pathname + url.search !== target) return false;
  return comparePath(url.pathname, path) && compareForm(url.search.slice(1), query);
}

/** Whether pairs joined by `&` read back as the names and values that were meant, in order, none more. */
export function compareForm(text: string, pairs: readonly QueryPart[]): boolean {
  if (pairs.length === 0) return text === '';
  // `+` and `;` mean something to some parsers; so nothing but unreserved, escapes and our own separators may stand here.
  if (!/^[A-Za-z0-9._~%=&-]*$/.test(text)) return false;
  const read = text.split('&');
  if (read.length !== pairs.length) return false;
  return pairs.every((pair, index) => {
    const part = read[index] ?? '';
    const equals = part.indexOf('=');
    if (equals < 0 || part.includes('=', equals + 1)) return false;
    return reads(part.slice(0, equals), pair.name) && reads(part.slice(equals + 1), pair.text);
  });
}

/** Whether every value is one line of ASCII and every name a lower-case token that appears once. */
export function compareHeaders(headers: readonly (readonly [string, string])[]): boolean {
  const names = new Set<string>();
  for (const [name, value] of headers) {
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) || !/^[\u0020-\u007e]*$/.test(value)) return false;
    if (names.has(name)) return false;
    names.add(name);
  }
  return true;
}

function comparePath(pathname: string, path: readonly PathPart[]): boolean {
  if (path.length === 0) return pathname === '/';
  const read = pathname.slice(1).split('/');
  // `//other/x` is an authority to some servers (failure case HTTP-05).
  if (read.length !== path.length || (read[0] === '' && read.length > 1)) return false;
  return path.every((part, index) => {
    const segment = read[index];
    if (part.fixed) return segment === part.encoded;
    return segment !== undefined && /^[A-Za-z0-9._~%-]+$/.test(segment) && reads(segment, part.text);
  });
}

/** Whether a receiver that decodes `encoded` gets `text`. */
function reads(encoded: string, text: string): boolean {
  if (!encoded.includes('%')) return encoded === text;
  try {
    return decodeURIComponent(encoded) === text;
  } catch {
    // Not an escape sequence: it cannot be what was meant.
    return false;
  }
}
