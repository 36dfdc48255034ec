/** Operations that change something, one at a time: what a caller is told, what the remote saw, what the journal holds. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { ASKED, answerNote, FREE, NOTE, READ_NOTE, startRig } from './effect-rig.ts';

const NOW = new AbortController().signal;

test('effects: a write that nobody must agree to is sent once, and its answer is told and kept', async () => {
  await using rig = await startRig();
  const result = await rig.execute('put_note', NOTE);
  assert.equal(Buffer.from(result.dataJson).toString(), '{"note":{"id":"one"}}');
  assert.equal(result.envelope.status, 'ok');
  assert.deepEqual(result.steps, [{ index: 0, state: 'done' }]);
  assert.equal(rig.effects(), 1);
  assert.deepEqual(rig.told, ['intent put_note', 'answered put_note']);
  const operation = await rig.calls.getOperation(result.operationId, 0, NOW);
  assert.equal(operation.state, 'done');
  assert.deepEqual(operation.result?.dataJson, result.dataJson);
  assert.equal(rig.journal.get(result.operationId)?.phase, 'done');
});

test('effects: the same operation_id again is the recorded outcome, and nothing is sent', async () => {
  await using rig = await startRig();
  const first = await rig.execute('put_note', NOTE);
  const again = await rig.execute('put_note', NOTE, { operationId: first.operationId });
  assert.deepEqual(again.dataJson, first.dataJson);
  assert.deepEqual(await rig.confirm(first.operationId).then(({ dataJson }) => dataJson), first.dataJson);
  assert.equal(rig.effects(), 1);
});

test('effects: an operation_id with other arguments is refused before anything is sent (HTTP-13, APR-01)', async () => {
  await using rig = await startRig();
  const { operationId } = await rig.execute('put_note', NOTE);
  const error = await rig.refused('put_note', { ...NOTE, text: 'other' }, { operationId });
  assert.equal(error.reason, 'IDEMPOTENCY_CONFLICT');
  assert.equal(rig.effects(), 1);
});

test('effects: a call that a person must agree to waits, and goes on as the same operation once approved', async () => {
  await using rig = await startRig({ contracts: { 'put-note': ASKED } });
  const asked = await rig.refused('put_note', NOTE);
  assert.equal(asked.reason, 'APPROVAL_REQUIRED');
  assert.match(asked.operation?.card ?? '', /Put the note hello on one/);
  assert.equal((await rig.refused('put_note', NOTE)).operationId, asked.operationId, 'an equal call is the same question');
  assert.equal(rig.effects(), 0);
  const id = asked.operationId ?? '';
  await rig.approve(id);
  assert.equal((await rig.calls.getOperation(id, 0, NOW)).approval?.state, 'approved');
  const result = await rig.execute('put_note', NOTE);
  assert.equal(result.operationId, id);
  assert.equal(rig.effects(), 1);
  assert.equal((await rig.calls.getOperation(id, 0, NOW)).approval?.state, 'used');
});

test('effects: Prepare shows the card, Confirm runs that plan once', async () => {
  await using rig = await startRig({ contracts: { 'put-note': FREE } });
  const plan = await rig.prepare('put_note', NOTE);
  assert.equal(plan.approval.state, 'notNeeded');
  assert.equal(plan.summary, 'Put the note hello on one');
  assert.equal(rig.effects(), 0);
  const result = await rig.confirm(plan.planId);
  assert.equal(result.operationId, plan.planId);
  await rig.confirm(plan.planId);
  assert.equal(rig.effects(), 1);
});

test('effects: a denied call never works again, and says why', async () => {
  await using rig = await startRig({ contracts: { 'put-note': ASKED } });
  const { operationId = '' } = await rig.refused('put_note', NOTE);
  await rig.deny(operationId);
  assert.equal((await rig.refused('put_note', NOTE, { operationId })).reason, 'APPROVAL_DENIED');
  assert.equal((await rig.refused('put_note', NOTE, { operationId })).reason, 'APPROVAL_DENIED', 'and again');
  assert.equal(rig.journal.get(operationId)?.phase, 'failed');
  assert.equal(rig.effects(), 0);
});

test('effects: 100 parallel calls on one approval are one effect, and all are told the same (APR-03)', async () => {
  await using rig = await startRig({ contracts: { 'put-note': ASKED } });
  const { operationId = '' } = await rig.refused('put_note', NOTE);
  await rig.approve(operationId);
  const half = (index: number) => (index % 2 === 0 ? rig.confirm(operationId) : rig.execute('put_note', NOTE, { operationId }));
  const results = await Promise.all(Array.from({ length: 100 }, (_, index) => half(index)));
  assert.equal(new Set(results.map(({ dataJson }) => Buffer.from(dataJson).toString())).size, 1);
  assert.equal(rig.effects(), 1);
});

test('effects: 100 parallel equal calls of a free write are one operation', async () => {
  await using rig = await startRig();
  const results = await Promise.all(Array.from({ length: 100 }, () => rig.execute('put_note', NOTE)));
  assert.equal(new Set(results.map(({ operationId }) => operationId)).size, 1);
  assert.equal(rig.effects(), 1);
});

test('effects: a contract that is changed after the approval voids it (APR-02)', async () => {
  await using rig = await startRig({ contracts: { 'put-note': ASKED } });
  const { operationId = '' } = await rig.refused('put_note', NOTE);
  await rig.approve(operationId);
  rig.serve({ 'put-note': ASKED.replace('/notes/', '/other/') });
  const error = await rig.refused('put_note', NOTE, { operationId });
  assert.equal(error.reason, 'APPROVAL_EXPIRED');
  assert.equal(error.details.because, 'changed');
  assert.equal(rig.effects(), 0);
  assert.equal((await rig.refused('put_note', NOTE)).reason, 'APPROVAL_REQUIRED', 'a new card');
});

test('effects: a refusal of the remote is told as it is, and the operation has failed', async () => {
  await using rig = await startRig({ answer: (_request, response) => void response.writeHead(422, { 'content-length': '0' }).end() });
  const error = await rig.refused('put_note', NOTE);
  assert.equal(error.reason, 'REMOTE_REJECTED');
  assert.equal((await rig.calls.getOperation(error.operationId ?? '', 0, NOW)).state, 'failed');
  assert.equal((await rig.refused('put_note', NOTE, { operationId: error.operationId ?? '' })).reason, 'REMOTE_REJECTED');
  assert.equal(rig.effects(), 1, 'the recorded outcome is told, nothing is sent');
});

test('effects: a lost reply is OUTCOME_UNKNOWN, and an equal call is held (HTTP-10, HTTP-12)', async () => {
  await using rig = await startRig({ answer: (_request, response) => void response.destroy() });
  const error = await rig.refused('put_note', NOTE);
  assert.equal(error.reason, 'OUTCOME_UNKNOWN');
  const held = await rig.refused('put_note', NOTE);
  assert.equal(held.reason, 'OUTCOME_UNKNOWN');
  assert.equal(held.operationId, error.operationId);
  assert.equal(rig.effects(), 1);
  await rig.execute('put_note', { ...NOTE, id: 'two' }).catch(() => {});
  assert.equal(rig.effects(), 2, 'another call is not held');
  await rig.decider.resolve(error.operationId ?? '', 'notDone', 'tess');
  assert.equal((await rig.calls.getOperation(error.operationId ?? '', 0, NOW)).resolution?.by, 'person');
  await rig.refused('put_note', NOTE);
  assert.equal(rig.effects(), 3, 'a person said that it was not done');
});

test('effects: an intent that cannot be recorded sends nothing', async () => {
  await using rig = await startRig({ recorder: { intent: () => Promise.reject(new Error('disk full')) } });
  const error = await rig.refused('put_note', NOTE);
  assert.equal(error.reason, 'AUDIT_UNAVAILABLE');
  assert.equal(rig.effects(), 0);
  assert.equal(rig.journal.get(error.operationId ?? '')?.phase, 'failed');
});

test('effects: ListOperations has them beside the reads, newest first', async () => {
  await using rig = await startRig({ answer: answerNote });
  const { operationId } = await rig.execute('put_note', NOTE);
  const page = rig.calls.listOperations();
  assert.equal(page.operations[0]?.operationId, operationId);
  assert.equal(page.operations[0]?.card, undefined, 'a list carries no cards');
});

test('effects: a credential whose owner wants a person for each use gets one, whatever the contract says; reads with it do not', async () => {
  await using rig = await startRig({
    contracts: { 'put-note': FREE, 'read-note': READ_NOTE },
    edit: (yaml) => yaml.replace('spec:\n  owner: flow', 'spec:\n  approval: EachUse\n  owner: flow'),
  });
  const { reason, operationId = '' } = await rig.refused('put_note', NOTE);
  assert.equal(reason, 'APPROVAL_REQUIRED');
  await rig.execute('read_note', { id: 'one' });
  await rig.approve(operationId);
  await rig.execute('put_note', NOTE);
  assert.equal(rig.effects(), 1);
});

test('effects: a read that a person must agree to is planned, asked, made once, and its answer is kept', async () => {
  await using rig = await startRig({ contracts: { 'read-note': `${READ_NOTE}\n  approval: {mode: EachCall}` } });
  const { reason, operationId = '' } = await rig.refused('read_note', { id: 'one' });
  assert.equal(reason, 'APPROVAL_REQUIRED');
  assert.equal(rig.upstream.requests.length, 0);
  await rig.approve(operationId);
  const read = await rig.execute('read_note', { id: 'one' });
  assert.equal(Buffer.from(read.dataJson).toString(), '{"note":{"id":"one","state":"open"}}');
  assert.deepEqual((await rig.confirm(operationId)).dataJson, read.dataJson);
  assert.equal(rig.upstream.requests.length, 1);
  assert.equal((await rig.refused('read_note', { id: 'one' })).reason, 'APPROVAL_REQUIRED', 'the next one is asked for again');
});

test('effects: reads that were not whole stand on the next card, and a yes begins the list anew', async () => {
  let broken = true;
  await using rig = await startRig({
    contracts: { 'put-note': ASKED, 'read-note': READ_NOTE },
    answer: (request, response) =>
      broken && request.method === 'GET' ? void response.writeHead(503).end() : answerNote(request, response),
  });
  await rig.refused('read_note', { id: 'one' });
  broken = false;
  const asked = await rig.refused('put_note', NOTE);
  assert.match(asked.operation?.card ?? '', /read_note at .*REMOTE_UNAVAILABLE/s);
  await rig.approve(asked.operationId ?? '');
  await rig.execute('put_note', NOTE);
  assert.doesNotMatch((await rig.refused('put_note', NOTE)).operation?.card ?? '', /read_note/);
});

test('effects: a plan that is not begun in its time is over, and says so', async () => {
  let skewMs = 0;
  const clock = { ...systemClock, wallMs: () => Date.now() + skewMs };
  await using rig = await startRig({ clock });
  const { planId } = await rig.prepare('put_note', NOTE);
  skewMs = 25 * 3_600_000;
  await assert.rejects(rig.confirm(planId), { reason: 'APPROVAL_EXPIRED' });
  assert.equal(rig.effects(), 0);
  const { operationId } = await rig.execute('put_note', NOTE);
  assert.notEqual(operationId, planId);
});
