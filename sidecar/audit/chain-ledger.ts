/**
 * Where the chain stands, as a fold over its frames: the same one at a start, over what the log holds, and behind every commit.
 *
 * A `segment` statement is always the first frame of a payload of the log, so a segment is a row of whole payloads.
 */
import { createHash, type Hash } from 'node:crypto';
import { decodeFrame, type Frame, originHash } from '#core/audit/frame.ts';
import { parseSegmentStatement, type SegmentStatement } from '#core/audit/statement.ts';
import { limits } from '#core/bounds/limits.ts';
import { chainFault } from './chain-fault.ts';
import type { ClosedSegment } from './closed-segments.ts';
import { UncertifiedEpochs } from './uncertified.ts';

/** A closed segment, and where in the log its payloads are. */
export interface StoredSegment extends ClosedSegment {
  readonly logFrom: number;
  readonly logTo: number;
  /** When its first sealed record was written; undefined in one of statements only. */
  readonly sealedMs: number | undefined;
}

/** `open`: an intent, and nothing that says what became of it. */
export type FoundOperation = 'open' | 'ended';

export class ChainLedger {
  /** Sequence of the last record. */
  size = 0;
  /** Of the last frame. */
  hash: Uint8Array = new Uint8Array();
  epoch = 0;
  /** What the newest segment says; undefined in an empty log. */
  statement: SegmentStatement | undefined;
  open: OpenSegment | undefined;
  /** When the oldest segment that the log had at its start, or has got since, was opened. */
  firstMs: number | undefined;
  readonly uncertified = new UncertifiedEpochs();
  readonly #closed: StoredSegment[] = [];
  #logTo = 0;
  readonly #found = new Map<string, FoundOperation>();

  /** One payload as a start finds it; `origin` is what the chain must have, if that is known. Throws AUDIT_UNAVAILABLE, naming the sequence. */
  read(payload: Uint8Array, logSequence: number, origin: string | undefined): void {
    const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
    for (let at = 0; at < bytes.length; ) {
      const frame = decodeFrame(bytes, at);
      if ('no' in frame) throw this.#damaged(`no frame: ${frame.no}`);
      this.#check(frame, at, logSequence, origin);
      this.take(frame, logSequence);
      this.#follow(frame);
      at += frame.bytes.length;
    }
  }

  /** Operations as a start found them, by their id: the newest limits.auditFoundOperationsMax of those in the log. */
  get found(): ReadonlyMap<string, FoundOperation> {
    return this.#found;
  }

  /** A frame that is durable in this payload of the log. */
  take(frame: Frame, logSequence: number): void {
    if (frame.heads[0]?.kind === 'segment') this.#begin(frame);
    if (frame.heads[0]?.kind === 'certificate') this.uncertified.certificate(frame);
    this.size = frame.sequence + frame.heads.length - 1;
    this.hash = Uint8Array.from(frame.hash);
    this.epoch = frame.epoch;
    this.#logTo = logSequence;
    this.open?.take(frame, logSequence);
  }

  /** Not given away yet, oldest first. */
  get closed(): readonly StoredSegment[] {
    return this.#closed;
  }

  /** Nothing will be written behind it. */
  closeLast(): void {
    if (this.open !== undefined) this.#closed.push(this.open.closed());
    this.open = undefined;
  }

  /** Stored elsewhere. */
  give(segment: ClosedSegment): void {
    const at = this.#closed.findIndex(({ number }) => number === segment.number);
    if (at >= 0) this.#closed.splice(at, 1);
  }

