/** The name of a CA key: what sidecars are told to trust, in an argument that the guard compares. Of the key, not of a certificate: those expire. */
import { createHash, type X509Certificate } from 'node:crypto';

/** `sha256:` and the hex digest of the SubjectPublicKeyInfo. */
export function pinOf(certificate: X509Certificate): string {
  const spki = certificate.publicKey.export({ type: 'spki', format: 'der' });
  return `sha256:${createHash('sha256').update(spki).digest('hex')}`;
}
