import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parsePath, readEvery, readPath, sameValue } from '#core/completeness/path.ts';
import { path } from './build-contract.ts';

const DOCUMENT = {
  items: [{ id: 1 }, { id: 2 }],
  'a/b': { '~c': 'x' },
  scopes: { r1: { list: [1] }, r2: { warning: 'w' } },
  conditions: [
    { type: 'Ready', status: 'True' },
    { type: 'Twice', status: '1' },
    { type: 'Twice', status: '2' },
    { type: true, status: 'text of true' },
  ],
  nothing: null,
};

describe('path', () => {
  it('path: reads members, indexes, escapes, and the whole document', () => {
    assert.deepEqual(readPath(DOCUMENT, path('/items/1/id')), { kind: 'value', value: 2 });
    assert.deepEqual(readPath(DOCUMENT, path('/a~1b/~0c')), { kind: 'value', value: 'x' });
    assert.deepEqual(readPath([7], path('/')), { kind: 'value', value: [7] });
    assert.deepEqual(readPath(DOCUMENT, path('/nothing')), { kind: 'value', value: null });
  });

  it('path: what is not there is absent, also below a scalar, a null or a wrong index', () => {
    for (const text of ['/gone', '/items/2', '/items/01', '/items/-1', '/nothing/x', '/items/0/id/x', '/constructor', '/items/length']) {
      assert.equal(readPath(DOCUMENT, path(text)).kind, 'absent', text);
    }
    assert.equal(readPath(undefined, path('/')).kind, 'absent');
  });

  it('path: a selector takes the one element whose member equals, and two are unusable', () => {
    assert.deepEqual(readPath(DOCUMENT, path('/conditions/[type=Ready]/status')), { kind: 'value', value: 'True' });
    assert.deepEqual(readPath(DOCUMENT, path('/conditions/[type=true]/status')), { kind: 'value', value: 'text of true' });
    assert.equal(readPath(DOCUMENT, path('/conditions/[type=Gone]/status')).kind, 'absent');
    assert.equal(readPath(DOCUMENT, path('/conditions/[type=Twice]/status')).kind, 'unusable');
  });

  it('path: * reads every element or map value and counts the branches that end early', () => {
    assert.deepEqual(readEvery(DOCUMENT, path('/scopes/*/list')), { found: [[1]], missing: 1, ambiguous: 0 });
    assert.deepEqual(readPath(DOCUMENT, path('/items/*/id')), { kind: 'value', value: [1, 2] });
    assert.equal(readPath({ items: [] }, path('/items/*/id')).kind, 'absent');
  });

  it('path: refuses what is no path, with the place', () => {
    const problems: readonly [string, number][] = [
      ['', 0],
      ['a', 0],
      ['/a//b', 3],
      ['/a/', 3],
      ['/a/~2', 3],
      ['/x/[type]', 3],
    ];
    for (const [text, at] of problems) {
      const parsed = parsePath(text);
      assert.ok(parsed.kind === 'problem' && parsed.at === at, text);
    }
  });

  it('path: equality of values does not depend on the order of members', () => {
    assert.ok(sameValue({ a: [1, { b: null }], c: 'x' }, { c: 'x', a: [1, { b: null }] }));
    assert.ok(!sameValue({ a: 1 }, { a: 1, b: 1 }));
    assert.ok(!sameValue([1, 2], [2, 1]));
    assert.ok(!sameValue({ a: undefined as never }, { b: undefined as never }));
    assert.ok(!sameValue('1', 1));
  });
});
