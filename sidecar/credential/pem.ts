/**
 * A private key in PEM (RFC 7468) as it would come back. Keys never travel, so no remote can reflect one; a remote that got hold of it
 * elsewhere is masked like any other, also where lines are wrapped anew.
 */
import { limits } from '#core/bounds/limits.ts';

/** The text, and its base64 without line ends. */
export function pemMaskable(pem: string): readonly string[] {
  const bodies = [...pem.matchAll(/-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----([\s\S]*?)-----END /g)].map(([, body = '']) =>
    body.replace(/^[A-Za-z-]+:.*$/gm, '').replace(/\s/g, ''),
  );
  return [pem, ...bodies.filter((body) => body.length >= limits.secretBytesMin)];
}
