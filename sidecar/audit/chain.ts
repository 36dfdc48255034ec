/**
 * The chain of the audit on this disk: records go in and are durable when this says so; closed segments are taken out for shipping.
 * The bytes are those of core/audit/FORMAT.md, kept in a write-ahead log of its own; each payload of the log is one commit: whole frames.
 *
 * After every crash the chain goes on from the last frame that the log has, in a new epoch with a new key.
 */
import { randomUUID } from 'node:crypto';
import { isOrigin, ORIGIN_PREFIX } from '#core/audit/checkpoint.ts';
import { createFrameSealer } from '#core/audit/seal.ts';
import type { EndReason } from '#core/audit/statement.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Disk } from '#sidecar/wal/disk.ts';
import { Wal } from '#sidecar/wal/wal.ts';
import type { AuditLog, Entry, Recorded } from './audit-log.ts';
import type { Authority } from './authority.ts';
import { readBegan, writeBegan } from './chain-began.ts';
import { ChainCertificates } from './chain-certificates.ts';
import type { ChainBounds } from './chain-duties.ts';
import { chainFault } from './chain-fault.ts';
import { ChainLedger, type FoundOperation } from './chain-ledger.ts';
import { ChainReceipts } from './chain-receipts.ts';
import { ChainVolume } from './chain-volume.ts';
import { ChainWriter } from './chain-writer.ts';
import type { ClosedSegment, ClosedSegments } from './closed-segments.ts';
import { SegmentShelf } from './segments.ts';

export interface AuditChainOptions {
  /** Of this chain alone; made with mode 0700 when it is not there. */
  readonly folder: string;
  readonly clock: Clock;
  readonly authority: Authority;
  readonly terms: {
    /** Undefined: that of the chain in the folder, or a new one of this machine in an empty folder. */
    readonly origin?: string;
    /** `age1...`, at least one. Undefined: those of the last segment in the folder. */
    readonly recipients?: readonly string[];
  };
  /** Why no records are taken, as a closed word; undefined when they are again. For metric and probe. */
  readonly onFault?: (fault: string | undefined) => void;
  /** The witness knows another or a later head: this chain is a fork or an older copy (AUD-03, AUD-24). Told once. */
  readonly onConflict?: (error: unknown) => void;
  readonly disk?: Disk;
  /** For tests; default limits.*. */
  readonly bounds?: Partial<ChainBounds> & { readonly walSegmentBytes?: number; readonly walAppendMs?: number };
}

/** Where the chain stands. */
export interface ChainStand {
  /** Sequence of the last record. */
  readonly size: number;
  /** 32 bytes; of the frame that record ends. */
  readonly hash: Uint8Array;
}

export class AuditChain implements AuditLog, ClosedSegments {
  readonly origin: string;
  readonly #options: AuditChainOptions;
  readonly #wal: Wal;
  readonly #ledger: ChainLedger;
  readonly #writer: ChainWriter;
  readonly #receipts: ChainReceipts;
  readonly #certificates: ChainCertificates;
  readonly #shelf: SegmentShelf;
  readonly #stop = new AbortController();
  #began: number | undefined;

  /**
   * Throws AUDIT_UNAVAILABLE: the folder is another's, is written by another process (AUD-16), cannot be read or is damaged (AUD-11; not one
   * byte is changed); RecipientUnusable. A disk that takes no records is no reason: appends say so, and work once it does.
   */
  static async open(options: AuditChainOptions): Promise<AuditChain> {
    const { folder, clock, terms, disk, bounds } = options;
    if (terms.origin !== undefined && !isOrigin(terms.origin)) throw new RangeError('an origin that is none');
    const ledger = new ChainLedger();
    await ledger.uncertified.read(folder);
    const wal = await Wal.open({
      folder,
      clock,
      onRecord: (payload, sequence) => ledger.read(payload, sequence, terms.origin),
      ...(disk === undefined ? {} : { disk }),
      ...(bounds?.walSegmentBytes === undefined ? {} : { segmentBytes: bounds.walSegmentBytes }),
      ...(bounds?.walAppendMs === undefined ? {} : { appendMs: bounds.walAppendMs }),
    });
    try {
      const recipients = terms.recipients ?? ledger.statement?.recipients;
      if (recipients === undefined || recipients.length === 0) throw chainFault('recipients');
      const chain = new AuditChain(options, wal, ledger, recipients);
      chain.#began = await readBegan(folder);
      chain.#writer.start();
      await chain.#writer.opened();
      return chain;
    } catch (error) {
      await wal.close();
      throw error;
    }
  }

