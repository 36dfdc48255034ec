import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { limits } from '#core/bounds/limits.ts';
import { carried } from '#core/completeness/carry.ts';
import { countIds } from '#core/completeness/identity.ts';
import type { SourceWalk } from '#core/completeness/walk.ts';
import { contract, locator, rule } from './build-contract.ts';
import { type Driven, drive, envelopeOf, items, type Said } from './drive-walk.ts';

/** Pages of one snapshot, and a total: whatever is forgotten, the same rows must come and the counts must agree. */
const SNAPSHOT = contract({
  completeness: {
    consistency: { mode: 'SnapshotKey', equal: [locator({ body: '/version' })] },
    totals: [
      {
        name: 'all',
        from: locator({ body: '/total' }),
        relation: 'Exact',
        relations: {},
        counts: 'RawItems',
        read: 'EveryPage',
        constant: 'Required',
        onFewer: 'COMPLETENESS_UNPROVEN',
        onMore: 'COMPLETENESS_UNPROVEN',
      },
    ],
  },
});

function pagesOf(count: number, size: number): readonly Said[] {
  const pages: Said[] = [];
  for (let at = 0; at < count; at += size) {
    const last = at + size >= count;
    pages.push({
      body: { version: '7', total: count, items: items(at, Math.min(size, count - at)), next: last ? null : `after-${at}` },
    });
  }
  return pages;
}

function idsUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `i${index}`);
}

/** The whole walk in calls of `itemsMax` rows; `sources` many walks share the room of a cursor. */
function walkInCalls(pages: readonly Said[], itemsMax: number, sources: number, compiled = SNAPSHOT): { rows: string[]; last: Driven } {
  const rows: string[] = [];
  let from: SourceWalk | undefined;
  for (;;) {
    const driven = drive(compiled, pages.slice(from?.pages ?? 0), { itemsMax, ...(from === undefined ? {} : { from }) });
    rows.push(...driven.rows.map(({ id }) => String(id)));
    if (driven.walk.done) return { rows, last: driven };
    const shared = carried(Array.from({ length: sources }, () => driven.walk));
    from = JSON.parse(JSON.stringify(shared[0])) as SourceWalk;
    assert.ok(countIds(from.ids) * sources <= limits.walkIdsMax);
  }
}

describe('carry', () => {
  it('carry: a walk longer than the ids of a cursor loses and doubles no row of a page that was cut', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 700 }),
        fc.integer({ min: 1, max: 250 }),
        fc.integer({ min: 20, max: 400 }),
        fc.constantFrom(1, 16, 100),
        (count, size, itemsMax, sources) => {
          const { rows, last } = walkInCalls(pagesOf(count, size), itemsMax, sources);
          assert.deepEqual(rows, idsUpTo(count));
          assert.equal(last.walk.keptItems, count);
          assert.equal(last.walk.distinctItems, count);
          assert.deepEqual(envelopeOf(last).completeness.incomplete_reasons, []);
        },
      ),
      { numRuns: 150 },
    );
  });

  it('carry: what `where` leaves out of a page that was cut does not shift it', () => {
    const compiled = contract({
      result: { where: rule("!item.id.endsWith('3')") },
      completeness: { consistency: { mode: 'SnapshotKey', equal: [locator({ body: '/version' })] } },
    });
    const { rows, last } = walkInCalls(pagesOf(600, 120), 50, 100, compiled);
    assert.deepEqual(
      rows,
      idsUpTo(600).filter((id) => !id.endsWith('3')),
    );
    assert.equal(last.walk.keptItems, 540);
    assert.equal(envelopeOf(last).completeness.complete, true);
  });

  it('carry: one walk of thousands keeps the newest ids', () => {
    const { rows, last } = walkInCalls(pagesOf(5000, 500), 1234, 1);
    assert.deepEqual(rows, idsUpTo(5000));
    assert.equal(last.walk.idsDropped, true);
  });
});