  /** First payload of the log that is still needed: of what is not stored elsewhere, and of the newest segment, which the next one states. */
  get neededFrom(): number {
    return Math.min(this.#closed[0]?.logFrom ?? Number.POSITIVE_INFINITY, this.#newestFrom);
  }

  #newestFrom = 0;

  /** By what heads say in clear: the records are not for the writer to read. */
  #follow({ heads }: Frame): void {
    for (const { kind, operationId } of heads) {
      if (operationId === undefined || (kind !== 'intent' && kind !== 'outcome')) continue;
      this.#found.delete(operationId);
      this.#found.set(operationId, kind === 'intent' ? 'open' : 'ended');
      const [oldest] = this.#found.keys();
      if (this.#found.size > limits.auditFoundOperationsMax && oldest !== undefined) this.#found.delete(oldest);
    }
  }

  #begin(frame: Frame): void {
    const statement = parseSegmentStatement(frame.body);
    if (statement === undefined) throw this.#damaged('a segment that says nothing');
    this.closeLast();
    this.statement = statement;
    this.uncertified.segment(statement);
    this.open = new OpenSegment(statement.segment, frame);
    this.firstMs ??= frame.timeMs;
    this.#newestFrom = this.#logTo + 1;
  }

  #check(frame: Frame, at: number, logSequence: number, origin: string | undefined): void {
    const statement = frame.heads[0]?.kind === 'segment' ? parseSegmentStatement(frame.body) : undefined;
    if (frame.heads[0]?.kind === 'segment') this.#checkSegment(statement, at, origin);
    if (logSequence === 1 && at === 0) {
      if (frame.sequence !== 1 || statement === undefined || !same(frame.previous, originHash(statement.origin)))
        throw this.#damaged('not the beginning of a chain');
      return;
    }
    // What was before the first payload of a log that was dropped from is stored elsewhere.
    if (this.size === 0) {
      this.#logTo = logSequence - 1;
      return;
    }
    if (frame.sequence !== this.size + 1) throw this.#damaged(`sequence ${frame.sequence} stands there`);
    if (!same(frame.previous, this.hash)) throw this.#damaged('it does not follow on the one before');
    const epochs = statement === undefined ? [this.epoch] : [this.epoch, this.epoch + 1];
    if (!epochs.includes(frame.epoch)) throw this.#damaged(`epoch ${frame.epoch} stands there`);
  }

  #checkSegment(statement: SegmentStatement | undefined, at: number, origin: string | undefined): void {
    if (statement === undefined || at !== 0) throw this.#damaged('a segment statement that is none');
    if (origin !== undefined && statement.origin !== origin) throw chainFault('origin', `${statement.origin}, not ${origin}`);
    const { statement: last, open } = this;
    if (last === undefined) return;
    if (statement.origin !== last.origin || statement.segment !== last.segment + 1) throw this.#damaged('a segment of another place');
    const before = statement.previous_segment;
    if (open !== undefined && (before?.bytes !== open.bytes || before.sha256 !== open.sha256().toString('hex')))
      throw this.#damaged('the segment before it is another');
  }

  #damaged(why: string): Error {
    return chainFault('damaged', `first broken sequence ${this.size + 1}: ${why}`);
  }
}

/** The segment that is written to. */
export class OpenSegment {
  readonly number: number;
  readonly firstSequence: number;
  readonly openedMs: number;
  bytes = 0;
  /** When its first sealed record was written. */
  sealedMs: number | undefined;
  /** Frames beside its statement. */
  frames = -1;
  #lastSequence = 0;
  #logFrom = 0;
  #logTo = 0;
  readonly #hash: Hash = createHash('sha256');

  constructor(number: number, frame: Frame) {
    this.number = number;
    this.firstSequence = frame.sequence;
    this.openedMs = frame.timeMs;
  }

  take(frame: Frame, logSequence: number): void {
    if (this.#logFrom === 0) this.#logFrom = logSequence;
    this.#logTo = logSequence;
    this.#hash.update(frame.bytes);
    this.bytes += frame.bytes.length;
    this.#lastSequence = frame.sequence + frame.heads.length - 1;
    this.frames += 1;
    if (frame.form === 'sealed') this.sealedMs ??= frame.timeMs;
  }

  sha256(): Buffer {
    return this.#hash.copy().digest();
  }

  closed(): StoredSegment {
    const { number, firstSequence, openedMs, bytes } = this;
    return {
      number,
      firstSequence,
      lastSequence: this.#lastSequence,
      bytes,
      sha256: this.sha256(),
      openedMs,
      logFrom: this.#logFrom,
      logTo: this.#logTo,
      sealedMs: this.sealedMs,
    };
  }
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}
