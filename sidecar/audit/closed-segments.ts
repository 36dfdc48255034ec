/** What the chain has for shipping: segments that are closed, in order, until they are stored elsewhere. */

export interface ClosedSegment {
  /** From 1, as its statement says. */
  readonly number: number;
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly bytes: number;
  /** 32 bytes. */
  readonly sha256: Uint8Array;
  /** When its first record was written, milliseconds since 1970. */
  readonly openedMs: number;
}

export interface ClosedSegments {
  /** Not shipped yet, in order. */
  closed(): readonly ClosedSegment[];
  /** The bytes, always the same ones. Throws AUDIT_UNAVAILABLE. */
  read(segment: ClosedSegment): Promise<Buffer>;
  /** It is stored elsewhere, its size and digest have been compared: its room may be given back. Durable bookkeeping is not needed: a segment that is offered again after a crash is `present` in the store. */
  shipped(segment: ClosedSegment): Promise<void>;
  /** Called after a segment was closed; at once when there is one. */
  onClosed(listener: () => void): () => void;
  /** Closes the segment that is written to, if it has a record beside its statement. */
  closeSegment(): Promise<void>;
  /** Of everything that is not shipped, the open segment included. */
  readonly unshippedBytes: number;
  /** When the oldest record that is not shipped was written; undefined when there is none but statements. */
  readonly oldestUnshippedMs: number | undefined;
}
