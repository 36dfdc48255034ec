import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { span, utc } from '#core/approval/utc.ts';
import { wrapColumns } from '#core/approval/wrap-columns.ts';
import { visibleText } from '#core/encoding/visible-text.ts';

test('wrap: no line is wider than it may be, and nothing but blanks at line ends is lost (APR-08)', () => {
  const text = fc.string({ unit: 'binary', maxLength: 400 }).map((raw) => visibleText(raw));
  fc.assert(
    fc.property(text, fc.integer({ min: 20, max: 80 }), (shown, columns) => {
      const lines = wrapColumns(shown, columns);
      for (const line of lines) assert.ok([...line.replace(/\p{M}/gu, '')].length <= columns, line);
      const joined = lines.map((line) => line.replace(/\\$/, '')).join('');
      assert.equal(joined.replaceAll(/[ \\]/g, ''), shown.replaceAll(/[ \\]/g, ''));
    }),
  );
});

test('wrap: a word that is broken says so, a line that ends with a word does not', () => {
  assert.deepEqual(wrapColumns('ab cd', 4), ['ab', 'cd']);
  assert.deepEqual(wrapColumns('abcdefg', 4), ['abc\\', 'def\\', 'g']);
  assert.deepEqual(wrapColumns('', 4), ['']);
});

test('wrap: wide letters count as the two columns they take', () => {
  assert.deepEqual(wrapColumns('\u4f60\u597d \u4f60\u597d', 5), ['\u4f60\u597d', '\u4f60\u597d']);
});

test('wrap: an escape of the sanitizer is not broken in two', () => {
  const lines = wrapColumns('x'.repeat(10) + '<U+200B>'.repeat(3), 20);
  assert.deepEqual(lines, [`${'x'.repeat(10)}<U+200B>\\`, '<U+200B><U+200B>']);
});

test('times on a card: the same for every reader, whatever the number is', () => {
  assert.equal(utc(Date.parse('2026-11-30T16:00:00.999+01:00')), '2026-11-30 15:00:00 UTC');
  assert.equal(utc(Number.NaN), 'an impossible time');
  assert.deepEqual([0, 119_000, 120_000, 7_200_000, 172_800_000, -5].map(span), ['0 s', '119 s', '2 min', '2 h', '2 days', '0 s']);
});
