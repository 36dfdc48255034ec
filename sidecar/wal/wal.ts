/**
 * An append-only log in a folder: what is acknowledged is found again after every crash, in order; what is refused leads to nothing.
 * The bytes are in FORMAT.md. Payloads are opaque: the journal and the chain of the audit put their own into logs of their own.
 *
 *   append ──▶ queue ──▶ batch: one frame ──▶ one durable write ──▶ acknowledged
 *                │           (one in flight, ever)     │
 *                │                                     ├── error, short write ──▶ the segment is given up where it was last durable;
 *                │                                     │                          all who wait are refused
 *                └──────────── too long ───────────────┘── no answer ──────────▶ all who wait are refused, at once whoever comes;
 *                                                                                 when the answer comes it changes nothing told
 *   next append ──▶ new segment, which says where the last one ended ──▶ …
 *
 * Invariants:
 * - Acknowledged records are a prefix of what a start finds. Behind it may stand, whole, records of the one batch that was in flight at
 *   the crash, or was refused last; never anything else, and nothing of it once a later record is acknowledged.
 * - Sequences have no gap: a refused record never had one.
 * - One process writes (lock.ts), one write at a time.
 */
import { randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { PosternError } from '#core/error/postern-error.ts';
import { AppendQueue, type Waiting } from './append-queue.ts';
import { CountedSegments } from './counted-segments.ts';
import { type Disk, nodeDisk } from './disk.ts';
import { type FaultKind, faultKindOf, logFault } from './fault.ts';
import { makeDurable, makeFolder } from './folder.ts';
import { FRAME_HEADER_BYTES, type Frame, recordBytes, SALT_BYTES } from './frame.ts';
import { FrameCounter } from './frame-counter.ts';
import { lockFolder } from './lock.ts';
import { type ReadRecord, readBack } from './read-back.ts';
import { type OnRecord, type Recovered, recover, segmentName } from './recover.ts';
import { bestEffort, nameSegment, prepareSegment, type Segment } from './segment.ts';
import { SEGMENT_HEADER_BYTES, type SegmentHeader } from './segment-header.ts';

export type { FaultKind } from './fault.ts';

export interface WalOptions {
  /** Made with mode 0700 when it is not there. Nobody else may write in it. */
  readonly folder: string;
  readonly clock: Clock;
  /** Hears every record that is there, in order, before `open` resolves. What it throws, `open` throws. */
  readonly onRecord: OnRecord;
  /** Hears when the log stops taking records, and of what kind the fault is; undefined when it takes them again. For metric and probe. */
  readonly onFault?: (fault: FaultKind | undefined) => void;
  readonly disk?: Disk;
  /** Default limits.walSegmentBytes. */
  readonly segmentBytes?: number;
  /** Default limits.walSegmentAgeMs. */
  readonly segmentAgeMs?: number;
  /** Default limits.walAppendMs. */
  readonly appendMs?: number;
}

/** Of an acknowledged record. */
export interface Position {
  /** From 1, without a gap. */
  readonly sequence: number;
  readonly segment: number;
}

export class Wal {
  readonly recovered: Recovered;
  readonly #options: WalOptions;
  readonly #place: { readonly disk: Disk; readonly folder: string };
  readonly #lock: { release(): void };
  readonly #queue = new AppendQueue();
  #sequence: number;
  #lastNumber: number;
  #tail: { readonly number: number; readonly end: number } | undefined;
  #segment: Segment | undefined;
  #segmentBornMs = 0;
  readonly #segments: CountedSegments;
  #drops: Drop[] = [];
  #running: Promise<void> | undefined;
  #hanging = false;
  #fault: FaultKind | undefined;
  #retryAtMs = 0;
  #closed = false;

  /** Throws AUDIT_UNAVAILABLE (`details.log`: locked, unreadable, damaged, newer); nothing in the folder is changed then. */
  static async open(options: WalOptions): Promise<Wal> {
    const folder = resolve(options.folder);
    const place = { disk: options.disk ?? nodeDisk, folder };
    await makeFolder(place);
    const lock = lockFolder(folder);
    try {
      const recovered = await recover(place.disk, folder, options.onRecord);
      await makeDurable(place, recovered);
      for (const name of recovered.leftovers) await bestEffort(() => place.disk.unlink(join(folder, name)));
      return new Wal(options, place, lock, recovered);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  private constructor(options: WalOptions, place: { disk: Disk; folder: string }, lock: { release(): void }, recovered: Recovered) {
    this.#options = options;
    this.#place = place;
    this.#lock = lock;
    this.recovered = recovered;
    this.#sequence = recovered.sequence;
    this.#lastNumber = recovered.lastNumber;
    this.#tail = recovered.tail;
    this.#segments = new CountedSegments(recovered);
  }

  /** Why the log takes no records at the moment; the next append may find that it does again. */
  get fault(): FaultKind | undefined {
    return this.#fault;
  }

  /** Of all segments that count, without reserved room. */
  get bytes(): number {
    return this.#segments.list(this.#tail).reduce((bytes, { end }) => bytes + end, 0);
  }

  /** What `drop` would give back, in bytes. */
  bytesBelow(sequence: number): number {
    return this.#segments.below(sequence, this.#sequence).reduce((bytes, { end }) => bytes + end, 0);
  }

  /** Records that are acknowledged by now, while others are appended. Throws AUDIT_UNAVAILABLE, also for what is dropped meanwhile. */
  records(from = 1, to = Number.MAX_SAFE_INTEGER): AsyncGenerator<ReadRecord> {
    return readBack(this.#place, this.#segments.list(this.#tail), from, Math.min(to, this.#sequence - 1));
  }

  /**
   * Resolves once the record is durable, and MUST NOT resolve before: it survives kill -9 and a power cut from then on. Until then the
   * caller may assume nothing, neither that it will be found nor that it will not.
   *
   * Rejects with AUDIT_UNAVAILABLE, at the latest limits.walAppendMs later. A refused record leads to nothing, except that a start right
   * after a crash may find it as one of the last.
   *
   * Many may append at once; records get their sequence in the order of the calls. `payload` (1 byte to limits.walPayloadBytesMax) must
   * not be changed before this settles. `sinceMs` (monotonic): when its deadline began, for who let it wait before.
   */
  append(payload: Uint8Array, sinceMs?: number): Promise<Position> {
    if (payload.length === 0 || payload.length > limits.walPayloadBytesMax) throw new RangeError(`a record of ${payload.length} bytes`);
    const refused = this.#refusal();
    if (refused !== undefined) return Promise.reject(refused);
    const { promise, resolve, reject } = Promise.withResolvers<Position>();
    if (!this.#queue.push({ payload, atMs: sinceMs ?? this.#options.clock.monotonicMs(), resolve, reject }))
      return Promise.reject(logFault('busy'));
    this.#start();
    return promise;
  }

  /**
   * Gives back the leading files whose records are all below `sequence`, if there are any: a new segment states the oldest one that counts,
   * and the others are removed once that is durable. Appends wait meanwhile. Rejects with AUDIT_UNAVAILABLE; the log is as it was then, and
   * takes records.
   */
  drop(sequence: number): Promise<void> {
    const refused = this.#refusal();
    if (refused !== undefined) return Promise.reject(refused);
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    this.#drops.push({ sequence, resolve, reject });
    this.#start();
    return promise;
  }

  #start(): void {
    // From the next microtask on, so that what is appended in one go is one batch.
    this.#running ??= Promise.resolve().then(() => this.#run());
  }

  /**
   * Replaces everything by these records, in a new segment, and then removes what was before it. Until the new segment has its name the
   * old ones count, from then on only the new one: there is no crash that shows both or neither. MUST NOT be called while an append is
   * waiting, and nothing may be appended before it settles. Rejects with AUDIT_UNAVAILABLE; the old records then still count.
   */
  async rewrite(payloads: Iterable<Uint8Array>): Promise<void> {
    if (!this.#hanging) await this.#running;
    const refused = this.#refusal();
    if (refused !== undefined) throw refused;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const cancel = this.#deadline(this.#options.clock.monotonicMs() + limits.walRewriteMs, [{ reject }]);
    const settled = (tell: () => void) => () => {
      tell();
      this.#idle(cancel);
    };
    this.#running = this.#begin(payloads, 0).then(settled(resolve), (error) => settled(() => this.#fail(error, [{ reject }]))());
    return promise;
  }

  /** Waits for what is under way, marks the end, and gives the folder free. A later append is refused. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    // A disk that hangs may hang for ever; the lock goes with the process then.
    while (this.#running !== undefined && !this.#hanging) await Promise.race([this.#running, this.#options.clock.sleep(CLOSE_POLL_MS)]);
    if (this.#hanging) return;
    const segment = this.#segment;
    if (segment !== undefined) {
      const seal: Frame = { kind: 'seal', sequence: this.#sequence, payloads: [] };
      if (segment.fits(FRAME_HEADER_BYTES)) await bestEffort(() => segment.write(seal));
      await segment.giveUp(segment.end);
    }
    this.#lock.release();
  }

  #refusal(): PosternError | undefined {
    if (this.#closed) return logFault('closed');
    if (this.#hanging) return logFault('hanging');
    return this.#fault !== undefined && this.#options.clock.monotonicMs() < this.#retryAtMs ? logFault(this.#fault) : undefined;
  }

  /** Until nobody waits: one batch after the other. */
  async #run(): Promise<void> {
    for (;;) {
      for (const drop of this.#drops.splice(0)) await this.#drop(drop);
      const batch = this.#queue.takeBatch();
      // Who was just told that a drop is done may have asked for another already.
      if (batch.length === 0 && this.#drops.length > 0) continue;
      if (batch.length === 0) break;
      const cancel = this.#deadline((batch[0]?.atMs ?? 0) + (this.#options.appendMs ?? limits.walAppendMs), batch);
      await this.#commit(batch).catch((error) => this.#fail(error, batch));
      cancel();
      this.#hanging = false;
    }
    this.#running = undefined;
  }

  async #drop({ sequence, resolve, reject }: Drop): Promise<void> {
    const cancel = this.#deadline(this.#options.clock.monotonicMs() + (this.#options.appendMs ?? limits.walAppendMs), [{ reject }]);
    try {
      const below = this.#segments.below(sequence, this.#sequence);
      const last = below.at(-1);
      const kept = this.#segments.list(this.#tail)[below.length]?.number ?? this.#lastNumber + 1;
      if (last !== undefined && kept <= FLOOR_MAX) await this.#begin(undefined, 0, kept);
      resolve();
    } catch (error) {
      reject(logFault(faultKindOf(error), error));
    }
    cancel();
    this.#hanging = false;
  }

  async #commit(batch: readonly Waiting[]): Promise<void> {
    const payloads = batch.map(({ payload }) => payload);
    const bytes = FRAME_HEADER_BYTES + payloads.reduce((sum, payload) => sum + recordBytes(payload), 0);
    const segment = await this.#segmentFor(bytes);
    try {
      await segment.write({ kind: 'records', sequence: this.#sequence, payloads });
      if (this.#hanging) throw new Late();
    } catch (error) {
      // Nobody may find this batch once others are acknowledged: it is cut off, and the next segment says where this one ended.
      this.#segment = undefined;
      await segment.giveUp(this.#tail?.end ?? 0);
      throw error;
    }
    this.#tail = { number: segment.number, end: segment.end };
    for (const { resolve } of batch) resolve({ sequence: this.#sequence++, segment: segment.number });
    this.#tell(undefined);
  }

  async #segmentFor(bytes: number): Promise<Segment> {
    const current = this.#segment;
    const old = this.#options.clock.monotonicMs() - this.#segmentBornMs >= (this.#options.segmentAgeMs ?? limits.walSegmentAgeMs);
    if (current?.fits(bytes) === true && !(old && !current.empty)) return current;
    await this.#begin(undefined, bytes);
    if (this.#hanging || this.#segment === undefined) throw new Late();
    return this.#segment;
  }

  /** A new segment: after the tail, or instead of everything with `replacing`. It drops what is below `floor`. */
  async #begin(replacing: Iterable<Uint8Array> | undefined, bytes: number, floor = this.#segments.floor): Promise<void> {
    this.#lastNumber += 1;
    const number = this.#lastNumber;
    const header: SegmentHeader = {
      number,
      salt: randomBytes(SALT_BYTES),
      sequence: this.#sequence,
      ...(this.#tail === undefined || replacing !== undefined ? {} : { previous: this.#tail }),
      ...(floor === 0 || replacing !== undefined ? {} : { floor }),
      createdAtMs: this.#options.clock.wallMs(),
    };
    const frames = new FrameCounter(replacing ?? [], this.#sequence);
    const reserve = Math.max((this.#options.segmentBytes ?? limits.walSegmentBytes) - SEGMENT_HEADER_BYTES, bytes + FRAME_HEADER_BYTES);
    const unnamed = await prepareSegment(this.#place, header, frames, reserve);
    // From here on the old one is closed, whatever comes: a start that finds the new name reads the old one only to the tail it states.
    const before = this.#segment;
    this.#segment = undefined;
    await before?.release();
    const segment = await nameSegment(this.#place, unnamed);
    this.#segment = segment;
    this.#segmentBornMs = this.#options.clock.monotonicMs();
    this.#sequence = frames.sequence;
    await this.#tidy(replacing !== undefined, floor);
    this.#tail = { number, end: segment.end };
    this.#segments.add({ ...this.#tail, sequence: header.sequence });
  }

  /** Gives back reserved room of the segment before, or all segments that no longer count. Not needed for the log to be right. */
  async #tidy(replaced: boolean, floor: number): Promise<void> {
    const { disk, folder } = this.#place;
    const tail = this.#tail;
    if (tail !== undefined) this.#segments.close(tail);
    const gone = replaced ? this.#segments.takeAll() : this.#segments.takeBelow(floor);
    for (const { number } of gone) await bestEffort(() => disk.unlink(join(folder, segmentName(number))));
    if (replaced || tail === undefined || tail.number < floor) return;
    await bestEffort(() => disk.truncate(join(folder, segmentName(tail.number)), tail.end));
  }

  #fail(error: unknown, waiting: readonly { reject(error: unknown): void }[]): void {
    // They have been told already.
    if (error instanceof Late || this.#hanging) return;
    this.#refuseAll(faultKindOf(error), waiting, error);
  }

  #refuseAll(kind: FaultKind, waiting: readonly { reject(error: unknown): void }[], cause?: unknown): void {
    this.#retryAtMs = this.#options.clock.monotonicMs() + limits.walRetryMs;
    this.#tell(kind);
    for (const { reject } of [...waiting, ...this.#queue.takeAll()]) reject(logFault(kind, cause));
  }

  #deadline(atMs: number, waiting: readonly { reject(error: unknown): void }[]): () => void {
    return this.#options.clock.alarm(Math.max(0, atMs - this.#options.clock.monotonicMs()), () => {
      this.#hanging = true;
      this.#refuseAll('hanging', waiting);
    });
  }

  #idle(cancel: () => void): void {
    cancel();
    this.#hanging = false;
    this.#running = undefined;
  }

  #tell(fault: FaultKind | undefined): void {
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#options.onFault?.(fault);
  }
}

const CLOSE_POLL_MS = 20;
/** What the field of the header holds. */
const FLOOR_MAX = 2 ** 32 - 1;

interface Drop {
  readonly sequence: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** The disk answered after its callers had been refused. */
class Late extends Error {}
