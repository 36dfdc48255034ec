/** A yes that covers several calls: which, how many, and for how long. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { fails, Rig, yes } from './decider-rig.ts';
import { ARGS, questionOf, recordOf } from './question-of.ts';

test('local decider: one yes covers as many calls as its card says, and only arguments that it names differ', async () => {
  const rig = new Rig();
  const question = await rig.asked({ grant: { calls: 2, vary: ['/reason'] } });
  await rig.decider.decide(question.name, yes(question));
  await assert.rejects(rig.call(question, { amount: 2_000 }), fails('APPROVAL_REQUIRED'));
  assert.equal(rig.journal.uses(question.name), 1, 'whatever is begun with it counts');
  await rig.call(question, { reason: 'Charged twice, says the ledger.' });
  rig.restarted();
  await assert.rejects(rig.call(question, { reason: 'Once more, please.' }), fails('APPROVAL_EXPIRED'));
});

test('local decider: of two calls at once that find the last use of a yes free, one is admitted (APR-03)', async () => {
  const rig = new Rig();
  const question = await rig.asked({ grant: { calls: 1, vary: ['/reason'] } });
  await rig.decider.decide(question.name, yes(question));
  const ended = await Promise.allSettled([1, 2, 3].map((each) => rig.call(question, { reason: `Number ${each}.` })));
  assert.deepEqual(ended.map(({ status }) => status).toSorted(), ['fulfilled', 'rejected', 'rejected']);
});

test('local decider: uses of a yes count after the operations that used it are forgotten, and over a restart (APR-03, APR-15)', async () => {
  const rig = new Rig();
  const question = await rig.asked({ grant: { calls: 3, vary: ['/reason'] }, expiresAtMs: rig.clock.wallMs() + 3 * limits.journalKeptMs });
  await rig.decider.decide(question.name, yes(question));
  for (const reason of ['The first.', 'The second.', 'The third.']) {
    const call = await rig.call(question, { reason });
    await rig.decider.settled(call.operationId, 'done');
    await rig.journal.end(call.operationId, 'done', {});
  }
  rig.clock.pass(limits.journalKeptMs + 1);
  await rig.journal.plan(recordOf(questionOf(rig.clock, { args: { ...ARGS, amount: 3 } })));
  assert.equal(rig.journal.list().length, 2, 'the question that was asked, and what came last: the others are dropped');
  rig.restarted();
  await assert.rejects(rig.call(question, { reason: 'The fourth.' }), fails('APPROVAL_EXPIRED'));
  assert.deepEqual(rig.journal.kept('approval/uses'), [], 'a use costs no record of its own');
});

test('local decider: a yes to several calls ends at its time, also when the wall clock was put back (APR-11)', async () => {
  const rig = new Rig();
  const question = await rig.asked({ grant: { calls: 5, vary: ['/reason'] } });
  await rig.decider.decide(question.name, yes(question));
  await rig.call(question, { reason: 'The first.' });
  rig.clock.set(-24 * 3_600_000);
  rig.clock.pass(limits.approvalExpiresMs);
  await assert.rejects(rig.call(question, { reason: 'The second.' }), fails('APPROVAL_EXPIRED'));
});
