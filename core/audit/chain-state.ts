/** The good part of a chain so far, and what its next frame must be: the tables of FORMAT.md as one fold over frames. */
import { hash } from 'node:crypto';
import { limits } from '#core/bounds/limits.ts';
import type { BrokenReason } from './broken.ts';
import { parseCertificate, parseCheckpoint } from './checkpoint.ts';
import { EpochLedger } from './epoch-ledger.ts';
import { type Frame, originHash, type RecordKind, type StatementKind } from './frame.ts';
import { cosignedBy, hasCosignature, isSignedBy, parseNoteBytes, parseVerifier, signedBy, type VerifierKey } from './signed-note.ts';
import { parseEndStatement, parseSegmentStatement, type SegmentStatement } from './statement.ts';

export interface StateOptions {
  /** Authorities; none: signatures of certificates and receipts are not checked. */
  readonly keys?: readonly VerifierKey[];
  /**
   * Take the first segment as it is, whatever came before it: a log on disk, whose beginning has been shipped. What was before it is not
   * proven. Default: the chain begins at sequence 1 at its origin.
   */
  readonly anywhere?: boolean;
}

/** Of a whole segment. */
export interface SegmentBytes {
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

/** A list for a person: the first few, and how many there are. */
interface Some<Item> {
  count: number;
  readonly first: Item[];
}

export class ChainState {
  readonly ledger: EpochLedger;
  readonly clockSkews: Some<{ readonly sequence: number; readonly backMs: number }> = { count: 0, first: [] };
  readonly recipientChanges: Some<number> = { count: 0, first: [] };
  /** Hash of the frame that ends at a size, for `sizes`. */
  readonly hashes = new Map<number, Uint8Array>();
  origin: string | undefined;
  first = 1;
  /** The sequence that must come. */
  next = 1;
  ended = false;
  readonly #options: StateOptions & { readonly sizes: ReadonlySet<number> };
  #hash: Buffer | undefined;
  #timeMs: number | undefined;
  #atStart = true;
  #statement: SegmentStatement | undefined;
  #key: VerifierKey | undefined;
  #checkpointDue = false;
  #before: SegmentBytes | undefined;
  /** Hashes of the last checkpoints, oldest first. */
  #checkpoints: string[] = [];

  constructor(options: StateOptions & { readonly sizes: ReadonlySet<number> }) {
    this.#options = options;
    this.ledger = new EpochLedger(options.keys ?? []);
  }

  get last(): number {
    return this.next - 1;
  }

  beginSegment(): void {
    this.#atStart = true;
  }

  endSegment(segment: SegmentBytes): void {
    this.#before = segment;
  }

  /** Takes the frame on, or says why it cannot stand here; then nothing has changed. */
  take(frame: Frame): BrokenReason | undefined {
    const broken = this.#place(frame) ?? (frame.form === 'sealed' ? this.#sealed(frame) : this.#statementOf(frame));
    if (broken !== undefined) return broken;
    this.#atStart = false;
    if (!SIGNED_KINDS.has(frame.heads[0]?.kind)) this.ledger.records(frame.heads.length);
    this.#tellTime(frame);
    this.next = frame.sequence + frame.heads.length;
    this.#hash = Buffer.from(frame.hash);
    if (this.#options.sizes.has(this.last)) this.hashes.set(this.last, this.#hash);
    return undefined;
  }

  get #free(): boolean {
    return this.#options.anywhere === true && this.#statement === undefined;
  }

