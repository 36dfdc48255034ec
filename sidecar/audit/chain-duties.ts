/** What the chain owes at a moment, whoever appends. Pure; all times monotonic, so that no wall clock that jumps stops a seal (AUD-17). */
import type { limits } from '#core/bounds/limits.ts';

export type ChainLimits = Pick<
  typeof limits,
  | 'auditSegmentBytes'
  | 'auditSegmentAgeMs'
  | 'auditIdleSegmentAgeMs'
  | 'auditCheckpointRecords'
  | 'auditCheckpointMs'
  | 'auditIdleCheckpointMs'
  | 'auditEpochMs'
  | 'auditVolumeBytes'
>;
/** The same, each of it a plain number. */
export type ChainBounds = { readonly [Name in keyof ChainLimits]: number };

export interface ChainTimes {
  readonly epochBeganMs: number;
  readonly segmentBeganMs: number;
  readonly segmentBytes: number;
  /** Whether the segment has a record, or a statement beside its own. */
  readonly segmentHas: 'records' | 'statements' | 'nothing';
  readonly checkpointMs: number;
  /** Sealed records behind the last checkpoint. */
  readonly unsignedRecords: number;
}

export interface Duties {
  readonly epoch: boolean;
  readonly segment: boolean;
  readonly checkpoint: boolean;
  /** When the next of them is due. */
  readonly nextMs: number;
}

export function dutiesAt(nowMs: number, times: ChainTimes, bounds: ChainBounds): Duties {
  const epochMs = times.epochBeganMs + bounds.auditEpochMs;
  const ages = { records: bounds.auditSegmentAgeMs, statements: bounds.auditIdleSegmentAgeMs, nothing: Number.POSITIVE_INFINITY };
  const segmentMs = times.segmentBytes > bounds.auditSegmentBytes ? nowMs : times.segmentBeganMs + ages[times.segmentHas];
  const checkpointMs =
    times.unsignedRecords >= bounds.auditCheckpointRecords
      ? nowMs
      : times.checkpointMs + (times.unsignedRecords > 0 ? bounds.auditCheckpointMs : bounds.auditIdleCheckpointMs);
  return {
    epoch: nowMs >= epochMs,
    segment: nowMs >= segmentMs,
    checkpoint: nowMs >= checkpointMs,
    nextMs: Math.min(epochMs, segmentMs, checkpointMs),
  };
}
