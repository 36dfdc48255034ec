import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { contract, locator } from './build-contract.ts';
import { codesOf, drive, items } from './drive-walk.ts';

const FOLLOWING = contract({
  paging: {
    next: [],
    follow: { from: [locator({ body: '/next' })], paths: ['/repositories/*/items', '/below/'], vary: ['page'] },
    end: { nextIs: ['Absent', 'NullValue'] },
  },
});

function follow(next: string) {
  return drive(FOLLOWING, [{ body: { items: items(1, 1), next }, query: { state: 'open', tag: 'a,b' } }]);
}

describe('follow', () => {
  it('follow: the own path and a listed one, with every other query value unchanged', () => {
    for (const next of [
      'https://api.example.test/items?state=open&tag=a%2Cb&page=2',
      '/items?page=2&state=open&tag=a,b',
      '?tag=a&tag=b&state=open&page=2',
      'https://api.example.test/repositories/7/items?state=open&tag=a,b',
      '/below/any/thing?state=open&tag=a,b',
    ]) {
      const { walk } = follow(next);
      assert.ok(!walk.done && walk.follow?.startsWith('/'), next);
    }
  });

  it('follow: anything else is refused in sight, without a cursor', () => {
    for (const next of [
      'https://elsewhere.example.test/items?state=open&tag=a,b',
      'http://api.example.test/items?state=open&tag=a,b',
      'https://api.example.test:8443/items?state=open&tag=a,b',
      'https://user:pass@api.example.test/items?state=open&tag=a,b',
      '//elsewhere.example.test/items?state=open&tag=a,b',
      '\\\\elsewhere.example.test/items?state=open&tag=a,b',
      '/admin?state=open&tag=a,b',
      '/repositories//items?state=open&tag=a,b',
      '/repositories/7/items/extra?state=open&tag=a,b',
      '/below?state=open&tag=a,b',
      '/below//x?state=open&tag=a,b',
      '/items/../items?state=open&tag=a,b',
      '/x/%2e%2e/items?state=open&tag=a,b',
      '/repositories/7%2f..%2f..%2fadmin/items?state=open&tag=a,b',
      '/repositories/..%5cx/items?state=open&tag=a,b',
      '/repositories/%252e%252e/items?state=open&tag=a,b',
      '/repositories/..;x/items?state=open&tag=a,b',
      '/below/%2e%2e%2fadmin?state=open&tag=a,b',
      '/items?state=closed&tag=a,b',
      '/items?state=open',
      '/items?state=open&tag=a,b&admin=1',
      '/items?state=open&tag=a,b#fragment',
      '/it\tems?state=open&tag=a,b',
      'not a url at all',
    ]) {
      const driven = follow(next);
      assert.deepEqual(codesOf(driven), ['COMPLETENESS_UNPROVEN'], next);
      assert.equal(driven.walk.follow, undefined);
      assert.equal(driven.sealed, undefined);
    }
  });

  it('follow: the URL just asked is a loop', () => {
    const next = '/items?state=open&tag=a,b&page=2';
    const page = (from: number) => ({ body: { items: items(from, 1), next }, query: { state: 'open', tag: 'a,b' } });
    assert.deepEqual(codesOf(drive(FOLLOWING, [page(1), page(2)])), ['COMPLETENESS_UNPROVEN']);
  });

  it('follow: an empty page with a URL goes on, and its absence ends the walk where that is listed', () => {
    const driven = drive(FOLLOWING, [
      { body: { items: [], next: '/items?page=2' } },
      { body: { items: items(1, 1), next: null }, query: { page: '2' } },
    ]);
    assert.deepEqual(codesOf(driven), []);
    assert.equal(driven.rows.length, 1);
  });

  it('follow: a next page that is no text is refused', () => {
    assert.deepEqual(codesOf(drive(FOLLOWING, [{ body: { items: [], next: { href: '/items' } } }])), ['COMPLETENESS_UNPROVEN']);
  });
});
