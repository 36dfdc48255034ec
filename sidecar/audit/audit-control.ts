/** What an operator says of a sidecar's audit, and does for it. Standalone all of it comes from the command line. */
import type { Authority } from './authority.ts';
import type { SegmentSink } from './segment-sink.ts';

export interface AuditTerms {
  /** `age1...`; none: nothing is recorded. */
  readonly recipients: readonly string[];
  /** Name of the chain. */
  readonly origin: string;
  readonly shipped: boolean;
  readonly keepsIntents: boolean;
}

export interface AuditControl {
  /** The newest terms, if any came yet. */
  terms(): AuditTerms | undefined;
  onTerms(listener: (terms: AuditTerms) => void): () => void;
  readonly authority: Authority;
  readonly sink: SegmentSink;
}
