/**
 * Origins and URLs as written in contracts and bindings: literal and in the one canonical form, or refused with the reason.
 *
 * Two readers of one text must reach one host: numeric and full-width hosts, trailing dots and zone ids canonicalize to another name or to
 * loopback in some parser (failure cases HTTP-25, HTTP-26). Nothing is repaired; the canonical form is shown.
 * @see https://url.spec.whatwg.org/#host-parsing
 */
import ipaddr from 'ipaddr.js';
import { type Address, addressKind } from './address-kind.ts';
import type { ProblemCode } from './problem-codes.ts';

export interface Fault {
  readonly code: ProblemCode;
  readonly message: string;
  readonly cure?: string;
}

export interface Origin {
  readonly scheme: string;
  /** Canonical: `https://host[:port]`, without a default port. */
  readonly text: string;
  readonly host: string;
  /** A literal address, in ipaddr.js form. */
  readonly address?: Address;
}

/** Schemes and the port a canonical origin leaves out; ssh always names its port. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = { https: ':443', http: ':80' };
const ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)$/i;

/** An origin and nothing more. Every fault is returned. */
export function parseOrigin(text: string): { readonly origin?: Origin; readonly faults: readonly Fault[] } {
  const match = ORIGIN.exec(text);
  const scheme = match?.[1]?.toLowerCase();
  const authority = match?.[2];
  if (scheme === undefined || authority === undefined || !['https', 'http', 'ssh'].includes(scheme)) {
    return { faults: [{ code: 'url-scheme', message: `${show(withoutUser(text))} does not start with https://host.` }] };
  }
  const faults = authorityFaults(scheme, authority);
  if (faults.length > 0) return { faults };
  const host = authority.replace(/:[0-9]+$/, '');
  const address = addressOf(host);
  if (address !== undefined && addressKind(address) === 'never') {
    return { faults: [{ code: 'url-host-forbidden', message: `${show(host)} is an address that no binding can name.` }] };
  }
  return { origin: { scheme, text: `${scheme}://${authority}`, host, ...(address === undefined ? {} : { address }) }, faults: [] };
}

/** The text before an @ may be a password: it is not repeated. */
function withoutUser(text: string): string {
  const at = text.lastIndexOf('@');
  return at < 0 ? text : `…${text.slice(at)}`;
}

/** Agents never see these texts, but a message must not be longer than the thing. */
function show(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}

function authorityFaults(scheme: string, authority: string): readonly Fault[] {
  const faults: Fault[] = [];
  if (authority.includes('$(')) faults.push({ code: 'url-host-slot', message: 'The host has a slot.' });
  const at = authority.lastIndexOf('@');
  // The text before the @ may be a password: it is not repeated.
  if (at >= 0) faults.push({ code: 'url-userinfo', message: 'The URL has a user name or password before the host.' });
  const hostAndPort = authority.slice(at + 1);
  if (hostAndPort.includes('%'))
    faults.push({ code: 'url-host-zone', message: `${show(hostAndPort)} has a zone id or an escape in its host.` });
  else if (!hostAndPort.includes('$(')) faults.push(...hostFaults(scheme, hostAndPort));
  return faults;
}

function hostFaults(scheme: string, written: string): readonly Fault[] {
  const url = URL.parse(`https://${written}/`);
  if (url === null || written === '') return [{ code: 'url-host-not-canonical', message: `${show(written)} is not a host.` }];
  const canonical = scheme === 'https' ? url.host : canonicalHost(scheme, url, written);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host.endsWith('.')) {
    return [{ code: 'url-host-trailing-dot', message: `${show(written)} ends with a dot: a second name of the same host.` }];
  }
  if (canonical === written) return [];
  const address = addressOf(url.hostname);
  const loopback = address?.range() === 'loopback' ? ' and is loopback' : '';
  return [
    {
      code: 'url-host-not-canonical',
      message: `${show(written)} is not in canonical form (${canonical})${loopback}.`,
      ...(loopback === '' ? { cure: `Write ${canonical}.` } : { cure: 'Write the name of the service.' }),
    },
  ];
}

function canonicalHost(scheme: string, url: URL, written: string): string {
  const port = /:([0-9]+)$/.exec(written)?.[1];
  if (scheme === 'ssh') return `${url.hostname}:${port ?? '22'}`;
  const kept = port === undefined || `:${port}` === DEFAULT_PORTS[scheme] ? '' : `:${Number(port)}`;
  return `${url.hostname}${kept}`;
}

function addressOf(host: string): Address | undefined {
  const bare = host.replace(/^\[|\]$/g, '');
  return /^[0-9.]+$|:/.test(bare) && ipaddr.isValid(bare) ? ipaddr.parse(bare) : undefined;
}
