/** A chain in a fresh folder, its recipient's identity, an authority in memory, and a reader of what is in the folder. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, hash, randomBytes } from 'node:crypto';
import { bech32 } from '@scure/base';
import { Decrypter } from 'age-encryption';
import { certify, parseCertificate, parseCheckpoint } from '#core/audit/checkpoint.ts';
import { decodeFrame, type Frame, originHash } from '#core/audit/frame.ts';
import { cosign, isSignedBy, makeSigningKey, parseNote, parseVerifier, type SigningKey } from '#core/audit/signed-note.ts';
import { parseEndStatement, parseSegmentStatement, type SegmentStatement } from '#core/audit/statement.ts';
import { systemClock } from '#core/bounds/clock.ts';
import type { Entry } from '#sidecar/audit/audit-log.ts';
import type { Authority } from '#sidecar/audit/authority.ts';
import { AuditChain, type AuditChainOptions } from '#sidecar/audit/chain.ts';
import type { Disk } from '#sidecar/wal/disk.ts';
import { nodeDisk } from '#sidecar/wal/disk.ts';
import { recover } from '#sidecar/wal/recover.ts';

export const ORIGIN = 'postern.dev/audit/test/ns/one';

export interface Identity {
  readonly secret: string;
  readonly recipient: string;
}

export function makeIdentity(): Identity {
  const { privateKey, publicKey } = generateKeyPairSync('x25519');
  const secret = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
  const point = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return { secret: bech32.encodeFromBytes('age-secret-key-', secret).toUpperCase(), recipient: bech32.encodeFromBytes('age', point) };
}

export const IDENTITY = makeIdentity();

export function makeAuthority(
  key: SigningKey = makeSigningKey('postern.dev/authority/test'),
  witnessed: string[] = [],
): Required<Pick<Authority, 'certify' | 'witness'>> {
  return {
    certify: async (certificate) => certify(certificate, key),
    witness: async (checkpoint) => {
      witnessed.push(checkpoint);
      return checkpoint + cosign(parseNote(checkpoint)?.text ?? '', key, Math.floor(Date.now() / 1000));
    },
  };
}

export function openChain(folder: string, options: Partial<AuditChainOptions> = {}): Promise<AuditChain> {
  return AuditChain.open({
    folder,
    clock: systemClock,
    authority: makeAuthority(),
    terms: { origin: ORIGIN, recipients: [IDENTITY.recipient] },
    ...options,
  });
}

let next = 0;

export function entry(text = `record ${next++}`, kind: Entry['kind'] = 'intent'): Entry {
  return { kind, text: JSON.stringify({ text }), operationId: `op_${'a'.repeat(26)}` };
}

export interface ReadChain {
  readonly frames: readonly Frame[];
  readonly segments: readonly { readonly statement: SegmentStatement; readonly bytes: Buffer; readonly recipients: number }[];
  /** Of the sealed records, in order, with their sequence. */
  readonly texts: readonly { readonly sequence: number; readonly text: string }[];
  readonly kinds: readonly string[];
}

/** All frames in the log of a folder that nobody writes, checked as FORMAT.md has it; nothing is changed. */
export async function readChain(folder: string, identity: Identity = IDENTITY, disk: Disk = nodeDisk): Promise<ReadChain> {
  const payloads: Buffer[] = [];
  let first = 0;
  await recover(disk, folder, (payload, sequence) => {
    first ||= sequence;
    payloads.push(Buffer.from(payload));
  });
  return checkChain(Buffer.concat(payloads), first === 1, identity);
}

/** `whole`: from the beginning of the chain on. */
export async function checkChain(bytes: Buffer, whole: boolean, identity: Identity = IDENTITY): Promise<ReadChain> {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length; ) {
    const frame = decodeFrame(bytes, at);
    if ('no' in frame) throw assert.fail(`at ${at}: ${frame.no}`);
    frames.push(frame);
    at += frame.bytes.length;
  }
  return checkFrames(frames, whole, identity);
}

