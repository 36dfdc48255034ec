import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { IntentRecord, OutcomeRecord } from '#core/audit/record.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Authority } from '#sidecar/audit/authority.ts';
import { AuditRecorder } from '#sidecar/audit/recorder.ts';
import { HandClock } from '#test/sidecar/approval/hand-clock.ts';
import { MemoryLog } from './memory-log.ts';

const CALL = { action: 'put_note', revision: 'r', effect: 'Write', request_id: 'req', operation_id: `op_${'a'.repeat(26)}` } as const;
const INTENT: IntentRecord = {
  ...CALL,
  record: 'intent',
  contract: 'put-note',
  namespace: 'flow',
  arguments: {},
  arguments_digest: 'd',
  credentials: [],
  destinations: [],
};
const OUTCOME: OutcomeRecord = { ...CALL, record: 'outcome', status: 'ok' };

function build(keep?: Authority['keep']) {
  const clock = new HandClock();
  const log = new MemoryLog();
  const recorder = new AuditRecorder({ clock, log, keep: () => keep });
  return { clock, log, recorder };
}

const refusal = (request: number) =>
  ({ record: 'refused', known: false, code: 'ACTION_UNKNOWN', request_id: `req_${request}`, duration_ms: 0 }) as const;

test('recorder: the intent of an effect is kept elsewhere too before it resolves, that of a read is not', async () => {
  const kept: number[] = [];
  const { recorder } = build(async (sequence) => void kept.push(sequence));
  await recorder.intent(INTENT);
  await recorder.intent({ ...INTENT, effect: 'Read' });
  assert.deepEqual(kept, [1]);
});

test('recorder: intents and outcomes of effects have a commit at once, what nobody waits for lingers until one', async () => {
  const { clock, log, recorder } = build();
  await recorder.intent(INTENT);
  await recorder.intent({ ...INTENT, effect: 'Read' });
  await recorder.outcome(OUTCOME);
  await recorder.outcome({ ...OUTCOME, effect: 'Read' });
  recorder.tell(OUTCOME);
  recorder.tellOften('refused', 'ACTION_UNKNOWN', () => refusal(1));
  recorder.count('refused', 'ACTION_UNKNOWN');
  clock.pass(limits.auditCountedMs);
  assert.deepEqual(
    log.entries.map(({ kind, lingers }) => [kind, lingers]),
    [
      ['intent', false],
      ['intent', false],
      ['outcome', false],
      ['outcome', true],
      ['outcome', true],
      ['refused', true],
      ['counted', true],
    ],
  );
});

test('recorder: an intent that is not taken, or not kept, is refused', async () => {
  const { log, recorder } = build();
  log.fault = 'full';
  await assert.rejects(recorder.intent(INTENT), { reason: 'AUDIT_UNAVAILABLE' });
  const away = build(() => Promise.reject(new PosternError('AUDIT_UNAVAILABLE', 'away')));
  await assert.rejects(away.recorder.intent(INTENT), { reason: 'AUDIT_UNAVAILABLE' });
});

test('recorder: an outcome that the disk does not take is written once it does, without a restart', async () => {
  const { clock, log, recorder } = build();
  log.fault = 'full';
  await recorder.outcome(OUTCOME);
  assert.equal(recorder.fault, 'full');
  log.fault = undefined;
  assert.equal(recorder.fault, 'unwritten');
  clock.pass(limits.auditUnwrittenRetryMs);
  await setImmediate();
  assert.deepEqual(
    log.records().map(({ record }) => record),
    ['outcome'],
  );
  assert.equal(recorder.fault, undefined);
});

test('recorder: a flood is counted, nothing of it is lost, and memory does not grow with it', async () => {
  const { clock, log, recorder } = build();
  const sent = 5_000;
  for (let each = 0; each < sent; each += 1) recorder.tellOften('refused', 'ACTION_UNKNOWN', () => refusal(each));
  await setImmediate();
  assert.equal(log.entries.length, limits.auditSingleRecordsAtOnce);
  clock.pass(limits.auditCountedMs);
  await setImmediate();
  const counted = log.records().at(-1);
  assert.deepEqual(counted?.counts, [{ what: 'refused', code: 'ACTION_UNKNOWN', count: sent - limits.auditSingleRecordsAtOnce }]);
  recorder.tellOften('refused', 'ACTION_UNKNOWN', () => refusal(sent));
  await setImmediate();
  assert.equal(log.records().at(-1)?.record, 'refused');
});

test('recorder: what is counted while the disk takes nothing is counted on', async () => {
  const { clock, log, recorder } = build();
  log.fault = 'full';
  recorder.tellOften('ListActions', 'OK', () => refusal(1));
  clock.pass(limits.auditCountedMs);
  await setImmediate();
  log.fault = undefined;
  recorder.count('ListActions', 'OK');
  clock.pass(limits.auditCountedMs);
  await setImmediate();
  assert.deepEqual(log.records().at(-1)?.counts, [{ what: 'ListActions', code: 'OK', count: 2 }]);
});

test('recorder: records of what happened are bounded while the disk takes nothing, and what finds no room is counted', async () => {
  const { clock, log, recorder } = build();
  log.fault = 'full';
  for (let each = 0; each < limits.auditUnwrittenRecordsMax + 3; each += 1) await recorder.outcome(OUTCOME);
  log.fault = undefined;
  clock.pass(limits.auditCountedMs);
  await recorder.flush();
  const records = log.records();
  assert.equal(records.filter(({ record }) => record === 'outcome').length, limits.auditUnwrittenRecordsMax);
  assert.deepEqual(records.find(({ record }) => record === 'counted')?.counts, [{ what: 'outcome', code: 'AUDIT_UNAVAILABLE', count: 3 }]);
});

test('recorder: what became of an effect is the last to be counted instead of written, whatever else happens (AUD-26)', async () => {
  const { clock, log, recorder } = build();
  log.fault = 'full';
  await recorder.outcome(OUTCOME);
  for (let each = 0; each < limits.auditUnwrittenRecordsMax + 3; each += 1)
    recorder.tell({ record: 'session', event: 'recording', on: true });
  await setImmediate();
  log.fault = undefined;
  clock.pass(limits.auditCountedMs);
  await recorder.flush();
  const records = log.records();
  assert.equal(records.filter(({ record }) => record === 'outcome').length, 1);
  assert.deepEqual(records.find(({ record }) => record === 'counted')?.counts, [{ what: 'session', code: 'AUDIT_UNAVAILABLE', count: 4 }]);
});

test('recorder: nothing is recorded, kept or counted where nobody is to read it', async () => {
  const { log, clock, recorder } = build(() => Promise.reject(new Error('asked')));
  log.isOff = true;
  await recorder.intent(INTENT);
  await recorder.outcome(OUTCOME);
  recorder.tellOften('refused', 'X', () => refusal(1));
  recorder.count('refused', 'X');
  await recorder.flush();
  assert.equal(log.entries.length + clock.pending, 0);
});
