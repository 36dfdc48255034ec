import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { isPlainlyVisible, visibleText } from '#core/encoding/visible-text.ts';
import { expectHonest, HOSTILE_TEXTS } from './hostile-text.ts';

const hidden: readonly (readonly [string, number])[] = [
  ['bidi override', 0x202e],
  ['bidi isolate', 0x2066],
  ['arabic letter mark', 0x061c],
  ['zero width space', 0x200b],
  ['zero width joiner', 0x200d],
  ['byte order mark', 0xfeff],
  ['soft hyphen', 0x00ad],
  ['word joiner', 0x2060],
  ['combining grapheme joiner', 0x034f],
  ['mongolian vowel separator', 0x180e],
  ['hangul filler', 0x3164],
  ['hangul choseong filler', 0x115f],
  ['half-width hangul filler', 0xffa0],
  ['braille blank', 0x2800],
  ['variation selector', 0xfe0f],
  ['variation selector of plane 14', 0xe0100],
  ['tag letter', 0xe0041],
  ['musical symbol control', 0x1d173],
  ['no-break space', 0x00a0],
  ['ideographic space', 0x3000],
  ['line separator', 0x2028],
  ['next line', 0x0085],
  ['escape', 0x001b],
  ['backspace', 0x0008],
  ['carriage return', 0x000d],
  ['line feed', 0x000a],
  ['tab', 0x0009],
  ['null', 0x0000],
  ['delete', 0x007f],
  ['private use', 0xe000],
  ['unassigned', 0x0378],
  ['non-character', 0xffff],
  ['replacement character', 0xfffd],
  ['object replacement', 0xfffc],
  ['lone surrogate', 0xd800],
];

for (const [name, code] of hidden) {
  const shown = `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`;
  test(`visible text: shows ${name} as ${shown} (APR-06)`, () => {
    const text = `prod${String.fromCodePoint(code)}uction`;
    assert.equal(visibleText(text), `prod${shown}uction`);
    assert.equal(isPlainlyVisible(text), false);
  });
}

for (const text of ['Deploy 1.2.3 of api to staging', 'Grüße, 世界! Привет', 'naïve café', 'ไม่เป็นไร', 'a=b & "c" <d>', '5 € → 6 €', '😀']) {
  test(`visible text: leaves ${text} as it is`, () => {
    assert.equal(visibleText(text), text);
    assert.ok(isPlainlyVisible(text));
  });
}

test('visible text: a line break cannot forge the next field (APR-07)', () => {
  assert.equal(visibleText('ok\nEnvironment: test'), 'ok<U+000A>Environment: test');
});

test('visible text: keeps as many lines as the field allows, and no more', () => {
  assert.equal(visibleText('a\nb\nc', { lines: 2 }), 'a\nb<U+000A>c');
});

test('visible text: padding is counted, not shown (APR-08)', () => {
  assert.equal(visibleText(`ok${' '.repeat(500)}drop tables`), 'ok   <497 more>drop tables');
  assert.equal(visibleText(`ok${'\n'.repeat(500)}drop`), 'ok<U+000A><U+000A><U+000A><497 more>drop');
  assert.equal(visibleText('-'.repeat(100)), `${'-'.repeat(80)}<20 more>`);
});

test('visible text: what is cut is said (APR-08)', () => {
  const shown = visibleText(`${'lorem ipsum '.repeat(400)}`, { chars: 100 });
  assert.match(shown, /… \(\d+ characters cut\)$/);
  assert.ok([...shown].length <= 100);
});

test('visible text: no more than three marks stand on one letter', () => {
  assert.equal(visibleText(`a${'\u0301\u0302\u0303\u0304'}b`), 'a\u0301\u0302\u0303<U+0304>b');
  assert.equal(visibleText('\u0301a'), '<U+0301>a');
});

const hostile = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\u202e', ' ', '\n', '\u0301', '\u{E0041}', '<', '>', 'U+202E', '\ud800', 'a', '\u3164', '…'),
    fc.string({ unit: 'binary', maxLength: 1 }),
  ),
  maxLength: 200,
});

test('visible text: the result is within the cap and holds nothing hidden', () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 32, max: 300 }), fc.integer({ min: 1, max: 4 }), (text, chars, lines) => {
      const shown = visibleText(text, { chars, lines });
      assert.ok([...shown].length <= chars);
      assert.ok(shown.split('\n').length <= lines);
      assert.doesNotMatch(shown.replaceAll('\n', ''), /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800\u00a0\u3000]/u);
      assert.ok(shown.isWellFormed());
    }),
    { numRuns: 1000 },
  );
});

test('visible text: cleaning twice changes nothing', () => {
  fc.assert(
    fc.property(hostile, fc.integer({ min: 32, max: 300 }), fc.integer({ min: 1, max: 4 }), (text, chars, lines) => {
      const shown = visibleText(text, { chars, lines });
      assert.equal(visibleText(shown, { chars, lines }), shown);
    }),
    { numRuns: 1000 },
  );
});

test('visible text: no text of the hostile corpus makes a surface lie (APR-06 to APR-09, APR-18)', () => {
  for (const hostile of HOSTILE_TEXTS) {
    const shown = visibleText(hostile.text);
    expectHonest(shown, hostile);
    assert.equal(isPlainlyVisible(hostile.text), !hostile.hidden, `${hostile.id}: ${hostile.kind}`);
  }
});

test('hostile corpus: finds a surface that shows what came', () => {
  for (const hostile of HOSTILE_TEXTS.filter(({ hidden }) => hidden)) {
    assert.throws(() => expectHonest(`reason: ${hostile.text}`, hostile), `${hostile.id}: ${hostile.kind}`);
  }
});

test('visible text: plain text that is passed on at once reads as it does letter by letter', () => {
  const piece = fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom('   ', '    ', '-'.repeat(80), '-'.repeat(81), 'ab'.repeat(50)));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = pieces.join('x');
      // A letter beyond ASCII takes the whole text the long way.
      assert.equal(`${visibleText(text)}\u00e9`, visibleText(`${text}\u00e9`));
    }),
  );
});
