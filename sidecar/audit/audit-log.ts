/** What the rest of the sidecar sees of its chain: records go in, in order, and are durable when this says so. */
import type { SealedKind } from '#core/audit/frame.ts';

export interface Entry {
  readonly kind: SealedKind;
  /** `op_` and 26 characters. */
  readonly operationId?: string;
  /** One JSON object without a line feed, at most limits.auditRecordBytesMax bytes. No secret, token or signed header. */
  readonly text: string;
  /** Nobody waits for it: it goes with the next commit that somebody waits for, or by itself after limits.auditLingerMs. */
  readonly lingers?: boolean;
}

/** Of a durable record. */
export interface Recorded {
  readonly sequence: number;
  /** Sequence of the first record of its frame. */
  readonly frameSequence: number;
  /** Its frame, as it stands in the chain. */
  readonly frame: Uint8Array;
}

export interface AuditLog {
  /**
   * Resolves once the record is durable on this disk. Rejects with AUDIT_UNAVAILABLE at the latest after limits.walAppendMs. Records stand
   * in the chain in the order of the calls.
   */
  append(entry: Entry): Promise<Recorded>;
  /** What lingers goes now. */
  hurry?(): void;
  /** Why no record is taken at the moment, as a closed word for a probe. */
  readonly fault: string | undefined;
}
