/**
 * Whom an S3 store of one's own is vouched for by: the file AWS_CA_BUNDLE names, as the tools of AWS have it. Read once, when the store is
 * opened; these roots alone are trusted for it then, not those of the system beside them.
 */
import { X509Certificate } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { StoreFault } from '#core/audit/object-store.ts';
import { limits } from '#core/bounds/limits.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;

/** Certificates as PEM and nothing else of the file; undefined where none is named. Throws StoreFault `refused`. */
export function s3Roots(env: Readonly<Record<string, string | undefined>>): string | undefined {
  const path = env.AWS_CA_BUNDLE;
  if (path === undefined || path === '') return undefined;
  const found = textOf(path).match(CERTIFICATE) ?? [];
  try {
    if (found.length > 0) return `${found.map((pem) => new X509Certificate(pem) && pem).join('\n')}\n`;
  } catch (error) {
    throw refused('has a certificate that is none', error);
  }
  throw refused('has no certificate; it holds CAs as PEM');
}

function textOf(path: string): string {
  const bytes = Buffer.alloc(limits.auditStoreRootsBytesMax + 1);
  let length = 0;
  try {
    const file = openSync(path, 'r');
    try {
      length = readSync(file, bytes, 0, bytes.length, 0);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw refused('cannot be read; check that it is mounted', error);
  }
  if (length > limits.auditStoreRootsBytesMax)
    throw refused(`is longer than ${limits.auditStoreRootsBytesMax} bytes; name the CAs of the store alone`);
  return bytes.toString('latin1', 0, length);
}

function refused(what: string, cause?: unknown): StoreFault {
  return new StoreFault('refused', `The file AWS_CA_BUNDLE names ${what}.`, cause);
}
