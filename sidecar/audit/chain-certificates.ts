/**
 * Asks for the certificates that the chain lacks, one at a time and the oldest first: those of epochs before this one, whose process died
 * or had nobody to ask, and that of this one. The authority answers for no epoch behind one it has answered for (AUD-04), so the next is
 * asked for only once the answer before is durable in the chain: a crash in between would leave an epoch that nobody ever certifies.
 */
import { type Certificate, certificateText } from '#core/audit/checkpoint.ts';
import { parseNote } from '#core/audit/signed-note.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Authority } from './authority.ts';

export interface CertificateHooks {
  /** The oldest one that the log lacks. */
  readonly wanted: () => Certificate | undefined;
  /** Resolves once it is durable in the chain; never, where the chain takes no more. */
  readonly record: (note: string) => Promise<void>;
}

export class ChainCertificates {
  readonly #authority: Pick<Authority, 'certify'>;
  readonly #clock: Pick<Clock, 'sleep'>;
  readonly #hooks: CertificateHooks;
  readonly #stop: AbortSignal;
  #running = false;

  constructor(authority: Pick<Authority, 'certify'>, clock: Pick<Clock, 'sleep'>, hooks: CertificateHooks, stop: AbortSignal) {
    this.#authority = authority;
    this.#clock = clock;
    this.#hooks = hooks;
    this.#stop = stop;
  }

  /** An epoch has begun, or the chain was opened. */
  ask(): void {
    if (this.#running) return;
    this.#running = true;
    void this.#run().finally(() => {
      this.#running = false;
    });
  }

  async #run(): Promise<void> {
    for (let wanted = this.#hooks.wanted(); wanted !== undefined; wanted = this.#hooks.wanted()) {
      const note = await this.#answerTo(wanted).catch(() => undefined);
      if (note === undefined) return;
      await this.#hooks.record(note);
    }
  }

  /** Asks until there is an answer. Rejects when the chain is closed. */
  async #answerTo(wanted: Certificate): Promise<string> {
    const text = certificateText(wanted);
    for (let waitMs: number = limits.auditShipRetryMsMin; ; waitMs = Math.min(waitMs * 2, limits.auditShipRetryMsMax)) {
      const note = await this.#authority.certify(wanted).catch(() => undefined);
      this.#stop.throwIfAborted();
      // What would break the chain, or be another's, is no answer.
      if (note !== undefined && parseNote(note)?.text === text) return note;
      await this.#clock.sleep(waitMs, this.#stop);
    }
  }
}
