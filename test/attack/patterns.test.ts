/**
 * Goal: a pattern lets more pass than its author reads in it, or one argument keeps every other call waiting. Method: texts that
 * engines disagree about, patterns that count, and a random pattern language against the engine of the runtime.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkArguments } from '#core/contract/arguments.ts';
import { compileArgumentsSchema } from '#core/contract/compile-schema.ts';
import { compilePattern, isPatternFault } from '#core/contract/pattern.ts';
import { Report } from '#core/contract/report.ts';
import type { ArgumentsSchema } from '#core/contract/schema.ts';
import { SpecNode } from '#core/contract/spec-node.ts';

function schemaOf(text: object): { schema: ArgumentsSchema; codes: string[] } {
  const report = new Report((path) => ({ kind: 'ActionContract', name: 'x', path }));
  const spec = JSON.parse(JSON.stringify({ type: 'object', additionalProperties: false, properties: { a: { type: 'string', ...text } } }));
  const schema = compileArgumentsSchema(new SpecNode(spec, ['spec', 'arguments'], report));
  return { schema, codes: report.problems.map(({ code }) => code) };
}

const passes = (pattern: string, a: string) => {
  const { schema, codes } = schemaOf({ pattern, maxLength: 100 });
  assert.deepEqual(codes, [], pattern);
  return checkArguments(schema, { a }).kind === 'arguments';
};

test('patterns: what engines disagree about is read strictly', () => {
  for (const [pattern, text] of [
    ['^[0-9]+$', '7\n'],
    ['^[0-9]+$', '\n7'],
    ['^[0-9]+$', '7\n8'],
    ['^[0-9]+$', '7\r'],
    ['^[0-9]+$', '7\u0000'],
    ['^[0-9]+$', '\u0667'],
    ['^\\d+$', '\u0667'],
    ['^\\w+$', '\u00e9'],
    ['^\\w+$', '\u0430'],
    ['^[a-z]+$', '\u017f'],
    ['^[a-z]+$', '\u212a'],
    ['^[A-Z]+$', 'a'],
    ['^.+$', 'a\nb'],
    ['^.$', '\ud83d\ude00x'],
    ['^a{2}$', 'aaa'],
    ['^(?:a|b)$', 'ab'],
    ['^a$', 'A'],
    ['^\\Qa.c\\E$', 'abc'],
    ['^[^/]+$', 'a/b'],
    ['^a|b$', 'ax'],
  ] as const) {
    const compiled = compilePattern(pattern);
    if (!isPatternFault(compiled)) assert.equal(passes(pattern, text), false, `${pattern} ${JSON.stringify(text)}`);
    else assert.equal(pattern, '^a|b$');
  }
  assert.equal(passes('^.$', '\ud83d\ude00'), true, 'a character is a code point');
});

test('patterns: flags, look-around, references and conditions are not in the dialect', () => {
  for (const pattern of [
    '^(?i)a$',
    '^(?m)a$',
    '(?s)^a$',
    '^(?i:a)$',
    '^(?-s:.)$',
    '^(?=a)a$',
    '^(?!b)a$',
    '^(?<=a)b$',
    '^(a)\\1$',
    '^(?>a)$',
    '^a*+$',
    '^[$',
    '^($',
  ])
    assert.ok(isPatternFault(compilePattern(pattern)), pattern);
});

test('JSON-14: a pattern that counts far is refused for a long text and taken for a short one', () => {
  for (const [pattern, maxLength] of [
    ['^[a-z]*[a-y]{0,900}$', 30_000],
    ['^((a{0,30}){0,30})$', 2_000],
    ['^(?:a?){999}a{0,500}$', 1_000],
    ['^[\\p{L}\\p{N}]*[\\p{L}]{0,900}$', 20_000],
  ] as const) {
    assert.deepEqual(schemaOf({ pattern, maxLength }).codes, ['schema-pattern'], pattern);
    assert.deepEqual(schemaOf({ pattern, maxLength: 100 }).codes, [], pattern);
  }
  assert.deepEqual(schemaOf({ pattern: '^[A-Za-z0-9+/=]+$', maxLength: 32_768 }).codes, []);
  assert.deepEqual(schemaOf({ pattern: '^[A-Za-z0-9_-]{1,255}$', maxLength: 255 }).codes, []);
});

const atom = fc.constantFrom('a', 'b', '[ab]', '[^a]', '.', '\\.', '\\d', 'c', '(?:a|b)', '(a)', '\\x41', '\\n', '\\$');
const repeated = fc.tuple(atom, fc.constantFrom('', '', '*', '+', '?', '{2}', '{0,3}', '*?')).map(([one, times]) => one + times);
const patterns = fc.array(repeated, { minLength: 1, maxLength: 6 }).map((parts) => `^${parts.join('')}$`);

test('patterns: a text passes only if the runtime’s own engine takes the whole of it', () => {
  fc.assert(
    fc.property(
      patterns,
      fc.array(fc.constantFrom('a', 'b', 'c', '.', 'A', '1', '\n', '$', '\u00e9'), { maxLength: 8 }),
      (pattern, parts) => {
        const compiled = compilePattern(pattern);
        if (isPatternFault(compiled)) return;
        const text = parts.join('');
        assert.equal(compiled.matches(text), new RegExp(`^(?:${pattern})$`, 'u').test(text), `${pattern} ${JSON.stringify(text)}`);
      },
    ),
    { numRuns: 2000 },
  );
});

test('patterns: huge lists and many wrong members cost no more than a few answers', () => {
  const report = new Report((path) => ({ kind: 'ActionContract', name: 'x', path }));
  const items = { type: 'array', maxItems: 1000, uniqueItems: true, items: { type: 'string', maxLength: 20, pattern: '^[a-z]+$' } };
  const spec = JSON.parse(JSON.stringify({ type: 'object', additionalProperties: false, properties: { items } }));
  const schema = compileArgumentsSchema(new SpecNode(spec, ['spec'], report));
  const checked = (value: object) => checkArguments(schema, JSON.parse(JSON.stringify(value)));
  assert.equal(checked({ items: Array.from({ length: 1001 }, () => 'a') }).kind, 'violations');
  for (const item of ['A', 'a']) {
    const many = checked({ items: Array.from({ length: 1000 }, () => item) });
    assert.ok(many.kind === 'violations' && many.violations.length <= 50, item);
  }
  const strange = checked(Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`itemz${index}`, 1])));
  assert.ok(strange.kind === 'violations' && strange.violations.length <= 50);
});
