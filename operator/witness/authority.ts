/**
 * Who answers for the chains of a cluster: one Ed25519 key, the same at every replica, that nobody had to make or keep. It is derived from the
 * CA key that all of them mount, so whoever may read that Secret could sign as the witness; he could be the operator anyway.
 *
 * A rotation of the CA is a rotation of this key: notes of before stay true under the key of before. Rejected: a Secret of its own, which is
 * one more thing to lose, and a key in a Lease, which half of the cluster can read.
 */
import { createPrivateKey, hkdfSync } from 'node:crypto';
import { ORIGIN_PREFIX } from '#core/audit/checkpoint.ts';
import { type SigningKey, signingKeyOf } from '#core/audit/signed-note.ts';

const LABEL = 'postern/audit-authority/v1';
const SEED_BYTES = 32;

/** `caKeyPem`: of the CA that is current, P-256. Throws TypeError for another one: the CA is checked when it is read. */
export function auditAuthority(caKeyPem: string, cluster: string): SigningKey {
  // The number itself and not its PEM: one key has several texts.
  const { d } = createPrivateKey(caKeyPem).export({ format: 'jwk' });
  if (d === undefined) throw new TypeError('the key of the CA has no private part');
  const seed = hkdfSync('sha256', Buffer.from(d, 'base64url'), '', LABEL, SEED_BYTES);
  return signingKeyOf(authorityName(cluster), Buffer.from(seed));
}

function authorityName(cluster: string): string {
  return `postern.dev/authority/${cluster}`;
}

/** Name of the chain of a pod. A pod made anew is another chain (failure case AUD-03). */
export function chainOrigin(cluster: string, namespace: string, podUid: string): string {
  return `${ORIGIN_PREFIX}${cluster}/${namespace}/${podUid}`;
}
