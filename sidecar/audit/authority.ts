/**
 * Who answers for the keys of a chain, has seen its heads, and keeps what must outlive the pod: a key file standalone, the operator in a
 * cluster. Every promise rejects with AUDIT_UNAVAILABLE at the latest after limits.auditAuthorityMs, and may be asked again.
 */
import type { Certificate } from '#core/audit/checkpoint.ts';

export interface Authority {
  /** The certificate, a signed note. The chain goes on without one until it comes. */
  certify(certificate: Certificate): Promise<string>;
  /**
   * The checkpoint with a cosignature: a receipt. Absent where nobody outside watches. Rejects with AUDIT_UNAVAILABLE and `details.conflict`
   * where the witness knows another or a later head; that is never asked again.
   */
  readonly witness?: (checkpoint: string) => Promise<string>;
  /** Resolves once this frame, with the intent of an effect, outlives the pod. Absent where the pod's own disk must do. */
  readonly keep?: ((sequence: number, frame: Uint8Array) => Promise<void>) | undefined;
}
