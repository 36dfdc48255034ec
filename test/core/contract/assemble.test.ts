/**
 * Requests assembled from hostile values: whatever the value, the request is the template's or there is none.
 * The oracle is WHATWG URL and URLSearchParams, not our own encoders.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { assemble, assembleFollow } from '#core/contract/assemble.ts';
import type { JsonValue, RequestTemplate, Slot, Template } from '#core/contract/compiled.ts';
import { strictEncoders } from '#core/contract/encode.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { PosternError } from '#core/error/postern-error.ts';

function slot(text: string): Slot {
  const [, root, path, spread, format] = /^\$\(([a-z]+)\.?([^|)]*?)(\.\.\.)?(?:\|(\w+))?\)$/i.exec(text) ?? assert.fail(text);
  return { root, path: path === '' ? [] : path!.split('.'), text, ...(format && { format }), ...(spread && { spread: true }) } as Slot;
}

function values(some: Partial<SlotValues>): SlotValues {
  return { args: {}, resolve: {}, constants: {}, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: {}, ...some };
}

function template(some: Partial<RequestTemplate>): RequestTemplate {
  return {
    method: 'GET',
    origin: 'https://api.test',
    segments: [['v1'], ['boxes'], [slot('$(args.item)')], ['keys']],
    query: [],
    headers: [],
    ...some,
  };
}

const item = (value: JsonValue) => assemble(template({}), values({ args: { item: value } })).outbound.target;
const find = (q: JsonValue) =>
  assemble(template({ segments: [['find']], query: [['q', [slot('$(args.q)')]]] }), values({ args: { q } })).outbound.target;

function refusal(run: () => unknown): { reason: string; rule?: string; path?: string } {
  try {
    run();
  } catch (error) {
    assert(error instanceof PosternError, String(error));
    return { reason: error.reason, ...error.fields[0] };
  }
  return assert.fail('was accepted');
}

describe('assemble: path values of cases/hostile.json', () => {
  const refused: [string, string, string][] = [
    ['HTTP-27.00', '..', 'dot_segment'],
    ['HTTP-27.01', '.', 'dot_segment'],
    ['HTTP-28.02', '%2e%2e', 'percent'],
    ['HTTP-28.04', '..%2f..%2fadmin', 'percent'],
    ['HTTP-28.05', 'a/../b', 'separator'],
    ['HTTP-28.06', 'a\\..\\b', 'separator'],
    ['HTTP-28.07', '..;', 'dot_segment'],
    ['HTTP-28.11', 'x\r\nX-A: b', 'control'],
    ['HTTP-28.12', 'x\u0000y', 'control'],
    ['HTTP-28.15', '//other.example/x', 'separator'],
    ['HTTP-28.16', 'http://other.example/x', 'separator'],
    ['HTTP-29', 'x\ny', 'control'],
    ['HTTP-04 U+0085', 'x\u0085y', 'control'],
    ['HTTP-04 U+2028', 'x\u2028y', 'control'],
    ['empty', '', 'empty'],
    ['path parameter', 'a;b', 'reserved'],
    ['lone surrogate', 'a\ud800', 'lone_surrogate'],
  ];
  for (const [id, value, rule] of refused) {
    test(`assemble: ${id} is refused as ${rule} at /item`, () => {
      const { reason, rule: found, path } = refusal(() => item(value));
      assert.deepEqual([reason, found, path], ['INVALID_ARGUMENT', rule, '/item']);
    });
  }
  for (const [id, value, encoded] of [
    ['HTTP-28.08', 'x?admin=1', 'x%3Fadmin%3D1'],
    ['HTTP-28.09', 'x#y', 'x%23y'],
    ['HTTP-04 U+010A', 'x\u010ay', 'x%C4%8Ay'],
    ['three dots', '...', '...'],
    ['quotes and brackets', "a'(b)!*", 'a%27%28b%29%21%2A'],
  ] as const) {
    test(`assemble: ${id} stays one encoded segment`, () => assert.equal(item(value), `/v1/boxes/${encoded}/keys`));
  }
});

describe('assemble: query values of cases/hostile.json', () => {
  for (const [id, value] of [
    ['HTTP-30.00', 'a&admin=true'],
    ['HTTP-30.01', 'a=b;c'],
    ['HTTP-30.02', 'a+b'],
    ['HTTP-30.03', 'a%26b'],
    ['HTTP-30.06', '\u202egpj.exe'],
  ] as const) {
    test(`assemble: ${id} arrives as exactly one parameter`, () => {
      const read = [...new URL(`https://api.test${find(value)}`).searchParams];
      assert.deepEqual(read, [['q', value]]);
    });
  }
  for (const [id, value] of [
    ['HTTP-30.04', 'a\u0000b'],
    ['HTTP-30.05', 'a\r\nHost: other.example'],
  ] as const) {
    test(`assemble: ${id} is refused as control`, () => assert.equal(refusal(() => find(value)).rule, 'control'));
  }
});

describe('assemble: slots', () => {
  test('assemble: an absent optional argument removes its parameter, header and JSON member', () => {
    const { outbound, sent } = assemble(
      template({
        segments: [['x']],
        query: [
          ['a', [slot('$(args.a)')]],
          ['b', ['1']],
        ],
        headers: [['x-a', [slot('$(args.a)')]]],
        body: {
          kind: 'json',
          contentType: 'application/json',
          json: {
            kind: 'object',
            members: [
              ['a', { kind: 'slot', slot: slot('$(args.a)') }],
              ['b', { kind: 'literal', value: null }],
            ],
          },
        },
      }),
      values({}),
    );
    assert.equal(outbound.target, '/x?b=1');
    assert.deepEqual(outbound.headers, [['content-type', 'application/json']]);
    assert.equal(Buffer.from(outbound.body!).toString(), '{"b":null}');
    assert.equal(JSON.stringify(sent.body), '{"b":null}');
  });

  test('assemble: an array repeats a query parameter and joins in sent', () => {
    const { outbound, sent } = assemble(
      template({ segments: [['x']], query: [['id', [slot('$(args.ids)')]]] }),
      values({ args: { ids: [1, 'b&c'] } }),
    );
    assert.equal(outbound.target, '/x?id=1&id=b%26c');
    assert.deepEqual({ ...sent.query }, { id: '1,b&c' });
  });

  test('assemble: an element that does not fit is named by its index', () => {
    const refusedAt = refusal(() =>
      assemble(template({ segments: [['x']], query: [['id', [slot('$(args.ids)')]]] }), values({ args: { ids: ['a', 'b\n'] } })),
    );
    assert.equal(refusedAt.path, '/ids/1');
  });

  test('assemble: a JSON slot keeps the type of its value', () => {
    const json = {
      kind: 'object',
      members: [
        ['n', { kind: 'slot', slot: slot('$(args.n)') }],
        ['t', { kind: 'slot', slot: slot('$(args.t|epochSeconds)') }],
      ],
    } as const;
    const { outbound } = assemble(
      template({ segments: [['x']], body: { kind: 'json', contentType: 'application/json', json } }),
      values({ args: { n: [1, true], t: '2026-01-01T00:00:00Z' } }),
    );
    assert.equal(Buffer.from(outbound.body!).toString(), '{"n":[1,true],"t":1767225600}');
  });

  test('assemble: a resolve slot gives what the label stands for, and nothing for another label', () => {
    const t = template({ segments: [['x']], query: [['r', [slot('$(resolve.repository.repo)')]]] });
    const resolve = { repository: { billing: { repo: 'billing-svc' } } };
    assert.equal(assemble(t, values({ args: { repository: 'billing' }, resolve })).outbound.target, '/x?r=billing-svc');
    assert.equal(assemble(t, values({ args: { repository: 'constructor' }, resolve })).outbound.target, '/x');
  });

  test('assemble: a spread slot becomes several segments, each checked alone', () => {
    const t = template({ segments: [['contents'], [slot('$(args.path...)')]] });
    assert.equal(assemble(t, values({ args: { path: 'docs/read me.md' } })).outbound.target, '/contents/docs/read%20me.md');
    assert.equal(assemble(t, values({ args: { path: ['a', 'b'] } })).outbound.target, '/contents/a/b');
    for (const path of ['a/../b', 'a//b', '/a', '', [], ['a', '..'], 'a/%2e%2e']) refusal(() => assemble(t, values({ args: { path } })));
  });

  test('assemble: a cursor part of the remote that does not fit its path is REMOTE_PROTOCOL', () => {
    const t = template({ segments: [['page'], [slot('$(next.page)')]] });
    assert.equal(refusal(() => assemble(t, values({ next: { page: '../admin' } }))).reason, 'REMOTE_PROTOCOL');
  });

  test('HTTP-04: a header value is one line of ASCII or refused', () => {
    const t = template({ segments: [['x']], headers: [['x-note', [slot('$(args.note)')]]] });
    for (const [value, rule] of [
      ['a\r\nb', 'control'],
      ['a\nb', 'control'],
      ['a\u0000b', 'control'],
      ['a\u0085b', 'control'],
      ['a\u010ab', 'not_ascii'],
      ['a\u2028b', 'control'],
      [' a', 'edge_space'],
    ] as const) {
      assert.equal(refusal(() => assemble(t, values({ args: { note: value } }))).rule, rule, JSON.stringify(value));
    }
    assert.deepEqual(assemble(t, values({ args: { note: 'a: b' } })).outbound.headers, [['x-note', 'a: b']]);
  });
});

describe('assemble: comparison with the template', () => {
  const planted = [
    ['segment', { segment: (text: string) => text }, 'a/b'],
    ['query', { query: (text: string) => text }, 'a&b=c'],
    ['query plus', { query: (text: string) => text }, 'a+b'],
    ['header', { header: (text: string) => text }, 'a\r\nx-b: c'],
    ['form', { form: (text: string) => text }, 'a&b=c'],
  ] as const;
  const t: RequestTemplate = template({
    segments: [['x'], [slot('$(args.segment)')]],
    query: [['q', [slot('$(args.query)')]]],
    headers: [['x-h', [slot('$(args.header)')]]],
    body: { kind: 'form', contentType: 'application/x-www-form-urlencoded', fields: [['f', [slot('$(args.form)')]]] },
  });
  for (const [name, worse, value] of planted) {
    test(`assemble: a bad ${name} encoder is caught and nothing is sent`, () => {
      const position = name.split(' ')[0]!;
      const args = { segment: 's', query: 'q', header: 'h', form: 'f', [position]: value };
      assert.equal(refusal(() => assemble(t, values({ args }), { encoders: { ...strictEncoders, ...worse } })).reason, 'INTERNAL');
    });
  }

  test('assemble: followed link keeps origin, method and headers and is taken byte for byte', () => {
    const headers: [string, Template][] = [['accept', ['application/json']]];
    const { outbound, sent } = assembleFollow(template({ headers }), values({}), '/v1/boxes?after=a%2Fb');
    assert.deepEqual(
      [outbound.origin, outbound.target, outbound.headers],
      ['https://api.test', '/v1/boxes?after=a%2Fb', [['accept', 'application/json']]],
    );
    assert.deepEqual({ ...sent.query }, { after: 'a/b' });
  });
  for (const target of [
    '//other.test/x',
    'https://other.test/x',
    '/a/../b',
    '/a\n',
    '/a#f',
    '@other.test/',
    '.other.test/',
    ':444/x',
    '/a\\b',
    '',
  ]) {
    test(`assemble: followed link ${JSON.stringify(target)} is refused`, () => {
      assert.equal(refusal(() => assembleFollow(template({}), values({}), target)).reason, 'REMOTE_PROTOCOL');
    });
  }
});
