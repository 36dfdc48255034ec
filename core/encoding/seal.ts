/**
 * Sealed tokens: AES-256-GCM over small texts the agent carries for us (cursors, plans, evidence).
 *
 * Layout before base64url: version (1) | key id (1) | nonce (12) | ciphertext | tag (16).
 * The purpose, the two header bytes and the caller's context (session, revision, arguments) are
 * authenticated but not stored: a token shown in another place simply does not open.
 *
 * - `open` says `null` for every reason alike: no oracle tells a forger how far he came.
 * - A token has one spelling: base64url that does not re-encode to itself is refused.
 * - A key makes at most 2^32 random nonces (NIST SP 800-38D, 8.3); a pod does not live that long.
 */
import { createCipheriv, createDecipheriv, createHash, createSecretKey, type KeyObject } from 'node:crypto';
import { limits } from '#core/bounds/limits.ts';
import { smallRandom } from './random.ts';

/** Current key seals; both open. Each is made a KeyObject once, which is cheaper than raw bytes per call. */
export interface KeyRing {
  readonly current: SealingKey;
  readonly previous?: SealingKey;
}

export interface SealingKey {
  readonly key: KeyObject;
  /** First byte of a digest over the key; picks a key, proves nothing. */
  readonly id: number;
}

export type SealPurpose = 'cursor' | 'plan' | 'evidence';

export interface Sealer {
  /** Seals text; `context` must be given again, byte for byte, to open. Returns base64url text. */
  seal(text: string, context: string): string;
  /** The text, or `null` when the token is not ours, not for this purpose or context, or damaged. */
  open(token: string, context: string): string | null;
}

export const SEALING_KEY_BYTES = 32;
const VERSION = 1;
const HEADER_BYTES = 2;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const TOKEN = /^[A-Za-z0-9_-]+$/;

/** A sealer for one purpose. `random` is for tests of the layout only. */
export function createSealer(purpose: SealPurpose, ring: KeyRing, random: (size: number) => Uint8Array = smallRandom): Sealer {
  return {
    seal(text, context) {
      const header = Uint8Array.of(VERSION, ring.current.id);
      const nonce = random(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', ring.current.key, nonce, { authTagLength: TAG_BYTES });
      cipher.setAAD(associatedData(purpose, header, context));
      // GCM is a stream: update gives all bytes, and final only closes the tag.
      const sealed = cipher.update(text, 'utf8');
      cipher.final();
      return Buffer.concat([header, nonce, sealed, cipher.getAuthTag()]).toString('base64url');
    },
    open(token, context) {
      const bytes = decodeToken(token);
      if (bytes === null) return null;
      const header = bytes.subarray(0, HEADER_BYTES);
      const aad = associatedData(purpose, header, context);
      for (const candidate of [ring.current, ring.previous]) {
        if (candidate === undefined || candidate.id !== header[1]) continue;
        const text = decrypt(candidate.key, bytes, aad);
        if (text !== null) return text;
      }
      return null;
    },
  };
}

/** Keys of exactly SEALING_KEY_BYTES bytes; anything else is a programming or set-up error and throws. */
export function createKeyRing(current: Uint8Array, previous?: Uint8Array): KeyRing {
  return previous === undefined ? { current: sealingKey(current) } : { current: sealingKey(current), previous: sealingKey(previous) };
}

function sealingKey(bytes: Uint8Array): SealingKey {
  if (bytes.length !== SEALING_KEY_BYTES) throw new RangeError(`a sealing key has ${SEALING_KEY_BYTES} bytes`);
  const id = createHash('sha256').update('postern/key-id/v1\0').update(bytes).digest()[0] ?? 0;
  return { key: createSecretKey(bytes), id };
}

/** Every part has its length in front, so that no two different triples give the same bytes. */
function associatedData(purpose: SealPurpose, header: Uint8Array, context: string): Uint8Array {
  return Buffer.concat([Buffer.from(`postern/seal/${purpose}/v1\0`), header, Buffer.from(context, 'utf8')]);
}

function decodeToken(token: string): Buffer | null {
  if (token.length > limits.sealedTextCharsMax || !TOKEN.test(token)) return null;
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.length < HEADER_BYTES + NONCE_BYTES + TAG_BYTES || bytes[0] !== VERSION) return null;
  return bytes.toString('base64url') === token ? bytes : null;
}

function decrypt(key: KeyObject, bytes: Buffer, aad: Uint8Array): string | null {
  const nonce = bytes.subarray(HEADER_BYTES, HEADER_BYTES + NONCE_BYTES);
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(aad);
  decipher.setAuthTag(bytes.subarray(bytes.length - TAG_BYTES));
  try {
    const text = decipher.update(bytes.subarray(HEADER_BYTES + NONCE_BYTES, bytes.length - TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    // A wrong tag is the ordinary answer to a forged or foreign token.
    return null;
  }
}
