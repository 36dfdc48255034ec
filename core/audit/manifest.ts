/**
 * The manifest of a chain that ended: what segments it had. A convenience for finding what is missing, which proves nothing: no verdict
 * depends on it (FORMAT.md, "In a store").
 */
import { limits } from '#core/bounds/limits.ts';
import { isOrigin } from './checkpoint.ts';

export interface Manifest {
  readonly origin: string;
  /** A row without a gap. */
  readonly segments: readonly ManifestSegment[];
}

export interface ManifestSegment {
  readonly number: number;
  readonly first_sequence: number;
  readonly last_sequence: number;
  readonly bytes: number;
  /** Hex. */
  readonly sha256: string;
}

const FORMAT = 'postern-audit-manifest/1';
const HEX = /^[0-9a-f]{64}$/;

/** Undefined for what is none, is longer than limits.auditManifestBytesMax, or lists more than limits.auditManifestSegmentsMax (AUD-22). */
export function parseManifest(bytes: Uint8Array): Manifest | undefined {
  if (bytes.length > limits.auditManifestBytesMax) return undefined;
  const { format, origin, segments, ended } = objectOf(bytes) ?? {};
  if (format !== FORMAT || ended !== true || typeof origin !== 'string' || !isOrigin(origin) || !Array.isArray(segments)) return undefined;
  if (segments.length === 0 || segments.length > limits.auditManifestSegmentsMax) return undefined;
  const listed = segments.map(segmentOf);
  return listed.every((segment, index) => segment !== undefined && follows(segment, listed[index - 1]))
    ? { origin, segments: listed.filter((segment) => segment !== undefined) }
    : undefined;
}

/** The last of them, and how many end behind `last`: what never came, or was taken away. */
export function missingAfter({ segments }: Manifest, last: number): { readonly count: number; readonly to: number } {
  return { count: segments.filter((segment) => segment.last_sequence > last).length, to: segments.at(-1)?.last_sequence ?? 0 };
}

function segmentOf(value: unknown): ManifestSegment | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { number, first_sequence, last_sequence, bytes, sha256 } = value as Readonly<Record<string, unknown>>;
  if (!isCount(number) || !isCount(first_sequence) || !isCount(last_sequence) || !isCount(bytes)) return undefined;
  if (last_sequence < first_sequence || typeof sha256 !== 'string' || !HEX.test(sha256)) return undefined;
  return { number, first_sequence, last_sequence, bytes, sha256 };
}

function follows(segment: ManifestSegment, before: ManifestSegment | undefined): boolean {
  return before === undefined || (segment.number === before.number + 1 && segment.first_sequence === before.last_sequence + 1);
}

function objectOf(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}
