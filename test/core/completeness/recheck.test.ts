import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { before, recheck, settle } from '#core/completeness/recheck.ts';
import { compileRule, RESULT_VARIABLES, type Rule } from '#core/completeness/rule.ts';
import type { Folded } from '#core/completeness/walk.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { contract, path } from './build-contract.ts';
import { drive, NOW_MS, type Said } from './drive-walk.ts';

function expression(text: string): Rule {
  const compiled = compileRule(text, RESULT_VARIABLES);
  assert.ok(compiled.kind === 'compiled', text);
  return compiled.rule;
}

const ONE = contract({ result: { shape: { kind: 'object', path: path('/') }, as: 'payment', id: [], fields: 'All' } });
const STALE: CompiledContract = {
  ...ONE,
  completeness: { ...ONE.completeness, notices: [{ name: 'lag', warning: 'lag', fields: [] }] },
  warnings: { lag: { name: 'lag', code: 'STALE_INDEX', owner: 'o', expires: '2026-12-31', message: 'lags' } },
};
const INPUT = { args: { payment: 'p1' }, nowMs: NOW_MS };

const answer = (said: Said, compiled = ONE): Folded => drive(compiled, [said]).folded;
const PAID = answer({ body: { status: 'succeeded', id: 'p1' } });
const GONE = answer({ status: 503 });
const HALF = drive(contract({ result: { as: 'runs' } }), [{ body: { items: [{ id: 1 }], next: 'c1' } }], {
  stop: { limit: 'pages', value: 1 },
}).folded;
const NONE = drive(contract({ result: { as: 'runs' } }), [{ body: { items: [] } }]).folded;
const HALF_OF_NONE = drive(contract({ result: { as: 'runs' } }), [{ body: { items: [], next: 'c1' } }], {
  stop: { limit: 'pages', value: 1 },
}).folded;

describe('recheck', () => {
  it('recheck: a whole answer that is what the contract expects lets the effect happen', () => {
    assert.equal(
      recheck(PAID, expression("result.payment.status == 'succeeded' && result.payment.id == args.payment"), INPUT).kind,
      'holds',
    );
  });

  it('recheck: anything else stops it, an expression that fails too', () => {
    for (const text of [
      "result.payment.status == 'refunded'",
      'result.payment.nothing == 1',
      '1',
      "result.payment.status == 'succeeded' && args.payment == 'p2'",
    ])
      assert.equal(recheck(PAID, expression(text), INPUT).kind, 'stops', text);
  });

  it('recheck: an answer that failed, is not whole or is stale cannot tell', () => {
    const yes = expression('true');
    assert.ok(PAID.kind === 'envelope');
    const { envelope } = PAID;
    const unsaid: Folded = { ...PAID, envelope: { ...envelope, completeness: { ...envelope.completeness, complete: false } } };
    for (const folded of [GONE, HALF, unsaid, answer({ body: { status: 'x' } }, STALE), answer({ fault: 'cut' })]) {
      const verdict = recheck(folded, yes, INPUT);
      assert.equal(verdict.kind, 'cannotTell');
      assert.ok(verdict.kind === 'cannotTell' && verdict.because.endsWith('.'));
    }
  });
});

describe('settle', () => {
  const RULES = { done: expression('size(result.runs) == 1'), notDone: expression('size(result.runs) == 0') };

  it('settle: any answer that shows it says done, only a whole one says not done', () => {
    assert.equal(settle(HALF, RULES, INPUT).kind, 'done');
    assert.equal(settle(NONE, RULES, INPUT).kind, 'notDone');
    assert.equal(settle(HALF_OF_NONE, RULES, INPUT).kind, 'unknown');
    assert.equal(settle(GONE, RULES, INPUT).kind, 'unknown');
  });

  it('settle: without notDone nothing ever says so, and both at once prove nothing', () => {
    assert.equal(settle(NONE, { done: RULES.done }, INPUT).kind, 'unknown');
    assert.equal(settle(NONE, { done: expression('true'), notDone: expression('true') }, INPUT).kind, 'unknown');
    assert.equal(settle(NONE, { done: expression('result.nothing'), notDone: expression('result.nothing') }, INPUT).kind, 'unknown');
  });

  it('settle: a stale answer that does not show it says nothing', () => {
    const stale = answer({ body: { status: 'open' } }, STALE);
    const rules = { done: expression("result.payment.status == 'refunded'"), notDone: expression("result.payment.status == 'open'") };
    assert.equal(settle(stale, rules, INPUT).kind, 'unknown');
    assert.equal(settle(answer({ body: { status: 'open' } }), rules, INPUT).kind, 'notDone');
    assert.equal(settle(answer({ body: { status: 'refunded' } }, STALE), rules, INPUT).kind, 'done');
  });

  it('settle: whatever the read answers, not done needs an answer that is complete (P2)', () => {
    const said = fc.record({
      status: fc.constantFrom(200, 200, 200, 403, 429, 503),
      body: fc.option(
        fc.record({ items: fc.array(fc.record({ id: fc.nat({ max: 3 }) }), { maxLength: 3 }), next: fc.constantFrom(null, 'c1') }),
        { nil: undefined },
      ),
      fault: fc.option(fc.constantFrom('cut', 'unframed' as const), { nil: undefined }),
    });
    fc.assert(
      fc.property(said, (one) => {
        const { folded } = drive(contract({ result: { as: 'runs' } }), [one as Said], { stop: { limit: 'pages', value: 1 } });
        const verdict = settle(folded, { done: expression('false'), notDone: expression('true') }, INPUT);
        const complete = folded.kind === 'envelope' && folded.envelope.completeness.complete;
        assert.equal(verdict.kind, complete ? 'notDone' : 'unknown');
        assert.equal(recheck(folded, expression('true'), INPUT).kind, complete ? 'holds' : 'cannotTell');
      }),
    );
  });
});

describe('before', () => {
  const FIELDS = [
    { name: 'status', path: path('/payment/status') },
    { name: 'other', path: path('/payment/other') },
  ];

  it('before: the fields are read from the data, in order, and what is not there is null', () => {
    assert.deepEqual(before(PAID, FIELDS, INPUT), {
      kind: 'read',
      before: [
        { name: 'status', before: 'succeeded' },
        { name: 'other', before: null },
      ],
    });
  });

  it('before: half a target is not shown as one', () => {
    for (const folded of [GONE, HALF, answer({ body: { status: 'x' } }, STALE)])
      assert.equal(before(folded, FIELDS, INPUT).kind, 'cannotTell');
  });
});
