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
/** What a terminal shows as it is: a note is for people, too. */
const PLAIN = /^[\n -~]+$/;
/** Printable ASCII but blank and plus: nobody's terminal or Unicode table decides whose key it is. */
const NAME = /^[!-*,-~]{1,300}$/;
const VERIFIER = /^([!-*,-~]{1,300})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/;
const SIGNER = /^PRIVATE\+KEY\+([!-*,-~]{1,300})\+([0-9a-f]{8})\+([A-Za-z0-9+/]{44})$/;
const SIGNATURE_LINE = /^\u2014 ([!-*,-~]{1,300}) ([A-Za-z0-9+/]{4,200}={0,2})$/;

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
  if (!NAME.test(name)) throw new RangeError('a key name is 1 to 300 printable ASCII characters without blank and plus');
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
  return keyId(name, ED25519, raw).toString('hex') === id ? verifierKeyOf(name, raw) : undefined;
}

/** `raw`: 32 bytes. */
function verifierKeyOf(name: string, raw: Uint8Array): VerifierKey {
  return { name, raw, publicKey: createPublicKey({ key: Buffer.concat([SPKI_PREFIX, raw]), format: 'der', type: 'spki' }) };
}

/** What a key file holds, without a line feed: `PRIVATE+KEY+<name>+<key id>+<base64(0x01 || seed)>`, as golang.org/x/mod/sumdb/note writes it. */
export function signerText({ name, privateKey, raw }: SigningKey): string {
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8_PREFIX.length);
  const id = keyId(name, ED25519, raw).toString('hex');
  return `PRIVATE+KEY+${name}+${id}+${Buffer.concat([Buffer.of(ED25519), seed]).toString('base64')}`;
}

/** Undefined for what is no key file of ours, or one whose key id is not that of its key. */
export function parseSigner(text: string): SigningKey | undefined {
  const [, name, id, encoded] = SIGNER.exec(text.endsWith('\n') ? text.slice(0, -1) : text) ?? [];
  if (name === undefined || encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  if (bytes[0] !== ED25519 || bytes.length !== RAW_KEY_BYTES + 1 || bytes.toString('base64') !== encoded) return undefined;
  const key = signingKeyOf(name, bytes.subarray(1));
  return keyId(name, ED25519, key.raw).toString('hex') === id ? key : undefined;
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

/** Undefined for what is no note, or is longer than `bytesMax`. */
export function parseNote(note: string, bytesMax: number = limits.auditNoteBytesMax): SignedNote | undefined {
  // A character is at least one byte: what is far too long is not measured to its end.
  if (note.length > bytesMax || Buffer.byteLength(note) > bytesMax) return undefined;
  const at = note.lastIndexOf('\n\n');
  if (at < 1 || !note.endsWith('\n') || !PLAIN.test(note.slice(0, at + 1))) return undefined;
  const lines = note.slice(at + 2, -1).split('\n', limits.auditNoteSignaturesMax + 1);
  if (lines.length > limits.auditNoteSignaturesMax) return undefined;
  const signatures = lines.map(parseSignature);
  return signatures.every((line) => line !== undefined) ? { text: note.slice(0, at + 1), signatures } : undefined;
}

/** A note as bytes: what is not UTF-8 is none. */
export function parseNoteBytes(bytes: Uint8Array, bytesMax: number = limits.auditNoteBytesMax): SignedNote | undefined {
  if (bytes.length > bytesMax) return undefined;
  try {
    return parseNote(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes), bytesMax);
  } catch {
    return undefined;
  }
}

/** What a note says of one key. `wrong`: a line under its name and key id does not fit, whatever others do. */
export type Signed = 'valid' | 'wrong' | 'absent';

export function signedBy(note: SignedNote, key: VerifierKey): Signed {
  return together(linesOf(note, key, ED25519), ({ signature }) => isSignature(Buffer.from(note.text, 'utf8'), key, signature));
}

export function cosignedBy(note: SignedNote, key: VerifierKey): Signed {
  return together(linesOf(note, key, COSIGNATURE), (line) => cosignatureTime(note, key, line) !== undefined);
}

/** Whether this key has signed the note, and every line of it is right. */
export function isSignedBy(note: SignedNote, key: VerifierKey): boolean {
  return signedBy(note, key) === 'valid';
}

/** When this key has cosigned it, in Unix seconds; undefined when it has not, or a line of it is wrong. */
export function cosignedAt(note: SignedNote, key: VerifierKey): number | undefined {
  if (cosignedBy(note, key) !== 'valid') return undefined;
  const [first] = linesOf(note, key, COSIGNATURE);
  return first === undefined ? undefined : cosignatureTime(note, key, first);
}

/** Whether somebody may have cosigned it: a line of the length of a cosignature. Whose it is takes a key. */
export function hasCosignature({ signatures }: SignedNote): boolean {
  return signatures.some(({ signature }) => signature.length === TIME_BYTES + SIGNATURE_BYTES);
}

function linesOf(note: SignedNote, { name, raw }: VerifierKey, algorithm: number): readonly SignatureLine[] {
  const id = keyId(name, algorithm, raw);
  return note.signatures.filter((line) => line.name === name && id.equals(line.keyId));
}

function together(lines: readonly SignatureLine[], isRight: (line: SignatureLine) => boolean): Signed {
  if (lines.length === 0) return 'absent';
  return lines.every(isRight) ? 'valid' : 'wrong';
}

function isSignature(text: Uint8Array, key: VerifierKey, signature: Uint8Array): boolean {
  return signature.length === SIGNATURE_BYTES && verify(null, text, key.publicKey, signature);
}

function cosignatureTime(note: SignedNote, key: VerifierKey, { signature }: SignatureLine): number | undefined {
  if (signature.length !== TIME_BYTES + SIGNATURE_BYTES) return undefined;
  const seconds = Number(Buffer.from(signature).readBigUInt64BE());
  if (!Number.isSafeInteger(seconds)) return undefined;
  return isSignature(cosigned(note.text, seconds), key, signature.subarray(TIME_BYTES)) ? seconds : undefined;
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
