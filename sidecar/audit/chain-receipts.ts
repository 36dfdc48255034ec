/**
 * Shows checkpoints to the witness, one at a time, the newest when several wait. Its answer is recorded in the chain: a receipt. What a
 * receipt is worth is judged by who verifies; here only that it speaks of this checkpoint, so that no answer can break the chain.
 */
import { hasCosignature, parseNote } from '#core/audit/signed-note.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Authority } from './authority.ts';

export interface ReceiptHooks {
  /** A receipt to record. */
  readonly onReceipt: (receipt: string) => void;
  /** The witness knows another or a later head (AUD-24): this chain is a fork, or an older copy. Nothing is shown to it any more. */
  readonly onConflict: (error: unknown) => void;
}

export class ChainReceipts {
  readonly #witness: Authority['witness'];
  readonly #clock: Clock;
  readonly #hooks: ReceiptHooks;
  readonly #stop: AbortSignal;
  #newest: string | undefined;
  #running: Promise<void> | undefined;
  #conflict = false;
  /** When the newest checkpoint that was witnessed was shown, wall time; undefined before the first answer. */
  witnessedMs: number | undefined;

  constructor(witness: Authority['witness'], clock: Clock, hooks: ReceiptHooks, stop: AbortSignal) {
    this.#witness = witness;
    this.#clock = clock;
    this.#hooks = hooks;
    this.#stop = stop;
  }

  /** A checkpoint that is durable. */
  show(checkpoint: string): void {
    if (this.#witness === undefined || this.#conflict || this.#stop.aborted) return;
    this.#newest = checkpoint;
    this.#running ??= this.#run();
  }

  /** Until nothing waits for the witness. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    let waitMs: number = limits.auditShipRetryMsMin;
    while (this.#newest !== undefined && !this.#stop.aborted) {
      const checkpoint = this.#newest;
      if (await this.#ask(checkpoint)) {
        waitMs = limits.auditShipRetryMsMin;
        if (this.#newest === checkpoint) this.#newest = undefined;
        continue;
      }
      await this.#clock.sleep(waitMs, this.#stop).catch(() => undefined);
      waitMs = Math.min(waitMs * 2, limits.auditShipRetryMsMax);
    }
    // Here and not behind the promise: a checkpoint that is shown in between would wait for the next one.
    this.#running = undefined;
  }

  /** False: ask again. */
  async #ask(checkpoint: string): Promise<boolean> {
    try {
      const shownMs = this.#clock.wallMs();
      const receipt = (await this.#witness?.(checkpoint)) ?? '';
      if (!isReceiptFor(receipt, checkpoint)) return false;
      this.witnessedMs = shownMs;
      this.#hooks.onReceipt(receipt);
      return true;
    } catch (error) {
      if ((error as { readonly details?: { readonly conflict?: string } }).details?.conflict === undefined) return false;
      this.#conflict = true;
      this.#newest = undefined;
      this.#hooks.onConflict(error);
      return true;
    }
  }
}

function isReceiptFor(receipt: string, checkpoint: string): boolean {
  const note = parseNote(receipt);
  const asked = parseNote(checkpoint);
  if (note === undefined || asked === undefined || note.text !== asked.text) return false;
  return hasCosignature(note);
}
