/** A page that a limit cuts is read twice. Whatever changes between the two readings, nothing may be lost or invented in silence. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonValue } from '#core/contract/compiled.ts';
import { contract, type Given, locator, path } from '#test/core/completeness/build-contract.ts';
import { codesOf, type Driven, drive, resumed, type Said } from '#test/core/completeness/drive-walk.ts';

function isComplete({ folded }: Driven): boolean {
  return folded.kind === 'envelope' && folded.envelope.completeness.complete;
}

function page(ids: readonly (string | null)[], more: Readonly<Record<string, JsonValue>> = {}): Said {
  return { body: { items: ids.map((id) => (id === null ? { name: 'without' } : { id })), ...more } };
}

/** Two rows of the first reading, the rest of the second. */
function readTwice(given: Given, first: Said, second: Said): Driven {
  const cut = drive(contract(given), [first], { itemsMax: 2 });
  assert.equal(cut.rows.length, 2);
  return drive(contract(given), [second], { from: resumed(cut) });
}

const ALL = {
  name: 'all',
  from: locator({ body: '/total' }),
  relation: 'Exact',
  relations: {},
  counts: 'Items',
  read: 'EveryPage',
  constant: 'Ignored',
  onFewer: 'COMPLETENESS_UNPROVEN',
  onMore: 'COMPLETENESS_UNPROVEN',
} as const;

describe('attacks on a page that is read twice', () => {
  test('rows that were returned are not counted twice against a total', () => {
    const given: Given = { result: { id: [] }, completeness: { totals: [ALL] } };
    const said = page(['a', 'b', 'c', 'd'], { total: 6 });
    assert.deepEqual(codesOf(readTwice(given, said, said)), ['COMPLETENESS_UNPROVEN']);
    const whole = page(['a', 'b', 'c', 'd'], { total: 4 });
    assert.ok(isComplete(readTwice(given, whole, whole)));
  });

  test('a total that shrinks between the two readings excuses nothing', () => {
    const given: Given = { completeness: { totals: [ALL] } };
    assert.equal(isComplete(readTwice(given, page(['a', 'b', 'c', 'd'], { total: 9 }), page(['a', 'b', 'c', 'd'], { total: 4 }))), false);
  });

  test('a total that must not move may not move between the two readings', () => {
    const given: Given = { completeness: { totals: [{ ...ALL, constant: 'Required', relation: 'Estimate' }] } };
    const driven = readTwice(given, page(['a', 'b', 'c', 'd'], { total: 9 }), page(['a', 'b', 'c', 'd'], { total: 8 }));
    assert.deepEqual(codesOf(driven), ['SNAPSHOT_CHANGED']);
  });

  for (const mode of ['SnapshotKey', 'Keyset', 'SnapshotHandle', 'Declared', 'SinglePage'] as const) {
    test(`${mode}: another page without the promised basis is noticed`, () => {
      // No key in either reading, and no order: the basis the contract states is not there.
      const equal = mode === 'SnapshotKey' ? [locator({ body: '/version' })] : [];
      const given: Given = { completeness: { consistency: { mode, equal, because: 'attack' } } };
      assert.equal(isComplete(readTwice(given, page(['a', 'b', 'c', 'd']), page(['a', 'x', 'y', 'd']))), false);
    });
  }

  test('a snapshot key that comes with the second reading only proves nothing', () => {
    const given: Given = {
      completeness: { consistency: { mode: 'SnapshotKey', equal: [locator({ body: '/version' })], because: 'attack' } },
    };
    assert.equal(isComplete(readTwice(given, page(['a', 'b', 'c', 'd']), page(['a', 'x', 'y', 'd'], { version: '7' }))), false);
  });

  test('an order that did not hold in the first reading is not forgotten', () => {
    const given: Given = {
      result: { order: { by: path('/id'), direction: 'Ascending', compare: 'Text' } },
      completeness: { consistency: { mode: 'Keyset', equal: [], because: 'attack' } },
    };
    assert.equal(isComplete(readTwice(given, page(['d', 'c', 'b', 'a']), page(['a', 'b', 'c', 'd', 'e']))), false);
  });

  test('rows without an identity hide no other row', () => {
    const said = page([null, 'a', 'b', null, 'c']);
    const cut = drive(contract(), [said], { itemsMax: 2 });
    const rest = drive(contract(), [said], { from: resumed(cut) });
    assert.deepEqual(codesOf(rest), ['COMPLETENESS_UNPROVEN']);
    const seen = new Set([...cut.rows, ...rest.rows].map(({ id }) => id));
    assert.deepEqual([...seen].sort(), ['a', 'b', 'c', undefined]);
  });

  test('a limit of one row gives every row once, and the same verdict', () => {
    const said = page(['a', 'b', 'c', 'd'], { total: 4 });
    for (const given of [{}, { result: { id: [] } }] satisfies Given[]) {
      const counted: Given = { ...given, completeness: { totals: [ALL] } };
      const rows: unknown[] = [];
      let driven = drive(contract(counted), [said], { itemsMax: 1 });
      rows.push(...driven.rows);
      for (let calls = 0; !isComplete(driven) && calls < 10; calls += 1) {
        driven = drive(contract(counted), [said], { from: resumed(driven), itemsMax: 1 });
        rows.push(...driven.rows);
      }
      assert.equal(rows.length, 4);
      assert.ok(isComplete(driven));
    }
  });

  test('what an earlier page said stays said where the end says the same', () => {
    const given: Given = {
      completeness: { reach: { items: 2, total: 4, fullPage: 'Ignore', probe: { extra: 1, drop: 'Last' }, narrowBy: [] } },
    };
    // The first page brought one item more than is kept; the last one is at the reach, the second time with a total that excuses that.
    const first = drive(contract(given), [page(['a', 'b', 'c'], { next: 'A' })], { stop: { limit: 'pages', value: 1 } });
    const cut = drive(contract(given), [page(['d', 'e'])], { from: resumed(first), itemsMax: 1 });
    const said = contract({ ...given, completeness: { ...given.completeness, totals: [ALL] } });
    assert.deepEqual(codesOf(drive(said, [page(['d', 'e'], { total: 4 })], { from: resumed(cut) })), ['RESULT_LIMIT_REACHED']);
  });
});
