/** Groups from RE2 programs, against the engine of the runtime as an oracle where both speak one language. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { captures } from '#sidecar/decode/captures.ts';

const patterns = [
  '^(?<a>[^ ]+) (?<b>[A-Z]+) (?<c>.*)$',
  '(?<a>a*)(?<b>a|b)?(?<c>b*)$',
  '^(?<a>a|ab)(?<b>c|bcd)?(?<c>d*)',
  '(?<a>x?)(?<b>\\bfoo\\b|\\Bo)(?<c>.*?)o?$',
  '^(?<a>(?:a|b)+?)(?<b>b*)(?<c>c)?$',
  '(?<a>[0-9]{2,3})-(?<b>.)',
];
for (const pattern of patterns) {
  test(`captures: ${pattern} gives the groups a backtracking engine gives`, () => {
    const capture = captures(pattern);
    const oracle = new RegExp(pattern, 'u');
    fc.assert(
      fc.property(fc.stringMatching(/^[abcdfox0-9 A-Z😀-]{0,14}$/u), (line) => {
        const expected = oracle.exec(line)?.groups;
        const present = expected && Object.fromEntries(Object.entries(expected).filter(([, text]) => text !== undefined));
        const found = capture(line);
        assert.deepEqual(found && { ...found }, present);
      }),
      { numRuns: 500 },
    );
  });
}

test('captures: a pattern that makes a backtracking engine exponential stays linear', () => {
  assert.equal(captures('^(?<a>(?:a|aa)+)$')(`${'a'.repeat(2000)}b`), undefined);
  assert.equal(captures('^(?<a>(?:a|aa)+)(?<b>b)$')(`${'a'.repeat(2000)}b`)?.b, 'b');
});

test('captures: groups that change at every character end as the last ones', () => {
  const capture = captures('^(?:(?<a>[a-z]+)|(?<b>[0-9]+)|(?<c>.))+$');
  const line = 'deployed api 2.14.3 to web-1 after 38 ms ';
  const groups = capture(line.repeat(100));
  assert.deepEqual({ ...groups }, { a: 'ms', b: '38', c: ' ' });
});

test('captures: patterns that go round one loop for most of a line stop at the right character', () => {
  const capture = captures('^(?<time>[^ ]+) (?<level>[A-Z]+) (?<message>.*)$');
  fc.assert(
    fc.property(
      fc.stringMatching(/^[a-z0-9é😀]{1,20}$/u),
      fc.stringMatching(/^[A-Z]{1,9}$/),
      fc.string({ unit: 'grapheme' }),
      (time, level, message) => {
        fc.pre(!/[\n\r]/.test(message));
        assert.deepEqual({ ...capture(`${time} ${level} ${message}`) }, { time, level, message });
        assert.equal(capture(`${time} ${level.toLowerCase()} ${message}`), undefined);
      },
    ),
  );
});
