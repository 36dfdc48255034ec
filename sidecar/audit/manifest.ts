/** What a chain that ends in order leaves in the store beside its segments: their list (FORMAT.md, "In a store"). Nothing depends on it. */
import { limits } from '#core/bounds/limits.ts';
import type { ClosedSegment } from './closed-segments.ts';

export type ListedSegment = Pick<ClosedSegment, 'number' | 'firstSequence' | 'lastSequence' | 'bytes' | 'sha256'>;

export interface Manifest {
  readonly firstSequence: number;
  readonly lastSequence: number;
  readonly bytes: Buffer;
}

/**
 * Of the segments that are known, in any order: the row without a gap that ends with the last one. What is not known is left out, and not
 * made up; undefined where nothing is known.
 */
export function manifestOf(origin: string, known: Iterable<ListedSegment>): Manifest | undefined {
  const byNumber = new Map([...known].map((segment) => [segment.number, segment]));
  const last = byNumber.get(Math.max(0, ...byNumber.keys()));
  if (last === undefined) return undefined;
  const row = [last];
  for (let next = last; row.length < limits.auditManifestSegmentsMax; ) {
    const before = byNumber.get(next.number - 1);
    if (before === undefined || before.lastSequence + 1 !== next.firstSequence) break;
    row.push(before);
    next = before;
  }
  const segments = row.reverse().map((segment) => ({
    number: segment.number,
    first_sequence: segment.firstSequence,
    last_sequence: segment.lastSequence,
    bytes: segment.bytes,
    sha256: Buffer.from(segment.sha256).toString('hex'),
  }));
  const text = JSON.stringify({ format: 'postern-audit-manifest/1', origin, segments, ended: true });
  return { firstSequence: row[0]?.firstSequence ?? last.firstSequence, lastSequence: last.lastSequence, bytes: Buffer.from(`${text}\n`) };
}
