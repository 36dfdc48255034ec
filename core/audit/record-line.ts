/**
 * A record as one line of JSON, and back. A line is at most limits.auditRecordBytesMax: what may be long is left out, and says so, before a
 * record is refused for its length; a record that cannot be kept would stop the call.
 */
import { limits } from '#core/bounds/limits.ts';
import { SEALED_KINDS } from './frame.ts';
import type { AuditRecord, WrittenRecord } from './record.ts';

/** `atMs`: milliseconds since 1970. */
export function recordLine(record: AuditRecord, atMs: number): string {
  const at = new Date(atMs).toISOString();
  for (const kept of shorter(record)) {
    const { record: kind, ...members } = kept;
    const line = JSON.stringify({ record: kind, at, ...members });
    // A UTF-16 unit is at most three bytes.
    if (line.length * 3 <= limits.auditRecordBytesMax || Buffer.byteLength(line) <= limits.auditRecordBytesMax) return line;
  }
  throw new RangeError(`a record of the kind ${record.record} that cannot be shortened`);
}

/** The record, then what is left of it where it is too long. */
function* shorter(record: AuditRecord): Iterable<AuditRecord> {
  yield record;
  if (record.record === 'intent') {
    const { arguments: _arguments, target, ...rest } = record;
    const cut = { ...rest, arguments_left_out: 'size' as const };
    yield target === undefined ? cut : { ...cut, target };
    yield target === undefined ? cut : { ...cut, target: { index: target.index } };
  }
  if (record.record !== 'session' || record.event !== 'bundle') return;
  for (let kept = record.contracts.length >> 1; kept > 0; kept >>= 1)
    yield { ...record, contracts: record.contracts.slice(0, kept), contracts_left_out: record.contracts.length - kept };
}

/**
 * Undefined for a line that is no record. Only what every record has is looked at: members may be absent, and there may be more of them, in
 * records of another release.
 */
export function parseRecord(line: string): WrittenRecord | undefined {
  if (line.includes('\n') || Buffer.byteLength(line) > limits.auditRecordBytesMax) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is WrittenRecord {
  if (typeof value !== 'object' || value === null || !('record' in value) || !('at' in value)) return false;
  return SEALED_KINDS.some((kind) => kind === value.record) && typeof value.at === 'string';
}
