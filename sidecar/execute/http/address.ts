/**
 * Which addresses a destination may resolve to. Name resolution is untrusted: the pod's hosts file is writable by the
 * agent, and a name may answer differently a second later (failure case HTTP-24).
 *
 * - Never, whatever a binding says: unspecified, link-local, multicast, broadcast, reserved, metadata services, and forms that
 *   carry another address inside (IPv4-mapped, NAT64, 6to4, Teredo): the kernel or a gateway would dial the inner one.
 * - Public addresses: allowed unless the binding names ranges; then only those.
 * - Private ranges: only where the binding names them.
 * - Loopback: only where the operator of a standalone sidecar allowed it and the binding names that very address.
 */
import ipaddr from 'ipaddr.js';

export interface AddressRules {
  /** CIDR ranges or single addresses of the binding; absent: public addresses only. */
  readonly addresses?: readonly string[];
  readonly allowLoopback: boolean;
}

export type AddressCheck = (address: string) => boolean;

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Range = readonly [Address, number];

/** A check for one destination; the ranges are parsed once. Throws TypeError for what the compiler should have refused. */
export function addressCheck({ addresses, allowLoopback }: AddressRules): AddressCheck {
  const ranges = addresses?.map(parseRange);
  return (text) => {
    // Zone ids (`fe80::1%eth0`) are link-local and never wanted; the parser would accept them.
    if (text.includes('%') || !ipaddr.isValid(text)) return false;
    const address = ipaddr.parse(text);
    const kind = kindOf(address);
    if (kind === 'never') return false;
    if (kind === 'loopback') return allowLoopback && ranges?.some((range) => isSingle(range) && matches(address, range)) === true;
    if (ranges === undefined) return kind === 'public';
    return ranges.some((range) => matches(address, range));
  };
}

function kindOf(address: Address): 'public' | 'private' | 'loopback' | 'never' {
  if (METADATA.has(address.toNormalizedString())) return 'never';
  const range = address.range();
  if (range === 'loopback') return 'loopback';
  if (range === 'private' || range === 'uniqueLocal' || range === 'carrierGradeNat') return 'private';
  if (range !== 'unicast') return 'never';
  // IPv6 outside 2000::/3 is not routed; ::a.b.c.d (deprecated) is in there.
  if (address instanceof ipaddr.IPv6 && ((address.parts[0] ?? 0) & 0xe000) !== 0x2000) return 'never';
  return 'public';
}

/** Metadata services that live in ranges a binding might name, or in public space. */
const METADATA: ReadonlySet<string> = new Set(
  ['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16', '192.0.0.192'].map((text) =>
    ipaddr.parse(text).toNormalizedString(),
  ),
);

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
