import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkArguments } from '#core/contract/arguments.ts';
import { compileArgumentsSchema } from '#core/contract/compile-schema.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { Report } from '#core/contract/report.ts';
import type { ArgumentsSchema } from '#core/contract/schema.ts';
import { describeSchema } from '#core/contract/schema.ts';
import { SpecNode } from '#core/contract/spec-node.ts';

function schemaOf(properties: JsonValue, required: JsonValue = []): ArgumentsSchema {
  const report = new Report((path) => ({ kind: 'ActionContract', name: 't', path }));
  const schema = compileArgumentsSchema(
    new SpecNode({ type: 'object', additionalProperties: false, required, properties }, ['spec', 'arguments'], report),
  );
  assert.deepEqual(report.problems, []);
  return schema;
}

function rulesOf(schema: ArgumentsSchema, value: JsonValue): string[] {
  const checked = checkArguments(schema, value);
  return checked.kind === 'arguments' ? [] : checked.violations.map(({ path, rule }) => `${path} ${rule}`);
}

const TEXT = { type: 'string', maxLength: 20 };

const REFUSED: readonly [string, JsonValue, JsonValue, string][] = [
  ['JSON-03 an unknown argument', TEXT, { y: 'a' }, '/y unknown_argument'],
  ['JSON-11 a decomposed identifier', TEXT, { x: 'cafe\u0301' }, '/x not_nfc'],
  ['JSON-12 a bidi override', TEXT, { x: 'a\u202eb' }, '/x invisible_character'],
  ['JSON-12 a tag character', TEXT, { x: 'a\u{e0041}' }, '/x invisible_character'],
  ['JSON-26 a space at the end', TEXT, { x: 'live ' }, '/x edge_white_space'],
  ['JSON-26b a zero-width suffix', TEXT, { x: 'live\u200b' }, '/x invisible_character'],
  ['JSON-15 a final line break', { ...TEXT, pattern: '^[0-9]+$' }, { x: '7\n' }, '/x control_character /x pattern'],
  ['HTTP-04 a line break', TEXT, { x: 'a\r\nb' }, '/x control_character'],
  ['HTTP-04 the next-line control', TEXT, { x: 'a\u0085b' }, '/x control_character'],
  ['HTTP-04 the line separator', TEXT, { x: 'a\u2028b' }, '/x control_character'],
  ['JSON-09 a lone surrogate', TEXT, { x: '\ud800' }, '/x lone_surrogate'],
  ['a lone surrogate in free text', { ...TEXT, 'x-postern-text': { render: 'plain' } }, { x: '\udc00' }, '/x lone_surrogate'],
  ['JSON-13 21 astral characters', TEXT, { x: '\u{1f600}'.repeat(21) }, '/x too_long'],
  ['JSON-13 more bytes than allowed', { ...TEXT, 'x-postern-max-bytes': 8 }, { x: '\u{1f600}'.repeat(3) }, '/x too_many_bytes'],
  ['a text below its bound', { ...TEXT, minLength: 2 }, { x: 'a' }, '/x too_short'],
  ['a day that is not', { type: 'string', format: 'date' }, { x: '2026-02-30' }, '/x format'],
  ['a time without zone', { type: 'string', format: 'date-time' }, { x: '2026-02-03T01:02:03' }, '/x format'],
  ['a leap second', { type: 'string', format: 'date-time' }, { x: '2026-06-30T23:59:60Z' }, '/x format'],
  ['a uuid in upper case', { type: 'string', format: 'uuid' }, { x: 'A0000000-0000-4000-8000-000000000000' }, '/x format'],
  ['a number for text', TEXT, { x: 7 }, '/x wrong_type'],
  ['JSON-20 text for a number', { type: 'integer' }, { x: '7' }, '/x wrong_type'],
  ['null for text', TEXT, { x: null }, '/x wrong_type'],
  ['a broken integer', { type: 'integer' }, { x: 1.5 }, '/x not_an_integer'],
  ['JSON-04 an unsafe integer', { type: 'integer' }, { x: 9007199254740992 }, '/x unsafe_integer'],
  ['a number below', { type: 'integer', minimum: 1 }, { x: 0 }, '/x too_small'],
  ['a number above', { type: 'number', maximum: 1 }, { x: 1.5 }, '/x too_large'],
  ['a number outside of the enum', { type: 'integer', enum: [1, 2] }, { x: 3 }, '/x enum'],
  ['too many elements', { type: 'array', maxItems: 1, items: TEXT }, { x: ['a', 'b'] }, '/x too_many_items'],
  ['too few elements', { type: 'array', minItems: 1, maxItems: 2, items: TEXT }, { x: [] }, '/x too_few_items'],
  [
    'a repeated element',
    { type: 'array', maxItems: 3, uniqueItems: true, items: { type: 'number' } },
    { x: [0, -0] },
    '/x/1 duplicate_item',
  ],
  ['a mention in markdown', { ...TEXT, 'x-postern-text': { render: 'markdown' } }, { x: 'hi @all' }, '/x mention'],
  ['a second line', { ...TEXT, 'x-postern-text': { render: 'plain', lines: 1 } }, { x: 'a\nb' }, '/x too_many_lines'],
  ['an escape in free text', { ...TEXT, 'x-postern-text': { render: 'plain' } }, { x: 'a\u001b[1m' }, '/x control_character'],
];

