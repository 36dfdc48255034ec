import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Answer } from '#sidecar/approval/answer.ts';
import type { Question } from '#sidecar/approval/decider.ts';
import { LocalDecider } from '#sidecar/approval/local-decider.ts';
import type { MemoryJournal } from '#test/sidecar/journal/memory-journal.ts';
import { fails, no, Rig, yes } from './decider-rig.ts';
import { ARGS, alternativeOf, contract, intentOf, questionOf, recordOf } from './question-of.ts';

test('local decider: lets an approved call run once, and never again under the same yes (APR-03)', async () => {
  const rig = new Rig();
  const question = await rig.asked();
  assert.deepEqual(rig.decider.state(question.name), { kind: 'waiting' });
  await assert.rejects(rig.decider.admit(intentOf(question, question.name)), fails('APPROVAL_REQUIRED'));
  await rig.decider.decide(question.name, yes(question));
  await rig.run(question, question.name);
  await rig.decider.settled(question.operationId, 'done');
  const other = questionOf(rig.clock);
  await assert.rejects(rig.decider.admit(intentOf(other, question.name)), fails('APPROVAL_REQUIRED'));
});

test('local decider: of two people at once one decides, and the other learns that it is decided', async () => {
  const rig = new Rig();
  const question = await rig.asked();
  const both = await Promise.allSettled([
    rig.decider.decide(question.name, yes(question)),
    rig.decider.decide(question.name, no(question)),
  ]);
  assert.deepEqual(
    both.map(({ status }) => status),
    ['fulfilled', 'rejected'],
  );
  assert.ok(both[1].status === 'rejected' && fails('IDEMPOTENCY_CONFLICT')(both[1].reason));
  assert.equal(rig.restarted().state(question.name)?.kind, 'decided');
  assert.equal((await rig.decider.decide(question.name, yes(question))).verdict, 'approved');
});

test('local decider: takes no answer about another card than the one that is asked (APR-01, APR-14)', async () => {
  const rig = new Rig();
  const question = await rig.asked();
  const other = questionOf(rig.clock, { args: { ...ARGS, amount: 1 } });
  await assert.rejects(rig.decider.decide(question.name, yes(other)), fails('INVALID_ARGUMENT'));
  await assert.rejects(rig.decider.decide(question.name, no(other)), fails('INVALID_ARGUMENT'));
  await assert.rejects(
    rig.decider.decide(question.name, { ...yes(question), alternative: 'abandon' } as Answer),
    fails('INVALID_ARGUMENT'),
  );
  await assert.rejects(rig.decider.decide('op-none', yes(question)), fails('INVALID_ARGUMENT'));
  assert.deepEqual(rig.decider.state(question.name), { kind: 'waiting' });
});

test('local decider: a yes to one call covers no other one, whatever it differs in (APR-01)', async () => {
  const rig = new Rig();
  const question = await rig.asked();
  await rig.decider.decide(question.name, yes(question));
  const intent = intentOf(question, question.name);
  await rig.journal.begin(question.operationId, question.name);
  for (const [reason, change] of [
    ['APPROVAL_REQUIRED', { operationId: questionOf(rig.clock).operationId }],
    ['APPROVAL_REQUIRED', { planDigest: digestOf('plan', 'another') }],
    ['INTERNAL', { argsDigest: digestOf('arguments', 'others') }],
    ['APPROVAL_EXPIRED', { revision: `sha256:${'0'.repeat(64)}` }],
    ['APPROVAL_EXPIRED', { contract: 'scale-deployment' }],
  ] as const)
    await assert.rejects(rig.decider.admit({ ...intent, ...change }), fails(reason), JSON.stringify(change));
  await rig.decider.admit(intent);
});

test('local decider: an alternative that was chosen runs, and the call that was asked for does not', async () => {
  const rig = new Rig();
  const plain = questionOf(rig.clock);
  const alternative = alternativeOf(rig.clock, plain.name, { ...ARGS, amount: 5 });
  const question = await rig.asked({}, { ...plain, alternatives: [alternative] });
  const chosen: Answer = {
    verdict: 'approved',
    approver: 'jo',
    cardDigest: alternative.cardDigest,
    alternative: 'listed-only',
    reason: '',
  };
  await assert.rejects(rig.decider.decide(question.name, { ...chosen, cardDigest: question.cardDigest }), fails('INVALID_ARGUMENT'));
  await rig.decider.decide(question.name, chosen);
  await assert.rejects(rig.decider.admit(intentOf(question, question.name)), fails('APPROVAL_REQUIRED'));
  await rig.run(alternative, question.name);
});

