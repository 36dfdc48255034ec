import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { type JsonRule, parseArguments, parseStrictJson } from '#core/encoding/strict-json.ts';
import { PosternError } from '#core/error/postern-error.ts';

function expectRule(input: string | Uint8Array, rule: JsonRule, offset?: number, root: 'any' | 'object' = 'any'): void {
  const parsed = parseStrictJson(input, { root });
  assert.ok(!parsed.ok, `accepted: ${String(input).slice(0, 60)}`);
  assert.equal(parsed.violation.rule, rule);
  if (offset !== undefined) assert.equal(parsed.violation.offset, offset);
  assert.match(parsed.violation.message, new RegExp(`\\(byte ${parsed.violation.offset}\\)\\.$`));
}

const DEEP = `{"note":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
const refused: readonly (readonly [string, string | Uint8Array, JsonRule, number?])[] = [
  ['JSON-01 the same key twice', '{"environment":"test","environment":"production"}', 'duplicate_key', 22],
  ['JSON-02 the same key twice, once escaped', '{"env":1,"\\u0065nv":2}', 'duplicate_key', 9],
  ['JSON-02 in an inner object', '{"a":{"b":1,"\\u0062":2}}', 'duplicate_key', 12],
  ['JSON-03 __proto__', '{"__proto__":{"url":"x"}}', 'forbidden_key', 1],
  ['JSON-03 __proto__, escaped', '{"a":[{"\\u005f_proto__":1}]}', 'forbidden_key', 7],
  ['JSON-04 an integer beyond 2^53', '{"id":9007199254740993}', 'unsafe_integer', 6],
  ['JSON-04b a negative one', '{"id":-9007199254740993}', 'unsafe_integer', 6],
  ['JSON-04 2^53 itself, which has a neighbour that rounds to it', '9007199254740992', 'unsafe_integer', 0],
  ['JSON-04 an unsafe integer in exponent form', '1e20', 'unsafe_integer', 0],
  ['JSON-05 a number beyond the largest double', '{"n":1e400}', 'non_finite', 5],
  ['JSON-07 200,000 brackets', DEEP, 'too_deep', 39],
  ['JSON-07 depth 33', `${'['.repeat(33)}${']'.repeat(33)}`, 'too_deep', 32],
  ['JSON-08 a byte order mark', '\ufeff{}', 'bom', 0],
  ['JSON-08 a byte order mark in bytes', Uint8Array.of(0xef, 0xbb, 0xbf, 0x7b, 0x7d), 'bom', 0],
  ['JSON-08b NaN', '{"id":NaN}', 'syntax', 6],
  ['JSON-08 a comment', '{/* */}', 'syntax', 1],
  ['JSON-08 a trailing comma', '[1,]', 'syntax', 3],
  ['JSON-08 single quotes', "{'a':1}", 'syntax', 1],
  ['JSON-08 a leading zero', '01', 'trailing_data', 1],
  ['JSON-08 a plus sign', '+1', 'syntax', 0],
  ['JSON-08 nothing', '', 'syntax', 0],
  ['JSON-08 a raw line break in a string', '"a\nb"', 'syntax', 2],
  ['JSON-08 an unknown escape', '"\\x41"', 'syntax', 1],
  ['JSON-08 an escape named like a member of Object.prototype', '"\\constructor"', 'syntax', 1],
  ['JSON-08 a no-break space between tokens', '{\u00a0}', 'syntax', 1],
  ['JSON-08c a second value', '{"zone":"lab"} {"zone":"live"}', 'trailing_data', 15],
  ['JSON-08c a zero byte at the end', '{}\u0000', 'trailing_data', 2],
  ['JSON-09 a lone high surrogate', '{"note":"\\ud800"}', 'lone_surrogate', 8],
  ['JSON-09 a lone low surrogate in a key', '{"\\udc00":1}', 'lone_surrogate', 1],
  ['JSON-09 two halves in the wrong order', '"\\udc00\\ud800"', 'lone_surrogate', 0],
  [
    'JSON-25 invalid UTF-8',
    Buffer.from('eyJjb21wb25lbnQiOiJhcGkiLCJ6b25lIjoibGFiIiwiYnVpbGQiOiI3Iiwibm90ZSI6Iv/+In0=', 'base64'),
    'invalid_utf8',
    52,
  ],
  ['JSON-25 an overlong form', Uint8Array.of(0x22, 0xc0, 0xaf, 0x22), 'invalid_utf8', 1],
  ['JSON-25 invalid UTF-8 after a real U+FFFD', Uint8Array.of(0x22, 0xef, 0xbf, 0xbd, 0xff, 0x22), 'invalid_utf8', 4],
];

for (const [name, input, rule, offset] of refused) {
  test(`strict json: refuses ${name} as ${rule}`, () => expectRule(input, rule, offset));
}

for (const text of ['[]', '"x"', '1', 'null', 'true']) {
  test(`strict json: refuses ${text} as not_an_object where an object is due (JSON-08d)`, () =>
    expectRule(text, 'not_an_object', 0, 'object'));
}

test('strict json: an offset counts bytes, not characters', () => expectRule('{"ä€😀":1,"a":x}', 'syntax', 19));

test('strict json: a violation names the path of the place', () => {
  const parsed = parseStrictJson('{"a/b":[{"c~":1},{"c~":NaN}]}');
  assert.ok(!parsed.ok);
  assert.equal(parsed.violation.path, '/a~1b/1/c~0');
});

test('strict json: a path is cut at its limit', () => {
  const parsed = parseStrictJson(`{"${'k'.repeat(5000)}":x}`);
  assert.ok(!parsed.ok);
  assert.equal(parsed.violation.path.length, limits.jsonPathCharsMax);
});

test('strict json: a message carries no content of the text', () => {
  const parsed = parseStrictJson('{"s3cr3t":"s3cr3t","s3cr3t":1}');
  assert.ok(!parsed.ok);
  assert.doesNotMatch(parsed.violation.message, /s3cr3t/);
});

test('strict json: accepts depth 32', () => {
  assert.ok(parseStrictJson(`${'['.repeat(32)}${']'.repeat(32)}`).ok);
});

test('strict json: accepts 2^53-1, fractions and exponents', () => {
  assert.deepEqual(parseStrictJson('[9007199254740991,-9007199254740991,0.1,1e2,-0,1.0]'), {
    ok: true,
    value: [9007199254740991, -9007199254740991, 0.1, 100, 0, 1],
  });
});

test('strict json: minus zero becomes zero (JSON-06)', () => {
  const parsed = parseStrictJson('-0');
  assert.ok(parsed.ok && Object.is(parsed.value, 0));
});

test('strict json: every object has a null prototype (JSON-03)', () => {
  const parsed = parseStrictJson('{"a":[{"constructor":1,"toString":2}]}');
  assert.ok(parsed.ok);
  const root = parsed.value as { a: [object] };
  assert.equal(Object.getPrototypeOf(root), null);
  assert.equal(Object.getPrototypeOf(root.a[0]), null);
  assert.deepEqual(Object.keys(root.a[0]), ['constructor', 'toString']);
});

test('strict json: reads what JSON.stringify writes as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 8 }), fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
      const text = JSON.stringify(value, null, indent);
      const parsed = parseStrictJson(text);
      if (!parsed.ok) {
        assert.ok(['unsafe_integer', 'lone_surrogate', 'forbidden_key'].includes(parsed.violation.rule), parsed.violation.rule);
        return;
      }
      assert.equal(JSON.stringify(parsed.value), JSON.stringify(JSON.parse(text)));
    }),
    { numRuns: 1000 },
  );
});

test('strict json: accepts no text that JSON.parse refuses, and never throws', () => {
  const token = fc.constantFrom(
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u',
    'd800',
    '0',
    '-',
    '.',
    'e',
    '+',
    '1',
    'true',
    'null',
    ' ',
    '\n',
    'a',
    '\u0000',
    '"a"',
  );
  fc.assert(
    fc.property(fc.array(token, { maxLength: 14 }), (tokens) => {
      const text = tokens.join('');
      const parsed = parseStrictJson(text);
      if (parsed.ok) assert.doesNotThrow(() => JSON.parse(text));
      else if (parsed.violation.rule === 'syntax' || parsed.violation.rule === 'trailing_data') assert.throws(() => JSON.parse(text));
    }),
    { numRuns: 5000 },
  );
});

test('strict json: random bytes are refused or mean what they say', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const parsed = parseStrictJson(bytes);
      if (parsed.ok) assert.deepEqual(JSON.parse(Buffer.from(bytes).toString('utf8')), JSON.parse(JSON.stringify(parsed.value)));
    }),
    { numRuns: 1000 },
  );
});

test('strict json: a wide object is read in linear time', () => {
  const count = 50_000;
  const text = `{${Array.from({ length: count }, (_, n) => `"k${n}":${n}`).join(',')}}`;
  const parsed = parseStrictJson(text);
  assert.ok(parsed.ok);
  assert.equal(Object.keys(parsed.value as Record<string, JsonValue>).length, count);
});

test('arguments: a violation becomes INVALID_ARGUMENT with rule and path', () => {
  assert.throws(
    () => parseArguments(Buffer.from('{"a":{"b":1,"b":2}}')),
    (thrown: unknown) => {
      assert.ok(thrown instanceof PosternError);
      assert.equal(thrown.reason, 'INVALID_ARGUMENT');
      assert.equal(thrown.fields[0]?.rule, 'duplicate_key');
      assert.equal(thrown.fields[0]?.path, '/a/b');
      return true;
    },
  );
});
