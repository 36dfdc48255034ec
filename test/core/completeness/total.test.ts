import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { JsonValue, TotalRule } from '#core/contract/compiled.ts';
import { contract, locator, rule } from './build-contract.ts';
import { codesOf, drive, envelopeOf, items, type Said, wayOf } from './drive-walk.ts';

const EXACT: TotalRule = {
  name: 'all',
  from: locator({ body: '/total' }),
  relation: 'Exact',
  relations: {},
  counts: 'RawItems',
  read: 'EveryPage',
  constant: 'Ignored',
  onFewer: 'RESULT_LIMIT_REACHED',
  onMore: 'COMPLETENESS_UNPROVEN',
};

function page(total: JsonValue | undefined, from = 1, count = 2, next: string | null = null): Said {
  return { body: { items: items(from, count), next, ...(total === undefined ? {} : { total }) } };
}

function codes(total: Partial<TotalRule>, answers: readonly Said[], result = {}): readonly string[] {
  return codesOf(drive(contract({ result, completeness: { totals: [{ ...EXACT, ...total }] } }), answers));
}

describe('total', () => {
  it('total: an exact one that differs from what came is the reason the contract says', () => {
    assert.deepEqual(codes({}, [page(2)]), []);
    assert.deepEqual(codes({}, [page('2')]), []);
    assert.deepEqual(codes({}, [page(3)]), ['RESULT_LIMIT_REACHED']);
    assert.deepEqual(codes({ onFewer: 'VISIBILITY_RESTRICTED' }, [page(3)]), ['VISIBILITY_RESTRICTED']);
    assert.deepEqual(codes({}, [page(1)]), ['COMPLETENESS_UNPROVEN']);
  });

  it('total: the way on of a total is its own', () => {
    const then = 'NarrowQuery';
    const driven = drive(contract({ completeness: { totals: [{ ...EXACT, then }] } }), [page(3)]);
    assert.equal(wayOf(driven), 'narrow_query');
  });

  it('total: one that is absent or null says nothing, one that is no count leaves it unproven', () => {
    assert.deepEqual(codes({}, [page(undefined)]), []);
    assert.deepEqual(codes({}, [page(null)]), []);
    for (const broken of ['many', -1, 2.5, '2e0', '', {}, true])
      assert.deepEqual(codes({}, [page(broken)]), ['COMPLETENESS_UNPROVEN'], JSON.stringify(broken));
  });

  it('total: a lower bound must be reached and may be passed; an estimate and a scanned count contradict nothing', () => {
    assert.deepEqual(codes({ relation: 'LowerBound' }, [page(3)]), ['RESULT_LIMIT_REACHED']);
    assert.deepEqual(codes({ relation: 'LowerBound' }, [page(1)]), []);
    assert.deepEqual(codes({ relation: 'Estimate' }, [page(900)]), []);
    assert.deepEqual(codes({ relation: 'Scanned' }, [page(900)]), []);
  });

  it('total: its relation may come with it, and an unknown relation is unproven', () => {
    const told: Partial<TotalRule> = {
      from: locator({ body: '/total/value' }),
      relationFrom: locator({ body: '/total/relation' }),
      relations: { eq: 'Exact', gte: 'LowerBound' },
    };
    assert.deepEqual(codes(told, [page({ value: 3, relation: 'eq' })]), ['RESULT_LIMIT_REACHED']);
    assert.deepEqual(codes(told, [page({ value: 1, relation: 'gte' })]), []);
    assert.deepEqual(codes(told, [page({ value: 2, relation: 'about' })]), ['COMPLETENESS_UNPROVEN']);
    assert.deepEqual(codes(told, [page({ value: 2, relation: 'constructor' })]), ['COMPLETENESS_UNPROVEN']);
  });

  it('total: one that moves in mid-walk is a changed snapshot where it must be constant', () => {
    const moving = [page(3, 1, 2, 'c1'), page(4, 3, 2)];
    assert.deepEqual(codes({ constant: 'Required' }, moving), ['SNAPSHOT_CHANGED']);
    assert.deepEqual(codes({}, moving), []);
    assert.deepEqual(codes({}, [page(9, 1, 2, 'c1'), page(4, 3, 2)]), ['RESULT_LIMIT_REACHED'], 'a total that shrinks excuses nothing');
  });

  it('total: duplicates do not make up for a row that is missing', () => {
    assert.deepEqual(codes({}, [page(4, 1, 2, 'c1'), page(4, 2, 2)]), ['RESULT_LIMIT_REACHED']);
  });

  it('total: it counts raw items, or kept ones where the contract says so', () => {
    const result = { where: rule("item.id != 'i1'") };
    assert.deepEqual(codes({}, [page(2)], result), []);
    assert.deepEqual(codes({ counts: 'Items' }, [page(2)], result), ['RESULT_LIMIT_REACHED']);
    assert.deepEqual(codes({ counts: 'Items' }, [page(1)], result), []);
  });

  it('total: it is read on the pages the contract says, under its condition', () => {
    const two = [page(3, 1, 2, 'c1'), page(99, 3, 1)];
    assert.deepEqual(codes({ read: 'FirstPage' }, two), []);
    assert.deepEqual(codes({ read: 'LastPage' }, two), ['RESULT_LIMIT_REACHED']);
    assert.deepEqual(codes({ when: rule('has(args.all)') }, [page(99)]), []);
    assert.deepEqual(codes({ when: rule('args.all == 1') }, [page(2)]), ['COMPLETENESS_UNPROVEN']);
  });

  it('total: a walk that was stopped says at least and about how many there are, and compares nothing', () => {
    const driven = drive(contract({ completeness: { totals: [{ ...EXACT, relation: 'LowerBound' }] } }), [page(10_000, 1, 2, 'c1')], {
      stop: { limit: 'pages', value: 1 },
    });
    assert.deepEqual(codesOf(driven), ['MORE_PAGES_AVAILABLE', 'RESULT_LIMIT_REACHED']);
    assert.equal(envelopeOf(driven).completeness.page.at_least, 10_000);
    assert.equal(envelopeOf(driven).completeness.page.about, undefined);
  });

  it('reach: a walk never asks beyond it and says that the remote gives no more', () => {
    const reached = contract({ completeness: { reach: { total: 4, fullPage: 'Ignore', narrowBy: ['since'] } } });
    const driven = drive(reached, [page(undefined, 1, 2, 'c1'), page(undefined, 3, 2, 'c2'), page(undefined, 5, 2)]);
    assert.deepEqual([codesOf(driven), wayOf(driven), driven.left], [['RESULT_LIMIT_REACHED'], 'narrow_query', 1]);
    assert.deepEqual(
      codesOf(drive(reached, [page(undefined, 1, 2, 'c1'), page(undefined, 3, 2)])),
      ['RESULT_LIMIT_REACHED'],
      'an end at the reach proves nothing',
    );
    assert.deepEqual(codesOf(drive(reached, [page(undefined, 1, 2)])), []);
  });

  it('reach: a total within it proves the end, one beyond it is the whole explanation', () => {
    const reach = { total: 4, fullPage: 'Ignore', narrowBy: ['since'] } as const;
    const both = contract({ completeness: { reach, totals: [EXACT] } });
    assert.deepEqual(codesOf(drive(both, [page(4, 1, 4)])), []);
    assert.deepEqual(codesOf(drive(both, [page(9, 1, 4)])), ['RESULT_LIMIT_REACHED']);
  });

  it('reach: an offset is not asked for beyond the largest one', () => {
    const paging = {
      next: [],
      counter: { name: 'offset', unit: 'Item', start: 0, stride: 'Returned' },
      end: { nextIs: [], pageIs: ['Empty'] },
    } as const;
    const driven = drive(contract({ paging, completeness: { reach: { offset: 3, fullPage: 'Ignore', narrowBy: [] } } }), [
      page(undefined),
      page(undefined, 3),
      page(undefined, 5),
    ]);
    assert.deepEqual([codesOf(driven), driven.left], [['RESULT_LIMIT_REACHED'], 1]);
  });

  it('reach: a full page is a limit where the contract says so, and one extra row proves it', () => {
    const paging = { mode: 'SingleResponse', next: [] } as const;
    const full = contract({ paging, completeness: { reach: { items: 2, fullPage: 'Limit', narrowBy: [] } } });
    assert.deepEqual(codesOf(drive(full, [page(undefined)])), ['RESULT_LIMIT_REACHED']);
    assert.deepEqual(codesOf(drive(full, [page(undefined, 1, 1)])), []);
    for (const [drop, kept] of [
      ['Last', ['i1', 'i2']],
      ['First', ['i2', 'i3']],
    ] as const) {
      const probe = contract({
        paging,
        completeness: { reach: { items: 2, fullPage: 'Ignore', probe: { extra: 1, drop }, narrowBy: [] } },
      });
      const driven = drive(probe, [page(undefined, 1, 3)]);
      assert.deepEqual([codesOf(driven), driven.rows.map(({ id }) => id)], [['RESULT_LIMIT_REACHED'], kept]);
      assert.deepEqual(codesOf(drive(probe, [page(undefined, 1, 2)])), []);
    }
  });
});
