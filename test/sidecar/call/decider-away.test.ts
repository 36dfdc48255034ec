/** Whoever decides comes and goes: what a person agreed to is neither sent meanwhile nor lost. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';
import type { Decider } from '#sidecar/approval/decider.ts';
import { ASKED, FREE, NOTE, startRig } from './effect-rig.ts';

test('decider away: an agreed call answers CONTROL_STALE, and the same yes runs it once when the decider is back', async () => {
  let away = false;
  const stale = () => new PosternError('CONTROL_STALE', 'No stream to the operator stands.');
  const wrap = (local: Decider): Decider => ({
    requester: () => {
      if (away) throw stale();
      return local.requester();
    },
    ask: (question) => (away ? Promise.reject(stale()) : local.ask(question)),
    state: (name) => local.state(name),
    admit: (intent) => (away ? Promise.reject(stale()) : local.admit(intent)),
    settled: (operationId, end) => local.settled(operationId, end),
    onChange: (listener) => local.onChange(listener),
  });
  await using rig = await startRig({ contracts: { 'put-note': ASKED, 'put-free': FREE }, wrap });
  const { operationId = '' } = await rig.refused('put_note', NOTE);
  await rig.approve(operationId);
  away = true;
  for (let times = 0; times < 3; times += 1) assert.equal((await rig.refused('put_note', NOTE)).reason, 'CONTROL_STALE');
  assert.equal((await rig.refused('put_free', NOTE)).reason, 'CONTROL_STALE');
  await assert.rejects(rig.confirm(operationId), { reason: 'CONTROL_STALE' });
  assert.equal(rig.effects(), 0);
  assert.equal(rig.journal.get(operationId)?.phase, 'planned');
  away = false;
  const answered = await rig.execute('put_note', NOTE);
  assert.equal(answered.operationId, operationId, 'the operation that was agreed to');
  assert.equal(rig.effects(), 1);
});
