import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { holdBack, startWalk, stopWalk, takePage } from '#core/completeness/walk.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { contract, type Given, locator, path, rule } from './build-contract.ts';
import { codesOf, contextOf, drive, envelopeOf, exchange, foldOne, items, resumed, type Said, wayOf } from './drive-walk.ts';

const JOB: Given = {
  result: { outcomes: [{ name: 'running', when: rule("has(body.state) && body.state == 'running'"), is: 'Pending' }] },
  completeness: { job: { intervalMs: 2000, rowsWhilePending: 'Return' }, consistency: { mode: 'SnapshotHandle', equal: [] } },
};

const RUNNING: Said = { body: { state: 'running', items: items(1, 2) } };

describe('walk', () => {
  it('job: a pending answer is polled after the interval, its rows kept apart until they are final', () => {
    const compiled = contract(JOB);
    const polled = takePage(contextOf(compiled), startWalk(compiled, '', { id: 'q1' }, {}), exchange(RUNNING));
    assert.deepEqual([polled.step.kind, polled.rows.length, polled.walk.pages], ['poll', 0, 0]);
    assert.ok(polled.step.kind === 'poll' && polled.step.afterMs === 2000 && polled.step.rows.length === 2);
    const done = takePage(contextOf(compiled), polled.walk, exchange({ body: { items: items(1, 3), next: null } }));
    assert.ok(done.walk.done && !done.walk.pending);
    assert.equal(done.rows.length, 3);
  });

  it('job: rows of a running job may be discarded', () => {
    const compiled = contract({ ...JOB, completeness: { ...JOB.completeness, job: { intervalMs: 2000, rowsWhilePending: 'Discard' } } });
    const polled = takePage(contextOf(compiled), startWalk(compiled, '', {}, {}), exchange(RUNNING));
    assert.ok(polled.step.kind === 'poll' && polled.step.rows.length === 0);
  });

  it('job: unfinished at the deadline is a time budget, gone on with by its handle, else asked again', () => {
    const stop = { limit: 'time_ms', value: 5000 } as const;
    const held = drive(contract(JOB), [RUNNING], { open: { id: 'q1' }, stop });
    assert.deepEqual([codesOf(held), wayOf(held), envelopeOf(held).status], [['TIME_BUDGET_EXCEEDED'], 'next_cursor', 'partial']);
    assert.deepEqual(envelopeOf(held).completeness.incomplete_reasons[0]?.limit, { time_ms: 5000 });
    const handless = drive(contract(JOB), [RUNNING], { stop });
    assert.deepEqual([codesOf(handless), wayOf(handless), handless.sealed], [['TIME_BUDGET_EXCEEDED'], 'retry_with_deadline', undefined]);
    const then = 'RetryWithDeadline';
    const outcomes = [{ name: 'running', when: rule("body.state == 'running'"), is: 'Pending', then }] as const;
    assert.equal(wayOf(drive(contract({ ...JOB, result: { outcomes } }), [RUNNING], { open: { id: 'q1' }, stop })), 'retry_with_deadline');
  });

  it('job: a pending answer where the contract polls nothing is not an end', () => {
    const driven = drive(contract({ result: { outcomes: [{ name: 'running', when: rule('status == 202'), is: 'Pending' }] } }), [
      { status: 202, body: {} },
    ]);
    assert.deepEqual(codesOf(driven), ['TIME_BUDGET_EXCEEDED']);
  });

  it('expiry: an expired cursor ends in restart, and never begins again by itself', () => {
    const gone = [{ name: 'gone', when: rule('status == 410'), is: 'CursorExpired' }] as const;
    const driven = drive(contract({ result: { outcomes: gone } }), [
      { body: { items: items(1, 2), next: 'c1' } },
      { status: 410, body: { metadata: { continue: 'c2' } } },
    ]);
    assert.deepEqual([codesOf(driven), wayOf(driven), driven.rows.length, driven.sealed], [['CURSOR_EXPIRED'], 'restart', 2, undefined]);
  });

  it('expiry: going on from a later state is offered by some remotes, and never complete', () => {
    const given: Given = {
      result: { outcomes: [{ name: 'gone', when: rule('status == 410'), is: 'CursorExpired' }] },
      completeness: {
        cursor: {
          ttlMs: 300_000,
          onExpiry: 'ContinueInconsistent',
          resumeFrom: locator({ body: '/metadata/continue' }),
          afterMutation: 'Keep',
        },
      },
    };
    const expired = { status: 410, body: { metadata: { continue: 'c2' } } };
    const first = { body: { items: items(1, 2), next: 'c1' } };
    const driven = drive(contract(given), [first, expired, { body: { items: items(3, 1), next: null } }]);
    assert.deepEqual([codesOf(driven), wayOf(driven), driven.rows.length], [['SNAPSHOT_CHANGED'], 'restart', 3]);
    assert.deepEqual(codesOf(drive(contract(given), [first, { status: 410, body: {} }])), ['CURSOR_EXPIRED']);
    const refused = drive(contract(given), [expired]);
    assert.ok(refused.folded.kind === 'error' && refused.folded.reason === 'CURSOR_EXPIRED');
  });

  it('hold: rows beyond a limit are neither lost nor given twice', () => {
    const page = { body: { items: items(1, 5), next: null } };
    for (const id of [[path('/id')], []]) {
      const compiled = contract({ result: { id } });
      const first = drive(compiled, [page], { itemsMax: 2 });
      assert.deepEqual([codesOf(first), first.rows.length], [['MORE_PAGES_AVAILABLE', 'RESULT_LIMIT_REACHED'], 2]);
      const second = drive(compiled, [page], { from: resumed(first), itemsMax: 2 });
      const third = drive(compiled, [page], { from: resumed(second) });
      assert.deepEqual(codesOf(third), []);
      assert.deepEqual(
        [...first.rows, ...second.rows, ...third.rows].map((row) => row.id),
        ['i1', 'i2', 'i3', 'i4', 'i5'],
      );
      assert.equal(envelopeOf(third).completeness.page.walk.returned, 5);
    }
  });

  it('hold: a page that is another one the second time is a changed snapshot', () => {
    for (const id of [[path('/id')], []]) {
      const compiled = contract({ result: { id } });
      const first = drive(compiled, [{ body: { items: items(1, 4), next: null } }], { itemsMax: 2 });
      const second = drive(compiled, [{ body: { items: items(2, 4), next: null } }], { from: resumed(first) });
      assert.deepEqual(codesOf(second), ['SNAPSHOT_CHANGED']);
    }
  });

  it('hold: a signal on the page that was cut stays said, a conclusion from its being the last does not', () => {
    const signals = [{ kind: 'when', name: 'cut', when: rule('body.cut'), reason: 'SOURCE_UNAVAILABLE' }] as const;
    const totals = [
      {
        name: 'all',
        from: locator({ body: '/total' }),
        relation: 'Exact',
        relations: {},
        counts: 'RawItems',
        read: 'EveryPage',
        constant: 'Ignored',
        onFewer: 'VISIBILITY_RESTRICTED',
        onMore: 'COMPLETENESS_UNPROVEN',
      },
    ] as const;
    const compiled = contract({ completeness: { signals, totals } });
    const first = drive(compiled, [{ body: { items: items(1, 4), next: null, cut: true, total: 5 } }], { itemsMax: 2 });
    assert.deepEqual(codesOf(first), ['MORE_PAGES_AVAILABLE', 'RESULT_LIMIT_REACHED', 'SOURCE_UNAVAILABLE']);
    const second = drive(compiled, [{ body: { items: items(1, 4), next: null, cut: false, total: 5 } }], {
      from: resumed(first),
    });
    assert.deepEqual(codesOf(second), ['SOURCE_UNAVAILABLE', 'VISIBILITY_RESTRICTED']);
  });

  it('hold: a row that fits no answer is an error at last, not cursors without end', () => {
    const page = { body: { items: items(1, 2), next: null } };
    const compiled = contract();
    const context = contextOf(compiled);
    const begun = startWalk(compiled, '', {}, {});
    const taken = takePage(context, begun, exchange(page));
    const stop = { limit: 'message_bytes', value: 100 } as const;
    const stuck = foldOne(context, [stopWalk(context, holdBack(begun, taken.walk, 0), stop)], new Map());
    assert.ok(stuck.folded.kind === 'error' && stuck.folded.reason === 'RESPONSE_TOO_LARGE');
    assert.deepEqual(stuck.folded.completeness.incomplete_reasons[0]?.limit, { message_bytes: 100 });
    assert.equal(stuck.sealed, undefined);
    const some = foldOne(context, [stopWalk(context, holdBack(begun, taken.walk, 1), stop)], new Map());
    assert.equal(wayOf(some), 'next_cursor');
  });

  it('walk: a call that never began gives no cursor', () => {
    const late = drive(contract(), [], { stop: { limit: 'time_ms', value: 5 } });
    assert.ok(late.folded.kind === 'error' && late.folded.reason === 'DEADLINE_EXCEEDED');
    assert.deepEqual([wayOf(late), late.sealed], ['retry_with_deadline', undefined]);
  });

  it('walk: a stop does not undo the end of the remote', () => {
    const compiled = contract();
    const { walk } = takePage(contextOf(compiled), startWalk(compiled, '', {}, {}), exchange({ body: { items: [], next: null } }));
    assert.deepEqual(
      codesOf(foldOne(contextOf(compiled), [stopWalk(contextOf(compiled), walk, { limit: 'time_ms', value: 1 })], new Map())),
      [],
    );
  });

  it('walk: it survives being sealed as JSON', () => {
    const compiled = contract({
      paging: { next: [], counter: { name: 'page', unit: 'Page', start: 1, stride: 'Returned' }, end: { nextIs: [], pageIs: ['Empty'] } },
    });
    const { walk } = drive(compiled, [{ body: { items: items(1, 2) } }]);
    assert.deepEqual(JSON.parse(JSON.stringify(walk)), { ...walk, next: { ...walk.next } });
  });

  it('walk: no answer of a remote makes the engine throw, and none it cannot read is complete', () => {
    const compiled = contract({
      result: { where: rule('item.a.b == 1'), order: { by: path('/id'), direction: 'Ascending', compare: 'Number' } },
      completeness: {
        signals: [{ kind: 'table', name: 't', values: rule('body.w'), entries: [], otherwise: 'SOURCE_UNAVAILABLE' }],
        consistency: { mode: 'Keyset', equal: [locator({ body: '/v' })] },
        totals: [
          {
            name: 'n',
            from: locator({ body: '/n' }),
            relation: 'Exact',
            relations: {},
            counts: 'Items',
            read: 'EveryPage',
            constant: 'Required',
            onFewer: 'COMPLETENESS_UNPROVEN',
            onMore: 'COMPLETENESS_UNPROVEN',
          },
        ],
      },
    });
    const body = fc.oneof(
      fc.jsonValue(),
      fc.record(
        { items: fc.jsonValue(), next: fc.jsonValue(), w: fc.jsonValue(), v: fc.jsonValue(), n: fc.jsonValue() },
        { requiredKeys: [] },
      ),
    );
    const said = fc.record({
      status: fc.integer({ min: 100, max: 599 }),
      headers: fc.dictionary(fc.constantFrom('link', 'date', 'retry-after', 'age'), fc.string()),
      body,
    });
    fc.assert(
      fc.property(fc.array(said, { minLength: 1, maxLength: 4 }), (answers) => {
        const driven = drive(
          compiled,
          answers.map((answer) => ({ ...answer, body: answer.body as JsonValue })),
        );
        const completeness = driven.folded.kind === 'error' ? driven.folded.completeness : driven.folded.envelope.completeness;
        assert.equal(completeness.complete, completeness.incomplete_reasons.length === 0);
        assert.equal(completeness.complete, driven.folded.kind === 'envelope' && driven.folded.envelope.status === 'ok');
      }),
    );
  });
});
