import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { CompiledContract, JsonValue, SignalRule } from '#core/contract/compiled.ts';
import { contract, locator, rule } from './build-contract.ts';
import { codesOf, drive, envelopeOf, items, resumed, type Said, wayOf } from './drive-walk.ts';

const DECLARED: CompiledContract['warnings'] = {
  hint: { name: 'hint', code: 'UPSTREAM_NOTICE', owner: 'team', expires: '2026-12-31', message: 'the remote has a remark' },
  stale: { name: 'stale', code: 'STALE_INDEX', owner: 'team', expires: '2026-12-31', message: 'the index lags' },
};

function page(members: Readonly<Record<string, JsonValue>>, next: string | null = null): Said {
  return { body: { items: items(next === null ? 3 : 1, 2), next, ...members } };
}

function signalled(signals: readonly SignalRule[], answers: readonly Said[]) {
  const driven = drive(contract({ completeness: { signals }, warnings: DECLARED }), answers);
  return {
    codes: codesOf(driven),
    warnings: envelopeOf(driven).warnings,
    reasons: envelopeOf(driven).completeness.incomplete_reasons,
    way: wayOf(driven),
  };
}

const PARTIAL: SignalRule = {
  kind: 'when',
  name: 'partial',
  when: rule('has(body.partial) && body.partial'),
  reason: 'SOURCE_UNAVAILABLE',
};
const TABLE: SignalRule = {
  kind: 'table',
  name: 'remarks',
  values: rule('has(body.remarks) ? body.remarks : []'),
  entries: [
    { test: { kind: 'prefix', text: 'hint:' }, gives: { kind: 'warning', warning: 'hint' } },
    { test: { kind: 'match', text: 'NO_RESULTS' }, gives: { kind: 'ignore' } },
    { test: { kind: 'match', text: 'CUT' }, gives: { kind: 'reason', reason: 'RESULT_LIMIT_REACHED' } },
  ],
  otherwise: 'SOURCE_UNAVAILABLE',
};

