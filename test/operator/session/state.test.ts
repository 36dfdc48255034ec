import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BECAUSE, type SessionFacts, type SessionStateName, sessionState } from '#operator/session/state.ts';

const CURRENT: readonly (SessionStateName | undefined)[] = [undefined, 'Pending', 'Active', 'Suspended', 'Revoked', 'Ended'];
const DUPLICATE = ['none', 'before admission', 'after admission'] as const;
const FLAGS = ['revoked', 'admitted', 'podGone', 'approvalRequired', 'acknowledged', 'followsRevoked'] as const;

/** Every combination there is: 6 states, 3 kinds of duplicate, 6 facts. */
function* everything(): Generator<SessionFacts> {
  for (const state of CURRENT) {
    for (const duplicate of DUPLICATE) {
      for (let bits = 0; bits < 2 ** FLAGS.length; bits += 1) {
        const flags = Object.fromEntries(FLAGS.map((flag, index) => [flag, (bits & (1 << index)) !== 0])) as Record<
          (typeof FLAGS)[number],
          boolean
        >;
        yield { current: { state, because: state === 'Suspended' ? 'as it was' : undefined }, duplicate, ...flags };
      }
    }
  }
}

/** Asserts `then` of every combination of which `when` is true, and that there is one. */
function always(when: (facts: SessionFacts) => boolean, then: (facts: SessionFacts, state: SessionStateName) => boolean): void {
  const met = [...everything()].filter(when);
  assert.ok(met.length > 0);
  for (const facts of met) {
    const verdict = sessionState(facts);
    assert.ok(then(facts, verdict.state), `${JSON.stringify(facts)} became ${verdict.state}`);
  }
}

const FRESH: SessionFacts = {
  current: { state: undefined, because: undefined },
  revoked: false,
  admitted: false,
  podGone: false,
  approvalRequired: false,
  acknowledged: false,
  duplicate: 'none',
  followsRevoked: false,
};

test('session state: an end is final', () => {
  always(
    ({ current }) => current.state === 'Ended',
    (_, state) => state === 'Ended',
  );
});

test('session state: a session whose pod is gone has ended, revoked or not', () => {
  always(
    ({ podGone }) => podGone,
    (_, state) => state === 'Ended',
  );
});

test('session state: a revoked session never calls again, whatever else is true', () => {
  always(
    ({ revoked, current }) => revoked || current.state === 'Revoked',
    (_, state) => state === 'Revoked' || state === 'Ended',
  );
});

test('session state: a second sidecar suspends until an admission that came after it', () => {
  always(
    ({ duplicate, admitted }) => duplicate === 'after admission' || (duplicate === 'before admission' && !admitted),
    (_, state) => state !== 'Active' && state !== 'Pending',
  );
  assert.equal(sessionState({ ...FRESH, acknowledged: true, duplicate: 'before admission', admitted: true }).state, 'Active');
  assert.equal(sessionState({ ...FRESH, acknowledged: true, duplicate: 'after admission', admitted: true }).state, 'Suspended');
});

test('session state: a suspension stays when its cause is no longer seen', () => {
  always(
    ({ current, admitted }) => current.state === 'Suspended' && !admitted,
    (_, state) => state === 'Suspended' || state === 'Revoked' || state === 'Ended',
  );
  assert.deepEqual(sessionState({ ...FRESH, current: { state: 'Suspended', because: 'as it was' } }), {
    state: 'Suspended',
    because: 'as it was',
  });
});

test('session state: only a session that begins is suspended by a revoked one before it', () => {
  assert.equal(sessionState({ ...FRESH, followsRevoked: true }).because, BECAUSE.followsRevoked);
  for (const state of ['Pending', 'Active'] as const) {
    assert.equal(
      sessionState({ ...FRESH, acknowledged: true, followsRevoked: true, current: { state, because: undefined } }).state,
      'Active',
    );
  }
});

test('session state: nothing is active before its first bundle, or before its admission where that is asked for', () => {
  always(
    ({ acknowledged, current }) => !acknowledged && current.state !== 'Active',
    (_, state) => state !== 'Active',
  );
  always(
    ({ approvalRequired, admitted, current }) => approvalRequired && !admitted && current.state !== 'Active',
    (_, state) => state !== 'Active',
  );
});

test('session state: an active session is not made to wait by a label that comes later', () => {
  assert.equal(sessionState({ ...FRESH, current: { state: 'Active', because: undefined }, approvalRequired: true }).state, 'Active');
});

test('session state: the new state judged again with the same facts stays', () => {
  for (const facts of everything()) {
    const verdict = sessionState(facts);
    const again = sessionState({ ...facts, current: verdict });
    assert.equal(again.state, verdict.state, JSON.stringify(facts));
  }
});

test('session state: every state but active says why', () => {
  for (const facts of everything()) {
    const { state, because } = sessionState(facts);
    if (facts.current.state !== 'Ended') assert.equal(because === undefined, state === 'Active', JSON.stringify(facts));
  }
});
