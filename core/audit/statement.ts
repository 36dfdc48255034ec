/** The statements of a chain that are JSON: what a segment says of itself, and that an epoch has ended (FORMAT.md, "Segment"). */
import { limits } from '#core/bounds/limits.ts';
import { epochKeyName, isOrigin, isTime } from './checkpoint.ts';
import { HASH_BYTES } from './frame.ts';
import { parseVerifier } from './signed-note.ts';

export interface SegmentStatement {
  readonly format: typeof FORMAT;
  readonly origin: string;
  /** From 1. */
  readonly segment: number;
  readonly epoch: number;
  /** Verifier key of the epoch. */
  readonly key: string;
  /** `age1...` */
  readonly recipients: readonly string[];
  /** RFC 3339. */
  readonly opened_at: string;
  readonly previous_segment?: { readonly bytes: number; readonly sha256: string };
  readonly previous_epoch?: { readonly sequence: number; readonly hash: string };
}

export interface EndStatement {
  /** RFC 3339. */
  readonly ended_at: string;
  readonly because: EndReason;
}

export type EndReason = (typeof END_REASONS)[number];

const END_REASONS = ['stopped', 'rotated'] as const;
export const FORMAT = 'postern-audit/1';
/** As a statement may name who can read a segment. */
export const RECIPIENT = /^age1[a-z0-9]{1,4000}$/;
const HEX = new RegExp(`^[0-9a-f]{${HASH_BYTES * 2}}$`);
/** A frame has 32 bits for it. */
export const EPOCH_MAX = 2 ** 32 - 1;

/** The one way of writing it: members in the order of FORMAT.md. */
export function statementBody(statement: SegmentStatement | EndStatement): Uint8Array {
  return Buffer.from(JSON.stringify('origin' in statement ? inOrder(statement) : endInOrder(statement)), 'utf8');
}

function inOrder(statement: SegmentStatement): SegmentStatement {
  const { format, origin, segment, epoch, key, recipients, opened_at, previous_segment: file, previous_epoch: last } = statement;
  return {
    ...{ format, origin, segment, epoch, key, recipients, opened_at },
    ...(file === undefined ? {} : { previous_segment: { bytes: file.bytes, sha256: file.sha256 } }),
    ...(last === undefined ? {} : { previous_epoch: { sequence: last.sequence, hash: last.hash } }),
  };
}

function endInOrder({ ended_at, because }: EndStatement): EndStatement {
  return { ended_at, because };
}

/** Undefined for what is none, or is written in another way; unknown members too: a reader never skips what it does not know. */
export function parseSegmentStatement(body: Uint8Array): SegmentStatement | undefined {
  const value = objectOf(body);
  if (value === undefined) return undefined;
  const { format, origin, segment, epoch, key, recipients, opened_at, previous_segment, previous_epoch } = value;
  if (format !== FORMAT || typeof origin !== 'string' || !isOrigin(origin)) return undefined;
  if (typeof opened_at !== 'string' || !isTime(opened_at)) return undefined;
  if (!isCount(segment) || !isCount(epoch) || epoch > EPOCH_MAX || !isRecipients(recipients)) return undefined;
  if (typeof key !== 'string' || parseVerifier(key)?.name !== epochKeyName(origin, epoch)) return undefined;
  const segmentBefore = previous_segment === undefined ? {} : parsePreviousSegment(previous_segment);
  const epochBefore = previous_epoch === undefined ? {} : parsePreviousEpoch(previous_epoch);
  if (segmentBefore === undefined || epochBefore === undefined) return undefined;
  return asWritten({ format, origin, segment, epoch, key, recipients, opened_at, ...segmentBefore, ...epochBefore }, body);
}

export function parseEndStatement(body: Uint8Array): EndStatement | undefined {
  const { ended_at, because } = objectOf(body) ?? {};
  const reason = END_REASONS.find((known) => known === because);
  if (typeof ended_at !== 'string' || !isTime(ended_at) || reason === undefined) return undefined;
  return asWritten({ ended_at, because: reason }, body);
}

/** Blanks, another order, escapes, a member twice or one more: two readers might take it differently, so it is none. */
function asWritten<Statement extends SegmentStatement | EndStatement>(statement: Statement, body: Uint8Array): Statement | undefined {
  return Buffer.from(statementBody(statement)).equals(body) ? statement : undefined;
}

function parsePreviousSegment(value: unknown): Pick<SegmentStatement, 'previous_segment'> | undefined {
  if (typeof value !== 'object' || value === null || !('bytes' in value) || !('sha256' in value)) return undefined;
  const { bytes, sha256 } = value;
  return isCount(bytes) && isHex(sha256) ? { previous_segment: { bytes, sha256 } } : undefined;
}

function parsePreviousEpoch(value: unknown): Pick<SegmentStatement, 'previous_epoch'> | undefined {
  if (typeof value !== 'object' || value === null || !('sequence' in value) || !('hash' in value)) return undefined;
  const { sequence, hash } = value;
  return isCount(sequence) && isHex(hash) ? { previous_epoch: { sequence, hash } } : undefined;
}

function objectOf(body: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  if (body.length > limits.auditNoteBytesMax * 8) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

function isHex(value: unknown): value is string {
  return typeof value === 'string' && HEX.test(value);
}

function isRecipients(value: unknown): value is string[] {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= limits.auditRecipientsMax &&
    value.every((recipient) => typeof recipient === 'string' && RECIPIENT.test(recipient))
  );
}
