/**
 * The undamaged chain of the vectors: three epochs, four segments, 28 records. Epoch 1 ends in order, epoch 2 is cut off by a crash after its
 * second segment, whose readers are two; its certificate comes late, in epoch 3.
 *
 * Keys are derived from names, so that a third party can damage chains as here. Sealed bodies cannot be derived, since each has a fresh
 * key: sealed-bodies.json keeps them as they were once sealed.
 */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { certificateText, epochKeyName } from '#core/audit/checkpoint.ts';
import type { SealedKind, StatementKind } from '#core/audit/frame.ts';
import { cosign, parseVerifier, type SigningKey, signingKeyOf, signNote, verifierText } from '#core/audit/signed-note.ts';
import { checkpointAt, type Draft, type Place, timeText } from './chain-draft.ts';

export const ORIGIN = 'postern.dev/audit/standalone/local/7f3c9a52-5a0e-4d7b-9c1e-000000000001';
export const OTHER_ORIGIN = 'postern.dev/audit/standalone/local/7f3c9a52-5a0e-4d7b-9c1e-000000000002';
export const AUTHORITY = keyNamed('postern.dev/authority/vectors', 'authority');
const START_MS = Date.parse('2026-11-30T10:00:00.000Z');

interface SealedBodies {
  /** Secret keys of the two readers; the vectors are no secrets. */
  readonly identities: readonly string[];
  readonly recipients: readonly string[];
  /** Base64 of age files, by name. */
  readonly bodies: Readonly<Record<string, string>>;
}

export const SEALED = JSON.parse(readFileSync(join(import.meta.dirname, 'sealed-bodies.json'), 'utf8')) as SealedBodies;

/** Text of every body, for whoever seals them anew: name, readers, records. */
export const SEALED_TEXTS: readonly { readonly name: string; readonly readers: number; readonly lines: string }[] = [
  { name: 'start', readers: 1, lines: '{"record":"session","what":"started"}\n{"record":"request","rpc":"ListActions"}\n' },
  { name: 'outcome', readers: 1, lines: '{"record":"outcome","complete":true}\n' },
  { name: 'three', readers: 1, lines: '{"record":"intent"}\n{"record":"outcome"}\n{"record":"refused","reason":"DENIED"}\n' },
  { name: 'two', readers: 1, lines: '{"record":"intent"}\n{"record":"outcome"}\n' },
  { name: 'other', readers: 1, lines: '{"record":"session","what":"of another chain"}\n' },
  { name: 'rotated', readers: 2, lines: '{"record":"request","rpc":"GetOperation"}\n' },
  { name: 'last', readers: 1, lines: '{"record":"session","what":"restarted"}\n{"record":"session","what":"ended"}\n' },
];

export interface Keys {
  readonly authority: SigningKey;
  readonly epoch: (epoch: number) => SigningKey;
}

export function keyNamed(name: string, seed: string): SigningKey {
  return signingKeyOf(name, hash('sha256', `postern audit vectors: ${seed}`, 'buffer'));
}

export function keysOf(origin: string, seed = origin): Keys {
  return { authority: AUTHORITY, epoch: (epoch) => keyNamed(epochKeyName(origin, epoch), `${seed} epoch ${epoch}`) };
}

/** Drafts of the good chain, by segment. */
export function goodDrafts(origin = ORIGIN, keys = keysOf(origin), firstBody = 'start'): readonly (readonly Draft[])[] {
  const [one = '', two = ''] = SEALED.recipients;
  const clock = clockFrom(START_MS);
  const at = (epoch: number) => draftsOf(epoch, keys, clock);
  const [first, second, third] = [at(1), at(2), at(3)];
  return [
    [
      first.segment([one]),
      first.checkpoint(),
      first.certificate(1),
      first.sealed(['session', 'request'], firstBody),
      first.receipt(),
      first.sealed(['outcome'], 'outcome'),
      first.checkpoint(),
      first.end('rotated'),
      first.checkpoint(),
    ],
    [second.segment([one]), second.checkpoint(), second.sealed(['intent', 'outcome', 'refused'], 'three'), second.checkpoint()],
    [second.segment([one, two]), second.sealed(['request'], 'rotated')],
    [
      third.segment([one]),
      third.checkpoint(),
      third.certificate(2),
      third.certificate(3),
      third.sealed(['session', 'session'], 'last'),
      third.checkpoint(),
      third.receipt(),
      third.end('stopped'),
      third.checkpoint(),
    ],
  ];
}

function clockFrom(startMs: number): () => number {
  let now = startMs;
  return () => {
    now += 1_000;
    return now;
  };
}

/** What a writer puts into an epoch. */
export function draftsOf(epoch: number, keys: Keys, clock: () => number) {
  const statement = (kind: StatementKind, body: Draft['body']): Draft => ({ epoch, timeMs: clock(), heads: [{ kind }], body });
  return {
    segment: (recipients: readonly string[]) => statement('segment', segmentAt(keys.epoch(epoch), recipients)),
    checkpoint: () => statement('checkpoint', checkpointAt(keys.epoch(epoch))),
    certificate: (of: number) => statement('certificate', certificateAt(keys.authority, of, keys.epoch(of))),
    receipt: () => statement('receipt', receiptAt(keys.authority)),
    end: (because: string) => statement('end', ({ time }) => JSON.stringify({ ended_at: time, because })),
    sealed: (kinds: readonly SealedKind[], name: string): Draft => ({
      ...{ epoch, timeMs: clock(), body: sealedBody(name) },
      heads: kinds.map((kind) => (kind === 'session' ? { kind } : { kind, operationId: 'op_0123456789abcdefghijklmnop' })),
    }),
  };
}

export function sealedBody(name: string): Buffer {
  return Buffer.from(SEALED.bodies[name] ?? '', 'base64');
}

export function segmentAt(key: SigningKey, recipients: readonly string[], change: object = {}): (place: Place) => string {
  return (place) =>
    JSON.stringify({
      ...{
        format: 'postern-audit/1',
        origin: place.origin,
        segment: place.segment,
        epoch: place.epoch,
        key: verifierText(key),
        recipients,
      },
      opened_at: place.time,
      ...(place.previousSegment ? { previous_segment: place.previousSegment } : {}),
      ...(place.previousEpoch ? { previous_epoch: place.previousEpoch } : {}),
      ...change,
    });
}

export function certificateAt(authority: SigningKey, epoch: number, key: SigningKey): (place: Place) => string {
  const verifier = parseVerifier(verifierText(key)) ?? key;
  return ({ origin }) => signNote(certificateText({ origin, epoch, key: verifier }), authority);
}

export function receiptAt(authority: SigningKey, text?: string): (place: Place) => string {
  return ({ checkpoint }) => `${text ?? checkpoint}\n${cosign(text ?? checkpoint, authority, Math.floor(START_MS / 1000))}`;
}

/** An object of `heads/`. */
export function headsObject(lines: readonly string[], authority = AUTHORITY): string {
  return signNote(`postern.dev/audit-heads/v1\n${timeText(START_MS)}\n-\n${lines.map((line) => `${line}\n`).join('')}`, authority);
}