  #place(frame: Frame): BrokenReason | undefined {
    if (frame.sequence !== this.next && !this.#free) return this.#statement === undefined ? 'missing' : 'sequence';
    if (this.#hash !== undefined && !this.#hash.equals(frame.previous)) return 'previous';
    const begins = frame.heads[0]?.kind === 'segment';
    if (begins !== this.#atStart) return begins ? 'inner-segment' : 'no-segment';
    if (begins) return undefined;
    if (frame.epoch !== this.#statement?.epoch) return 'epoch';
    if (this.#checkpointDue) return frame.heads[0]?.kind === 'checkpoint' ? undefined : 'no-checkpoint';
    return this.ended ? 'ended' : undefined;
  }

  #sealed({ body }: Frame): BrokenReason | undefined {
    return stanzasOf(Buffer.from(body.buffer, body.byteOffset, body.length)) === this.#statement?.recipients.length
      ? undefined
      : 'recipients';
  }

  #statementOf(frame: Frame): BrokenReason | undefined {
    const kind = frame.heads[0]?.kind as StatementKind;
    if (kind === 'segment') return this.#segment(frame);
    if (kind === 'end') return this.#end(frame);
    if (kind === 'certificate') return this.#certificate(frame);
    return kind === 'checkpoint' ? this.#checkpoint(frame) : this.#receipt(frame);
  }

  #segment(frame: Frame): BrokenReason | undefined {
    const statement = parseSegmentStatement(frame.body);
    const key = statement === undefined ? undefined : parseVerifier(statement.key);
    if (statement === undefined || key === undefined) return 'statement';
    if (statement.epoch !== frame.epoch) return 'epoch';
    const before = this.#statement;
    const broken = before === undefined ? this.#begins(statement, frame) : this.#follows(statement, before);
    if (broken !== undefined) return broken;
    if (this.#free) this.first = frame.sequence;
    if (statement.epoch !== before?.epoch) {
      this.ledger.begin(statement.epoch, frame.sequence, key);
      this.#key = key;
      this.ended = false;
      // In the middle of an epoch, where what was before is not looked at, none is due.
      this.#checkpointDue = before !== undefined || statement.segment === 1 || statement.previous_epoch !== undefined;
    }
    if (before !== undefined && before.recipients.join() !== statement.recipients.join()) note(this.recipientChanges, frame.sequence);
    this.origin ??= statement.origin;
    this.#statement = statement;
    return undefined;
  }

  #begins(statement: SegmentStatement, frame: Frame): BrokenReason | undefined {
    if (this.#free && statement.segment > 1) return undefined;
    return frame.sequence === 1 ? firstSegment(statement, frame) : 'missing';
  }

  #follows(statement: SegmentStatement, before: SegmentStatement): BrokenReason | undefined {
    if (statement.origin !== before.origin) return 'origin';
    if (statement.segment !== before.segment + 1) return 'segment';
    const { previous_segment: file, previous_epoch: last } = statement;
    if (file?.bytes !== this.#before?.bytes || file?.sha256 !== this.#before?.sha256) return 'previous-segment';
    if (this.#checkpointDue) return 'no-checkpoint';
    if (statement.epoch === before.epoch) {
      if (this.ended) return 'ended';
      if (last !== undefined) return 'previous-epoch';
      return statement.key === before.key ? undefined : 'key';
    }
    if (statement.epoch !== before.epoch + 1) return 'epoch';
    return last?.sequence === this.last && last.hash === this.#hash?.toString('hex') ? undefined : 'previous-epoch';
  }

  #certificate({ sequence, body }: Frame): BrokenReason | undefined {
    const parsed = parseNoteBytes(body);
    const certificate = parsed === undefined ? undefined : parseCertificate(parsed.text);
    if (parsed === undefined || certificate === undefined) return 'statement';
    if (certificate.origin !== this.origin) return 'origin';
    const key = this.ledger.keyOf(certificate.epoch);
    if (key === undefined || (key !== 'unknown' && Buffer.compare(key, certificate.key.raw) !== 0)) return 'certificate';
    for (const [index, authority] of (this.#options.keys ?? []).entries()) {
      const signed = signedBy(parsed, authority);
      if (signed === 'valid') this.ledger.certified(certificate.epoch, index);
      if (signed === 'wrong') this.ledger.forged(sequence, 'certificate');
    }
    return undefined;
  }

  #checkpoint({ epoch, previous, body }: Frame): BrokenReason | undefined {
    const parsed = parseNoteBytes(body);
    const checkpoint = parsed === undefined ? undefined : parseCheckpoint(parsed.text);
    if (parsed === undefined || checkpoint === undefined) return 'statement';
    if (checkpoint.origin !== this.origin) return 'origin';
    if (checkpoint.size !== this.last || checkpoint.epoch !== epoch || Buffer.compare(checkpoint.hash, previous) !== 0) return 'checkpoint';
    if (this.#key === undefined || !isSignedBy(parsed, this.#key)) return 'signature';
    this.ledger.checkpoint(this.last);
    this.#checkpointDue = false;
    this.#checkpoints.push(textHash(parsed.text));
    // Cut when it has grown to twice its length: a shift for each checkpoint would move all of them.
    if (this.#checkpoints.length >= 2 * limits.auditReceiptCheckpointsMax) this.#checkpoints = this.#lastCheckpoints();
    return undefined;
  }

  #receipt({ sequence, body }: Frame): BrokenReason | undefined {
    const parsed = parseNoteBytes(body);
    if (parsed === undefined) return 'statement';
    const known = this.#lastCheckpoints().includes(textHash(parsed.text)) || this.#isBefore(parsed.text);
    if (!known || !hasCosignature(parsed)) return 'receipt';
    if (this.#options.keys?.some((authority) => cosignedBy(parsed, authority) === 'wrong')) this.ledger.forged(sequence, 'receipt');
    return undefined;
  }

  /** Where a log is read from somewhere in the middle: a receipt of a checkpoint that stood before its first segment. */
  #isBefore(text: string): boolean {
    const checkpoint = this.#options.anywhere === true ? parseCheckpoint(text) : undefined;
    return checkpoint !== undefined && checkpoint.origin === this.origin && checkpoint.size < this.first;
  }

  #lastCheckpoints(): string[] {
    return this.#checkpoints.slice(-limits.auditReceiptCheckpointsMax);
  }

  #end({ body }: Frame): BrokenReason | undefined {
    if (parseEndStatement(body) === undefined) return 'statement';
    this.ended = true;
    this.#checkpointDue = true;
    this.ledger.end();
    return undefined;
  }

  #tellTime({ sequence, timeMs }: Frame): void {
    const before = this.#timeMs ?? timeMs;
    if (timeMs + limits.auditClockSkewMs < before) note(this.clockSkews, { sequence, backMs: before - timeMs });
    this.#timeMs = timeMs;
  }
}

function firstSegment(statement: SegmentStatement, { previous }: Frame): BrokenReason | undefined {
  const { origin, segment, epoch, previous_segment, previous_epoch } = statement;
  if (!originHash(origin).equals(previous)) return 'previous';
  if (segment !== 1) return 'segment';
  if (epoch !== 1) return 'epoch';
  if (previous_segment !== undefined) return 'previous-segment';
  return previous_epoch === undefined ? undefined : 'previous-epoch';
}

/** These bear a signature of their own. */
const SIGNED_KINDS: ReadonlySet<RecordKind | undefined> = new Set(['certificate', 'checkpoint', 'receipt']);
const AGE = Buffer.from('age-encryption.org/v1\n');
const STANZA = Buffer.from('-> ');
const END_OF_HEADER = Buffer.from('---');
const LINE_FEED = 0x0a;

/** Recipients of an age file, by the lines of its header; undefined for what has none. */
function stanzasOf(body: Buffer): number | undefined {
  if (!body.subarray(0, AGE.length).equals(AGE)) return undefined;
  let stanzas = 0;
  for (let at = AGE.length; ; ) {
    const end = body.indexOf(LINE_FEED, at);
    if (end < 0) return undefined;
    if (body.subarray(at, at + END_OF_HEADER.length).equals(END_OF_HEADER)) return stanzas;
    if (body.subarray(at, at + STANZA.length).equals(STANZA)) stanzas += 1;
    at = end + 1;
  }
}

function textHash(text: string): string {
  return hash('sha256', text, 'base64');
}

function note<Item>(some: Some<Item>, item: Item): void {
  some.count += 1;
  if (some.first.length < limits.auditFindingsMax) some.first.push(item);
}
