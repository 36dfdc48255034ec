/** Goal: a yes covers what was seen and nothing else (P3). Method: every single change of what was approved must be refused. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { chosenCard, type Grant, type GrantedPlan, judgeGrant, type Refusal } from '#core/approval/grant.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { exampleContract } from './example-cards.ts';

const NOW_MS = Date.parse('2026-11-30T14:50:00Z');
const contract = exampleContract('scale-deployment');
const ARGS = { deployment: 'checkout-api', from: 3, replicas: 5, reason: 'needed' };
const CARD = `sha256:${'ca'.repeat(32)}`;
const PLAN = `sha256:${'91'.repeat(32)}`;

const plan: GrantedPlan = { operationId: 'op_one', session: 'session-1', contract, planDigest: PLAN, args: ARGS };
const grant: Grant = {
  cardDigest: CARD,
  operationId: 'op_one',
  session: 'session-1',
  contract: contract.name,
  revision: contract.revision,
  planDigest: PLAN,
  args: ARGS,
  expiresAtMs: NOW_MS + 1,
  callsUsed: 0,
  decision: { verdict: 'approved', cardDigest: CARD },
};
const ranged: Grant = { ...grant, range: { calls: 3, vary: ['/reason'] } };

test('grant: a yes covers its own plan once', () => {
  assert.deepEqual(judgeGrant(grant, plan, NOW_MS), { kind: 'covered', left: 0 });
  assert.equal(refusal({ ...grant, callsUsed: 1 }, plan), 'used');
});

const MUTATIONS: readonly (readonly [string, Partial<Grant>, Partial<GrantedPlan>, Refusal])[] = [
  ['a no', { decision: { verdict: 'denied', cardDigest: CARD } }, {}, 'denied'],
  ['a yes to another card (APR-02)', { decision: { verdict: 'approved', cardDigest: PLAN } }, {}, 'card'],
  ['another session, also of the same pod name (APR-13)', {}, { session: 'session-2' }, 'session'],
  ['another contract', { contract: 'deploy-service' }, {}, 'contract'],
  ['another operation', {}, { operationId: 'op_two' }, 'plan'],
  ['another plan (APR-01)', {}, { planDigest: CARD }, 'plan'],
  ['a contract or binding that changed (APR-02)', { revision: CARD }, {}, 'changed'],
  ['a yes that is over (APR-11)', { expiresAtMs: NOW_MS }, {}, 'expired'],
  ['a yes that was used (APR-03)', { callsUsed: 1 }, {}, 'used'],
];

for (const [what, inGrant, inPlan, because] of MUTATIONS) {
  test(`grant: refuses ${what}`, () => {
    assert.equal(refusal({ ...grant, ...inGrant }, { ...plan, ...inPlan }), because);
    if (because === 'plan') return;
    assert.equal(refusal({ ...ranged, ...inGrant, ...(because === 'used' ? { callsUsed: 3 } : {}) }, { ...plan, ...inPlan }), because);
  });
}

test('grant: the reasons tell the caller whether to ask, to change the call or to call again', () => {
  const reasons: Record<string, string> = {};
  for (const [, inGrant, inPlan] of MUTATIONS) {
    const verdict = judgeGrant({ ...grant, ...inGrant }, { ...plan, ...inPlan }, NOW_MS);
    assert.ok(verdict.kind === 'refused');
    reasons[verdict.because] = verdict.error.reason;
    assert.equal(verdict.error.details.because, verdict.because);
  }
  assert.deepEqual(reasons, {
    denied: 'APPROVAL_DENIED',
    card: 'APPROVAL_REQUIRED',
    session: 'APPROVAL_REQUIRED',
    contract: 'APPROVAL_REQUIRED',
    plan: 'APPROVAL_REQUIRED',
    changed: 'APPROVAL_EXPIRED',
    expired: 'APPROVAL_EXPIRED',
    used: 'APPROVAL_EXPIRED',
  });
});

test('grant: any change of any argument of a plan is refused unless the card said it may differ (APR-01, P3)', () => {
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(ARGS), 'extra'), fc.jsonValue(), (name, value) => {
      const given: JsonValue = JSON.parse(JSON.stringify(value));
      const args = { ...ARGS, [name]: given };
      const same = JSON.stringify((ARGS as Record<string, JsonValue>)[name]) === JSON.stringify(given);
      const next = { ...plan, operationId: 'op_two', planDigest: CARD, args };
      const verdict = judgeGrant(ranged, next, NOW_MS);
      assert.equal(verdict.kind, same || name === 'reason' ? 'covered' : 'refused', name);
    }),
  );
});

test('grant: an argument less, or one more, is another call', () => {
  const { from: _, ...fewer } = ARGS;
  assert.equal(refusal(ranged, { ...plan, args: fewer }), 'plan');
  assert.equal(refusal(ranged, { ...plan, args: { ...ARGS, force: true } }), 'plan');
  // What may differ may also be absent.
  const { reason: __, ...silent } = ARGS;
  assert.equal(judgeGrant(ranged, { ...plan, args: silent }, NOW_MS).kind, 'covered');
});

test('grant: no card lets another target through, whatever it says may differ', () => {
  const generous: Grant = { ...grant, range: { calls: 100, vary: ['/deployment', '/reason', '/from'] } };
  assert.equal(refusal(generous, { ...plan, args: { ...ARGS, deployment: 'catalog-worker' } }), 'plan');
  assert.equal(judgeGrant(generous, { ...plan, args: { ...ARGS, from: 4 } }, NOW_MS).kind, 'covered');
  const archive = exampleContract('archive-projects');
  const args = { project_ids: [1], inactive_since: 'x', reason: 'y' };
  const targets: Grant = {
    ...generous,
    contract: archive.name,
    revision: archive.revision,
    args,
    range: { calls: 9, vary: ['/project_ids'] },
  };
  assert.equal(refusal(targets, { ...plan, contract: archive, args: { ...args, project_ids: [2] } }), 'plan');
  const restart = exampleContract('restart-service');
  const where = { host: 'web-1', service: 'api', reason: 'z' };
  const hosts: Grant = {
    ...generous,
    contract: restart.name,
    revision: restart.revision,
    args: where,
    range: { calls: 9, vary: ['/service'] },
  };
  assert.equal(refusal(hosts, { ...plan, contract: restart, args: { ...where, service: 'nginx' } }), 'plan');
});

test('grant: a nested argument may differ alone', () => {
  const args = { ...ARGS, note: { text: 'a', level: 1 } };
  const nested: Grant = { ...grant, args, range: { calls: 2, vary: ['/note/text', '/nothing/there', '/reason/deeper'] } };
  assert.equal(judgeGrant(nested, { ...plan, args: { ...args, note: { text: 'b', level: 1 } } }, NOW_MS).kind, 'covered');
  assert.equal(refusal(nested, { ...plan, args: { ...args, note: { text: 'b', level: 2 } } }), 'plan');
  assert.equal(refusal(nested, { ...plan, args: { ...args, note: 'b' } }), 'plan');
  assert.equal(refusal(nested, { ...plan, args: { ...args, reason: 'other' } }), 'plan');
});

test('grant: so many calls as the card said, and not one more', () => {
  const left = [0, 1, 2, 3].map((callsUsed) => judgeGrant({ ...ranged, callsUsed }, plan, NOW_MS));
  assert.deepEqual(
    left.map((verdict) => (verdict.kind === 'covered' ? verdict.left : verdict.because)),
    [2, 1, 0, 'used'],
  );
});

test('grant: a decision is about the card it names, and about no other (APR-02)', () => {
  const question = {
    operationId: 'op_one',
    cardDigest: 'a',
    alternatives: [{ name: 'listed-only', operationId: 'op_two', cardDigest: 'b' }],
  };
  assert.equal(chosenCard(question, { cardDigest: 'a' })?.operationId, 'op_one');
  assert.equal(chosenCard(question, { cardDigest: 'b', alternative: 'listed-only' })?.operationId, 'op_two');
  for (const forged of [
    { cardDigest: 'b' },
    { cardDigest: 'a', alternative: 'listed-only' },
    { cardDigest: 'b', alternative: 'retry-longer' },
  ])
    assert.equal(chosenCard(question, forged), undefined);
});

function refusal(given: Grant, of: GrantedPlan): Refusal {
  const verdict = judgeGrant(given, of, NOW_MS);
  assert.ok(verdict.kind === 'refused', 'it is covered');
  return verdict.because;
}
