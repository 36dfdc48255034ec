/**
 * Seals the records of one frame to the recipients: an age v1 file (https://age-encryption.org/v1), which `age -d` opens.
 *
 * The file itself is made by age-encryption. Ours is only the wrapping of its key: the library multiplies on the curve twice a recipient
 * while the commit waits, and here the shares are made beforehand, when nothing waits. A share is used for one file and forgotten, so whoever
 * takes the process later cannot read what was sealed before.
 */
import { createCipheriv, createPublicKey, diffieHellman, generateKeyPairSync, hkdfSync, type KeyObject } from 'node:crypto';
import { base64nopad, bech32 } from '@scure/base';
import { Encrypter, type Recipient, Stanza } from 'age-encryption';

/** A text that is no X25519 recipient of age (`age1...`). */
export class RecipientUnusable extends Error {}

export interface FrameSealer {
  readonly recipients: readonly string[];
  /** The records as lines, sealed for one frame. */
  seal(lines: string): Promise<Uint8Array>;
  /** Makes shares until so many are ready; call it when nothing waits. */
  prepare(count: number): void;
}

/** Throws RecipientUnusable. */
export function createFrameSealer(recipients: readonly string[]): FrameSealer {
  const all = recipients.map((text) => new PreparedRecipient(text));
  const encrypter = new Encrypter();
  for (const recipient of all) encrypter.addRecipient(recipient);
  return {
    recipients,
    seal: (lines) => encrypter.encrypt(lines),
    prepare: (count) => {
      for (const recipient of all) recipient.prepare(count);
    },
  };
}

const POINT_BYTES = 32;
const LABEL = 'age-encryption.org/v1/X25519';
/** RFC 8410: what stands before the 32 bytes of an X25519 key in DER. */
const SPKI_PREFIX = Buffer.from('302a300506032b656e032100', 'hex');

interface Share {
  readonly point: Uint8Array;
  readonly wrappingKey: Uint8Array;
}

/** The X25519 recipient of the specification. */
class PreparedRecipient implements Recipient {
  readonly #raw: Uint8Array;
  readonly #key: KeyObject;
  readonly #shares: Share[] = [];

  constructor(text: string) {
    this.#raw = pointOf(text);
    this.#key = createPublicKey({ key: Buffer.concat([SPKI_PREFIX, this.#raw]), format: 'der', type: 'spki' });
    // A point of small order has no secret in common with anybody; better now than at the first call.
    this.prepare(1);
  }

  prepare(count: number): void {
    while (this.#shares.length < count) this.#shares.push(this.#share());
  }

  wrapFileKey(fileKey: Uint8Array): Stanza[] {
    const { point, wrappingKey } = this.#shares.pop() ?? this.#share();
    const cipher = createCipheriv('chacha20-poly1305', wrappingKey, new Uint8Array(12), { authTagLength: 16 });
    const wrapped = Buffer.concat([cipher.update(fileKey), cipher.final(), cipher.getAuthTag()]);
    return [new Stanza(['X25519', base64nopad.encode(point)], wrapped)];
  }

  #share(): Share {
    const { publicKey, privateKey } = generateKeyPairSync('x25519');
    const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length);
    const secret = sharedSecret(privateKey, this.#key);
    return { point, wrappingKey: new Uint8Array(hkdfSync('sha256', secret, Buffer.concat([point, this.#raw]), LABEL, POINT_BYTES)) };
  }
}

function pointOf(text: string): Uint8Array {
  try {
    const { prefix, bytes } = bech32.decodeToBytes(text);
    if (prefix === 'age' && bytes.length === POINT_BYTES) return bytes;
  } catch {
    // The library's sentence says less than ours.
  }
  throw new RecipientUnusable('A recipient is an X25519 key of age: age1 and 58 letters and digits, as age-keygen prints it.');
}

function sharedSecret(privateKey: KeyObject, publicKey: KeyObject): Uint8Array {
  try {
    return diffieHellman({ privateKey, publicKey });
  } catch {
    throw new RecipientUnusable('This recipient is a point of small order, which seals nothing; make another key with age-keygen.');
  }
}
