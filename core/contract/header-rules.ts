/**
 * Which header names a contract may set. Those that frame a message, choose a connection or carry a credential belong to the transport
 * and to the binding; two of them in one request is how requests are smuggled (failure case HTTP-06).
 */

/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

export function isHeaderName(name: string): boolean {
  return TOKEN.test(name);
}

const RESERVED: ReadonlySet<string> = new Set([
  'range',
  'if-range',
  'host',
  'content-length',
  'transfer-encoding',
  'connection',
  'keep-alive',
  'te',
  'trailer',
  'upgrade',
  'http2-settings',
  'expect',
  'via',
  'forwarded',
  'cookie',
  'cookie2',
  'set-cookie',
  'authorization',
  'accept-encoding',
  'content-encoding',
  'content-type',
  'max-forwards',
  'x-amz-date',
  'x-amz-security-token',
  'x-amz-content-sha256',
  'x-real-ip',
  'x-host',
]);

/** What gateways and frameworks take for another method, path or host than the ones that were checked. */
const OVERRIDES =
  /^(?:x-(?:http-)?method(?:-override)?|x-http-(?:host|path|uri|url)-override|x-(?:original|rewrite|envoy-original|forwarded)-.*)$/;

/** Why the lower-case name is not the contract's to set, or nothing when it is. */
export function reservedBecause(written: string): string | undefined {
  // CGI and its heirs read `X_Http_Method` as `X-Http-Method`: a name with an underscore is judged as both.
  const name = written.replaceAll('_', '-');
  if (name === 'range' || name === 'if-range') return 'asks for a part, and a part would pass for the whole';
  if (name === 'content-type') return 'is set by body.contentType';
  if (name === 'authorization' || name.startsWith('proxy-')) return 'carries a credential, and credentials come from bindings';
  if (OVERRIDES.test(name)) return 'changes the method or the path after they were checked';
  return RESERVED.has(name) ? 'belongs to the transport' : undefined;
}

/** RFC 9110 section 5.5 without obs-text: what is sent is what is seen. */
export function isHeaderText(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text) && text.trim() === text;
}
