/** Records as a sidecar writes them, in short. */
import assert from 'node:assert/strict';
import { parseRecord } from '#core/audit/record-line.ts';
import type { ChainRecord } from '#core/audit/record-members.ts';

export const ORIGIN = 'postern.dev/audit/standalone/local/5f0c';
export const OPERATION = `op_${'a1'.repeat(13)}`;

const CALL = { action: 'write_off_items', operation_id: OPERATION, request_id: 'req_1' };

export function intent(members: object = {}): object {
  const place = { contract: 'write-off', namespace: 'triage', revision: 'sha256:12', effect: 'Write' };
  const given = { arguments: { warehouse: 'north' }, arguments_digest: 'sha256:34', credentials: ['inventory'] };
  return { record: 'intent', ...CALL, ...place, ...given, destinations: ['https://inventory.example'], ...members };
}

export function outcome(members: object = {}): object {
  return { record: 'outcome', ...CALL, revision: 'sha256:12', effect: 'Write', status: 'ok', ...members };
}

export function refused(members: object = {}): object {
  return { record: 'refused', ...CALL, known: true, code: 'INVALID_ARGUMENT', duration_ms: 1, ...members };
}

export function approval(event: string, members: object = {}): object {
  return { record: 'approval', event, approval: 'op-1', action: CALL.action, operation_id: OPERATION, ...members };
}

export function session(event: string, members: object = {}): object {
  return { record: 'session', event, ...members };
}

/** One a second, in one chain from sequence 1. */
export function chainOf(...lines: readonly object[]): readonly ChainRecord[] {
  return lines.map((line, index) => {
    const record = parseRecord(JSON.stringify({ at: new Date(Date.UTC(2026, 0, 1, 0, 0, index)).toISOString(), ...line }));
    assert.ok(record !== undefined);
    return { origin: ORIGIN, sequence: index + 1, record };
  });
}
