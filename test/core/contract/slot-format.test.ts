import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue, SlotFormat } from '#core/contract/compiled.ts';
import { isMisfit } from '#core/contract/encode.ts';
import { applyFormat } from '#core/contract/slot-format.ts';

const table: readonly [SlotFormat, JsonValue, string | number][] = [
  ['epochSeconds', '2026-01-01T00:00:00Z', 1767225600],
  ['epochSeconds', '2026-01-01T01:00:00+01:00', 1767225600],
  ['epochSeconds', '2026-01-01', 1767225600],
  ['epochMillis', '2026-01-01T00:00:00.250Z', 1767225600250],
  ['date', '2026-01-01T23:30:00-01:00', '2026-01-02'],
  ['date', '2024-02-29', '2024-02-29'],
  ['csv', ['a', 1, true], 'a,1,true'],
  ['base64', 'a:ß', 'YTrDnw=='],
  ['githubPhrase', 'x repo:other/secret OR y', '"x repo:other/secret OR y"'],
  ['jqlString', 'a" OR project = SECRET \\', '"a\\" OR project = SECRET \\\\"'],
];
for (const [format, value, expected] of table) {
  test(`slot format: ${format} of ${JSON.stringify(value)} is ${JSON.stringify(expected)}`, () =>
    assert.equal(applyFormat(format, value), expected));
}

const refusals: readonly [SlotFormat, JsonValue, string][] = [
  ['epochSeconds', '2026-01-01T00:00:00.5Z', 'fraction'],
  ['epochMillis', '2026-01-01T00:00:00.0005Z', 'fraction'],
  ['epochSeconds', '2026-02-31T00:00:00Z', 'time'],
  ['epochSeconds', '2026-01-01T24:00:00Z', 'time'],
  ['epochSeconds', '2026-01-01T00:00:00', 'time'],
  ['epochSeconds', 1767225600, 'time'],
  ['date', 'today', 'time'],
  ['csv', ['a,b'], 'separator'],
  ['csv', ['a', ''], 'empty'],
  ['csv', [], 'empty'],
  ['csv', ['a\nb'], 'control'],
  ['csv', [['a']], 'not_scalar'],
  ['githubPhrase', 'a" org:other "', 'quote'],
  ['githubPhrase', 'a\\', 'quote'],
  ['githubPhrase', 'a\nb', 'control'],
  ['jqlString', 'a\u0000', 'control'],
];
for (const [format, value, rule] of refusals) {
  test(`slot format: ${format} refuses ${JSON.stringify(value)} as ${rule}`, () => {
    const result = applyFormat(format, value);
    assert(isMisfit(result));
    assert.equal(result.rule, rule);
  });
}

test('slot format: a JQL string reads back as the value by the unescaping rules of JQL', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^["\\a' ]{0,9}$/)), (text) => {
      const quoted = applyFormat('jqlString', text);
      if (isMisfit(quoted)) return;
      assert(typeof quoted === 'string');
      const inner = /^"((?:[^"\\]|\\["\\])*)"$/.exec(quoted);
      assert(inner, 'the string ends where we end it');
      assert.equal(inner[1]!.replace(/\\(["\\])/g, '$1'), text);
    }),
    { numRuns: 1000 },
  );
});

test('slot format: csv splits back into the list', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'grapheme' })), (list) => {
      const joined = applyFormat('csv', list);
      if (!isMisfit(joined)) assert.deepEqual(String(joined).split(','), list);
    }),
  );
});
