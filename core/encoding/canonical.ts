/**
 * The one byte form of a JSON value (RFC 8785, JSON Canonicalization Scheme) and digests over it.
 * Card, plan, cursor, evidence and record agree because they hash these bytes and no others (APR-01).
 */
import { createHash, hash } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JsonValue } from './json-value.ts';

/** `sha256:` and 64 lower-case hex digits. */
export type Digest = `sha256:${string}`;

/**
 * What a digest is about. The label is hashed with the value, so that a digest made for one purpose
 * is never a digest for another.
 */
export type DigestPurpose =
  | 'revision'
  | 'arguments'
  | 'plan'
  | 'request-body'
  | 'card'
  | 'preset'
  | 'evidence'
  | 'ids'
  | 'snapshot'
  | 'bundle'
  | 'instance'
  | 'credential'
  | 'announcement'
  | 'hold';

/**
 * RFC 8785 text of a JSON value: keys sorted by UTF-16 units, shortest numbers, no white space.
 * Throws on what JSON cannot say (NaN, lone surrogates): strict-json refuses those before.
 */
export function canonicalJson(value: JsonValue): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('not a JSON value');
  return text;
}

/** Digest over `postern/<purpose>/v1`, a zero byte, and the canonical bytes. */
export function digestOf(purpose: DigestPurpose, value: JsonValue): Digest {
  return digestOfBytes(purpose, canonicalJson(value));
}

/** Digest over bytes or text as they are; for values that are canonical already. */
export function digestOfBytes(purpose: DigestPurpose, bytes: Uint8Array | string): Digest {
  // In one call where it can be: half the price for short values.
  if (typeof bytes === 'string') return `sha256:${hash('sha256', `postern/${purpose}/v1\0${bytes}`, 'hex')}`;
  return `sha256:${createHash('sha256').update(`postern/${purpose}/v1\0`).update(bytes).digest('hex')}`;
}
