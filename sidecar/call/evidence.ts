/**
 * Evidence tokens: what a complete, fresh answer proved, sealed so that the agent can carry it and not change it. Bound to
 * the session; revision, arguments, scope, ids and time are in the claim.
 */
import type { EvidenceClaim } from '#core/completeness/evidence-claim.ts';
import type { Sealer } from '#core/encoding/seal.ts';

export class EvidenceSealer {
  readonly #sealer: Sealer;
  readonly #session: string;

  constructor(sealer: Sealer, session: string) {
    this.#sealer = sealer;
    this.#session = session;
  }

  seal(claim: EvidenceClaim): string {
    return this.#sealer.seal(JSON.stringify(claim), this.#session);
  }
}
