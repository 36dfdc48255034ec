/** The room of the audit: past a share of it only outcomes and statements are taken; what is shipped is given back first. */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Wal } from '#sidecar/wal/wal.ts';
import type { ChainLedger } from './chain-ledger.ts';

export class ChainVolume {
  readonly #wal: Wal;
  readonly #ledger: ChainLedger;
  readonly #bytesMax: number;
  /** Called before the first records are given back, each time; what the log holds is lost for whoever needs it later. */
  readonly #beforeDrop: () => Promise<void>;
  #giving: Promise<void> | undefined;

  readonly #clock: Clock;

  constructor(wal: Wal, ledger: ChainLedger, clock: Clock, volumeBytes: number, beforeDrop: () => Promise<void>) {
    this.#clock = clock;
    this.#wal = wal;
    this.#ledger = ledger;
    this.#bytesMax = volumeBytes * limits.auditVolumeShareMax;
    this.#beforeDrop = beforeDrop;
  }

  get over(): boolean {
    return this.#wal.bytes > this.#bytesMax;
  }

  /** All that may go, waited for until `untilMs` (monotonic); not at all while a disk that hangs is still at it (AUD-15). */
  async tryGiveBack(untilMs: number): Promise<void> {
    if (this.#giving !== undefined) return;
    const late = Promise.withResolvers<void>();
    const cancel = this.#clock.alarm(Math.max(0, untilMs - this.#clock.monotonicMs()), late.resolve);
    await Promise.race([this.giveBack(), late.promise]);
    cancel();
  }

  /** At least so many bytes, or nothing: beginning a file costs a sync. Resolves also when the disk refuses; it is tried again. */
  async giveBack(bytesMin = 1): Promise<void> {
    while (this.#giving !== undefined) await this.#giving;
    this.#giving = this.#give(bytesMin);
    await this.#giving;
    this.#giving = undefined;
  }

  async #give(bytesMin: number): Promise<void> {
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
