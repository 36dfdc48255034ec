/**
 * Writes the chain: one commit in flight at a time, which takes what waits.
 *
 *   append ──▶ queue ──▶ [segment] [checkpoint of a new epoch] [certificates, receipts] [one sealed frame] [checkpoint]
 *                                     │  one payload of the log: one durable write, whatever is in it
 *                                     ├── durable: sequence and hash advance, who waited is told
 *                                     └── refused: nothing advances; all who wait are refused, as the log does it
 *
 * A commit costs a seal and a write, whatever is in it; so what nobody waits for lingers until somebody's commit takes it, in its order.
 *
 * What a refused payload held is not in the chain: the next one has its sequences and another hash. A crash right after a refusal may
 * keep it; the chain then goes on from it, and nothing was acknowledged in its place.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { type Frame, originHash, type SealedKind } from '#core/audit/frame.ts';
import { createFrameSealer, type FrameSealer } from '#core/audit/seal.ts';
import { type EndReason, statementBody } from '#core/audit/statement.ts';
import type { Clock } from '#core/bounds/clock.ts';
import type { Wal } from '#sidecar/wal/wal.ts';
import type { Entry, Recorded } from './audit-log.ts';
import { ChainAlarm } from './chain-alarm.ts';
import { type ChainBounds, type Duties, dutiesAt } from './chain-duties.ts';
import { chainFault } from './chain-fault.ts';
import type { ChainLedger } from './chain-ledger.ts';
import type { ChainVolume } from './chain-volume.ts';
import { CommitDraft } from './commit-draft.ts';
import { CommitQueue, lineBytes, type Note, type WaitingEntry } from './commit-queue.ts';
import { Epoch } from './epoch.ts';

export interface ChainWriterOptions {
  readonly wal: Wal;
  readonly ledger: ChainLedger;
  readonly clock: Clock;
  readonly bounds: ChainBounds;
  readonly origin: string;
  /** Longest wait of who appends. */
  readonly appendMs: number;
  readonly sealer: FrameSealer;
  /** Called once it is durable, each. MUST NOT throw. */
  readonly onEpoch: () => void;
  readonly onSegment: () => void;
  readonly onCheckpoint: (note: string) => void;
  readonly onFault: (fault: string | undefined) => void;
  readonly volume: ChainVolume;
}

interface Commit {
  readonly draft: CommitDraft;
  readonly sealer: FrameSealer;
  readonly begins: boolean;
  /** Of its epoch. */
  readonly first: boolean;
  readonly notes: readonly Note[];
  readonly batch: readonly WaitingEntry[];
  readonly sealed: Frame | undefined;
  readonly checkpoint: string | undefined;
  /** Records behind the last checkpoint once this one is durable. */
  readonly unsigned: number;
}

/** Who waits for the end hears its checkpoint. */
interface Ending extends PromiseWithResolvers<string | undefined> {
  readonly because: EndReason;
}

/** Who waits for a segment to begin. */
type SegmentWanted = PromiseWithResolvers<void>;

interface InFlight {
  readonly batch: readonly WaitingEntry[];
  readonly wanted: readonly SegmentWanted[];
}

const NOBODY: InFlight = { batch: [], wanted: [] };

/** Notes of one payload: with a frame of the longest kind they fit one record of the log. */
const NOTES_MAX = 4;
/** Age shares made while a commit is on its way to the disk, so that the next one need not wait for the curve. */
const SHARES_READY = 4;
const RETRY_MS = 1_000;
/** Past the volume's share: what has happened, and what becomes of the session, which is rare. */
const GOES_ON: readonly SealedKind[] = ['outcome', 'session'];

export class ChainWriter {
  readonly #options: ChainWriterOptions;
  readonly #queue = new CommitQueue();
  readonly #notes: Note[] = [];
  #sealer: FrameSealer;
  #nextSealer: FrameSealer | undefined;
  #epoch: Epoch;
  #epochWritten = false;
  #segmentBeganMs = 0;
  #checkpointMs: number;
  #unsignedRecords = 0;
  readonly #segmentWanted: SegmentWanted[] = [];
  #ending: Ending | undefined;
  #stopping = false;
  #ended = false;
  readonly #opened = Promise.withResolvers<void>();
  #running: Promise<void> | undefined;
  #inFlight = NOBODY;
  #failedMs = Number.NEGATIVE_INFINITY;
  readonly #alarm: ChainAlarm;
  #fault: string | undefined;