for (const [what, property, value, expected] of REFUSED) {
  test(`arguments: ${what} is refused`, () => {
    assert.equal(rulesOf(schemaOf({ x: property }), value).join(' '), expected);
  });
}

test('arguments: a homoglyph of a label is shown by its code points (JSON-10)', () => {
  const checked = checkArguments(schemaOf({ x: { type: 'string', enum: ['test', 'live'] } }), { x: 't\u0435st' });
  assert.ok(checked.kind === 'violations');
  assert.deepEqual(checked.violations, [{ path: '/x', rule: 'enum', message: 'The value is none of test, live; it holds U+0435.' }]);
});

test('arguments: a required argument that is missing and a misspelled one are both named', () => {
  const checked = checkArguments(schemaOf({ repository: TEXT }, ['repository']), { repositry: 'a' });
  assert.ok(checked.kind === 'violations');
  assert.deepEqual(
    checked.violations.map(({ path, rule }) => [path, rule]),
    [
      ['/repositry', 'unknown_argument'],
      ['/repository', 'required'],
    ],
  );
  assert.match(checked.violations[0]?.message ?? '', /"repository"/);
});

test('arguments: anything but an object is refused', () => {
  for (const value of [[], null, 'x', 7]) assert.deepEqual(rulesOf(schemaOf({}), value), [' not_an_object']);
});

test('arguments: limits count code points, so twenty astral characters are twenty (JSON-13)', () => {
  assert.deepEqual(rulesOf(schemaOf({ x: TEXT }), { x: '\u{1f600}'.repeat(20) }), []);
});

test('arguments: free text may hold what a sanitizer will show', () => {
  const schema = schemaOf({ x: { ...TEXT, 'x-postern-text': { render: 'plain', lines: 3 } } });
  assert.deepEqual(rulesOf(schema, { x: ' e\u0301\u202e\n\tb ' }), []);
});

test('arguments: numbers have one canonical form (JSON-06)', () => {
  const checked = checkArguments(
    schemaOf({ a: { type: 'integer' }, b: { type: 'integer' }, c: { type: 'integer' } }),
    JSON.parse('{"a":-0,"b":1.0,"c":1e2}'),
  );
  assert.ok(checked.kind === 'arguments');
  assert.equal(JSON.stringify(checked.args), '{"a":0,"b":1,"c":100}');
  assert.ok(Object.is(checked.args.a, 0));
});

test('arguments: what passes is frozen, also inside, and has no prototype', () => {
  const schema = schemaOf({
    list: { type: 'array', maxItems: 2, items: { type: 'object', additionalProperties: false, properties: { k: TEXT } } },
  });
  const checked = checkArguments(schema, { list: [{ k: 'v' }] });
  assert.ok(checked.kind === 'arguments');
  const list = checked.args.list as readonly JsonValue[];
  assert.ok(Object.isFrozen(checked.args) && Object.isFrozen(list) && Object.isFrozen(list[0]));
  assert.equal(Object.getPrototypeOf(checked.args), null);
});

test('arguments: at most fifty findings come back', () => {
  const value: Record<string, JsonValue> = {};
  for (let index = 0; index < 500; index += 1) value[`k${index}`] = 1;
  const checked = checkArguments(schemaOf({}), value);
  assert.ok(checked.kind === 'violations' && checked.violations.length === 50);
});

test('arguments: a value of every declared shape passes unchanged', () => {
  const properties = {
    text: { type: 'string', maxLength: 12 },
    label: { type: 'string', enum: ['a', 'b'] },
    count: { type: 'integer', minimum: -5, maximum: 5 },
    flag: { type: 'boolean' },
    list: { type: 'array', maxItems: 4, items: { type: 'integer' } },
  };
  const schema = schemaOf(properties);
  const legal = fc.record(
    {
      text: fc.stringMatching(/^[a-zA-Z0-9_.-]{0,12}$/),
      label: fc.constantFrom('a', 'b'),
      count: fc.integer({ min: -5, max: 5 }),
      flag: fc.boolean(),
      list: fc.array(fc.integer(), { maxLength: 4 }),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(legal, (value) => {
      const checked = checkArguments(schema, value);
      assert.ok(checked.kind === 'arguments');
      assert.equal(JSON.stringify(checked.args), JSON.stringify(value));
    }),
  );
});

test('arguments: no text whatever passes as an identifier that is not what a person sees', () => {
  const schema = schemaOf({ x: { type: 'string', maxLength: 40 } });
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 10 }), (x) => {
      const passes = checkArguments(schema, { x }).kind === 'arguments';
      if (passes) assert.ok(x === x.trim() && x === x.normalize('NFC') && !/\p{C}/u.test(x));
    }),
  );
});

test('arguments: the described schema compiles again to the same rules', () => {
  const schema = schemaOf(
    { x: { ...TEXT, pattern: '^[a-z]+$' }, y: { type: 'array', maxItems: 2, items: { type: 'integer', minimum: 1 } } },
    ['x'],
  );
  const described = describeSchema(schema) as { properties: Record<string, Record<string, JsonValue>> };
  assert.equal(described.properties.x?.pattern, '^[a-z]+$');
  assert.equal(described.properties.y?.maxItems, 2);
});
