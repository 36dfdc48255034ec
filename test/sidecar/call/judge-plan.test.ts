/** Whether a kept plan may begin: every state of its question, against every way in which it may be out of date. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision, QuestionState } from '#sidecar/approval/decider.ts';
import { judgePlan } from '#sidecar/call/judge-plan.ts';
import { type EffectPlan, questionName } from '#sidecar/call/plan.ts';

const ID = `op_${'a'.repeat(26)}`;
const OTHER = `op_${'b'.repeat(26)}`;
const said = { approver: 'tess', reason: 'looks fine', atMs: 5 };
const yes: Decision = { verdict: 'approved', cardDigest: 'sha256:card', ...said };
const decided = (decision: Decision): QuestionState => ({ kind: 'decided', decision });

/** The parts that are judged. */
function plan(more: Partial<EffectPlan> = {}): EffectPlan {
  const parts = {
    operationId: ID,
    facts: { contract: 'put-note', revision: 'r1' },
    rests: { 'read-note': 'r2' },
    cardDigest: 'sha256:card',
    expiresAtMs: 100,
    needs: { kind: 'person', question: questionName(ID) },
    alternatives: [{ name: 'listed-only', operationId: OTHER, card: '', cardDigest: 'sha256:other' }],
    ...more,
  };
  return parts as unknown as EffectPlan;
}

const REVISIONS: Readonly<Record<string, string>> = { 'put-note': 'r1', 'read-note': 'r2' };

function judge(given: EffectPlan, question: QuestionState | undefined, { nowMs = 10, revisions = REVISIONS } = {}) {
  const verdict = judgePlan(given, { nowMs, question, revision: (name) => revisions[name] });
  return verdict.kind === 'over'
    ? `${verdict.error.reason} ${verdict.error.details.because ?? verdict.error.details.chosen_plan_id ?? ''}`
    : verdict.kind;
}

test('plan: a question decides: nobody asked, waiting, approved, denied, expired, void', () => {
  assert.equal(judge(plan(), undefined), 'ask');
  assert.equal(judge(plan(), { kind: 'waiting' }), 'wait');
  assert.equal(judge(plan(), decided(yes)), 'go');
  assert.equal(judge(plan(), decided({ verdict: 'denied', ...said })), 'APPROVAL_DENIED looks fine');
  assert.equal(judge(plan(), { kind: 'expired' }), 'APPROVAL_EXPIRED ');
  assert.equal(judge(plan(), { kind: 'void', because: 'changed' }), 'APPROVAL_EXPIRED changed');
  assert.equal(judge(plan({ needs: { kind: 'nobody' } }), undefined), 'go');
});

test('plan: a contract, or a read it rests on, of another revision voids it, approved or not (APR-02)', () => {
  for (const revisions of [{ ...REVISIONS, 'put-note': 'r9' }, { ...REVISIONS, 'read-note': 'r9' }, { 'put-note': 'r1' }] as Record<
    string,
    string
  >[]) {
    assert.equal(judge(plan(), decided(yes), { revisions }), 'APPROVAL_EXPIRED changed');
    assert.equal(judge(plan({ needs: { kind: 'nobody' } }), undefined, { revisions }), 'APPROVAL_EXPIRED changed');
  }
});

test('plan: a yes to another card, or to another plan of the card, is none to this one (APR-01)', () => {
  assert.equal(judge(plan(), decided({ ...yes, cardDigest: 'sha256:forged' })), 'APPROVAL_EXPIRED changed');
  assert.equal(judge(plan(), decided({ ...yes, alternative: 'listed-only', cardDigest: 'sha256:other' })), `APPROVAL_DENIED ${OTHER}`);
  const choice = plan({ operationId: OTHER, needs: { kind: 'person', question: questionName(ID), alternative: 'listed-only' } });
  assert.equal(judge(choice, decided(yes)).split(' ')[0], 'APPROVAL_DENIED', 'the question itself was chosen');
  assert.equal(
    judge({ ...choice, cardDigest: 'sha256:other' }, decided({ ...yes, alternative: 'listed-only', cardDigest: 'sha256:other' })),
    'go',
  );
  assert.equal(judge(choice, undefined), 'APPROVAL_EXPIRED ', 'a choice is never asked by itself');
});

test('plan: past its time, or past that of its evidence, it does not begin, whatever a person said (P7)', () => {
  assert.equal(judge(plan(), decided(yes), { nowMs: 100 }), 'APPROVAL_EXPIRED ');
  assert.equal(judge(plan({ evidenceUntilMs: 50 }), decided(yes), { nowMs: 51 }), 'EVIDENCE_EXPIRED ');
  assert.equal(judge(plan({ evidenceUntilMs: 50 }), decided(yes), { nowMs: 50 }), 'go');
});
