/**
 * Seals the records of one frame to the recipients: an age v1 file (https://age-encryption.org/v1), which `age -d` opens.
 *
 * Written with the primitives of node:crypto, since sealing stands between a call and its answer: age-encryption makes the same file through
 * Web streams and in JavaScript, and multiplies on the curve twice a recipient while the commit waits. It stays the one reader (open.ts),
 * and the tests hold every file made here against it.
 *
 * All that does not hang on the text is made beforehand, when nothing waits: file key, header, key of the payload. Each is used for one file
 * and forgotten, so whoever takes the process later cannot read what was sealed before, only the few that are ready and hold nothing yet.
 */
import {
  createCipheriv,
  createHmac,
  createPublicKey,
  createSecretKey,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
} from 'node:crypto';
import { base64nopad, bech32 } from '@scure/base';
import { limits } from '#core/bounds/limits.ts';

/** A text that is no X25519 recipient of age (`age1...`). */
export class RecipientUnusable extends Error {}

export interface FrameSealer {
  readonly recipients: readonly string[];
  /** The records as lines, sealed for one frame. */
  seal(lines: string): Promise<Uint8Array>;
  /** Makes what is needed until so many frames can be sealed at once, at most limits.auditPreparedSealsMax; call it when nothing waits. */
  prepare(count: number): void;
}

/** Throws RecipientUnusable. */
export function createFrameSealer(recipients: readonly string[]): FrameSealer {
  const all = recipients.map(recipientOf);
  const ready: Opening[] = [];
  const prepare = (count: number) => {
    while (ready.length < Math.min(count, limits.auditPreparedSealsMax)) ready.push(makeOpening(all));
  };
  // A point of small order has no secret in common with anybody; better now than at the first call.
  prepare(1);
  return {
    recipients,
    seal: (lines) => Promise.resolve(sealTo(ready.pop() ?? makeOpening(all), Buffer.from(lines, 'utf8'))),
    prepare,
  };
}

/** How a file begins, and the key of what follows. */
interface Opening {
  /** Header and nonce. */
  readonly bytes: Uint8Array;
  readonly payloadKey: KeyObject;
}

interface SealRecipient {
  readonly raw: Uint8Array;
  readonly key: KeyObject;
}

const KEY_BYTES = 32;
const FILE_KEY_BYTES = 16;
const PAYLOAD_NONCE_BYTES = 16;
const STREAM_NONCE_BYTES = 12;
const TAG_BYTES = 16;
const CHUNK_BYTES = 64 * 1024;
const NO_SALT = new Uint8Array(0);
/** RFC 8410: what stands before the 32 bytes of an X25519 key in DER. */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');

function makeOpening(recipients: readonly SealRecipient[]): Opening {
  const fileKeyBytes = randomBytes(FILE_KEY_BYTES);
  const fileKey = createSecretKey(fileKeyBytes);
  const stanzas = recipients.map((recipient) => stanzaFor(recipient, fileKeyBytes)).join('');
  const header = `age-encryption.org/v1\n${stanzas}---`;
  const mac = createHmac('sha256', derive(fileKey, NO_SALT, 'header'))
    .update(header)
    .digest();
  const nonce = randomBytes(PAYLOAD_NONCE_BYTES);
  const bytes = Buffer.concat([Buffer.from(`${header} ${base64nopad.encode(mac)}\n`), nonce]);
  return { bytes, payloadKey: derive(fileKey, nonce, 'payload') };
}

/** The X25519 stanza: an ephemeral share, and the file key under the secret in common. */
function stanzaFor({ raw, key }: SealRecipient, fileKey: Uint8Array): string {
  const { publicKey, privateKey } = generateKeyPairSync('x25519');
  // As a JWK a key is out twenty times faster than as DER.
  const share = Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url');
  const secret = createSecretKey(sharedSecret(privateKey, key));
  const wrappingKey = derive(secret, Buffer.concat([share, raw]), 'age-encryption.org/v1/X25519');
  const wrapped = Buffer.alloc(FILE_KEY_BYTES + TAG_BYTES);
  sealInto(wrapped, { key: wrappingKey, nonce: new Uint8Array(STREAM_NONCE_BYTES) }, fileKey);
  return `-> X25519 ${base64nopad.encode(share)}\n${base64nopad.encode(wrapped)}\n`;
}

/** The payload: chunks of 64 KiB, each sealed with its number and whether it is the last one. */
function sealTo({ bytes, payloadKey }: Opening, text: Buffer): Uint8Array {
  const chunks = Math.max(1, Math.ceil(text.length / CHUNK_BYTES));
  const file = Buffer.allocUnsafe(bytes.length + text.length + chunks * TAG_BYTES);
  file.set(bytes, 0);
  for (let index = 0, at = bytes.length; index < chunks; index += 1) {
    const chunk = text.subarray(index * CHUNK_BYTES, (index + 1) * CHUNK_BYTES);
    const nonce = Buffer.alloc(STREAM_NONCE_BYTES);
    nonce.writeUInt32BE(index, STREAM_NONCE_BYTES - 5);
    nonce[STREAM_NONCE_BYTES - 1] = index === chunks - 1 ? 1 : 0;
    const end = at + chunk.length + TAG_BYTES;
    sealInto(file.subarray(at, end), { key: payloadKey, nonce }, chunk);
    at = end;
  }
  return file;
}

function sealInto(target: Buffer, { key, nonce }: { readonly key: KeyObject; readonly nonce: Uint8Array }, text: Uint8Array): void {
  const cipher = createCipheriv('chacha20-poly1305', key, nonce, { authTagLength: TAG_BYTES });
  target.set(cipher.update(text), 0);
  cipher.final();
  target.set(cipher.getAuthTag(), text.length);
}

/** Keys are objects throughout: node:crypto wraps and copies bytes anew at each use. */
function derive(secret: KeyObject, salt: Uint8Array, label: string): KeyObject {
  return createSecretKey(new Uint8Array(hkdfSync('sha256', secret, salt, label, KEY_BYTES)));
}

function recipientOf(text: string): SealRecipient {
  const raw = pointOf(text);
  return { raw, key: createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' }) };
}

function pointOf(text: string): Uint8Array {
  try {
    const { prefix, bytes } = bech32.decodeToBytes(text);
    if (prefix === 'age' && bytes.length === KEY_BYTES) return bytes;
  } catch {
    // The library's sentence says less than ours.
  }
  throw new RecipientUnusable('A recipient is an X25519 key of age: age1 and 58 letters and digits, as age-keygen prints it.');
}

function sharedSecret(privateKey: KeyObject, publicKey: KeyObject): Buffer {
  try {
    return diffieHellman({ privateKey, publicKey });
  } catch {
    throw new RecipientUnusable('This recipient is a point of small order, which seals nothing; make another key with age-keygen.');
  }
}
