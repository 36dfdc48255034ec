import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { argumentLeaves, nastyValue, sampleValue } from '#sidecar/contract-test/argument-inputs.ts';
import { parseForm, parseWire } from '#sidecar/contract-test/parse-wire.ts';
import { randomSource } from '#sidecar/contract-test/random-source.ts';
import { samplePattern } from '#sidecar/contract-test/sample-pattern.ts';

function read(text: string) {
  return parseWire(Buffer.from(text, 'latin1'));
}

function faultOf(text: string): string {
  const reading = read(text);
  return reading.kind === 'fault' ? reading.fault : reading.kind;
}

const get = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nhost: a.test\r\n${more}\r\n`;

test('wire: a whole request is read, its parts decoded once', () => {
  const reading = read(`POST /v1/a%20b/x?q=a%26b&q=%C3%A9 HTTP/1.1\r\nHost: a.test\r\nContent-Length: 2\r\n\r\n{}`);
  assert.equal(reading.kind, 'request');
  const { request } = reading as Extract<typeof reading, { kind: 'request' }>;
  assert.deepEqual(request.segments, ['v1', 'a b', 'x']);
  assert.deepEqual(request.query, [
    ['q', 'a&b'],
    ['q', 'é'],
  ]);
  assert.deepEqual(request.headers, [
    ['host', 'a.test'],
    ['content-length', '2'],
  ]);
  assert.equal(Buffer.from(request.body).toString(), '{}');
});

test('wire: a request that is not whole needs more bytes', () => {
  assert.equal(faultOf('GET / HTTP/1.1\r\nhost: a.test\r\n'), 'short');
  assert.equal(faultOf('GET / HTTP/1.1\r\ncontent-length: 3\r\n\r\n{}'), 'short');
});

test('wire: what two servers could read differently is a fault', () => {
  assert.match(faultOf(`${get('/')}GET /admin HTTP/1.1\r\n\r\n`), /bytes follow/);
  assert.match(faultOf(get('/a/../b')), /dot segment/);
  assert.match(faultOf(get('/a/%2e%2E/b')), /dot segment/);
  assert.match(faultOf(get('/a%2Fb')), /separator/);
  assert.match(faultOf(get('/a%5Cb')), /separator/);
  assert.match(faultOf(get('/a;b')), /semicolon/);
  assert.match(faultOf(get('/%252e%252e')), /escape after decoding/);
  assert.match(faultOf(get('//other.test/x')), /not a path/);
  assert.match(faultOf(get('http://other.test/x')), /not a path/);
  assert.match(faultOf(get('/a b')), /three parts/);
  assert.match(faultOf(get('/caf\u00e9')), /visible ASCII/);
  assert.match(faultOf(get('/x?q=a+b')), /plus/);
  assert.match(faultOf(get('/x?q=a;b=c')), /semicolon/);
  assert.match(faultOf(get('/x?admin')), /no value/);
  assert.match(faultOf(get('/x?q=%zz')), /two digits/);
  assert.match(faultOf(get('/x?q=%C0%AF')), /not UTF-8/);
  assert.match(faultOf(get('/x?q=a#b')), /percent-encoded/);
  assert.match(faultOf(get('/', 'content-length: 0\r\ncontent-length: 0\r\n')), /two lengths/);
  assert.match(faultOf(get('/', 'transfer-encoding: chunked\r\n')), /chunked/);
  assert.match(faultOf(get('/', 'x-a: b\u0085\r\n')), /visible ASCII/);
  assert.match(faultOf(get('/', 'x a: b\r\n')), /no name/);
});

test('wire: a form is split before it is decoded', () => {
  assert.deepEqual(parseForm(Buffer.from('a=1%262&b=x+y')), [
    ['a', '1&2'],
    ['b', 'x y'],
  ]);
  assert.match(String(parseForm(Buffer.from('a=caf\u00e9'))), /visible ASCII/);
});

test('wire: every text a correct encoder writes is read back', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const encoded = encodeURIComponent(text.toWellFormed());
      const reading = read(get(`/x?q=${encoded}`));
      assert.equal(reading.kind, 'request');
      assert.deepEqual((reading as Extract<typeof reading, { kind: 'request' }>).request.query, [['q', text.toWellFormed()]]);
    }),
  );
});

const PATTERNS = [
  '^[0-9]{1,4}\\.[0-9]{1,4}$',
  '^op_[a-z0-9]{26}$',
  '^(a|bc)+-[^/?#]{2,5}$',
  '^pi_[A-Za-z0-9]{16,40}$',
  '^[\\w.-]+@[a-z]+\\.com$',
  '^(?:x|y)?z*$',
];

test('sample: texts made from a pattern are accepted by it', () => {
  for (const pattern of PATTERNS) {
    const random = randomSource(1);
    for (let run = 0; run < 50; run += 1) {
      const text = samplePattern(pattern, random);
      assert.match(text ?? '\u0000', new RegExp(pattern, 'u'));
    }
  }
});

test('sample: a pattern beyond the dialect gives nothing instead of a wrong text', () => {
  assert.equal(samplePattern('^\\p{L}+$', randomSource(1)), null);
  assert.equal(samplePattern('^(?i)a$', randomSource(1)), null);
  assert.equal(samplePattern('^(a$', randomSource(1)), null);
});

test('inputs: nasty values keep the length the schema states', () => {
  const schema = { type: 'string', minLength: 3, maxLength: 8 };
  const random = randomSource(3);
  for (let run = 0; run < 200; run += 1) {
    const value = nastyValue(schema, random);
    assert.ok(typeof value === 'string' && [...value].length >= 3 && [...value].length <= 8);
  }
});

test('inputs: a sample has every property, and every scalar is a leaf', () => {
  const schema = {
    type: 'object',
    required: ['a'],
    properties: {
      a: { type: 'string', enum: ['x', 'y'] },
      b: { type: 'array', minItems: 2, items: { type: 'integer', minimum: 4 } },
      c: { type: 'string', format: 'date' },
    },
  };
  assert.deepEqual({ ...(sampleValue(schema, randomSource(1)) as object) }, { a: 'x', b: [4, 4], c: '2026-01-02' });
  assert.deepEqual(
    argumentLeaves(schema).map(({ path }) => path.join('.')),
    ['a', 'b.0', 'c'],
  );
});
