/**
 * An operation whose outcome is unknown: who may send it once more, for how long, and what its end says of the first time (promise P2).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { ALWAYS_GOOD, type Standing } from '#sidecar/call/standing.ts';
import { type Answer, sendJson } from '#test/flow/stage.ts';
import { NOTE, READ_NOTE, type Rig, startRig, writeContract } from './effect-rig.ts';

const NOW = new AbortController().signal;
const FREELY = '  approval: {mode: None, because: a test}';
const NATURAL = '  idempotency: {mode: Natural}';
const KEYED = '  idempotency: {mode: Key, header: Idempotency-Key, ttl: 1h}';
const RECHECK = '  recheck: {contract: read-note, arguments: {id: $(args.id)}, expect: "result.note.state == \\"open\\""}';
const HOUR = 3_600_000;

/** Replies to writes, one after the other; the last one stays. `lost`: it takes effect, and the reply does not come. */
function writes(...replies: readonly (number | 'lost')[]): Answer {
  const left = [...replies];
  let state = 'open';
  return ({ method }, response) => {
    if (method === 'GET') return sendJson(response, 200, { id: 'one', state });
    const reply = left.length > 1 ? left.shift() : left[0];
    if (reply === 'lost') state = 'put';
    if (reply === 'lost') return void response.destroy();
    return sendJson(response, reply ?? 200, { id: 'one' });
  };
}

async function lostOne(rig: Rig): Promise<string> {
  const { reason, operationId = '' } = await rig.refused('put_note', NOTE);
  assert.equal(reason, 'OUTCOME_UNKNOWN');
  return operationId;
}

test('repetition: what stops it says nothing of the request before it, whose outcome stays unknown', async () => {
  const contracts = { 'put-note': writeContract(`${FREELY}\n${NATURAL}\n${RECHECK}`, { method: 'PUT' }), 'read-note': READ_NOTE };
  await using rig = await startRig({ contracts, answer: writes('lost') });
  const operationId = await lostOne(rig);
  const again = await rig.refused('put_note', NOTE, { operationId });
  assert.equal(again.reason, 'OUTCOME_UNKNOWN', 'the target is another one because the first request made it so');
  assert.equal(rig.effects(), 1);
  assert.equal(rig.journal.get(operationId)?.phase, 'unknown');
});

for (const [mode, status] of [
  [NATURAL, 404],
  [NATURAL, 412],
  [KEYED, 409],
] as const) {
  test(`repetition: that it is refused with ${status} (${mode.includes('Key') ? 'Key' : 'Natural'}) does not tell that the first took no effect`, async () => {
    await using rig = await startRig({
      contracts: { 'put-note': writeContract(`${FREELY}\n${mode}`) },
      answer: writes('lost', status, 200),
    });
    const operationId = await lostOne(rig);
    assert.equal((await rig.refused('put_note', NOTE, { operationId })).reason, 'OUTCOME_UNKNOWN');
    assert.equal(rig.journal.get(operationId)?.phase, 'unknown');
    assert.equal((await rig.execute('put_note', NOTE, { operationId })).operationId, operationId, 'and it may be tried once more');
  });
}

test('repetition: a session that lost its standing is told that the outcome is unknown, and nothing is sent', async () => {
  let revoked = false;
  const error = new PosternError('SESSION_REVOKED', 'The session of this pod was revoked.');
  const standing: Standing = {
    refusal: () => undefined,
    of: (contract) => ({ ...ALWAYS_GOOD.of(contract), refusal: () => (revoked ? error : undefined) }),
  };
  await using rig = await startRig({
    contracts: { 'put-note': writeContract(`${FREELY}\n${NATURAL}`) },
    answer: writes('lost', 200),
    standing,
  });
  const operationId = await lostOne(rig);
  revoked = true;
  assert.equal((await rig.refused('put_note', NOTE, { operationId })).reason, 'OUTCOME_UNKNOWN');
  assert.equal(rig.effects(), 1);
  assert.equal(rig.journal.get(operationId)?.phase, 'unknown');
});

test('idempotency Key: an equal call while the outcome is unknown is the same operation, with the same key', async () => {
  await using rig = await startRig({ contracts: { 'put-note': writeContract(`${FREELY}\n${KEYED}`) }, answer: writes('lost', 200) });
  const operationId = await lostOne(rig);
  assert.equal((await rig.execute('put_note', NOTE)).operationId, operationId);
  assert.deepEqual(
    rig.upstream.requests.map(({ headers }) => headers['idempotency-key']),
    [operationId, operationId],
    'another key would be another effect',
  );
});