describe('signal', () => {
  it('signal: what any page says stays said', () => {
    assert.deepEqual(signalled([PARTIAL], [page({ partial: true }, 'c1'), page({})]).codes, ['SOURCE_UNAVAILABLE']);
    assert.deepEqual(signalled([PARTIAL], [page({}, 'c1'), page({})]).codes, []);
  });

  it('signal: it stays said in the calls that follow a cursor', () => {
    const compiled = contract({ completeness: { signals: [PARTIAL] } });
    const first = drive(compiled, [page({ partial: true }, 'c1')], { stop: { limit: 'one_page' } });
    const from = resumed(first);
    assert.deepEqual(codesOf(drive(compiled, [page({})], { from })), ['SOURCE_UNAVAILABLE']);
  });

  it('signal: an error in a rule, or a value that is neither true nor false, names the rule and proves nothing', () => {
    const broken = signalled([{ ...PARTIAL, when: rule('body.gone.deep == 1') }], [page({})]);
    assert.deepEqual(broken.codes, ['COMPLETENESS_UNPROVEN']);
    assert.equal(broken.reasons[0]?.rule, 'partial');
    assert.deepEqual(signalled([{ ...PARTIAL, when: rule("'yes'") }], [page({})]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('signal: the sources it names are plain names or left out', () => {
    const named: SignalRule = { ...PARTIAL, when: rule('size(body.errors) > 0'), sources: rule('body.errors.map(k, k)') };
    const { reasons } = signalled([named], [page({ errors: { 'ms-2': {}, 'evil\u202Ename': {}, '': {} } })]);
    assert.deepEqual(reasons[0]?.sources, ['ms-2']);
  });

  it('signal: then is the way on', () => {
    const then = 'NarrowQuery';
    assert.equal(signalled([{ ...PARTIAL, then }], [page({ partial: true })]).way, 'narrow_query');
    assert.equal(signalled([PARTIAL], [page({ partial: true })]).way, 'retry_with_deadline');
  });

  it('signal: a table keeps harmless codes apart, and an unknown code is incomplete', () => {
    assert.deepEqual(signalled([TABLE], [page({ remarks: ['NO_RESULTS'] })]).codes, []);
    assert.deepEqual(signalled([TABLE], [page({ remarks: ['CUT', 'hint: x'] })]).codes, ['RESULT_LIMIT_REACHED']);
    assert.deepEqual(signalled([TABLE], [page({ remarks: ['something new'] })]).codes, ['SOURCE_UNAVAILABLE']);
    assert.deepEqual(signalled([TABLE], [page({ remarks: [{ code: 'CUT' }] })]).codes, ['SOURCE_UNAVAILABLE']);
    assert.deepEqual(signalled([TABLE], [page({ remarks: null })]).codes, []);
    assert.deepEqual(signalled([{ ...TABLE, values: rule('body.gone') }], [page({})]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('notice: a warning carries owner, expiry and the sanitized words of the remote, and leaves the answer complete', () => {
    const { codes, warnings } = signalled([TABLE], [page({ remarks: [`hint: ${'\u202E'}${'x'.repeat(5000)}`] })]);
    assert.deepEqual(codes, []);
    const [warning] = warnings;
    assert.deepEqual(
      [warning?.code, warning?.name, warning?.owner, warning?.expires_at],
      ['UPSTREAM_NOTICE', 'hint', 'team', '2026-12-31'],
    );
    assert.ok(warning?.detail !== undefined && warning.detail.length < 400 && !warning.detail.includes('\u202E'));
  });

  it('notice: without a condition it is always raised, with one only when it holds, and its error proves nothing', () => {
    const notices = (when?: string) =>
      contract({
        warnings: DECLARED,
        completeness: { notices: [{ name: 'lag', warning: 'stale', fields: ['id'], ...(when === undefined ? {} : { when: rule(when) }) }] },
      });
    const always = drive(notices(), [page({})]);
    assert.deepEqual(
      [codesOf(always), envelopeOf(always).warnings.map(({ code, fields }) => [code, fields])],
      [[], [['STALE_INDEX', ['id']]]],
    );
    assert.deepEqual(envelopeOf(drive(notices('has(args.until)'), [page({})])).warnings, []);
    assert.deepEqual(codesOf(drive(notices('args.until == 1'), [page({})])), ['COMPLETENESS_UNPROVEN']);
  });

  it('notice: a flood of remarks does not hide another warning', () => {
    const flood = Array.from({ length: 500 }, (_, index) => `hint: ${index}`);
    const driven = drive(
      contract({ warnings: DECLARED, completeness: { signals: [TABLE], notices: [{ name: 'lag', warning: 'stale', fields: [] }] } }),
      [page({ remarks: flood })],
    );
    const { warnings } = envelopeOf(driven);
    assert.ok(warnings.length <= 41);
    assert.ok(warnings.some(({ code }) => code === 'STALE_INDEX'));
  });

  it('freshness: older data, or data of unreadable age, raises the warning with the age', () => {
    const compiled = contract({
      warnings: DECLARED,
      completeness: {
        freshness: [{ name: 'cache', from: locator({ header: 'age' }), unit: 'Seconds', maxAgeMs: 60_000, warning: 'stale' }],
      },
    });
    const raised = (age: string | undefined) =>
      envelopeOf(drive(compiled, [{ ...page({}), headers: age === undefined ? {} : { age } }])).warnings[0];
    assert.equal(raised(undefined), undefined);
    assert.equal(raised('60'), undefined);
    assert.equal(raised('61')?.observed_age_ms, 61_000);
    assert.equal(raised('61')?.observed_at, '2025-12-31T23:58:59.000Z');
    assert.equal(raised('soon')?.code, 'STALE_INDEX');
    assert.equal(raised('soon')?.observed_age_ms, undefined);
  });

  it('freshness: a time in the body is an age too, against the clock of the remote', () => {
    const compiled = contract({
      warnings: DECLARED,
      completeness: {
        freshness: [{ name: 'index', from: locator({ body: '/built' }), unit: 'HTTPDate', maxAgeMs: 1000, warning: 'stale' }],
      },
    });
    const raised = (headers: Record<string, string>) =>
      envelopeOf(drive(compiled, [{ ...page({ built: '2025-12-31T23:00:00Z' }), headers }])).warnings[0];
    assert.equal(raised({})?.observed_age_ms, 3_600_000);
    assert.equal(raised({ date: 'Wed, 31 Dec 2025 23:00:01 GMT' }), undefined);
  });

  it('required: a signal that is missing on a page it belongs to proves nothing', () => {
    const required = (read: 'EveryPage' | 'FirstPage' | 'LastPage') =>
      contract({
        completeness: { required: [{ name: 'count', anyOf: [locator({ body: '/count' }), locator({ header: 'x-count' })], read }] },
      });
    const with1 = page({ count: 1 }, 'c1');
    const null1 = page({ count: null }, 'c1');
    const without1 = page({}, 'c1');
    assert.deepEqual(codesOf(drive(required('EveryPage'), [with1, page({})])), ['COMPLETENESS_UNPROVEN']);
    assert.deepEqual(codesOf(drive(required('EveryPage'), [null1, { ...page({}), headers: { 'x-count': '1' } }])), []);
    assert.deepEqual(codesOf(drive(required('FirstPage'), [with1, page({})])), []);
    assert.deepEqual(codesOf(drive(required('FirstPage'), [without1, page({ count: 1 })])), ['COMPLETENESS_UNPROVEN']);
    assert.deepEqual(codesOf(drive(required('LastPage'), [without1, page({ count: 1 })])), []);
    assert.deepEqual(codesOf(drive(required('LastPage'), [with1, page({})])), ['COMPLETENESS_UNPROVEN']);
  });

  it('own warnings: numbers turned into text and reflected credentials need no declaration', () => {
    const driven = drive(contract(), [{ ...page({}), normalized: ['/items/0/id', '/other'], reflected: true }]);
    assert.deepEqual(
      envelopeOf(driven).warnings.map(({ code, fields }) => [code, fields]),
      [
        ['VALUE_NORMALIZED', ['id']],
        ['CREDENTIAL_REFLECTED', undefined],
      ],
    );
  });
});