  private constructor(options: AuditChainOptions, wal: Wal, ledger: ChainLedger, recipients: readonly string[]) {
    const { clock, authority, terms } = options;
    this.#options = options;
    this.#wal = wal;
    this.#ledger = ledger;
    this.origin = terms.origin ?? ledger.statement?.origin ?? `${ORIGIN_PREFIX}standalone/local/${randomUUID()}`;
    const bounds = { ...limits, ...options.bounds };
    const volume = new ChainVolume(wal, ledger, clock, bounds.auditVolumeBytes, () => this.#beforeDrop());
    this.#shelf = new SegmentShelf(wal, ledger, volume, options.bounds?.walSegmentBytes);
    this.#receipts = new ChainReceipts(
      authority.witness,
      clock,
      { onReceipt: (receipt) => void this.#writer.note('receipt', receipt), onConflict: (error) => options.onConflict?.(error) },
      this.#stop.signal,
    );
    const certificates = {
      wanted: () => ledger.uncertified.oldest(this.origin),
      record: (note: string) => this.#writer.note('certificate', note),
    };
    this.#certificates = new ChainCertificates(authority, clock, certificates, this.#stop.signal);
    this.#writer = new ChainWriter({
      wal,
      ledger,
      clock,
      bounds,
      volume,
      origin: this.origin,
      appendMs: options.bounds?.walAppendMs ?? limits.walAppendMs,
      sealer: createFrameSealer(recipients),
      onEpoch: () => this.#certificates.ask(),
      onSegment: () => this.#shelf.tell(),
      onCheckpoint: (checkpoint) => this.#receipts.show(checkpoint),
      onFault: (fault) => options.onFault?.(fault),
    });
  }

  append(entry: Entry): Promise<Recorded> {
    return this.#writer.append(entry);
  }

  hurry(): void {
    this.#writer.hurry();
  }

  get fault(): string | undefined {
    return this.#writer.fault;
  }

  get head(): ChainStand {
    return { size: this.#ledger.size, hash: this.#ledger.hash };
  }

  /** When the newest checkpoint that the witness has seen was signed, wall time; undefined before the first. */
  get headWitnessedMs(): number | undefined {
    return this.#receipts.witnessedMs;
  }

  /** When the chain began, milliseconds since 1970: the date in the layout of a store. */
  get beganMs(): number {
    return this.#began ?? this.#ledger.firstMs ?? this.#options.clock.wallMs();
  }

  get bytes(): number {
    return this.#wal.bytes;
  }

  /** What the processes before this one left in the log: operations by their id. */
  get found(): ReadonlyMap<string, FoundOperation> {
    return this.#ledger.found;
  }

  /** Who can read what is recorded from now on: begins a segment, where they are others (AUD-21). Throws RecipientUnusable. */
  recipients(list: readonly string[]): void {
    if (list.length === 0 || list.length > limits.auditRecipientsMax) throw new RangeError(`${list.length} recipients`);
    this.#writer.recipients(list);
  }

  closed(): readonly ClosedSegment[] {
    return this.#shelf.closed();
  }

  read(segment: ClosedSegment): Promise<Buffer> {
    return this.#shelf.read(segment);
  }

  shipped(segment: ClosedSegment): Promise<void> {
    return this.#shelf.shipped(segment);
  }

  onClosed(listener: () => void): () => void {
    return this.#shelf.onClosed(listener);
  }

  closeSegment(): Promise<void> {
    return this.#writer.closeSegment();
  }

  get unshippedBytes(): number {
    return this.#shelf.unshippedBytes;
  }

  get oldestUnshippedMs(): number | undefined {
    return this.#shelf.oldestUnshippedMs;
  }

  /**
   * Takes no more records, ends the epoch and signs it, and waits until the witness has seen that, at most limits.auditLastReceiptMs. The last
   * segment is closed then and may be shipped before `close`. Rejects with AUDIT_UNAVAILABLE when the disk does not take the end: the
   * epoch is then as after a crash.
   */
  async end(because: EndReason = 'stopped'): Promise<void> {
    const checkpoint = await this.#writer.end(because);
    if (checkpoint === undefined) return;
    const patience = new AbortController();
    const waited = this.#options.clock.sleep(limits.auditLastReceiptMs, patience.signal).catch(() => undefined);
    await Promise.race([this.#receipts.idle(), waited]);
    patience.abort();
  }

  /** Gives the folder free. Without `end` before, the epoch is as after a crash. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#writer.stop();
    await this.#wal.close();
  }

  /** Segments may go now, and with them what says when the chain began, and which keys nobody has answered for. */
  async #beforeDrop(): Promise<void> {
    await this.#ledger.uncertified.write(this.#options.folder);
    if (this.#began !== undefined) return;
    const { beganMs } = this;
    await writeBegan(this.#options.folder, beganMs);
    this.#began = beganMs;
  }
}
