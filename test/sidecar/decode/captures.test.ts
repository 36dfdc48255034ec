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