test('local decider: a denied call never runs, and an equal one is not asked again for a while (APR-10)', async () => {
  const rig = new Rig();
  const question = await rig.asked();
  await rig.decider.decide(question.name, no(question));
  await assert.rejects(rig.decider.admit(intentOf(question, question.name)), fails('APPROVAL_DENIED'));
  rig.clock.pass(limits.approvalCooldownMs - 1);
  await assert.rejects(rig.asked(), fails('APPROVAL_DENIED'));
  const reworded = { ...ARGS, reason: 'The manager said that it is fine.' };
  const asked = rig.asked({ args: reworded, argsDigest: digestOf('arguments', reworded) });
  await assert.rejects(asked, fails('APPROVAL_DENIED'), 'another reason makes it no other call');
  await assert.rejects(rig.restarted().ask(questionOf(rig.clock)), fails('APPROVAL_DENIED'), 'a restart does not end it');
  await rig.asked({ args: { ...ARGS, amount: 2 } });
  rig.clock.pass(1);
  await rig.asked();
});

test('local decider: a yes does not work after its time, whichever clock says so (APR-11)', async () => {
  const rig = new Rig();
  const changes: string[] = [];
  rig.decider.onChange((change) => changes.push(change.kind === 'question' ? `${change.name} ${change.state.kind}` : ''));
  const [first, second] = [await rig.asked(), await rig.asked()];
  await rig.decider.decide(first.name, yes(first));
  rig.clock.set(-10 * 60_000);
  rig.clock.pass(limits.approvalExpiresMs);
  assert.deepEqual(rig.decider.state(first.name), { kind: 'expired' });
  assert.deepEqual(rig.decider.state(second.name), { kind: 'expired' });
  await assert.rejects(rig.decider.admit(intentOf(first, first.name)), fails('APPROVAL_EXPIRED'));
  await assert.rejects(rig.decider.decide(second.name, yes(second)), fails('APPROVAL_EXPIRED'));
  assert.ok(changes.includes(`${second.name} expired`), 'whoever waits for the decision hears of its end');

  const third = await rig.asked();
  rig.clock.set(limits.approvalExpiresMs);
  assert.deepEqual(rig.decider.state(third.name), { kind: 'expired' });
});

test('local decider: a restart keeps questions and decisions, and lengthens no time (APR-11)', async () => {
  const rig = new Rig();
  const [waiting, decided] = [await rig.asked(), await rig.asked()];
  await rig.decider.decide(decided.name, yes(decided));
  rig.clock.pass(limits.approvalExpiresMs - 1_000);
  rig.restarted();
  assert.deepEqual(rig.decider.state(waiting.name), { kind: 'waiting' });
  assert.equal(rig.decider.state(decided.name)?.kind, 'decided');
  rig.clock.pass(1_000);
  assert.deepEqual(rig.decider.state(waiting.name), { kind: 'expired' });
  assert.deepEqual(rig.restarted().state(decided.name), { kind: 'expired' });
});

test('local decider: a restart with a wall clock put back gives no more than the life of the question', async () => {
  const rig = new Rig();
  const question = await rig.asked();
  rig.clock.set(-24 * 3_600_000);
  rig.restarted();
  rig.clock.pass(limits.approvalExpiresMs);
  assert.deepEqual(rig.decider.state(question.name), { kind: 'expired' });
});

test('local decider: a used yes is used after a restart too (APR-15)', async () => {
  const rig = new Rig();
  const question = await rig.asked();
  await rig.decider.decide(question.name, yes(question));
  await rig.run(question, question.name);
  rig.restarted();
  await assert.rejects(
    rig.decider.admit(intentOf(questionOf(rig.clock, { args: { ...ARGS, amount: 3 } }), question.name)),
    fails('APPROVAL_REQUIRED'),
  );
  await rig.decider.admit(intentOf(question, question.name));
});

test('local decider: what was asked of a contract that was changed since is void (APR-02)', async () => {
  const rig = new Rig();
  const [waiting, decided] = [await rig.asked(), await rig.asked()];
  await rig.decider.decide(decided.name, yes(decided));
  rig.served = { ...contract, revision: `sha256:${'1'.repeat(64)}` };
  rig.restarted();
  assert.equal(rig.decider.state(waiting.name)?.kind, 'void');
  assert.deepEqual(rig.decider.open(), []);
  await assert.rejects(rig.decider.decide(waiting.name, yes(waiting)), fails('APPROVAL_EXPIRED'));
  await assert.rejects(rig.decider.admit(intentOf(decided, decided.name)), fails('APPROVAL_EXPIRED'));
});

