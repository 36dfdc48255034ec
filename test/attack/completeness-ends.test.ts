/** Hostile ways to end a walk: none of them may pass for the end of the list. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonValue } from '#core/contract/compiled.ts';
import { contract, type Given, locator, rule } from '#test/core/completeness/build-contract.ts';
import { codesOf, type Driven, drive, items, type Said } from '#test/core/completeness/drive-walk.ts';

function isComplete({ folded }: Driven): boolean {
  return folded.kind === 'envelope' && folded.envelope.completeness.complete;
}

function page(from: number, count: number, more: Readonly<Record<string, JsonValue>> = {}): Said {
  return { body: { items: items(from, count), ...more } };
}

const COUNTED: Given = {
  paging: {
    next: [],
    counter: { name: 'offset', unit: 'Item', start: 0, stride: 'Returned' },
    end: { nextIs: [], total: 'all' },
  },
};

function total(relation: 'Exact' | 'LowerBound' | 'Estimate' | 'Scanned', given: Readonly<Record<string, JsonValue>> = {}) {
  return {
    name: 'all',
    from: locator({ body: '/total' }),
    relation,
    relations: { eq: 'Exact', gte: 'LowerBound', approx: 'Estimate' },
    counts: 'RawItems',
    read: 'EveryPage',
    constant: 'Ignored',
    onFewer: 'COMPLETENESS_UNPROVEN',
    onMore: 'COMPLETENESS_UNPROVEN',
    ...given,
  } as const;
}

describe('attacks on the end of a walk: cursors', () => {
  test('a cursor that comes back after others is a loop, although the loop ends', () => {
    const driven = drive(contract(), [page(0, 2, { next: 'A' }), page(2, 2, { next: 'B' }), page(4, 2, { next: 'A' }), page(2, 2)]);
    assert.deepEqual(codesOf(driven), ['COMPLETENESS_UNPROVEN']);
    assert.equal(driven.left, 1, 'the loop is not gone round');
  });

  test('a loop is seen across calls', () => {
    const first = drive(contract(), [page(0, 2, { next: 'A' }), page(2, 2, { next: 'B' })], { stop: { limit: 'pages', value: 2 } });
    const [from] = first.sealed ?? [];
    assert.ok(from !== undefined);
    assert.deepEqual(codesOf(drive(contract(), [page(4, 2, { next: 'A' }), page(2, 2)], { from })), ['COMPLETENESS_UNPROVEN']);
  });

  test('the same page read for a new try is no loop', () => {
    const answers = [page(0, 2, { next: 'A' }), page(2, 2, { next: 'B' }), page(4, 2)];
    const first = drive(contract(), answers.slice(0, 2), { itemsMax: 3 });
    const [from] = first.sealed ?? [];
    assert.ok(from !== undefined);
    assert.ok(isComplete(drive(contract(), answers.slice(1), { from })));
  });

  for (const next of ['', {}, [], 0, false]) {
    test(`a cursor ${JSON.stringify(next)} the contract does not call an end is none`, () => {
      assert.equal(isComplete(drive(contract(), [page(0, 2, { next })])), false);
    });
  }

  test('a promise of more without the required half of the cursor is no way on', () => {
    const tuple = contract({
      paging: {
        next: [
          { name: 'key', from: [locator({ body: '/key' })], presence: 'Required' },
          { name: 'hint', from: [locator({ body: '/hint' })], presence: 'Optional' },
        ],
        end: { nextIs: [], flag: { from: locator({ body: '/last' }), equals: 'true', presence: 'Required' } },
      },
    });
    const driven = drive(tuple, [page(0, 2, { last: false, hint: 'h' }), page(0, 2, { last: true })]);
    assert.equal(isComplete(driven), false);
    assert.equal(driven.left, 1);
  });

  for (const done of [null, '', false, {}, []]) {
    test(`a marker ${JSON.stringify(done)} is none`, () => {
      const marked = contract({ paging: { end: { nextIs: [], marker: { from: locator({ body: '/done' }) } } } });
      assert.equal(isComplete(drive(marked, [page(0, 2, { done })])), false);
      assert.ok(isComplete(drive(marked, [page(0, 2, { done: 'd' })])));
    });
  }

  for (const last of [null, [], {}, 'TRUE', 'maybe']) {
    test(`a flag ${JSON.stringify(last)} ends nothing`, () => {
      const flagged = contract({
        paging: { end: { nextIs: ['Absent'], flag: { from: locator({ body: '/last' }), equals: 'true', presence: 'Required' } } },
      });
      assert.equal(isComplete(drive(flagged, [page(0, 2, { last })])), false);
    });
  }
});

describe('attacks on the end of a walk: totals', () => {
  test('a lower bound that is reached ends nothing', () => {
    const bounded = contract({ ...COUNTED, completeness: { totals: [total('LowerBound')] } });
    assert.equal(isComplete(drive(bounded, [page(0, 2, { total: 2 })])), false);
  });

  test('a total that turns into a lower bound ends nothing', () => {
    const turning = contract({
      ...COUNTED,
      completeness: { totals: [total('Exact', { relationFrom: locator({ body: '/is' }) as never })] },
    });
    assert.equal(isComplete(drive(turning, [page(0, 2, { total: 4, is: 'eq' }), page(2, 2, { total: 4, is: 'gte' })])), false);
  });

  for (const is of ['Estimate', 'Scanned'] as const) {
    test(`a total that is ${is} ends nothing`, () => {
      assert.equal(isComplete(drive(contract({ ...COUNTED, completeness: { totals: [total(is)] } }), [page(0, 2, { total: 2 })])), false);
    });
  }

  test('an exact total that turns into an estimate still counts', () => {
    const turning = contract({ completeness: { totals: [total('Exact', { relationFrom: locator({ body: '/is' }) as never })] } });
    assert.equal(
      isComplete(drive(turning, [page(0, 2, { next: 'A', total: 9, is: 'eq' }), page(2, 2, { total: 4, is: 'approx' })])),
      false,
    );
  });

  test('an estimate that was too high is no shortfall', () => {
    const turning = contract({ completeness: { totals: [total('Exact', { relationFrom: locator({ body: '/is' }) as never })] } });
    assert.ok(isComplete(drive(turning, [page(0, 2, { next: 'A', total: 9, is: 'approx' }), page(2, 2, { total: 4, is: 'eq' })])));
  });

  for (const said of [-1, 'many', 1.5, true, [4], { value: 4 }]) {
    test(`a total of ${JSON.stringify(said)} is no count`, () => {
      assert.equal(isComplete(drive(contract({ completeness: { totals: [total('Exact')] } }), [page(0, 2, { total: said })])), false);
    });
  }

  test('a total that shrinks to what came excuses nothing', () => {
    const driven = drive(contract({ completeness: { totals: [total('Exact')] } }), [
      page(0, 2, { next: 'A', total: 9 }),
      page(2, 2, { total: 4 }),
    ]);
    assert.equal(isComplete(driven), false);
  });

  test('a last page that comes nearer in mid-walk is not believed', () => {
    const paged = contract({
      paging: {
        next: [],
        counter: { name: 'page', unit: 'Page', start: 1, stride: 'Returned' },
        end: { nextIs: [], lastPage: { from: locator({ body: '/pages' }), as: 'Number' } },
      },
    });
    assert.equal(isComplete(drive(paged, [page(0, 2, { pages: 9 }), page(2, 2, { pages: 2 })])), false);
    assert.ok(isComplete(drive(paged, [page(0, 2, { pages: 1 })])));
    for (const pages of ['many', -1, {}, true]) assert.equal(isComplete(drive(paged, [page(0, 2, { pages })])), false);
    assert.ok(isComplete(drive(paged, [page(0, 2, { pages: 2 }), page(2, 2, { pages: 3 }), page(4, 2)])));
  });
});

describe('attacks on the end of a walk: links and followed addresses', () => {
  const linked = contract({
    paging: { next: [], follow: { from: [locator({ link: 'next' })], paths: [], vary: ['page'] }, end: { nextIs: ['Absent'] } },
  });
  const REFUSED = [
    '<https://evil.example/items?page=2>; rel=next',
    '<//evil.example/items?page=2>; rel=next',
    '<https://user:pass@api.example.test/items?page=2>; rel=next',
    '<http://api.example.test/items?page=2>; rel=next',
    '</items?page=2&state=closed>; rel=next',
    '</items/../admin?page=2>; rel=next',
    '</items%2f..?page=2>; rel=next',
    '<https://api.example.test/items?page=2#x>; rel=next',
    '<\\\\evil.example/items?page=2>; rel=next',
    '</items?page=2>; rel=next, </items?page=3>; rel=next',
    '</items?page=2; rel=next',
    'rel=next; </items?page=2>',
    '</items?page=2>; rel="next',
    '<javascript:alert(1)>; rel=next',
    '<>; rel=next',
  ];
  for (const link of REFUSED) {
    test(`${link} is neither followed nor an end`, () => {
      const driven = drive(linked, [{ body: { items: items(0, 2) }, headers: { link } }, page(2, 2)]);
      assert.equal(isComplete(driven), false);
      assert.equal(driven.walk.follow === undefined || !/evil|admin|closed|pass/.test(driven.walk.follow), true);
      assert.equal(driven.left, 1);
    });
  }

  const FOLLOWED = [
    '</items?page=2>; rel="prev NEXT", </items?page=9>; rel=last',
    '</items?page=0>; title="a, b; rel=next"; rel=prev, </items?page=2>; rel="next"',
    '<?page=2>;rel=next',
    '<https://api.example.test/items?page=2>; rel=next; rel=last',
    ', ,</items?page=2>;rel=next;,',
  ];
  for (const link of FOLLOWED) {
    test(`${link} leads to page 2`, () => {
      const driven = drive(linked, [{ body: { items: items(0, 2) }, headers: { link } }], { stop: { limit: 'pages', value: 1 } });
      assert.equal(driven.walk.follow, '/items?page=2');
    });
  }

  test('a list that leads back to its own second page is a loop', () => {
    const to = (number: number) => ({ link: `</items?page=${number}>; rel=next` });
    const driven = drive(linked, [
      { body: { items: items(0, 2) }, headers: to(2) },
      { body: { items: items(2, 2) }, headers: to(3), query: { page: '2' } },
      { body: { items: items(4, 2) }, headers: to(2), query: { page: '3' } },
      { body: { items: items(2, 2) }, query: { page: '2' } },
    ]);
    assert.deepEqual(codesOf(driven), ['COMPLETENESS_UNPROVEN']);
    assert.equal(driven.left, 1);
  });
});

describe('attacks on the end of a walk: signals that come late', () => {
  test('a required signal that is missing on the last page only is missed', () => {
    const required = contract({ completeness: { required: [{ name: 'meta', anyOf: [locator({ body: '/meta' })], read: 'EveryPage' }] } });
    assert.deepEqual(codesOf(drive(required, [page(0, 2, { next: 'A', meta: 1 }), page(2, 2)])), ['COMPLETENESS_UNPROVEN']);
    assert.ok(isComplete(drive(required, [page(0, 2, { next: 'A', meta: 1 }), page(2, 2, { meta: 2 })])));
  });

  test('a signal that cannot be evaluated on page two stays', () => {
    const signalled = contract({
      completeness: { signals: [{ kind: 'when', name: 'partial', when: rule('body.partial'), reason: 'SOURCE_UNAVAILABLE' }] },
    });
    const said = [page(0, 2, { next: 'A', partial: false }), page(2, 2, { next: 'B', partial: 'x' }), page(4, 2, { partial: false })];
    assert.deepEqual(codesOf(drive(signalled, said)), ['COMPLETENESS_UNPROVEN']);
  });

  test('a signal in a header speaks of an answer without a body too', () => {
    const bodiless = (more: NonNullable<Given['completeness']>) =>
      contract({ result: { outcomes: [{ name: 'none', when: rule('status == 204'), is: 'Empty' }] }, completeness: more });
    const partial: NonNullable<Given['completeness']> = {
      signals: [
        { kind: 'when', name: 'partial', when: rule("'x-partial' in headers"), reason: 'SOURCE_UNAVAILABLE' },
        { kind: 'when', name: 'flag', when: rule('body.partial'), reason: 'SOURCE_UNAVAILABLE' },
      ],
    };
    assert.ok(isComplete(drive(bodiless(partial), [{ status: 204 }])));
    assert.deepEqual(codesOf(drive(bodiless(partial), [{ status: 204, headers: { 'x-partial': '1' } }])), ['SOURCE_UNAVAILABLE']);
    const required: NonNullable<Given['completeness']> = {
      required: [{ name: 'filters', anyOf: [locator({ header: 'x-filters' })], read: 'EveryPage' }],
    };
    assert.deepEqual(codesOf(drive(bodiless(required), [{ status: 204 }])), ['COMPLETENESS_UNPROVEN']);
    assert.ok(isComplete(drive(bodiless(required), [{ status: 204, headers: { 'x-filters': 'a' } }])));
  });

  test('a signal that costs more than a rule may leaves the answer unproven', () => {
    const costly = contract({
      completeness: {
        signals: [
          {
            kind: 'when',
            name: 'costly',
            when: rule('body.big.exists(a, body.big.exists(b, a == b && a < 0.0))'),
            reason: 'SOURCE_UNAVAILABLE',
          },
        ],
      },
    });
    const big = Array.from({ length: 2000 }, (_, index) => index);
    assert.deepEqual(codesOf(drive(costly, [page(0, 2, { big })])), ['COMPLETENESS_UNPROVEN']);
  });

  test('a filter that fails shows the item and leaves the answer unproven', () => {
    const filtered = contract({ result: { where: rule('item.open') } });
    const driven = drive(filtered, [
      { body: { items: [{ id: 1, open: true }, { id: 2 }, { id: 3, open: false }, { id: 4, open: 'yes' }] } },
    ]);
    assert.deepEqual(codesOf(driven), ['COMPLETENESS_UNPROVEN']);
    assert.equal(driven.rows.length, 3);
  });
});
