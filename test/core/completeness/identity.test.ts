import assert from 'node:assert/strict';
import { test } from 'node:test';
import { countIds, countKept, firstKept, hasId, idKey, idOf, keptIds, lastIds, markId, splitIds } from '#core/completeness/identity.ts';
import { parsePath } from '#core/completeness/path.ts';

function path(text: string) {
  const parsed = parsePath(text);
  assert.equal(parsed.kind, 'parsed');
  return parsed.path;
}

const LONG = '6f9619ff-8b86-d011-b42d-00cf4fc964ff';
const keys = [idKey('', ['7']), idKey('', [LONG]), idKey('', ['a+b']), idKey('eu', ['7'])];

test('identity: a short plain id is kept as it is, any other as a digest of another length', () => {
  assert.equal(keys[0], '7');
  for (const key of keys.slice(1)) assert.match(key, /^[A-Za-z0-9_-]{14}$/);
  assert.equal(idKey('', ['abcdefghijklm']).length, 13);
  assert.notEqual(idKey('', ['abcdefghijklmn']), 'abcdefghijklmn');
});

test('identity: the number 7 and the text "7" are one id, the same id of another source is another', () => {
  assert.equal(idOf('', [path('/id')], { id: 7 }), idOf('', [path('/id')], { id: '7' }));
  assert.notEqual(idOf('', [path('/id')], { id: 7 }), idOf('eu', [path('/id')], { id: 7 }));
});

test('identity: ids of several parts differ where their joined texts would not', () => {
  assert.notEqual(idKey('', ['a', 'b']), idKey('', ['ab']));
  assert.notEqual(idKey('', ['a', 'bc']), idKey('', ['ab', 'c']));
});

test('identity: an id with a part missing is none', () => {
  assert.equal(idOf('', [path('/id')], { name: 'x' }), undefined);
  assert.equal(idOf('', [path('/id')], { id: { nested: 1 } }), undefined);
});

test('identity: joined ids are counted, split, and cut after a kept one', () => {
  const joined = keys.map((key, index) => markId(key, index !== 1)).join('');
  assert.equal(countIds(joined), 4);
  assert.deepEqual([...splitIds(joined)], keys);
  assert.deepEqual([...splitIds('')], []);
  assert.equal(countIds(firstKept(joined, 0)), 0);
  assert.equal(countIds(firstKept(joined, 2)), 3);
  assert.equal(firstKept(joined, 9), joined);
  assert.equal(countKept(joined), 3);
  assert.equal(lastIds(joined, 0), '');
  assert.deepEqual([...splitIds(lastIds(joined, 3))], keys.slice(1));
  assert.equal(lastIds(joined, 9), joined);
});

test('identity: evidence lists the kept items and no part of an id passes for one', () => {
  const listed = keptIds(keys.map((key, index) => markId(key, index !== 1)).join('') + markId('12', true));
  assert.deepEqual(
    keys.map((key) => hasId(listed, key)),
    [true, false, true, true],
  );
  assert.ok(hasId(listed, '12'));
  for (const other of ['1', '2', '', '7+', keys[2]?.slice(1) ?? '']) assert.equal(hasId(listed, other), false, other);
});
