import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { canonicalJson, digestOf, digestOfBytes } from '#core/encoding/canonical.ts';
import { parseStrictJson } from '#core/encoding/strict-json.ts';

test('canonical: follows the example of RFC 8785 section 3.2.2', () => {
  const parsed = parseStrictJson(
    '{"numbers":[333333333.33333329,1e16,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
  );
  // 1e16 stands for the RFC's 1E30: integers beyond 2^53 never get this far.
  assert.equal(parsed.ok, false);
  const value = { numbers: [333333333.3333333, 4.5, 2e-3, 1e-27], string: '\u20ac$\u000f\nA\'B"\\\\"/', literals: [null, true, false] };
  assert.equal(
    canonicalJson(value),
    '{"literals":[null,true,false],"numbers":[333333333.3333333,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
  );
});

test('canonical: sorts keys by UTF-16 units, as RFC 8785 section 3.2.3 does', () => {
  const keys = ['\u20ac', '\r', '\ufb33', '1', '\ud83d\ude00', '\u0080', '\u00f6'];
  const value = Object.fromEntries(keys.map((key) => [key, 0]));
  assert.deepEqual(
    Object.keys(JSON.parse(canonicalJson(value))).filter((key) => key !== '1'),
    ['\r', '\u0080', '\u00f6', '\u20ac', '\ud83d\ude00', '\ufb33'],
  );
});

test('canonical: one value has one form, however it was written', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const parsed = parseStrictJson(text);
      if (!parsed.ok) return;
      const form = canonicalJson(parsed.value);
      const again = parseStrictJson(form);
      assert.ok(again.ok);
      assert.equal(canonicalJson(again.value), form);
    }),
    { numRuns: 1000 },
  );
});

test('canonical: 1.0, 1e0 and 1 give one digest (JSON-06)', () => {
  const digests = ['[1.0,0]', '[1e0,-0]', '[1,0.0]'].map((text) => {
    const parsed = parseStrictJson(text);
    assert.ok(parsed.ok);
    return digestOf('arguments', parsed.value);
  });
  assert.equal(new Set(digests).size, 1);
});

test('digest: the purpose is part of it', () => {
  assert.notEqual(digestOf('plan', { a: 1 }), digestOf('card', { a: 1 }));
  assert.match(digestOf('plan', { a: 1 }), /^sha256:[0-9a-f]{64}$/);
});

test('digest: is the digest of the canonical bytes, and stays what it is', () => {
  assert.equal(digestOf('arguments', { b: 2, a: 'x' }), digestOfBytes('arguments', '{"a":"x","b":2}'));
  assert.equal(digestOf('arguments', {}), 'sha256:4a51b0d34cce86c12f0f6be5a1595f86ab5c2b9d3136f3b31b948eb1901a39e6');
});