test('idempotency Key: once the contract is another one the key means nothing, and an equal call is held', async () => {
  const keyed = writeContract(`${FREELY}\n${KEYED}`);
  await using rig = await startRig({ contracts: { 'put-note': keyed }, answer: writes('lost', 200) });
  const operationId = await lostOne(rig);
  rig.serve({ 'put-note': keyed.replace('Put the note', 'Leave the note') });
  const { reason, details } = await rig.refused('put_note', NOTE);
  assert.deepEqual([reason, details.held_by], ['OUTCOME_UNKNOWN', operationId]);
  assert.equal(rig.effects(), 1);
});

for (const skewMs of [HOUR, -2 * HOUR]) {
  test(`idempotency Key: held when the remote may have forgotten the key (${skewMs < 0 ? 'the clock was put back' : 'its ttl is over'})`, async () => {
    let skew = 0;
    const clock = { ...systemClock, wallMs: () => Date.now() + skew };
    await using rig = await startRig({
      contracts: { 'put-note': writeContract(`${FREELY}\n${KEYED}`) },
      answer: writes('lost', 200),
      clock,
    });
    const operationId = await lostOne(rig);
    // The request itself takes time: what is sent a moment before the end arrives after it.
    skew = skewMs < 0 ? skewMs : skewMs - 1000;
    assert.equal((await rig.refused('put_note', NOTE, { operationId })).reason, 'OUTCOME_UNKNOWN');
    assert.equal((await rig.refused('put_note', NOTE)).reason, 'OUTCOME_UNKNOWN');
    assert.equal(rig.effects(), 1);
  });
}

test('repetition: a yes repeats nothing after its time, however often the remote would take it (APR-11)', async () => {
  let skew = 0;
  const clock = { ...systemClock, wallMs: () => Date.now() + skew };
  const contract = writeContract(`  approval: {mode: EachCall, expiresAfter: 5m}\n${NATURAL}`);
  await using rig = await startRig({ contracts: { 'put-note': contract }, answer: writes('lost', 'lost', 200), clock });
  const asked = await rig.refused('put_note', NOTE);
  await rig.approve(asked.operationId ?? '');
  const operationId = await lostOne(rig);
  skew = 4 * 60_000;
  assert.equal((await rig.refused('put_note', NOTE, { operationId })).reason, 'OUTCOME_UNKNOWN');
  assert.equal(rig.effects(), 2, 'inside its time it is the same approved operation');
  skew = 6 * 60_000;
  assert.equal((await rig.refused('put_note', NOTE, { operationId })).reason, 'OUTCOME_UNKNOWN');
  assert.equal(rig.effects(), 2);
  assert.equal((await rig.refused('put_note', NOTE)).reason, 'APPROVAL_REQUIRED', 'a new call is a new question');
});

test('settle: what was read before a repetition says nothing of the repetition', async () => {
  const settle =
    'settle: {contract: read-note, arguments: {id: $(args.id)}, done: "result.note.state == \\"put\\"", notDone: "result.note.state == \\"open\\""}';
  const contracts = { 'put-note': writeContract(`${FREELY}\n  idempotency: {mode: Natural, ${settle}}`), 'read-note': READ_NOTE };
  let answerRead = () => {};
  let reads = 0;
  const answer: Answer = ({ method }, response) => {
    if (method !== 'GET') return void response.destroy();
    reads += 1;
    answerRead = () => sendJson(response, 200, { id: 'one', state: 'open' });
  };
  await using rig = await startRig({ contracts, answer });
  const operationId = await lostOne(rig);
  const looked = rig.calls.getOperation(operationId, 0, NOW);
  while (reads === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  await rig.refused('put_note', NOTE, { operationId });
  assert.equal(rig.effects(), 2);
  answerRead();
  await looked;
  assert.equal(rig.journal.get(operationId)?.phase, 'unknown', 'the second request may have taken effect after the read');
});

test('held: another reason in the words of the agent makes no other call, planned before or after', async () => {
  const contract = writeContract('  approval: {mode: None, because: a test, reason: /text}');
  await using rig = await startRig({ contracts: { 'put-note': contract }, answer: writes('lost', 200) });
  const { planId } = await rig.prepare('put_note', { ...NOTE, text: 'another reason' });
  const operationId = await lostOne(rig);
  const reworded = await rig.refused('put_note', { ...NOTE, text: 'a third reason' });
  assert.deepEqual([reworded.reason, reworded.operationId], ['OUTCOME_UNKNOWN', operationId]);
  await assert.rejects(rig.confirm(planId), { reason: 'OUTCOME_UNKNOWN' });
  assert.equal(rig.effects(), 1);
  await rig.execute('put_note', { ...NOTE, id: 'two' });
});
