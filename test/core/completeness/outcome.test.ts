import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { OutcomeRule } from '#core/contract/compiled.ts';
import { contract, rule } from './build-contract.ts';
import { codesOf, drive, envelopeOf, items, noReply, type Said, wayOf } from './drive-walk.ts';

const PAGE: Said = { body: { items: items(1, 2), next: 'c1' } };

function errorOf(said: Said | ReturnType<typeof noReply>, outcomes: readonly OutcomeRule[] = []): string {
  const { folded } = drive(contract({ result: { outcomes } }), [said]);
  return folded.kind === 'error' ? folded.reason : folded.kind;
}

describe('outcome', () => {
  it('outcome: with no page decoded every failure is its error of the table', () => {
    const table: readonly [Said, string][] = [
      [{ status: 429 }, 'REMOTE_RATE_LIMITED'],
      [{ status: 401 }, 'CREDENTIAL_INVALID'],
      [{ status: 403 }, 'REMOTE_DENIED'],
      [{ status: 404 }, 'REMOTE_DENIED'],
      [{ status: 302, headers: { location: 'https://other.test/' } }, 'REDIRECT_REFUSED'],
      [{ status: 304 }, 'REDIRECT_REFUSED'],
      [{ status: 408 }, 'REMOTE_UNAVAILABLE'],
      [{ status: 500 }, 'REMOTE_UNAVAILABLE'],
      [{ status: 400 }, 'REMOTE_REJECTED'],
      [{ status: 206, body: { items: [] } }, 'REMOTE_PROTOCOL'],
      [{ fault: 'cut' }, 'REMOTE_PROTOCOL'],
      [{ fault: 'undecodable' }, 'REMOTE_PROTOCOL'],
      [{ fault: 'contentType' }, 'REMOTE_PROTOCOL'],
      [{ fault: 'unframed' }, 'REMOTE_PROTOCOL'],
      [{ fault: 'tooLarge' }, 'RESPONSE_TOO_LARGE'],
      [{ body: {} }, 'REMOTE_PROTOCOL'],
      [{ body: { items: null } }, 'REMOTE_PROTOCOL'],
      [{ body: { items: { id: 1 } } }, 'REMOTE_PROTOCOL'],
      [{}, 'REMOTE_PROTOCOL'],
    ];
    for (const [said, reason] of table) assert.equal(errorOf(said), reason, JSON.stringify(said));
    const named: readonly [OutcomeRule['is'], string][] = [
      ['CursorExpired', 'CURSOR_EXPIRED'],
      ['NotFound', 'REMOTE_NOT_FOUND'],
      ['CapReached', 'RESULT_INCOMPLETE'],
      ['TimedOut', 'DEADLINE_EXCEEDED'],
    ];
    for (const [is, reason] of named) assert.equal(errorOf({ status: 418 }, [{ name: 'x', when: rule('status == 418'), is }]), reason);
  });

  it('outcome: no reply at all is an error by its cause', () => {
    assert.equal(errorOf(noReply('unreachable')), 'REMOTE_UNAVAILABLE');
    assert.equal(errorOf(noReply('tls')), 'REMOTE_UNAVAILABLE');
    assert.equal(errorOf(noReply('timedOut')), 'DEADLINE_EXCEEDED');
    assert.equal(errorOf(noReply('protocol')), 'REMOTE_PROTOCOL');
    assert.equal(errorOf(noReply('egressDenied')), 'EGRESS_DENIED');
  });

  it('outcome: after a page the same failure keeps the rows and becomes a reason', () => {
    const table: readonly [Said | ReturnType<typeof noReply>, readonly string[], string][] = [
      [{ status: 429, headers: { 'retry-after': '30' } }, ['MORE_PAGES_AVAILABLE', 'REMOTE_RATE_LIMITED'], 'retry_after'],
      [{ status: 403 }, ['MORE_PAGES_AVAILABLE', 'VISIBILITY_RESTRICTED'], 'none'],
      [{ status: 401 }, ['MORE_PAGES_AVAILABLE', 'VISIBILITY_RESTRICTED'], 'none'],
      [{ status: 502 }, ['MORE_PAGES_AVAILABLE', 'SOURCE_UNAVAILABLE'], 'next_cursor'],
      [{ status: 503, headers: { 'retry-after': '9' } }, ['MORE_PAGES_AVAILABLE', 'SOURCE_UNAVAILABLE'], 'retry_after'],
      [{ status: 400 }, ['MORE_PAGES_AVAILABLE', 'SOURCE_UNAVAILABLE'], 'none'],
      [{ status: 307 }, ['MORE_PAGES_AVAILABLE', 'SOURCE_UNAVAILABLE'], 'none'],
      [{ fault: 'cut' }, ['COMPLETENESS_UNPROVEN', 'MORE_PAGES_AVAILABLE'], 'none'],
      [{ fault: 'tooLarge' }, ['MORE_PAGES_AVAILABLE', 'RESULT_LIMIT_REACHED'], 'next_cursor'],
      [noReply('timedOut'), ['MORE_PAGES_AVAILABLE', 'TIME_BUDGET_EXCEEDED'], 'next_cursor'],
    ];
    for (const [said, codes, way] of table) {
      const driven = drive(contract(), [PAGE, said]);
      assert.deepEqual(codesOf(driven), codes, JSON.stringify(said));
      assert.equal(wayOf(driven), way, JSON.stringify(said));
      assert.equal(driven.rows.length, 2);
    }
  });

  it('outcome: rules are asked in order, before the defaults, and an error in one is no match', () => {
    const outcomes: readonly OutcomeRule[] = [
      { name: 'broken', when: rule('body.error.code == 7'), is: 'NotFound' },
      { name: 'expired', when: rule("status == 404 && body.reason == 'gone'"), is: 'CursorExpired' },
      { name: 'hidden', when: rule('status == 404'), is: 'Denied' },
    ];
    assert.equal(errorOf({ status: 404, body: { reason: 'gone' } }, outcomes), 'CURSOR_EXPIRED');
    assert.equal(errorOf({ status: 404, body: {} }, outcomes), 'REMOTE_DENIED');
    assert.equal(errorOf({ status: 404, fault: 'contentType' }, outcomes), 'REMOTE_DENIED');
  });

  it('outcome: no rule reinterprets a refused credential, a redirect or a body that was cut', () => {
    const everything: readonly OutcomeRule[] = [{ name: 'fine', when: rule('true'), is: 'Ok' }];
    assert.equal(errorOf({ status: 401, body: { items: [], next: null } }, everything), 'CREDENTIAL_INVALID');
    assert.equal(errorOf({ status: 301, body: { items: [], next: null } }, everything), 'REDIRECT_REFUSED');
    assert.equal(errorOf({ status: 200, fault: 'cut' }, everything), 'REMOTE_PROTOCOL');
    assert.equal(errorOf({ status: 200, fault: 'contentType' }, [{ name: 'none', when: rule('true'), is: 'Empty' }]), 'REMOTE_PROTOCOL');
  });

  it('outcome: a 200 may be a rate limit, an expired cursor or a refusal', () => {
    const outcomes: readonly OutcomeRule[] = [
      { name: 'limited', when: rule("has(body.error) && body.error == 'ratelimited'"), is: 'RateLimited' },
    ];
    assert.equal(errorOf({ body: { error: 'ratelimited' } }, outcomes), 'REMOTE_RATE_LIMITED');
  });

  it('outcome: Empty is a complete answer without items, also without a body', () => {
    const driven = drive(contract({ result: { outcomes: [{ name: 'none', when: rule('status == 204'), is: 'Empty' }] } }), [
      { status: 204 },
    ]);
    assert.equal(envelopeOf(driven).status, 'ok');
    assert.deepEqual(driven.rows, []);
  });

  it('outcome: an unframed body that decodes is read and stays unproven', () => {
    const driven = drive(contract(), [{ fault: 'unframed', body: { items: items(1, 2), next: null } }]);
    assert.deepEqual(codesOf(driven), ['COMPLETENESS_UNPROVEN']);
    assert.equal(driven.rows.length, 2);
  });
});
