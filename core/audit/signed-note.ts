/**
 * C2SP signed notes (https://c2sp.org/signed-note) with Ed25519 (RFC 8032), and C2SP cosignatures (https://c2sp.org/tlog-cosignature):
 * a text that people can read, with signatures that programs of other people can check.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, hash, type KeyObject, sign, verify } from 'node:crypto';
import { limits } from '#core/bounds/limits.ts';

/** The public half of a key, with the name it signs under. */
export interface VerifierKey {
  readonly name: string;
  readonly publicKey: KeyObject;
  /** 32 bytes. */
  readonly raw: Uint8Array;
}

export interface SigningKey extends VerifierKey {
  readonly privateKey: KeyObject;
}

export interface SignatureLine {
  readonly name: string;
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

export interface SignedNote {
  /** Ends with a line feed. */
  readonly text: string;
  readonly signatures: readonly SignatureLine[];
}

const ED25519 = 0x01;
const COSIGNATURE = 0x04;
const KEY_ID_BYTES = 4;
const TIME_BYTES = 8;
const SIGNATURE_BYTES = 64;
const RAW_KEY_BYTES = 32;
/** RFC 8410: what stands before the 32 bytes of an Ed25519 key in DER. */
const SPKI_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const NAME = /^[^\s+]{1,300}$/u;
const VERIFIER = /^([^\s+]{1,300})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/u;
const SIGNATURE_LINE = /^\u2014 ([^\s+]{1,300}) ([A-Za-z0-9+/]{4,200}={0,2})$/u;

/** A fresh key, only in memory. */
export function makeSigningKey(name: string): SigningKey {
  const { privateKey } = generateKeyPairSync('ed25519');
  return withName(name, privateKey);
}

/** From a seed of 32 bytes (RFC 8032, 5.1.5). */
export function signingKeyOf(name: string, seed: Uint8Array): SigningKey {
  if (seed.length !== RAW_KEY_BYTES) throw new RangeError(`a seed of ${seed.length} bytes`);
  return withName(name, createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' }));
}

function withName(name: string, privateKey: KeyObject): SigningKey {
  if (!NAME.test(name)) throw new RangeError('a key name has no spaces and no plus');
  const publicKey = createPublicKey(privateKey);
  return { name, privateKey, publicKey, raw: publicKey.export({ format: 'der', type: 'spki' }).subarray(SPKI_PREFIX.length) };
}

/** `<name>+<key id>+<base64>`. */
export function verifierText({ name, raw }: VerifierKey): string {
  return `${name}+${keyId(name, ED25519, raw).toString('hex')}+${Buffer.concat([Buffer.of(ED25519), raw]).toString('base64')}`;
}

/** Undefined for what is no verifier key, or one of another algorithm. */
export function parseVerifier(text: string): VerifierKey | undefined {
  const [, name, id, encoded] = VERIFIER.exec(text) ?? [];
  if (name === undefined || id === undefined || encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  const raw = bytes.subarray(1);
  if (bytes[0] !== ED25519 || raw.length !== RAW_KEY_BYTES || bytes.toString('base64') !== encoded) return undefined;
  if (keyId(name, ED25519, raw).toString('hex') !== id) return undefined;
  return { name, raw, publicKey: createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' }) };
}

/** `text` ends with a line feed. The note with one signature. */
export function signNote(text: string, key: SigningKey): string {
  if (!text.endsWith('\n')) throw new RangeError('the text of a note ends with a line feed');
  const signature = sign(null, Buffer.from(text, 'utf8'), key.privateKey);
  return `${text}\n${signatureLine(key.name, keyId(key.name, ED25519, key.raw), signature)}`;
}

/** The cosignature line of a witness for the text of a note; `seconds`: Unix time. Append it to the note. */
export function cosign(text: string, key: SigningKey, seconds: number): string {
  const time = Buffer.alloc(TIME_BYTES);
  time.writeBigUInt64BE(BigInt(seconds));
  const signature = sign(null, cosigned(text, seconds), key.privateKey);
  return signatureLine(key.name, keyId(key.name, COSIGNATURE, key.raw), Buffer.concat([time, signature]));
}

/** Undefined for what is no note, or is longer than limits.auditNoteBytesMax. */
export function parseNote(note: string): SignedNote | undefined {
  if (Buffer.byteLength(note) > limits.auditNoteBytesMax || !isPlain(note)) return undefined;
  const at = note.lastIndexOf('\n\n');
  if (at < 1 || !note.endsWith('\n')) return undefined;
  const lines = note.slice(at + 2, -1).split('\n');
  if (lines.length > limits.auditNoteSignaturesMax) return undefined;
  const signatures = lines.map(parseSignature);
  return signatures.every((line) => line !== undefined) ? { text: note.slice(0, at + 1), signatures } : undefined;
}

/** Whether this key has signed the note. */
export function isSignedBy(note: SignedNote, key: VerifierKey): boolean {
  const id = keyId(key.name, ED25519, key.raw);
  return note.signatures.some(
    (line) =>
      line.name === key.name &&
      id.equals(line.keyId) &&
      line.signature.length === SIGNATURE_BYTES &&
      verify(null, Buffer.from(note.text, 'utf8'), key.publicKey, line.signature),
  );
}

/** When this key has cosigned it, in Unix seconds; undefined when it has not. */
export function cosignedAt(note: SignedNote, key: VerifierKey): number | undefined {
  const id = keyId(key.name, COSIGNATURE, key.raw);
  for (const line of note.signatures) {
    if (line.name !== key.name || !id.equals(line.keyId) || line.signature.length !== TIME_BYTES + SIGNATURE_BYTES) continue;
    const seconds = Number(Buffer.from(line.signature).readBigUInt64BE());
    if (!Number.isSafeInteger(seconds)) continue;
    if (verify(null, cosigned(note.text, seconds), key.publicKey, line.signature.subarray(TIME_BYTES))) return seconds;
  }
  return undefined;
}

function cosigned(text: string, seconds: number): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`, 'utf8');
}

function keyId(name: string, algorithm: number, raw: Uint8Array): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from(name, 'utf8'), Buffer.of(0x0a, algorithm), raw]), 'buffer').subarray(0, KEY_ID_BYTES);
}

function signatureLine(name: string, id: Uint8Array, signature: Uint8Array): string {
  return `\u2014 ${name} ${Buffer.concat([id, signature]).toString('base64')}\n`;
}

function parseSignature(line: string): SignatureLine | undefined {
  const [, name, encoded] = SIGNATURE_LINE.exec(line) ?? [];
  if (name === undefined || encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes.length <= KEY_ID_BYTES || bytes.toString('base64') !== encoded) return undefined;
  return { name, keyId: bytes.subarray(0, KEY_ID_BYTES), signature: bytes.subarray(KEY_ID_BYTES) };
}

/** A note has no control characters but line feeds (signed-note: "must not contain ASCII control characters below U+0020 other than newline"). */
function isPlain(note: string): boolean {
  return !note.includes('\ufffd') && [...note].every((char) => char >= ' ' || char === '\n');
}
