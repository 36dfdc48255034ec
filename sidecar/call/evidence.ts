/**
 * Evidence tokens: what an answer proved, sealed so that the agent can carry it and not change it. Bound to the session; revision,
 * arguments, scope, ids and time are in the claim. What it proves, and whether that is enough, core/completeness decides.
 */
import { type EvidenceClaim, type ReviewClaim, readClaim } from '#core/completeness/evidence-claim.ts';
import type { Sealer } from '#core/encoding/seal.ts';

export class EvidenceSealer {
  readonly #sealer: Sealer;
  readonly #session: string;

  constructor(sealer: Sealer, session: string) {
    this.#sealer = sealer;
    this.#session = session;
  }

  seal(claim: EvidenceClaim | ReviewClaim): string {
    return this.#sealer.seal(JSON.stringify(claim), this.#session);
  }

  /** Undefined for anything this session did not seal: another session's, an edited one, one of another version of Postern. */
  open(token: string): EvidenceClaim | ReviewClaim | undefined {
    const text = this.#sealer.open(token, this.#session);
    return text === null ? undefined : readClaim(JSON.parse(text));
  }
}
