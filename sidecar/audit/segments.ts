/** Closed segments for the shipper: read back from the log, and given back to it once they are stored elsewhere. */
import { hash } from 'node:crypto';
import { limits } from '#core/bounds/limits.ts';
import type { Wal } from '#sidecar/wal/wal.ts';
import { chainFault } from './chain-fault.ts';
import type { ChainLedger, StoredSegment } from './chain-ledger.ts';
import type { ChainVolume } from './chain-volume.ts';
import type { ClosedSegment } from './closed-segments.ts';

export class SegmentShelf {
  readonly #wal: Wal;
  readonly #ledger: ChainLedger;
  readonly #volume: ChainVolume;
  readonly #giveBackBytes: number;
  readonly #listeners = new Set<() => void>();

  constructor(wal: Wal, ledger: ChainLedger, volume: ChainVolume, giveBackBytes: number = limits.walSegmentBytes) {
    this.#wal = wal;
    this.#ledger = ledger;
    this.#volume = volume;
    this.#giveBackBytes = giveBackBytes;
  }

  closed(): readonly ClosedSegment[] {
    return [...this.#ledger.closed];
  }

  async read(segment: ClosedSegment): Promise<Buffer> {
    const stored = this.#ledger.closed.find(({ number }) => number === segment.number);
    if (stored === undefined) throw chainFault('segment', `segment ${segment.number}`);
    const payloads: Buffer[] = [];
    for await (const { payload } of this.#wal.records(stored.logFrom, stored.logTo)) payloads.push(Buffer.from(payload));
    const bytes = Buffer.concat(payloads);
    if (bytes.length !== stored.bytes || !hash('sha256', bytes, 'buffer').equals(stored.sha256))
      throw chainFault('segment', `segment ${segment.number}`);
    return bytes;
  }

  async shipped(segment: ClosedSegment): Promise<void> {
    this.#ledger.give(segment);
    await this.#volume.giveBack(this.#giveBackBytes);
  }

  onClosed(listener: () => void): () => void {
    this.#listeners.add(listener);
    if (this.#ledger.closed.length > 0) listener();
    return () => this.#listeners.delete(listener);
  }

  tell(): void {
    if (this.#ledger.closed.length > 0) for (const listener of this.#listeners) listener();
  }

  get unshippedBytes(): number {
    return this.#ledger.closed.reduce((sum, { bytes }) => sum + bytes, this.#ledger.open?.bytes ?? 0);
  }

  get oldestUnshippedMs(): number | undefined {
    const closed = this.#ledger.closed.find(({ sealedMs }: StoredSegment) => sealedMs !== undefined);
    return closed?.sealedMs ?? this.#ledger.open?.sealedMs;
  }
}
