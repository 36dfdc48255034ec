/**
 * From raw replies to what the rules may see: content types, byte order, depth, big numbers, XML and line formats, masking.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue, ResultRules } from '#core/contract/compiled.ts';
import { CredentialMask, MASKED } from '#sidecar/credential/mask.ts';
import { decodeReply } from '#sidecar/decode/decode-reply.ts';
import type { RawReply } from '#sidecar/decode/raw-reply.ts';

const CANARY = 'SYN/secret+value=42~';
const mask = new CredentialMask({ values: [CANARY], attached: [`Bearer ${CANARY}`] }).forAnyone();

function rules(some: Partial<ResultRules> = {}): ResultRules {
  return {
    decoder: 'JSON',
    contentTypes: ['application/json'],
    outcomes: [],
    shape: { kind: 'items', paths: [] },
    absentItems: 'Error',
    as: 'items',
    id: [],
    fields: 'All',
    ...some,
  };
}

function reply(body: string | Uint8Array, some: Partial<RawReply> & { type?: string | null; rules?: Partial<ResultRules> } = {}) {
  const { type = 'application/json', rules: own, ...raw } = some;
  const headers = type === null ? [] : [['content-type', type] as const];
  return decodeReply({ status: 200, headers, body: Buffer.from(body), ...raw }, rules(own), mask, 1000);
}

const same = (actual: JsonValue | undefined, expected: JsonValue) => assert.equal(JSON.stringify(actual), JSON.stringify(expected));

describe('content types', () => {
  const table: readonly [string | null, readonly string[], boolean][] = [
    ['application/json', ['application/json'], true],
    ['Application/JSON; charset=UTF-8', ['application/json'], true],
    ['application/problem+json', ['application/json'], true],
    ['application/vnd.api+json; charset="utf-8"', ['application/json'], true],
    ['application/json', ['application/vnd.api+json'], false],
    ['application/vnd.api+json', ['application/vnd.api+json'], true],
    ['application/json; charset=iso-8859-1', ['application/json'], false],
    ['text/html', ['application/json'], false],
    ['application/jsonp', ['application/json'], false],
    ['', ['application/json'], false],
    [null, ['application/json'], false],
    [null, ['application/json', 'none'], true],
    ['text/html', ['application/json', 'none'], false],
  ];
  for (const [type, contentTypes, accepted] of table) {
    test(`content type: ${type} is ${accepted ? 'taken' : 'refused'} by ${contentTypes.join(', ')}`, () => {
      const { fault, body } = reply('[]', { type, rules: { contentTypes } });
      assert.deepEqual([fault, body === undefined], accepted ? [undefined, false] : ['contentType', true]);
    });
  }

  test('HTTP-40: a login page is a fault, never an empty result', () =>
    assert.equal(reply('<h1>login</h1', { type: 'text/html' }).fault, 'contentType'));

  test('reply: a status that says everything needs neither body nor type', () => {
    for (const status of [204, 304, 401, 429, 500]) assert.equal(reply('', { status, type: null }).fault, undefined);
    assert.equal(reply('').fault, 'undecodable');
    assert.equal(reply('', { status: 500, fault: 'cut' }).fault, 'cut');
  });
});

describe('JSON', () => {
  test('json: a byte order mark is ignored, bytes that are not UTF-8 are undecodable', () => {
    same(reply('\ufeff{"a":1}').body, { a: 1 });
    for (const bytes of [
      [0x22, 0xff, 0x22],
      [0x22, 0xed, 0xa0, 0x80, 0x22],
      [0xff, 0xfe, 0x5b, 0],
    ])
      assert.equal(reply(Buffer.from(bytes)).fault, 'undecodable');
  });

  test('json: what is not JSON is undecodable and shows no text', () => {
    for (const text of ['{"a":', '[1] x', 'NaN', "{'a':1}", '<html>'])
      assert.deepEqual([reply(text).fault, reply(text).body], ['undecodable', undefined]);
  });

  test('json: integers beyond 2^53 and numbers beyond a double are strings, and where is reported', () => {
    const decoded = reply(
      '{"a":[{"id":9007199254740993},{"id":-9007199254740993}],"b~/c":12345678901234567890,"ok":9007199254740991,"f":1.00000000000000000001,"e":1e999,"z":1e300}',
    );
    same(decoded.body, {
      a: [{ id: '9007199254740993' }, { id: '-9007199254740993' }],
      'b~/c': '12345678901234567890',
      ok: 9007199254740991,
      f: 1,
      e: '1e999',
      z: 1e300,
    });
    assert.deepEqual(decoded.normalized, ['/a/*/id', '/b~0~1c', '/e']);
    assert.deepEqual(reply('9007199254740993').normalized, ['/']);
  });

  test('json: a member __proto__ is a member and pollutes nothing', () => {
    const { body } = reply('{"__proto__":{"x":1},"id":9007199254740993}');
    assert.equal(JSON.stringify(body), '{"__proto__":{"x":1},"id":"9007199254740993"}');
    assert.equal(({} as Record<string, unknown>).x, undefined);
    same(reply('{"__proto__":9007199254740993}').body, JSON.parse('{"__proto__":"9007199254740993"}'));
  });

  test('json: nesting beyond the limit is undecodable, brackets in strings do not count', () => {
    const nested = (depth: number) => `${'[1,'.repeat(depth)}1${']'.repeat(depth)}`;
    assert.equal(reply(nested(128)).fault, undefined);
    assert.equal(reply(nested(129)).fault, 'undecodable');
    assert.equal(reply('['.repeat(200_000)).fault, 'undecodable');
    assert.equal(reply(JSON.stringify(Array.from({ length: 1000 }, () => ['[[\\"[{', { a: '\\' }]))).fault, undefined);
    assert.equal(reply(`["]]]]\\\\",${nested(129)}]`).fault, 'undecodable');
  });

  test('json: any value reads back as JSON.parse reads it, as far as doubles go', () => {
    fc.assert(
      fc.property(fc.json(), (text) =>
        assert.deepEqual(reply(text, {}).body, /\d{16}|\de\+?\d{3}/i.test(text) ? reply(text).body : JSON.parse(text)),
      ),
    );
  });

  test('json: a body that was cut is not decoded, one without framing is', () => {
    assert.deepEqual([reply('[]', { fault: 'cut' }).fault, reply('[]', { fault: 'cut' }).body], ['cut', undefined]);
    const unframed = reply('[1]', { fault: 'unframed' });
    assert.equal(unframed.fault, 'unframed');
    same(unframed.body, [1]);
    assert.equal(reply('[1', { fault: 'unframed' }).fault, 'undecodable');
    assert.equal(reply('', { fault: 'tooLarge' }).fault, 'tooLarge');
  });
});

