/** What has no intent leaves a record too, one for each request, and what an agent can repeat without end is counted (AUD-26). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { PosternError } from '#core/error/postern-error.ts';
import { createLog } from '#core/runtime/log.ts';
import { SidecarMetrics } from '#core/runtime/metrics.ts';
import { AuditRecorder } from '#sidecar/audit/recorder.ts';
import { AuditedRecorder } from '#sidecar/call/audited-recorder.ts';
import { tellLeftOpen } from '#sidecar/call/left-open.ts';
import { RequestLog } from '#sidecar/call/request-log.ts';
import { HandClock } from '#test/sidecar/approval/hand-clock.ts';
import { MemoryLog } from '#test/sidecar/audit/memory-log.ts';

function build() {
  const clock = new HandClock();
  const log = new MemoryLog();
  const audit = new AuditRecorder({ clock, log, keep: () => undefined });
  const silent = createLog({ level: 'error', destination: { write: () => {} } });
  const told = new RequestLog(silent, new SidecarMetrics(clock, 'test'));
  return { audit, log, recorder: new AuditedRecorder({ told, audit, masked: (text) => text }) };
}

const END = { requestId: 'req_1', durationMs: 1.4, claims: [] };

test('audited recorder: a call that found no room, and an approval that had expired, are refused on record', async () => {
  const { log, recorder } = build();
  for (const code of ['LIMIT_EXCEEDED', 'APPROVAL_EXPIRED'] as const) {
    recorder.refused({ requestId: 'req_1', action: 'put_note', asked: 'put_note' }, new PosternError(code, 'why'), 1.4);
    recorder.served({ ...END, method: 'Execute', code: 8, error: new PosternError(code, 'why') });
  }
  await setImmediate();
  assert.deepEqual(
    log.records().map(({ record, action, code }) => [record, action, code]),
    [
      ['refused', 'put_note', 'LIMIT_EXCEEDED'],
      ['refused', 'put_note', 'APPROVAL_EXPIRED'],
    ],
  );
});

test('audited recorder: a request that its caller leaves says so, and a stream that is turned away is counted', async () => {
  const { audit, log, recorder } = build();
  recorder.served({ ...END, method: 'GetOperation', code: 1 });
  recorder.turnedAway('stream_refused');
  recorder.turnedAway('stream_refused');
  await audit.flush();
  assert.deepEqual(
    log.records().map(({ record, method, code, counts }) => [record, method, code, counts]),
    [
      ['request', 'GetOperation', 'CANCELLED', undefined],
      ['counted', undefined, undefined, [{ what: 'stream', code: 'stream_refused', count: 2 }]],
    ],
  );
});

test('left open: what has an end, or is under way again, is not said to be unknown (AUD-14)', async () => {
  const { audit, log } = build();
  const entry = (operationId: string, phase: string) =>
    ({ record: { operationId, action: 'put_note', revision: 'r', effect: 'Write', requestId: 'req' }, phase, steps: [] }) as never;
  const entries = new Map([
    ['op_done', entry('op_done', 'done')],
    ['op_runs', entry('op_runs', 'running')],
    ['op_unknown', entry('op_unknown', 'unknown')],
  ]);
  const found = new Map([
    ['op_read', 'open'],
    ['op_ended', 'ended'],
    ['op_done', 'open'],
    ['op_runs', 'open'],
    ['op_unknown', 'open'],
  ] as const);
  tellLeftOpen(found, { audit, journal: { get: (id) => entries.get(id), list: () => [...entries.values()] } });
  await setImmediate();
  assert.deepEqual(
    log.records().map(({ operation_id, status }) => [operation_id, status]),
    [
      ['op_read', 'unknown'],
      ['op_done', 'ok'],
      ['op_unknown', 'unknown'],
    ],
  );
});
