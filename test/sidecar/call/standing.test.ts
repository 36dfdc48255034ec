import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { judgeStanding, SessionStanding, type StandingFacts } from '#sidecar/call/standing.ts';

const READ = { action: 'list_rows', credentials: ['reader'] };
const BARE = { action: 'ping', credentials: [] };
const GOOD: StandingFacts = { phase: 'Active', because: '', leaseOver: false };

const CODES = {
  Pending: 'CONTRACT_NOT_READY',
  Suspended: 'SESSION_SUSPENDED',
  Revoked: 'SESSION_REVOKED',
  Ended: 'SESSION_EXPIRED',
} as const;

test('standing: each state of a session has its code, whatever the lease and the owners say', () => {
  for (const [phase, code] of Object.entries(CODES)) {
    for (const leaseOver of [false, true])
      for (const suspension of [undefined, 'contract', 'binding'] as const)
        for (const contract of [READ, BARE, undefined])
          assert.equal(judgeStanding({ phase: phase as keyof typeof CODES, because: '', leaseOver }, suspension, contract)?.reason, code);
  }
});

test('standing: past the lease everything with a binding is CONTROL_STALE, what has none goes on', () => {
  const over = { ...GOOD, leaseOver: true };
  assert.equal(judgeStanding(over, undefined, READ)?.reason, 'CONTROL_STALE');
  assert.equal(judgeStanding(over, undefined, READ)?.retryable, true);
  assert.equal(judgeStanding(over, undefined, BARE), undefined);
  assert.equal(judgeStanding(GOOD, undefined, READ), undefined);
  assert.equal(judgeStanding(GOOD, 'binding', READ)?.reason, 'SESSION_SUSPENDED');
});

test("standing: a person's reason is repeated sanitized and short, and apart from the message", () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 2_000 }), (because) => {
      const error = judgeStanding({ ...GOOD, phase: 'Revoked', because }, undefined, READ);
      assert.equal(error?.message, 'The session of this pod was revoked.');
      assert.ok([...(error?.details.because ?? '')].length <= 256);
      assert.doesNotMatch(error?.details.because ?? '', /\p{Cc}|\p{Cf}/u);
    }),
  );
});

test('standing: a change stops the calls that lost theirs, each of them, and no other', () => {
  let facts = GOOD;
  const standing = new SessionStanding({ facts: () => facts, bundle: () => undefined });
  const stopped: string[] = [];
  const forget = standing.of(READ).onLost(() => stopped.push('forgotten'));
  standing.of(READ).onLost(() => stopped.push('read'));
  standing.of(BARE).onLost(() => stopped.push('bare'));
  forget();
  standing.changed();
  assert.deepEqual(stopped, []);
  facts = { ...GOOD, leaseOver: true };
  standing.changed();
  assert.deepEqual(stopped, ['read']);
  facts = { ...GOOD, phase: 'Revoked' };
  standing.changed();
  assert.deepEqual(stopped.slice(1), ['read', 'bare']);
});