describe('NDJSON and lines', () => {
  const ndjson = { decoder: 'NDJSON', contentTypes: ['application/x-ndjson'] } as const;
  const type = 'application/x-ndjson';

  test('ndjson: one value a line, the last line end optional, empty lines skipped', () => {
    for (const text of ['{"a":1}\n{"a":2}', '{"a":1}\r\n\r\n{"a":2}\n'])
      same(reply(text, { type, rules: ndjson }).body, [{ a: 1 }, { a: 2 }]);
    assert.equal(reply('{"a":1}\n{"a":', { type, rules: ndjson }).fault, 'undecodable');
    assert.deepEqual(reply('1\n{"n":9007199254740993}', { type, rules: ndjson }).normalized, ['/*/n']);
  });

  test('ndjson: of a body that was cut only the whole lines count', () => {
    const cut = reply('{"a":1}\n{"a":2}', { type, rules: ndjson, fault: 'cut' });
    assert.equal(cut.fault, 'cut');
    same(cut.body, [{ a: 1 }]);
  });

  const lines = (match: string | undefined, unmatched: 'Keep' | 'Drop' | 'Error') =>
    ({ decoder: 'Lines', contentTypes: ['text/plain'], lines: { unmatched, ...(match && { match }) } }) as const;

  test('lines: named groups become members, other lines are kept, dropped or a fault', () => {
    const match = '^(?<time>[^ ]+) (?<level>[A-Z]+)(?: (?<message>.*))?$';
    const text = '10:00 INFO started ok\nstack trace\n10:01 WARN\n';
    const all = [{ time: '10:00', level: 'INFO', message: 'started ok' }, { line: 'stack trace' }, { time: '10:01', level: 'WARN' }];
    same(reply(text, { type: 'text/plain', rules: lines(match, 'Keep') }).body, all);
    same(reply(text, { type: 'text/plain', rules: lines(match, 'Drop') }).body, [all[0]!, all[2]!]);
    assert.equal(reply(text, { type: 'text/plain', rules: lines(match, 'Error') }).fault, 'undecodable');
    same(reply('a\n\nb', { type: 'text/plain', rules: lines(undefined, 'Keep') }).body, [{ line: 'a' }, { line: '' }, { line: 'b' }]);
  });
});

