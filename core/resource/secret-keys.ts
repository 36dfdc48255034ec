/**
 * Which keys of its Secret a binding names: what the kubelet mounts, what a sidecar reports, what a person is warned of. One reading of
 * the spec for all of them, or a key would be mounted that nobody looks at.
 */
import type { CredentialBinding } from './gen/credential-binding.ts';

export interface SecretKey {
  readonly key: string;
  /** A user name, an id, a certificate: never masked, and read as what it is. */
  readonly kind: 'secret' | 'public';
}

/** The credential store keeps what it read of a key by its kind, so its readers must agree with this. */
const PUBLIC_FIELDS: ReadonlySet<string> = new Set([
  'usernameKey',
  'accessKeyIdKey',
  'clientIdKey',
  'appIdKey',
  'installationIdKey',
  'certificateKey',
]);

/** Every field of `use` that is `key` or ends in `Key` names one (contract language, section 2.7), and so do the CAs of destinations; sorted. */
export function secretKeysOf({ destinations, use }: Pick<CredentialBinding['spec'], 'destinations' | 'use'>): readonly SecretKey[] {
  const kinds = new Map<string, SecretKey['kind']>();
  for (const { ca } of destinations) if (ca !== undefined) kinds.set(ca.key, 'public');
  for (const scheme of Object.values(use)) {
    for (const [field, value] of Object.entries(scheme ?? {})) {
      if (/(^k|K)ey$/.test(field) && typeof value === 'string') kinds.set(value, PUBLIC_FIELDS.has(field) ? 'public' : 'secret');
    }
  }
  return [...kinds].sort(([one], [other]) => (one < other ? -1 : 1)).map(([key, kind]) => ({ key, kind }));
}
