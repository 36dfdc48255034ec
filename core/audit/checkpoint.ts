/** Checkpoints, certificates and receipts: what is signed about a chain, as texts of notes (FORMAT.md, "Origin, keys, notes"). */
import { HASH_BYTES } from './frame.ts';
import { parseVerifier, type SigningKey, signNote, type VerifierKey, verifierText } from './signed-note.ts';

/** Where a chain stands: its last record, and the hash of the frame that record ends. */
export interface ChainHead {
  readonly origin: string;
  /** Sequence of the last record; 0 for a chain without one. */
  readonly size: number;
  /** 32 bytes. */
  readonly hash: Uint8Array;
}

export interface Checkpoint extends ChainHead {
  readonly epoch: number;
  /** RFC 3339, by the writer's clock. */
  readonly time: string;
}

export interface Certificate {
  readonly origin: string;
  readonly epoch: number;
  readonly key: VerifierKey;
}

export const ORIGIN_PREFIX = 'postern.dev/audit/';
const CERTIFICATE = 'postern.dev/audit-epoch/v1';
const ORIGIN = /^postern\.dev\/audit\/[a-z0-9.\-/]{1,200}$/;
const NUMBER = /^(?:0|[1-9]\d{0,15})$/;
const RFC_3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z$/;

export function isOrigin(text: string): boolean {
  return ORIGIN.test(text);
}

/** Name of the key of an epoch. */
export function epochKeyName(origin: string, epoch: number): string {
  return `${origin}/epoch-${epoch}`;
}

export function checkpointText({ origin, size, hash, epoch, time }: Checkpoint): string {
  return `${origin}\n${size}\n${Buffer.from(hash).toString('base64')}\nepoch ${epoch}\ntime ${time}\n`;
}

/** A time as the format has it; no calendar is asked. */
export function isTime(text: string): boolean {
  return RFC_3339.test(text);
}

/** Undefined for a text that is no checkpoint of ours. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const [origin = '', size = '', encoded = '', epochLine = '', timeLine = '', ...rest] = text.split('\n', 7);
  const epoch = /^epoch ([1-9]\d{0,9})$/.exec(epochLine)?.[1];
  const time = /^time (\S{1,40})$/.exec(timeLine)?.[1];
  if (rest.length !== 1 || rest[0] !== '' || epoch === undefined || time === undefined || !isTime(time)) return undefined;
  const hash = parseHash(encoded);
  if (!isOrigin(origin) || !isSize(size) || hash === undefined) return undefined;
  return { origin, size: Number(size), hash, epoch: Number(epoch), time };
}

/** Undefined for what is not base64 of 32 bytes. */
export function parseHash(encoded: string): Uint8Array | undefined {
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.length === HASH_BYTES && bytes.toString('base64') === encoded ? bytes : undefined;
}

/** Decimal without leading zeros, as far as numbers are exact. */
export function isSize(text: string): boolean {
  return NUMBER.test(text) && Number.isSafeInteger(Number(text));
}

export function certificateText({ origin, epoch, key }: Certificate): string {
  return `${CERTIFICATE}\n${origin}\n${epoch}\n${verifierText(key)}\n`;
}

/** Undefined for a text that is no certificate of ours, or whose key does not bear the name of its epoch. */
export function parseCertificate(text: string): Certificate | undefined {
  const [label, origin = '', epoch = '', verifier = '', ...rest] = text.split('\n', 6);
  if (label !== CERTIFICATE || rest.length !== 1 || rest[0] !== '' || !isOrigin(origin) || !isSize(epoch)) return undefined;
  const key = parseVerifier(verifier);
  if (key === undefined || key.name !== epochKeyName(origin, Number(epoch))) return undefined;
  return { origin, epoch: Number(epoch), key };
}

/** The authority answers for a key. Whoever calls this has made sure whose key it is. */
export function certify(certificate: Certificate, authority: SigningKey): string {
  return signNote(certificateText(certificate), authority);
}

export function signCheckpoint(checkpoint: Checkpoint, key: SigningKey): string {
  return signNote(checkpointText(checkpoint), key);
}