describe('XML', () => {
  const xml = (text: string, some: Partial<RawReply> = {}) =>
    reply(text, { type: 'application/xml', rules: { decoder: 'XML', contentTypes: ['application/xml'] }, ...some });

  test('xml: elements, attributes, repetition and text map as documented', () => {
    same(
      xml(
        '<?xml version="1.0"?>\n<List xmlns="urn:x">\n <Prefix/>\n <Truncated>false</Truncated>\n <C><Key>a &amp; b</Key></C><C><Key> <![CDATA[<c>]]></Key></C>\n <M a="1">x<B/>y</M>\n</List>',
      ).body,
      {
        List: {
          '@xmlns': 'urn:x',
          Prefix: '',
          Truncated: 'false',
          C: [{ Key: 'a & b' }, { Key: ' <c>' }],
          M: { '@a': '1', B: '', '#text': 'xy' },
        },
      },
    );
  });

  for (const [what, text] of [
    ['a DOCTYPE', '<!DOCTYPE a><a/>'],
    ['an entity', '<!DOCTYPE a [<!ENTITY e "x">]><a>&e;</a>'],
    ['an external entity', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'],
    ['an undeclared entity', '<a>&nbsp;</a>'],
    ['an element that is not closed', '<a><b></a>'],
    ['two roots', '<a/><b/>'],
    ['nesting beyond the limit', `${'<a>'.repeat(129)}${'</a>'.repeat(129)}`],
    ['nothing', ' '],
  ] as const) {
    test(`xml: ${what} is undecodable`, () => assert.equal(xml(text).fault, 'undecodable'));
  }

  test('xml: elements named __proto__ and constructor are members', () => {
    assert.equal(
      JSON.stringify(xml('<a><__proto__>1</__proto__><constructor>2</constructor><__proto__>3</__proto__></a>').body),
      '{"a":{"__proto__":["1","3"],"constructor":"2"}}',
    );
  });

  test('LEAK-05: a credential that only the parser puts together is masked', () => {
    const split = `<a><b>SYN/sec<![CDATA[ret+value]]>=42~</b><c d="${CANARY.replaceAll('/', '&#x2f;')}"/></a>`;
    const decoded = xml(split);
    assert.equal(JSON.stringify(decoded.body), `{"a":{"b":"${MASKED}","c":{"@d":"${MASKED}"}}}`);
    assert.equal(decoded.reflected, true);
  });
});

describe('masking', () => {
  test('LEAK-04: a credential echoed in headers and body is masked in both, and said', () => {
    const decoded = reply(`{"headers":{"Authorization":"Bearer ${CANARY}"},"${CANARY}":1}`, {
      headers: [
        ['content-type', 'application/json'],
        ['x-debug', `authorization=${CANARY}`],
      ],
    });
    same(decoded.body, { headers: { Authorization: MASKED }, [MASKED]: 1 });
    assert.deepEqual([decoded.headers['x-debug'], decoded.reflected], [`authorization=${MASKED}`, true]);
  });

  test('LEAK-05: escapes inside escapes are masked before any rule sees them', () => {
    const inner = JSON.stringify(JSON.stringify(CANARY.replaceAll('/', '%2F')));
    const decoded = reply(`{"a":${inner}}`);
    assert(decoded.reflected && !JSON.stringify(decoded.body).includes('secret'));
  });

  test('reply: an answer without a credential is not marked, repeated headers are joined', () => {
    const decoded = reply('{"a":"\\u0041"}', {
      headers: [
        ['content-type', 'application/json'],
        ['via', 'a'],
        ['via', 'b'],
      ],
    });
    assert.deepEqual([decoded.reflected, decoded.headers.via, decoded.bytes], [false, 'a, b', 14]);
  });
});
