/**
 * Which addresses a destination may resolve to. Name resolution is untrusted: the pod's hosts file is writable by the
 * agent, and a name may answer differently a second later (failure case HTTP-24).
 *
 * - Never, whatever a binding says: what core/contract/address-kind.ts calls so.
 * - Public addresses: allowed unless the binding names ranges; then only those.
 * - Private ranges: only where the binding names them.
 * - Loopback: only where the operator of a standalone sidecar allowed it and the binding names that very address.
 */
import ipaddr from 'ipaddr.js';
import { type Address, addressKind } from '#core/contract/address-kind.ts';

export interface AddressRules {
  /** CIDR ranges or single addresses of the binding; absent: public addresses only. */
  readonly addresses?: readonly string[];
  readonly allowLoopback: boolean;
}

export type AddressCheck = (address: string) => boolean;

type Range = readonly [Address, number];

/** A check for one destination; the ranges are parsed once. Throws TypeError for what the compiler should have refused. */
export function addressCheck({ addresses, allowLoopback }: AddressRules): AddressCheck {
  const ranges = addresses?.map(parseRange);
  return (text) => {
    // Zone ids (`fe80::1%eth0`) are link-local and never wanted; the parser would accept them.
    if (text.includes('%') || !ipaddr.isValid(text)) return false;
    const address = ipaddr.parse(text);
    const kind = addressKind(address);
    if (kind === 'never') return false;
    if (kind === 'loopback') return allowLoopback && ranges?.some((range) => isSingle(range) && matches(address, range)) === true;
    if (ranges === undefined) return kind === 'public';
    return ranges.some((range) => matches(address, range));
  };
}

function parseRange(text: string): Range {
  if (text.includes('/')) return ipaddr.parseCIDR(text);
  const address = ipaddr.parse(text);
  return [address, address.kind() === 'ipv4' ? 32 : 128];
}

function isSingle([address, bits]: Range): boolean {
  return bits === (address.kind() === 'ipv4' ? 32 : 128);
}

function matches(address: Address, [network, bits]: Range): boolean {
  if (address instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && address.match(network, bits);
  return network instanceof ipaddr.IPv6 && address.match(network, bits);
}