  constructor(options: ChainWriterOptions) {
    this.#options = options;
    this.#sealer = options.sealer;
    const { ledger, clock, origin } = options;
    this.#alarm = new ChainAlarm(clock, () => this.start());
    if (ledger.size === 0) ledger.hash = originHash(origin);
    this.#epoch = new Epoch(origin, ledger, clock.monotonicMs());
    this.#checkpointMs = clock.monotonicMs();
  }

  get fault(): string | undefined {
    if (this.#takesNoMore) return 'closed';
    return this.#options.wal.fault ?? (this.#options.volume.over ? 'volume' : undefined);
  }

  /** Rejects with AUDIT_UNAVAILABLE. Throws RangeError for an entry that no frame may hold. */
  append(entry: Entry): Promise<Recorded> {
    const bytes = lineBytes(entry);
    if (this.#takesNoMore) return Promise.reject(chainFault('ended'));
    const { promise, resolve, reject } = Promise.withResolvers<Recorded>();
    if (!this.#queue.push({ entry, bytes, atMs: this.#options.clock.monotonicMs(), resolve, reject }))
      return Promise.reject(chainFault('busy'));
    if (entry.lingers !== true) this.start();
    else this.#alarm.by(this.#queue.dueMs);
    return promise;
  }

  /** What lingers goes now. */
  hurry(): void {
    this.#queue.hurry();
    if (this.#queue.length > 0) this.start();
  }

  /** A note that came from outside; it goes with the next commit. Resolves once it is durable: never, where no more is taken. */
  note(kind: Note['kind'], note: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (this.#takesNoMore) return promise;
    this.#notes.push({ kind, body: Buffer.from(note, 'utf8'), resolve });
    this.start();
    return promise;
  }

  /** From the next record on; begins a segment, where they are others (AUD-21). Throws RecipientUnusable. */
  recipients(list: readonly string[]): void {
    if ((this.#nextSealer ?? this.#sealer).recipients.join() === list.join()) return;
    this.#nextSealer = createFrameSealer(list);
    this.start();
  }

  /** Resolves once a segment has begun behind the one that is written to; at once when that has no record beside its statements. */
  closeSegment(): Promise<void> {
    const idle = this.#queue.length === 0 && this.#inFlight.batch.length === 0;
    if (this.#takesNoMore || (idle && this.#options.ledger.open?.sealedMs === undefined)) return Promise.resolve();
    const wanted = Promise.withResolvers<void>();
    this.#segmentWanted.push(wanted);
    this.start();
    return wanted.promise;
  }

  /** Takes no more; records what waits, the end and its checkpoint, which is returned. Rejects with AUDIT_UNAVAILABLE. */
  end(because: EndReason): Promise<string | undefined> {
    if (this.#takesNoMore) return Promise.resolve(undefined);
    this.#ending = { because, ...Promise.withResolvers<string | undefined>() };
    this.start();
    return this.#ending.promise;
  }

  /** Takes no more, and waits for what is on its way, unless the disk does not answer. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.hurry();
    if (this.#options.wal.fault !== 'hanging') await this.#running;
    this.#ended = true;
    this.#alarm.cancel();
    for (const { reject } of [...this.#queue.takeAll(), ...this.#segmentWanted.splice(0)]) reject(chainFault('ended'));
  }

  get #takesNoMore(): boolean {
    return this.#stopping || this.#ended || this.#ending !== undefined;
  }

  start(): void {
    // What is appended in one turn of the event loop is one frame, and what it sends is on its way before the frame is sealed.
    this.#running ??= turn().then(() => this.#run());
  }

  /** Resolves once the epoch has begun on disk, or the disk has refused it. */
  async opened(): Promise<void> {
    await this.#opened.promise;
  }

  async #run(): Promise<void> {
    try {
      for (let due = this.#duties(); this.#owes(due); due = this.#duties()) {
        await this.#step(due);
        // One duty at a time: what comes due again and again must not keep anybody from his turn.
        if (!this.#asked && this.#epochWritten) break;
        await turn();
      }
    } catch (error) {
      this.#refuse(error);
    }
    this.#running = undefined;
    this.#tell();
    this.#arm();
  }

  #owes(due: Duties): boolean {
    if (this.#ended) return false;
    if (this.#stopping) return this.#waitedFor;
    return this.#asked || due.epoch || due.segment || due.checkpoint;
  }

  get #waitedFor(): boolean {
    return this.#queue.dueMs <= this.#options.clock.monotonicMs() || this.#segmentWanted.length > 0 || this.#ending !== undefined;
  }

  get #asked(): boolean {
    return this.#waitedFor || this.#notes.length > 0 || this.#nextSealer !== undefined;
  }

  #duties(): Duties {
    const { ledger, clock, bounds } = this.#options;
    const nowMs = clock.monotonicMs();
    if (!this.#epochWritten) return { epoch: false, segment: true, checkpoint: false, nextMs: nowMs };
    const { open } = ledger;
    const times = {
      epochBeganMs: this.#epoch.beganMs,
      segmentBeganMs: this.#segmentBeganMs,
      segmentBytes: open?.bytes ?? 0,
      segmentHas: open?.sealedMs !== undefined ? 'records' : (open?.frames ?? 0) > 0 ? 'statements' : 'nothing',
      checkpointMs: this.#checkpointMs,
      unsignedRecords: this.#unsignedRecords,
    } as const;
    return dutiesAt(nowMs, times, bounds);
  }

  async #step(due: Duties): Promise<void> {
    if (this.#options.volume.over) await this.#refuseForRoom();
    const last = this.#queue.length === 0 && this.#notes.length === 0;
    if (this.#ending !== undefined && last) await this.#finish(this.#ending);
    else if (due.epoch) await this.#rotate();
    else await this.#commit(due);
  }

  async #commit(due: Duties): Promise<void> {
    const commit = await this.#compose(due);
    // All who waited may have been refused for want of room.
    if (commit.draft.frames.length === 0) return;
    await this.#write(commit.draft, commit.sealer, commit.batch[0]?.atMs);
    this.#settle(commit);
  }

  async #compose(due: Duties): Promise<Commit> {
    const { ledger, clock, bounds, origin } = this.#options;
    const draft = new CommitDraft(ledger, this.#epoch.number, clock.wallMs());
    const sealer = this.#nextSealer ?? this.#sealer;
    this.#inFlight = { batch: [], wanted: this.#segmentWanted.splice(0) };
    const begins = due.segment || sealer !== this.#sealer || this.#inFlight.wanted.length > 0;
    const first = !this.#epochWritten;
    if (begins) draft.statement('segment', this.#epoch.segment(ledger, sealer.recipients, draft.time));
    let checkpoint = first ? draft.checkpoint(origin, this.#epoch.key) : undefined;
    const notes = this.#notes.slice(0, NOTES_MAX);
    for (const { kind, body } of notes) draft.statement(kind, body);
    const batch = this.#queue.takeBatch();
    this.#inFlight = { ...this.#inFlight, batch };
    const sealed = await draft.batch(batch, sealer);
    const unsigned = this.#unsignedRecords + batch.length;
    const signs = due.checkpoint || unsigned >= bounds.auditCheckpointRecords;
    if (signs) checkpoint = draft.checkpoint(origin, this.#epoch.key);
    return { draft, sealer, begins, first, notes, batch, sealed, checkpoint, unsigned: signs ? 0 : unsigned };
  }

  #settle({ sealer, begins, first, notes, batch, sealed, checkpoint, unsigned }: Commit): void {
    const { clock, onEpoch, onSegment, onCheckpoint } = this.#options;
    const { wanted } = this.#inFlight;
    this.#inFlight = NOBODY;
    for (const { resolve } of this.#notes.splice(0, notes.length)) resolve();
    this.#unsignedRecords = unsigned;
    this.#sealer = sealer;
    if (this.#nextSealer === sealer) this.#nextSealer = undefined;
    if (begins) this.#segmentBeganMs = clock.monotonicMs();
    if (checkpoint !== undefined) this.#checkpointMs = clock.monotonicMs();
    this.#epochWritten = true;
    this.#opened.resolve();
    for (const [index, { resolve }] of batch.entries())
      if (sealed !== undefined) resolve({ sequence: sealed.sequence + index, frameSequence: sealed.sequence, frame: sealed.bytes });
    for (const { resolve } of wanted) resolve();
    if (first) onEpoch();
    if (begins) onSegment();
    if (checkpoint !== undefined) onCheckpoint(checkpoint);
  }

  /** The epoch is over: its end and the checkpoint directly behind it, and then nothing more of it. */
  async #close(because: EndReason): Promise<string> {
    const { ledger, clock, origin, onCheckpoint } = this.#options;
    const draft = new CommitDraft(ledger, this.#epoch.number, clock.wallMs());
    draft.statement('end', statementBody({ ended_at: draft.time, because }));
    const checkpoint = draft.checkpoint(origin, this.#epoch.key);
    await this.#write(draft, this.#sealer, undefined);
    this.#unsignedRecords = 0;
    this.#checkpointMs = clock.monotonicMs();
    onCheckpoint(checkpoint);
    return checkpoint;
  }

  async #rotate(): Promise<void> {
    const { ledger, clock, origin } = this.#options;
    await this.#close('rotated');
    this.#epoch = new Epoch(origin, ledger, clock.monotonicMs());
    this.#epochWritten = false;
  }

  async #finish({ because, resolve }: Ending): Promise<void> {
    const checkpoint = this.#epochWritten ? await this.#close(because) : undefined;
    this.#ended = true;
    this.#options.ledger.closeLast();
    for (const wanted of this.#segmentWanted.splice(0)) wanted.resolve();
    resolve(checkpoint);
    this.#options.onSegment();
  }

  /** Resolves once the frames are durable, and are the chain's. */
  async #write(draft: CommitDraft, sealer: FrameSealer, sinceMs: number | undefined): Promise<void> {
    const { wal, ledger } = this.#options;
    const written = wal.append(draft.payload(), sinceMs);
    // Once the write is on its way to the disk, not before.
    setImmediate(() => sealer.prepare(SHARES_READY));
    const { sequence } = await written;
    for (const frame of draft.frames) ledger.take(frame, sequence);
    this.#tell();
  }

  async #refuseForRoom(): Promise<void> {
    const { volume, clock, appendMs } = this.#options;
    await volume.tryGiveBack((this.#queue.oldestMs ?? clock.monotonicMs()) + appendMs);
    if (!volume.over) return;
    for (const { reject } of this.#queue.takeWhere(({ entry }) => !GOES_ON.includes(entry.kind))) reject(chainFault('volume'));
    this.#tell();
  }

  #refuse(error: unknown): void {
    this.#opened.resolve();
    const { batch, wanted } = this.#inFlight;
    this.#inFlight = NOBODY;
    this.#failedMs = this.#options.clock.monotonicMs();
    for (const { reject } of [...batch, ...this.#queue.takeAll(), ...wanted, ...this.#segmentWanted.splice(0)]) reject(error);
    if (this.#ending === undefined) return;
    this.#ended = true;
    this.#ending.reject(error);
  }

  #arm(): void {
    if (this.#ended || this.#running !== undefined) return;
    const { clock } = this.#options;
    // Notes and recipients that a fault kept out are tried again with no record to bring them along.
    const nextMs = this.#asked ? clock.monotonicMs() : this.#duties().nextMs;
    this.#alarm.by(Math.min(this.#queue.dueMs, Math.max(nextMs, this.#failedMs + RETRY_MS)));
  }

  #tell(): void {
    const { fault } = this;
    if (fault === this.#fault) return;
    this.#fault = fault;
    this.#options.onFault(fault);
  }
}
