import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chainFolder, headsObject, intentObject, isObjectName, manifestObject, segmentObject } from '#core/audit/object-name.ts';

test('object name: each kind stands where FORMAT.md says', () => {
  const beganMs = Date.parse('2026-12-01T23:59:59.999Z');
  assert.equal(chainFolder({ cluster: 'c', namespace: 'n', session: 's', beganMs }), 'c/n/2026-12-01/s/');
  assert.equal(segmentObject(1), '0000000001.seg');
  assert.equal(manifestObject(4711), 'manifest-0000000000004711.json');
  assert.equal(intentObject(12), 'intents/0000000000000012.frame');
  assert.equal(headsObject('c', beganMs), 'heads/c/2026-12-01/235959.note');
});

test('object name: nothing that could leave a folder is one', () => {
  for (const name of ['a', 'a/b.seg', '..a/b', 'a b/ü', '...']) assert.equal(isObjectName(name), true, name);
  for (const name of [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '.',
    '..',
    'a/../b',
    'a/.',
    'a\\b',
    'a\0b',
    'a\nb',
    '\ud800',
    'x'.repeat(256),
    `${'x/'.repeat(300)}x`,
  ])
    assert.equal(isObjectName(name), false, JSON.stringify(name));
});