async function checkFrames(frames: readonly Frame[], whole: boolean, identity: Identity): Promise<ReadChain> {
  const segments: { statement: SegmentStatement; bytes: Buffer; recipients: number }[] = [];
  const texts: { sequence: number; text: string }[] = [];
  const checkpoints = new Set<string>();
  const opener = new Decrypter();
  opener.addIdentity(identity.secret);
  let before: Frame | undefined;
  for (const frame of frames) {
    const kind = frame.heads[0]?.kind;
    if (before !== undefined) assertFollows(frame, before);
    else if (whole) assert.equal(frame.sequence, 1);
    if (kind === 'segment') {
      const statement = parseSegmentStatement(frame.body);
      assert.ok(statement);
      if (before === undefined && whole) assert.deepEqual(frame.previous, originHash(statement.origin));
      assertSegment(statement, frame, before, segments.at(-1));
      segments.push({ statement, bytes: Buffer.alloc(0), recipients: statement.recipients.length });
    } else if (before?.heads[0]?.kind === 'segment' && beginsEpoch(segments.at(-1)?.statement)) {
      assert.equal(kind, 'checkpoint', 'an epoch begins with a checkpoint');
    }
    if (before?.heads[0]?.kind === 'end') assert.equal(kind, 'checkpoint');
    const segment = segments.at(-1);
    if (segment !== undefined) {
      segment.bytes = Buffer.concat([segment.bytes, frame.bytes]);
      await assertContent(frame, segment.statement, checkpoints, opener, texts);
    }
    before = frame;
  }
  return { frames, segments, texts, kinds: frames.flatMap(({ heads }) => heads.map(({ kind }) => kind)) };
}

function beginsEpoch(statement: SegmentStatement | undefined): boolean {
  return statement?.segment === 1 || statement?.previous_epoch !== undefined;
}

function assertFollows(frame: Frame, before: Frame): void {
  assert.equal(frame.sequence, before.sequence + before.heads.length);
  assert.ok(Buffer.from(frame.previous).equals(before.hash), `sequence ${frame.sequence} does not follow`);
  const begins = frame.heads[0]?.kind === 'segment';
  assert.ok(frame.epoch === before.epoch || (begins && frame.epoch === before.epoch + 1));
}

function assertSegment(
  statement: SegmentStatement,
  frame: Frame,
  before: Frame | undefined,
  last: { readonly statement: SegmentStatement; readonly bytes: Buffer } | undefined,
): void {
  assert.equal(statement.epoch, frame.epoch);
  assert.equal(frame.body.length, Buffer.byteLength(JSON.stringify(statement)));
  if (last !== undefined) {
    assert.equal(statement.segment, last.statement.segment + 1);
    assert.equal(statement.key === last.statement.key, statement.epoch === last.statement.epoch);
    assert.deepEqual(statement.previous_segment, { bytes: last.bytes.length, sha256: hash('sha256', last.bytes, 'hex') });
  }
  const first = before !== undefined && before.epoch !== frame.epoch;
  const previous = first ? { sequence: frame.sequence - 1, hash: Buffer.from(frame.previous).toString('hex') } : undefined;
  if (before !== undefined) assert.deepEqual(statement.previous_epoch, previous);
}

async function assertContent(
  frame: Frame,
  statement: SegmentStatement,
  checkpoints: Set<string>,
  opener: Decrypter,
  texts: { sequence: number; text: string }[],
): Promise<void> {
  const body = Buffer.from(frame.body);
  if (frame.form === 'sealed') {
    const stanzas = body.toString('latin1').split('\n---')[0]?.match(/\n-> /g)?.length;
    assert.equal(stanzas, statement.recipients.length);
    const lines = (await opener.decrypt(body, 'text')).split('\n').slice(0, -1);
    assert.equal(lines.length, frame.heads.length);
    for (const [index, line] of lines.entries()) texts.push({ sequence: frame.sequence + index, text: JSON.parse(line).text });
    return;
  }
  const note = parseNote(body.toString());
  const kind = frame.heads[0].kind;
  if (kind === 'end') assert.ok(parseEndStatement(body));
  if (kind === 'certificate') assert.equal(parseCertificate(note?.text ?? '')?.origin, statement.origin);
  if (kind === 'receipt') assert.ok(checkpoints.has(note?.text ?? ''), 'a receipt of no checkpoint before it');
  if (kind !== 'checkpoint') return;
  const checkpoint = parseCheckpoint(note?.text ?? '');
  const key = parseVerifier(statement.key);
  assert.ok(note && checkpoint && key && isSignedBy(note, key));
  assert.deepEqual([checkpoint.size, checkpoint.epoch], [frame.sequence - 1, frame.epoch]);
  assert.ok(Buffer.from(checkpoint.hash).equals(frame.previous));
  checkpoints.add(note.text);
}

/** Bytes that do not matter. */
export function noise(bytes: number): string {
  return randomBytes(Math.ceil(bytes / 2))
    .toString('hex')
    .slice(0, bytes);
}
