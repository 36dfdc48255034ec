/** The room of the audit: past a share of it only outcomes and statements are taken; what is shipped is given back first. */
import { limits } from '#core/bounds/limits.ts';
import type { Wal } from '#sidecar/wal/wal.ts';
import type { ChainLedger } from './chain-ledger.ts';

export class ChainVolume {
  readonly #wal: Wal;
  readonly #ledger: ChainLedger;
  readonly #bytesMax: number;
  /** Called before the first records are given back, each time; what the log holds is lost for whoever needs it later. */
  readonly #beforeDrop: () => Promise<void>;

  constructor(wal: Wal, ledger: ChainLedger, volumeBytes: number, beforeDrop: () => Promise<void>) {
    this.#wal = wal;
    this.#ledger = ledger;
    this.#bytesMax = volumeBytes * limits.auditVolumeShareMax;
    this.#beforeDrop = beforeDrop;
  }

  get over(): boolean {
    return this.#wal.bytes > this.#bytesMax;
  }

  /** At least so many bytes, or nothing: beginning a file costs a sync. Resolves also when the disk refuses; it is tried again. */
  async giveBack(bytesMin = 1): Promise<void> {
    const from = this.#ledger.neededFrom;
    if (this.#wal.bytesBelow(from) < bytesMin) return;
    try {
      await this.#beforeDrop();
      await this.#wal.drop(from);
    } catch {
      // The room is only wanted; who appends is told of a disk that takes nothing.
    }
  }
}
