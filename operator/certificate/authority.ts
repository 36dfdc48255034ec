/**
 * The operator's CA as the kubelet mounts it: up to three key pairs in one folder, so that a rotation never has a moment at which
 * somebody is served a certificate he does not trust (failure case INJ-04).
 *
 *   ca.*        signs what webhooks serve; its key is pinned by sidecars that are made now
 *   next.*      will be `ca` after the switch; trusted already
 *   previous.*  was `ca` before the switch; sidecars made then still pin it
 *
 * Whoever can write this folder is the operator, to API servers and to sidecars.
 */
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isKeyOf, type KeyAndCertificate } from './issue.ts';
import { pinOf } from './pin.ts';

export const AUTHORITY_SLOTS = ['ca', 'next', 'previous'] as const;
export type AuthoritySlot = (typeof AUTHORITY_SLOTS)[number];

export interface Authority extends KeyAndCertificate {
  readonly slot: AuthoritySlot;
  readonly pin: string;
  readonly notAfterMs: number;
}

/** `current` first. */
export interface Authorities {
  readonly current: Authority;
  readonly all: readonly Authority[];
}

/** A CA that cannot be used; the message says which file and what to do, never what is in it. */
export class AuthorityError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AuthorityError';
  }
}

/**
 * Contents of `ca.crt`, `ca.key` and so on by file name, as in the folder and in the Secret. Throws AuthorityError. A `next` or `previous`
 * that has expired is as if it were not there: it can verify nobody, and a rotation that somebody forgot to finish must neither keep a
 * replica from starting nor stand in the way of its own last step.
 */
export function readAuthorities(files: Readonly<Record<string, string>>, nowMs: number): Authorities {
  const all = AUTHORITY_SLOTS.flatMap((slot) => readAuthority(slot, files[`${slot}.crt`], files[`${slot}.key`], nowMs) ?? []);
  const current = all.find(({ slot }) => slot === 'ca');
  if (current === undefined) throw new AuthorityError('ca.crt and ca.key are not there: run `postern authority create`.');
  if (new Set(all.map(({ pin }) => pin)).size !== all.length)
    throw new AuthorityError('Two certificates of the CA have one key: restore the Secret.');
  return { current, all };
}

/** What API servers are to trust: every certificate, also that of a CA which signs nothing yet. */
export function caBundleOf({ all }: Authorities): string {
  return all.map(({ certificatePem }) => `${certificatePem.trim()}\n`).join('');
}

function readAuthority(
  slot: AuthoritySlot,
  certificatePem: string | undefined,
  keyPem: string | undefined,
  nowMs: number,
): Authority | undefined {
  if (certificatePem === undefined && keyPem === undefined) return undefined;
  if (certificatePem === undefined || keyPem === undefined)
    throw new AuthorityError(`Of ${slot}.crt and ${slot}.key one is missing: restore the Secret.`);
  const certificate = parse(`${slot}.crt`, () => new X509Certificate(certificatePem));
  const key: KeyObject = parse(`${slot}.key`, () => createPrivateKey(keyPem));
  if (!isKeyOf(key, certificate.publicKey)) throw new AuthorityError(`${slot}.key is not the key of ${slot}.crt: restore the Secret.`);
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1')
    throw new AuthorityError(`${slot}.key is no P-256 key: make it with \`postern authority\`.`);
  if (!certificate.ca) throw new AuthorityError(`${slot}.crt is no certificate of a CA: make it with \`postern authority\`.`);
  const notAfterMs = certificate.validToDate.getTime();
  if (notAfterMs <= nowMs && slot !== 'ca') return undefined;
  if (notAfterMs <= nowMs) throw new AuthorityError(`ca.crt has expired: ${EXPIRED_CURE}.`);
  return { slot, certificatePem: certificate.toString(), keyPem, pin: pinOf(certificate), notAfterMs };
}

const EXPIRED_CURE = 'delete the Secret and run `postern authority create`; every pod with a sidecar must then be made anew';

function parse<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch {
    throw new AuthorityError(`${file} cannot be read as PEM: restore the Secret.`);
  }
}
