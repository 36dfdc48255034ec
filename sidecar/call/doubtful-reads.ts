/**
 * Reads of this session that were incomplete, warned or failed, for the cards of its effects: a person who decides should know what the
 * agent did not get to see. In memory, bounded, newest first; a yes of a person begins it anew, and so does a restart - the list says from
 * when it speaks.
 */
import type { DoubtfulRead } from '#core/approval/card-facts.ts';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Completeness, Envelope } from '#core/completeness/envelope.ts';
import type { PosternError } from '#core/error/postern-error.ts';

export class DoubtfulReads {
  readonly #clock: Clock;
  #reads: DoubtfulRead[] = [];
  #sinceMs: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#sinceMs = clock.wallMs();
  }

  /** From when the list speaks, wall clock. */
  get sinceMs(): number {
    return this.#sinceMs;
  }

  answered(action: string, { completeness, warnings }: Pick<Envelope, 'completeness' | 'warnings'>): void {
    // Almost every read: nothing to remember, nothing to pay.
    if (completeness.complete && warnings.length === 0) return;
    this.#add(action, [...reasonCodes(completeness), ...warnings.map(({ code }) => code)]);
  }

  /** Only where the remote was asked and did not answer well; a refused call is no read. */
  failed(action: string, { reason, completeness }: PosternError): void {
    if (completeness !== undefined) this.#add(action, [reason]);
  }

  /** At most limits.cardReadsMax. */
  list(): readonly DoubtfulRead[] {
    return this.#reads;
  }

  beginAnew(): void {
    this.#reads = [];
    this.#sinceMs = this.#clock.wallMs();
  }

  #add(action: string, codes: readonly string[]): void {
    const read = { action, atMs: this.#clock.wallMs(), codes: [...new Set(codes)].slice(0, limits.cardCodesMax) };
    this.#reads = [read, ...this.#reads].slice(0, limits.cardReadsMax);
  }
}

function reasonCodes({ incomplete_reasons: reasons }: Completeness): readonly string[] {
  return reasons.map(({ code }) => code);
}
