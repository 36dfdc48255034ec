import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { startWalk, takePage } from '#core/completeness/walk.ts';
import type { RateLimitRules, WaitSource } from '#core/contract/compiled.ts';
import { contract, locator, rule } from './build-contract.ts';
import { codesOf, contextOf, drive, exchange, items, NOW_MS, type Said, wayOf } from './drive-walk.ts';

const FLOOR_MS = 1000;
const CEILING_MS = 3_600_000;

function limits(waits: readonly WaitSource[], wait: RateLimitRules['wait'] = 'Never'): RateLimitRules {
  return { wait, waits, floorMs: FLOOR_MS, ceilingMs: CEILING_MS };
}

function waited(said: Said, waits: readonly WaitSource[] = []): number | undefined {
  const { folded } = drive(contract({ completeness: { rateLimit: limits(waits) } }), [{ status: 429, ...said }]);
  assert.equal(folded.kind === 'error' && folded.reason, 'REMOTE_RATE_LIMITED');
  return folded.kind === 'error' ? folded.retryAfterMs : undefined;
}

function header(name: string, unit: Extract<WaitSource, { kind: 'from' }>['unit']): WaitSource {
  return { kind: 'from', from: locator({ header: name }), unit };
}

describe('rate limit', () => {
  it('rate limit: Retry-After of any form is a bounded wait and never a busy loop', () => {
    const table: readonly [string, number][] = [
      ['30', 30_000],
      ['0', FLOOR_MS],
      ['-5', FLOOR_MS],
      ['1.5', 1500],
      ['1e9', FLOOR_MS],
      ['99999999999999', CEILING_MS],
      ['999999999999999999999999', FLOOR_MS],
      ['3, 5', FLOOR_MS],
      ['', FLOOR_MS],
      ['soon', FLOOR_MS],
      ['Thu, 01 Jan 2026 00:02:00 GMT', 120_000],
      ['Mon, 01 Jan 2001 00:00:00 GMT', FLOOR_MS],
      ['Thu, 01 Jan 9999 00:00:00 GMT', CEILING_MS],
      ['2026', 2_026_000],
    ];
    for (const [text, ms] of table) assert.equal(waited({ headers: { 'retry-after': text } }), ms, text);
  });

  it('rate limit: no text of a remote gives a wait outside the bounds', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (text, date) => {
        const ms = waited({ headers: { 'retry-after': text, date } }, [
          header('retry-after', 'RetryAfter'),
          header('retry-after', 'EpochSeconds'),
        ]);
        assert.ok(ms !== undefined && ms >= FLOOR_MS && ms <= CEILING_MS);
      }),
    );
  });

  it('rate limit: dates and epochs are measured against the clock of the remote', () => {
    const date = 'Thu, 01 Jan 2032 00:00:00 GMT';
    assert.equal(waited({ headers: { date, 'retry-after': 'Thu, 01 Jan 2032 00:02:00 GMT' } }), 120_000);
    const reset = String(Date.parse(date) / 1000 + 7);
    assert.equal(waited({ headers: { date, 'x-reset': reset } }, [header('x-reset', 'EpochSeconds')]), 7000);
    assert.equal(waited({ headers: { date, 'x-reset': `${Number(reset)}000` } }, [header('x-reset', 'EpochMillis')]), 7000);
  });

  it('rate limit: the unit is declared and never guessed', () => {
    assert.equal(waited({ headers: { 'x-reset': '37' } }, [header('x-reset', 'Seconds')]), 37_000);
    assert.equal(waited({ headers: { 'x-reset': '2500' } }, [header('x-reset', 'Millis')]), 2500);
    assert.equal(waited({ headers: { 'x-reset': '37' } }, [header('x-reset', 'EpochSeconds')]), FLOOR_MS);
    assert.equal(waited({ headers: { ratelimit: '"a";r=5;t=900, "b";r=0;t=50' } }, [header('ratelimit', 'RateLimitParameter')]), 50_000);
    assert.equal(waited({ headers: { ratelimit: '"a";r=5;t=20, "b";r=1;t=50' } }, [header('ratelimit', 'RateLimitParameter')]), 50_000);
  });

  it('rate limit: the first source that is there and parses wins', () => {
    const waits = [header('retry-after', 'RetryAfter'), header('x-reset', 'Seconds'), { kind: 'fixed', ms: 5000 } as const];
    assert.equal(waited({ headers: { 'retry-after': '9', 'x-reset': '3' } }, waits), 9000);
    assert.equal(waited({ headers: { 'retry-after': 'never', 'x-reset': '3' } }, waits), 3000);
    assert.equal(waited({}, waits), 5000);
  });

  it('rate limit: a wait may be computed from the answer', () => {
    const cel: WaitSource = { kind: 'cel', cel: rule('(body.cost - body.left) / body.rate'), unit: 'Seconds' };
    assert.equal(waited({ body: { cost: 752, left: 652, rate: 50 } }, [cel]), 2000);
    assert.equal(waited({ body: { cost: 752 } }, [cel]), FLOOR_MS);
  });

  it('rate limit: inside the budget the same request is sent again after the wait, where the contract says so', () => {
    const compiled = contract({ completeness: { rateLimit: limits([], 'WithinBudget') } });
    const taken = takePage(
      contextOf(compiled),
      startWalk(compiled, '', {}, {}),
      exchange({ status: 429, headers: { 'retry-after': '4' } }),
    );
    assert.deepEqual(taken.step, { kind: 'wait', afterMs: 4000 });
    const again = takePage(contextOf(compiled), taken.walk, exchange({ body: { items: items(1, 1), next: null } }));
    assert.equal(again.walk.failure, undefined);
    assert.ok(again.walk.done);
  });

  it('rate limit: between pages the answer carries the rows, the wait, the time and the cursor', () => {
    const driven = drive(contract(), [{ body: { items: items(1, 2), next: 'c1' } }, { status: 429, headers: { 'retry-after': '30' } }]);
    assert.deepEqual(codesOf(driven), ['MORE_PAGES_AVAILABLE', 'REMOTE_RATE_LIMITED']);
    assert.ok(driven.folded.kind === 'envelope');
    assert.deepEqual(driven.folded.envelope.completeness.continuation, {
      kind: 'retry_after',
      retry_after_ms: 30_000,
      retry_at: new Date(NOW_MS + 30_000).toISOString(),
      cursor: 'sealed',
    });
  });

  it('rate limit: what a batch left over is a limit of the remote, and comes back with the next request', () => {
    const given = {
      paging: {
        remainder: 'Leftovers',
        next: [{ name: 'keys', from: [locator({ body: '/left' })], presence: 'Required' }],
        end: { nextIs: ['Absent', 'EmptyObject'] },
      },
      completeness: { rateLimit: limits([{ kind: 'fixed', ms: 2000 }]) },
    } as const;
    const left = { body: { items: items(1, 2), left: { t: ['k3'] } } };
    const driven = drive(contract(given), [left, { body: { items: [], left: { t: ['k3'] } } }], { stop: { limit: 'pages', value: 2 } });
    assert.deepEqual([codesOf(driven), wayOf(driven)], [['REMOTE_RATE_LIMITED'], 'retry_after']);
    assert.deepEqual(codesOf(drive(contract(given), [left, { body: { items: items(3, 1), left: {} } }])), []);
  });
});
