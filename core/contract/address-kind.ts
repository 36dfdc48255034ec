/**
 * What kind of address it is, in the one table the compiler and the executor share: what a call would be refused for is refused when its
 * contract is compiled.
 *
 * `never`, whatever a binding says: unspecified, link-local, multicast, broadcast, reserved, metadata services, and forms that carry
 * another address inside (IPv4-mapped, NAT64, 6to4, Teredo): the kernel or a gateway would dial the inner one (failure case HTTP-24).
 */
import ipaddr from 'ipaddr.js';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

export function addressKind(address: Address): 'public' | 'private' | 'loopback' | 'never' {
  if (METADATA.has(address.toNormalizedString())) return 'never';
  const range = address.range();
  if (range === 'loopback') return 'loopback';
  if (range === 'private' || range === 'uniqueLocal' || range === 'carrierGradeNat') return 'private';
  if (range !== 'unicast') return 'never';
  // IPv6 outside 2000::/3 is not routed; ::a.b.c.d (deprecated) is in there.
  if (address instanceof ipaddr.IPv6 && ((address.parts[0] ?? 0) & 0xe000) !== 0x2000) return 'never';
  return 'public';
}

/** Of a literal address; undefined for a name. */
export function literalAddressKind(text: string): ReturnType<typeof addressKind> | undefined {
  return ipaddr.isValid(text) ? addressKind(ipaddr.parse(text)) : undefined;
}

/** Metadata services that live in ranges a binding might name, or in public space. */
const METADATA: ReadonlySet<string> = new Set(
  ['fd00:ec2::254', 'fd20:ce::254', '100.100.100.200', '168.63.129.16', '192.0.0.192'].map((text) =>
    ipaddr.parse(text).toNormalizedString(),
  ),
);
