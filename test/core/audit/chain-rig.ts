/** A writer of chains for tests: what a sidecar in order writes, without a disk. */
import { hash } from 'node:crypto';
import { certify, checkpointText, epochKeyName, signCheckpoint } from '#core/audit/checkpoint.ts';
import {
  encodeFrame,
  type Frame,
  type FrameContent,
  type Head,
  originHash,
  type SealedKind,
  type StatementKind,
} from '#core/audit/frame.ts';
import { cosign, makeSigningKey, type SigningKey, verifierText } from '#core/audit/signed-note.ts';
import { statementBody } from '#core/audit/statement.ts';
import { type ChainVerdict, ChainVerifier, type VerifyOptions } from '#core/audit/verify.ts';

export const ORIGIN = 'postern.dev/audit/test/local/one';
export const RECIPIENT = 'age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p';

export class ChainRig {
  readonly origin: string;
  readonly authority: SigningKey;
  readonly segments: Frame[][] = [];
  recipients: readonly string[] = [RECIPIENT];
  epoch = 0;
  key: SigningKey = makeSigningKey('none');
  sequence = 1;
  timeMs = Date.UTC(2026, 11, 1);
  previous: Uint8Array;
  checkpointNote = '';

  constructor(origin = ORIGIN, authority: SigningKey = makeSigningKey('postern.dev/authority/test')) {
    this.origin = origin;
    this.authority = authority;
    this.previous = originHash(origin);
  }

  get last(): number {
    return this.sequence - 1;
  }

  get files(): readonly Buffer[] {
    return this.segments.map((frames) => Buffer.concat(frames.map(({ bytes }) => bytes)));
  }

  /** An epoch with its segment, its opening checkpoint, and the authority's certificate. */
  beginEpoch({ certified = true } = {}): this {
    const before = { sequence: this.last, hash: Buffer.from(this.previous).toString('hex') };
    this.epoch += 1;
    this.key = makeSigningKey(epochKeyName(this.origin, this.epoch));
    this.beginSegment(this.epoch === 1 ? {} : { previous_epoch: before });
    this.checkpoint();
    return certified ? this.certificate() : this;
  }

  beginSegment(change: Record<string, unknown> = {}): this {
    const { origin, epoch, recipients } = this;
    const file = this.files.at(-1);
    const statement = {
      ...{ format: 'postern-audit/1' as const, origin, segment: this.segments.length + 1, epoch, key: verifierText(this.key), recipients },
      opened_at: new Date(this.timeMs).toISOString(),
      ...(file === undefined ? {} : { previous_segment: { bytes: file.length, sha256: hash('sha256', file) } }),
      ...change,
    };
    this.segments.push([]);
    return this.state('segment', statementBody(statement));
  }

  certificate(epoch = this.epoch, key = this.key): this {
    return this.state('certificate', Buffer.from(certify({ origin: this.origin, epoch, key }, this.authority)));
  }

  checkpoint(key = this.key): this {
    const { origin, epoch, last: size, previous } = this;
    this.checkpointNote = signCheckpoint({ origin, size, hash: previous, epoch, time: new Date(this.timeMs).toISOString() }, key);
    return this.state('checkpoint', Buffer.from(this.checkpointNote));
  }

  receipt(): this {
    return this.state('receipt', Buffer.from(this.receiptNote()));
  }

  receiptNote(): string {
    const text = this.checkpointNote.slice(0, this.checkpointNote.lastIndexOf('\n\n') + 1);
    return this.checkpointNote + cosign(text, this.authority, 1_764_547_200);
  }

  /** A receipt of the chain as it stands, such as a witness keeps. */
  headNote(): string {
    const { origin, epoch, last: size, previous } = this;
    const checkpoint = { origin, size, hash: previous, epoch, time: new Date(this.timeMs).toISOString() };
    return signCheckpoint(checkpoint, this.key) + cosign(checkpointText(checkpoint), this.authority, 1_764_547_200);
  }

  end(): this {
    return this.state('end', statementBody({ ended_at: new Date(this.timeMs).toISOString(), because: 'stopped' })).checkpoint();
  }

  records(count = 1, kind: SealedKind = 'intent'): this {
    const stanzas = this.recipients.map(() => '-> X25519 share\nwrapped\n').join('');
    const heads = Array.from({ length: count }, () => ({ kind, operationId: `op_${'a'.repeat(26)}` }));
    return this.add({ form: 'sealed', heads, body: Buffer.from(`age-encryption.org/v1\n${stanzas}--- mac\nbody ${this.sequence}`) });
  }

  state(kind: StatementKind, body: Uint8Array): this {
    const head: Head<StatementKind> = { kind };
    return this.add({ form: 'statement', heads: [head], body });
  }

  add(content: FrameContent): this {
    const { sequence, epoch, timeMs, previous } = this;
    const frame = encodeFrame({ sequence, epoch, timeMs, previous }, content);
    this.segments.at(-1)?.push(frame);
    this.sequence += content.heads.length;
    this.previous = frame.hash;
    this.timeMs += 1000;
    return this;
  }
}

/** Two epochs, the first with two segments; certificates, receipts, an end. */
export function wholeChain(rig = new ChainRig()): ChainRig {
  rig.beginEpoch().records(3).checkpoint().receipt().records(1, 'outcome').beginSegment().records(2).end();
  return rig.beginEpoch().records(2).checkpoint().receipt();
}

export function verify(files: readonly Buffer[], options: VerifyOptions = {}, pieceBytes = Number.POSITIVE_INFINITY): ChainVerdict {
  return verifierOf(files, options, pieceBytes).verdict();
}

export function verifierOf(files: readonly Buffer[], options: VerifyOptions = {}, pieceBytes = Number.POSITIVE_INFINITY): ChainVerifier {
  const verifier = new ChainVerifier(options);
  for (const file of files) {
    verifier.begin(file.length);
    for (let at = 0; at < file.length; at += pieceBytes) {
      // A piece of its own that is overwritten afterwards: the verifier may keep nothing of it.
      const piece = Buffer.from(file.subarray(at, at + pieceBytes));
      verifier.push(piece);
      piece.fill(0xee);
    }
    verifier.end();
  }
  return verifier;
}
