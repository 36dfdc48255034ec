/**
 * A private key that signs, from the text of its file: ed25519, ECDSA and RSA, in the forms of OpenSSH, PKCS#1 and PuTTY, with or without a
 * passphrase. Every refusal is in words of ours; no text of the file or of the parser is repeated (failure case SSH-19).
 *
 * RSA signs with SHA-2 only: a host that knows nothing newer than SHA-1 gets no signature (failure case SSH-17).
 */
import ssh2, { type ParsedKey } from 'ssh2';
import { PosternError } from '#core/error/postern-error.ts';

/** @throws PosternError CREDENTIAL_INVALID */
export function parsePrivateKey(text: string, passphrase: string | undefined): ParsedKey {
  if (isCertificate(text)) throw invalid('is an OpenSSH certificate, which is not supported; the Secret must hold a plain private key');
  const parsed = ssh2.utils.parseKey(text, passphrase);
  // An array where a file holds several keys, an Error where it holds none that can be read; it does not throw.
  const key = Array.isArray(parsed) ? parsed[0] : parsed;
  if (key === undefined || key instanceof Error) throw unreadable(key, passphrase);
  if (!key.isPrivateKey()) throw invalid('is a public key; the Secret must hold the private one');
  if (!SIGNING.has(key.type)) throw invalid('is of a kind that is not supported; use ed25519, ECDSA or RSA');
  return key.type === 'ssh-rsa' ? withoutSha1(key) : key;
}

const SIGNING: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'ssh-rsa',
]);

function isCertificate(text: string): boolean {
  return /^\s*[a-z0-9-]+-cert-v0[0-9]@openssh\.com\s/.test(text);
}

/** The parser's own sentences tell which of the three it was. */
function unreadable(error: Error | undefined, passphrase: string | undefined): PosternError {
  const words = error?.message ?? '';
  if (/no passphrase given/i.test(words)) return invalid('is encrypted, and the binding names no passphraseKey');
  if (passphrase !== undefined && /passphrase|integrity|decrypt/i.test(words)) return invalid('does not open with its passphrase');
  return invalid('is no private key that can be read; use ed25519, ECDSA or RSA in the form of OpenSSH or PEM');
}

/** The library falls back to SHA-1 where a host says nothing of newer algorithms: it asks with the public key, and gets no further. */
function withoutSha1(key: ParsedKey): ParsedKey {
  const signing: ParsedKey = Object.create(key);
  const sign = key.sign.bind(key);
  const refusal = new Error('no signature with SHA-1');
  Object.defineProperty(signing, 'sign', {
    value: (data: Buffer | string, algorithm?: string) =>
      algorithm === undefined || algorithm === 'sha1' ? refusal : sign(data, algorithm),
  });
  return signing;
}

function invalid(why: string): PosternError {
  return new PosternError('CREDENTIAL_INVALID', `The SSH key of this action ${why}.`);
}
