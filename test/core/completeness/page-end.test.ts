import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonValue } from '#core/contract/compiled.ts';
import { contract, type Given, locator, rule } from './build-contract.ts';
import { codesOf, drive, items, type Said, wayOf } from './drive-walk.ts';

function body(members: Readonly<Record<string, JsonValue>>, count = 2, from = 1): Said {
  return { body: { items: items(from, count), ...members } };
}

function walked(given: Given, answers: readonly Said[]) {
  const driven = drive(contract(given), answers);
  return { codes: codesOf(driven), left: driven.left, rows: driven.rows.length, done: driven.walk.done, way: wayOf(driven) };
}

const COUNTER: Given['paging'] = { next: [], counter: { name: 'offset', unit: 'Item', start: 0, stride: 'Returned' } };

describe('page end', () => {
  it('page end: every spelling ends a walk where it is listed, and none where it is not', () => {
    const spellings = [
      ['Absent', {}],
      ['NullValue', { next: null }],
      ['EmptyString', { next: '' }],
      ['EmptyObject', { next: {} }],
      ['EmptyList', { next: [] }],
    ] as const;
    for (const [listed] of spellings) {
      for (const [written, members] of spellings) {
        const { codes } = walked({ paging: { end: { nextIs: [listed] } } }, [body(members)]);
        assert.deepEqual(codes, listed === written ? [] : ['COMPLETENESS_UNPROVEN'], `${listed} ${written}`);
      }
    }
  });

  it('page end: an empty first page with more pages gives more pages, not an end', () => {
    const { codes, rows, way } = walked({}, [body({ next: 'c1' }, 0)]);
    assert.deepEqual(codes, ['MORE_PAGES_AVAILABLE']);
    assert.equal(rows, 0);
    assert.equal(way, 'next_cursor');
  });

  it('page end: an empty page in the middle is walked over', () => {
    assert.deepEqual(walked({}, [body({ next: 'c1' }), body({ next: 'c2' }, 0), body({ next: null }, 1, 3)]).codes, []);
  });

  it('page end: the value that was sent ends the walk only where that is the documented end', () => {
    const answers = [body({ next: 'f1' }), body({ next: 'f1' }, 0)];
    assert.deepEqual(walked({ paging: { end: { nextIs: ['SameAsSent'] } } }, answers).codes, []);
    assert.deepEqual(walked({}, answers).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('page end: a handle that stays the same is no loop in a scroll, unless the same page comes again', () => {
    const still: Given = { paging: { end: { nextIs: [], pageIs: ['Empty'] } } };
    const given: Given = { ...still, scrolls: true };
    assert.deepEqual(walked(given, [body({ next: 's' }), body({ next: 's' }, 2, 3), body({ next: 's' }, 0)]).codes, []);
    assert.deepEqual(walked(given, [body({ next: 's' }), body({ next: 's' })]).codes, ['COMPLETENESS_UNPROVEN']);
    assert.deepEqual(walked(still, [body({ next: 's' }), body({ next: 's' }, 2, 3)]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('page end: a flag alone decides where the cursor does not vote, and disagreement proves nothing', () => {
    const flag = { from: locator({ body: '/more' }), equals: 'false', presence: 'Required' } as const;
    assert.deepEqual(walked({ paging: { end: { nextIs: [], flag } } }, [body({ next: 'c9', more: false })]).codes, []);
    assert.deepEqual(walked({ paging: { end: { flag } } }, [body({ next: 'c9', more: false })]).codes, ['COMPLETENESS_UNPROVEN']);
    assert.deepEqual(walked({ paging: { end: { flag } } }, [body({ next: null, more: 'true' })]).codes, ['COMPLETENESS_UNPROVEN']);
    assert.deepEqual(walked({ paging: { end: { flag } } }, [body({ next: null })]).codes, ['COMPLETENESS_UNPROVEN']);
    assert.deepEqual(walked({ paging: { end: { flag: { ...flag, presence: 'Optional' } } } }, [body({ next: null })]).codes, []);
    assert.deepEqual(walked({ paging: { end: { nextIs: [], flag } } }, [body({ more: true })]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('page end: half a composite cursor is never sent', () => {
    const next = ['key', 'version'].map((name) => ({ name, from: [locator({ body: `/${name}` })], presence: 'Required' as const }));
    assert.deepEqual(walked({ paging: { next } }, [body({ key: 'a', version: 'v1' }), body({}, 1, 3)]).codes, []);
    const half = walked({ paging: { next } }, [body({ key: 'a' })]);
    assert.deepEqual(half.codes, ['COMPLETENESS_UNPROVEN']);
    assert.ok(half.done);
  });

  it('page end: alternatives go on by the one that is there, and an unusable link is no end', () => {
    const next = ['after', 'page'].map((query) => ({
      name: query,
      from: [locator({ link: 'next', query })],
      presence: 'Optional' as const,
    }));
    const link = (target: string) => ({ ...body({}), headers: { link: `<https://api.example.test/items?${target}>; rel="next"` } });
    assert.deepEqual(walked({ paging: { next } }, [link('page=2'), body({}, 1, 3)]).codes, []);
    assert.deepEqual(walked({ paging: { next } }, [link('cursor=2')]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('page end: a page number reaches the last page, by number and by count', () => {
    const counter = { name: 'page', unit: 'Page', start: 1, stride: 'Returned' } as const;
    const numbered: Given = {
      paging: { next: [], counter, end: { nextIs: [], lastPage: { from: locator({ body: '/pages' }), as: 'Number' } } },
    };
    assert.deepEqual(walked(numbered, [body({ pages: 2 }), body({ pages: '2' }, 1, 3)]).codes, []);
    const counted: Given = {
      paging: {
        next: [],
        counter: { ...counter, start: 0 },
        end: { nextIs: [], lastPage: { from: locator({ body: '/parts' }), as: 'Length' } },
      },
    };
    assert.deepEqual(walked(counted, [body({ parts: [1, 1] }), body({}, 1, 3)]).codes, []);
    assert.deepEqual(walked(numbered, [body({})]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('page end: a marker ends the walk, and neither marker nor next page is a broken answer', () => {
    const given: Given = { paging: { end: { marker: { from: locator({ body: '/delta' }) } } } };
    assert.deepEqual(walked(given, [body({ next: 'c1' }), body({ delta: 'd' }, 1, 3)]).codes, []);
    assert.deepEqual(walked(given, [body({})]).codes, ['COMPLETENESS_UNPROVEN']);
    assert.deepEqual(walked(given, [body({ next: 'c1', delta: 'd' })]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('page end: an offset strides by what came', () => {
    const driven = drive(contract({ paging: { ...COUNTER, end: { nextIs: [], pageIs: ['Empty'] } } }), [body({}, 5), body({}, 3, 6)]);
    assert.deepEqual(driven.walk.next, { offset: 8 });
  });

  it('page end: an offset strides by the echoed size where the contract says so, and stops without it', () => {
    const counter = { name: 'offset', unit: 'Item', start: 0, stride: 'Echoed', echo: locator({ body: '/limit' }) } as const;
    const given: Given = { paging: { next: [], counter, end: { nextIs: [], pageIs: ['Empty'] } } };
    assert.deepEqual(drive(contract(given), [body({ limit: 50 }, 3)]).walk.next, { offset: 50 });
    assert.deepEqual(walked(given, [body({}, 3)]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('page end: a short page ends only against a known size, and never against a flag or a link', () => {
    const short: Given = {
      paging: { ...COUNTER, end: { nextIs: [], pageIs: ['Short'] } },
      completeness: { limits: { pages: 10, items: 1000, bytes: 1e6, timeMs: 1e4, parallel: 1, pageSize: 3 } },
    };
    assert.deepEqual(walked(short, [body({}, 3), body({}, 1, 4)]).codes, []);
    const unknown: Given = { paging: { ...COUNTER, end: { nextIs: [], pageIs: ['Short'] } } };
    assert.deepEqual(walked(unknown, [body({}, 1)]).codes, ['MORE_PAGES_AVAILABLE']);
    const flagged: Given = {
      ...short,
      paging: {
        ...short.paging,
        end: { ...short.paging?.end, flag: { from: locator({ body: '/more' }), equals: 'false', presence: 'Required' } },
      },
    };
    assert.deepEqual(walked(flagged, [body({ more: true }, 1), body({ more: false }, 1, 2)]).codes, []);
    const fallback = [
      { name: 'last', from: [locator({ link: 'next', query: 'last' }), locator({ lastItem: '/id' })], presence: 'Required' as const },
    ];
    const linked: Given = { paging: { next: fallback, end: { nextIs: [], pageIs: ['Empty'] } } };
    const empty: Said = { body: { items: [] }, headers: { link: '</items?last=zz>; rel="next"' } };
    assert.deepEqual(walked(linked, [empty, body({}, 0)]).codes, []);
    assert.equal(walked(linked, [empty, body({}, 0)]).left, 0);
  });

  it('page end: a total ends the walk, and an empty page before it proves nothing', () => {
    const totals = [
      {
        name: 'all',
        from: locator({ body: '/total' }),
        relation: 'Exact',
        relations: {},
        counts: 'RawItems',
        read: 'EveryPage',
        constant: 'Ignored',
        onFewer: 'COMPLETENESS_UNPROVEN',
        onMore: 'COMPLETENESS_UNPROVEN',
      },
    ] as const;
    const given: Given = { paging: { ...COUNTER, end: { nextIs: [], total: 'all' } }, completeness: { totals } };
    assert.deepEqual(walked(given, [body({ total: 3 }), body({ total: 3 }, 1, 3)]).codes, []);
    assert.deepEqual(walked(given, [body({ total: 3 }), body({ total: 3 }, 0)]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('page end: one answer by contract is the end, unless the answer says that more follows', () => {
    const flag = { from: locator({ body: '/more' }), equals: 'false', presence: 'Optional' } as const;
    assert.deepEqual(walked({ paging: { mode: 'SingleResponse', next: [] } }, [body({})]).codes, []);
    assert.deepEqual(walked({ paging: { mode: 'SingleResponse', next: [], end: { nextIs: [], flag } } }, [body({ more: true })]).codes, [
      'COMPLETENESS_UNPROVEN',
    ]);
  });

  it('page end: nothing is an end where the contract lists none', () => {
    assert.deepEqual(walked({ paging: { end: { nextIs: [] } } }, [body({})]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('page end: a cursor longer than a walk may carry is not carried', () => {
    assert.deepEqual(walked({}, [body({ next: 'x'.repeat(20_000) })]).codes, ['COMPLETENESS_UNPROVEN']);
  });

  it('page end: an outcome rule that calls the answer empty ends it without a body', () => {
    const given: Given = {
      result: { outcomes: [{ name: 'none', when: rule('status == 204'), is: 'Empty' }] },
      paging: { end: { nextIs: ['EmptyString'] } },
    };
    assert.deepEqual(walked(given, [{ status: 204 }]).codes, []);
  });
});