test('local decider: a question whose operation has ended asks nobody any more', async () => {
  const rig = new Rig();
  const question = await rig.asked();
  await rig.journal.end(question.operationId, 'failed', {});
  assert.deepEqual(rig.decider.open(), []);
  await assert.rejects(rig.decider.decide(question.name, yes(question)), fails('APPROVAL_EXPIRED'));
});

test('local decider: closed it keeps no process, also where two asked the same at once', async () => {
  const rig = new Rig();
  const question = questionOf(rig.clock);
  await rig.journal.plan(recordOf(question));
  await Promise.all([rig.decider.ask(question), rig.decider.ask(question)]);
  rig.decider.close();
  assert.equal(rig.clock.pending, 0);
});

test('local decider: asks no more than a person can read, and the same question once (APR-10)', async () => {
  const rig = new Rig();
  const questions: Question[] = [];
  for (let index = 0; index < limits.approvalsOpenMax; index += 1)
    questions.push(await rig.asked({ args: { ...ARGS, amount: index + 1 } }));
  await assert.rejects(rig.asked(), fails('LIMIT_EXCEEDED'));
  const [first] = questions;
  assert.ok(first);
  await rig.decider.ask(first);
  await rig.decider.decide(first.name, no(first));
  await rig.asked({ args: { ...ARGS, amount: 100 } });
  assert.equal(rig.decider.open().length, limits.approvalsOpenMax);
});

test('local decider: an equal call waits for the one that runs, and for a person where nobody knows what it did', async () => {
  const rig = new Rig();
  const [first, second] = [questionOf(rig.clock), questionOf(rig.clock)];
  await rig.journal.plan(recordOf(first));
  await rig.run(first);
  await assert.rejects(rig.decider.admit(intentOf(second)), fails('IDEMPOTENCY_BUSY'));
  await rig.journal.intent(first.operationId, 0);
  await rig.journal.step(first.operationId, 0, 'unknown');
  await rig.journal.end(first.operationId, 'unknown', {});
  await rig.decider.settled(first.operationId, 'unknown');
  await assert.rejects(rig.decider.admit(intentOf(second)), fails('OUTCOME_UNKNOWN'));
  await assert.rejects(rig.restarted().admit(intentOf(second)), fails('OUTCOME_UNKNOWN'), 'a restart does not release it');
  const [lost] = rig.decider.lost();
  assert.equal(lost?.operationId, first.operationId);
  assert.equal(lost?.card, first.card, 'the person sees what was sent');

  const told: string[] = [];
  rig.decider.onChange((change) => told.push(change.kind === 'resolved' ? `${change.operationId} ${change.verdict} ${change.by}` : ''));
  await rig.decider.resolve(first.operationId, 'notDone', 'jo');
  assert.deepEqual(told, [`${first.operationId} notDone jo`]);
  assert.deepEqual(rig.decider.lost(), []);
  await rig.decider.admit(intentOf(second));
  await assert.rejects(rig.decider.resolve(first.operationId, 'done', 'jo'), fails('INVALID_ARGUMENT'));
});

test('local decider: without a socket it asks nobody and says so', async () => {
  const rig = new Rig();
  rig.restarted(false);
  await assert.rejects(rig.asked(), fails('CONTRACT_NOT_READY'));
  await rig.decider.admit(intentOf(questionOf(rig.clock)));
});

test('local decider: what the journal refuses was not decided', async () => {
  const rig = new Rig();
  const question = await rig.asked();
  const broken = new LocalDecider({
    journal: {
      ...rig.journal,
      kept: (prefix: string) => rig.journal.kept(prefix),
      list: () => rig.journal.list(),
      get: (id: string) => rig.journal.get(id),
      keep: () => Promise.reject(new PosternError('AUDIT_UNAVAILABLE', 'The disk is full.')),
    } as unknown as MemoryJournal,
    clock: rig.clock,
    reachable: true,
    contractOf: () => contract,
  });
  await assert.rejects(broken.decide(question.name, yes(question)), fails('AUDIT_UNAVAILABLE'));
  assert.deepEqual(broken.state(question.name), { kind: 'waiting' });
  await assert.rejects(broken.ask(questionOf(rig.clock)), fails('AUDIT_UNAVAILABLE'));
  assert.equal(broken.open().length, 1);
});

test('local decider: forgets what is over, so that questions without end do not fill the journal', async () => {
  const rig = new Rig();
  for (let index = 0; index < limits.approvalsOverKeptMax + 20; index += 1) {
    await rig.decider.ask(questionOf(rig.clock, { expiresAtMs: rig.clock.wallMs() + 1_000 }));
    rig.clock.pass(1_000);
  }
  const kept = rig.journal.kept('approval/').length;
  assert.ok(kept <= limits.approvalsOverKeptMax + 1, `${kept} are kept`);
});
