import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BodyTemplate, JsonValue, RequestTemplate, Slot, SlotFormat } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { meansText } from '#sidecar/contract-test/intended-text.ts';
import { judgeWire } from '#sidecar/contract-test/judge-wire.ts';

const slot = (path: string, format?: SlotFormat): Slot => {
  const [root = 'args', ...rest] = path.split('.');
  return { root: root as Slot['root'], path: rest, text: `$(${path})`, ...(format === undefined ? {} : { format }) };
};

const JSON_BODY: BodyTemplate = {
  kind: 'json',
  contentType: 'application/json',
  json: {
    kind: 'object',
    members: [
      ['fixed', { kind: 'literal', value: 1 }],
      ['count', { kind: 'slot', slot: slot('args.count') }],
      ['gone', { kind: 'slot', slot: slot('args.gone') }],
    ],
  },
};

const TEMPLATE: RequestTemplate = {
  method: 'POST',
  origin: 'https://api.example.test:8443',
  segments: [['v1'], [slot('args.id')]],
  query: [
    ['state', ['open']],
    ['label', [slot('args.labels')]],
    ['gone', [slot('args.gone')]],
  ],
  headers: [['x-topic', [slot('args.topic')]]],
  body: JSON_BODY,
};

function values(args: Readonly<Record<string, JsonValue>>): SlotValues {
  const resolve = { env: { a: { host: 'one' }, b: { host: 'two' } } };
  return { args, resolve, constants: {}, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: {} };
}

const SECRET = 'canary-canary-canary';
const GOOD = {
  start: 'POST /v1/a%20b?state=open&label=x&label=y%26z HTTP/1.1',
  headers: ['host: api.example.test:8443', 'x-topic: news', 'content-type: application/json', `authorization: Bearer ${SECRET}`],
  body: '{"fixed":1,"count":3}',
};

function judge(change: Partial<typeof GOOD> = {}, template = TEMPLATE): readonly string[] {
  const { start, headers, body } = { ...GOOD, ...change };
  const text = [start, ...headers, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n');
  return judgeBytes([Buffer.from(text, 'utf8')], template);
}

function judgeBytes(connections: readonly Uint8Array[], template = TEMPLATE): readonly string[] {
  const escapes = judgeWire(connections, {
    template,
    values: values({ id: 'a b', labels: ['x', 'y&z'], topic: 'news', count: 3 }),
    host: 'api.example.test:8443',
    addedHeaders: ['host', 'content-length', 'content-type', 'authorization'],
    credential: { secret: SECRET, headers: ['authorization'] },
  });
  return escapes.map(({ where }) => where);
}

test('judge: the request that was meant passes', () => {
  assert.deepEqual(judge(), []);
});

test('judge: every departure from the meant request is found in its place', () => {
  const start = (text: string) => judge({ start: text });
  const withHeaders = (...more: string[]) => judge({ headers: [...GOOD.headers, ...more] });
  assert.deepEqual(start(GOOD.start.replace('POST', 'PUT')), ['method']);
  assert.deepEqual(start(GOOD.start.replace('a%20b', 'a%20c')), ['path']);
  assert.deepEqual(start(GOOD.start.replace('/v1/', '/v2/')), ['path']);
  assert.deepEqual(start(GOOD.start.replace('a%20b', 'a%20b/admin')), ['path']);
  assert.deepEqual(start(GOOD.start.replace('state=open', 'state=open&admin=1')), ['query']);
  assert.deepEqual(start(GOOD.start.replace('state=open&', '')), ['query']);
  assert.deepEqual(start(GOOD.start.replace('state=', 'admin=')), ['query.state']);
  assert.deepEqual(start(GOOD.start.replace('state=open', 'state=all')), ['query.state']);
  assert.deepEqual(start(GOOD.start.replace('label=x&label=y%26z', 'label=y%26z&label=x')), ['query.label', 'query.label']);
  assert.deepEqual(withHeaders('x-injected: 1'), ['headers.x-injected']);
  assert.deepEqual(withHeaders('x-topic: news'), ['headers.x-topic']);
  assert.deepEqual(judge({ headers: GOOD.headers.with(1, 'x-topic: other') }), ['headers.x-topic']);
  assert.deepEqual(judge({ headers: GOOD.headers.toSpliced(1, 1) }), ['headers.x-topic']);
  assert.deepEqual(judge({ headers: GOOD.headers.with(0, 'host: other.example') }), ['host']);
  assert.deepEqual(judge({ headers: GOOD.headers.with(2, 'content-type: text/plain') }), ['headers.content-type']);
});

test('judge: a body has the template’s structure and every value its type', () => {
  const body = (text: string) => judge({ body: text });
  assert.deepEqual(body('{"fixed":1,"count":"3"}'), ['body/count']);
  assert.deepEqual(body('{"fixed":2,"count":3}'), ['body/fixed']);
  assert.deepEqual(body('{"fixed":1,"count":3,"admin":true}'), ['body']);
  assert.deepEqual(body('{"fixed":1,"count":3,"gone":null}'), ['body']);
  assert.deepEqual(body('[{"fixed":1,"count":3}]'), ['body']);
  assert.deepEqual(body('{"fixed":1,"count":3'), ['body']);
  const { body: _, ...bodiless } = TEMPLATE;
  assert.deepEqual(judge({}, bodiless), ['body']);
});

test('judge: the credential may stand in its own header and nowhere else', () => {
  assert.deepEqual(judge({ headers: [...GOOD.headers.slice(0, 3), 'authorization: none'] }), []);
  assert.ok(judge({ start: GOOD.start.replace('open', SECRET) }).includes('credential'));
  assert.ok(judge({ headers: GOOD.headers.with(1, `x-topic: ${SECRET}`) }).includes('credential'));
  assert.ok(judge({ body: `{"fixed":1,"count":"${SECRET}"}` }).includes('credential'));
});

test('judge: one call is one connection with one request', () => {
  const whole = Buffer.from(`${GOOD.start}\r\n${GOOD.headers.join('\r\n')}\r\ncontent-length: 21\r\n\r\n${GOOD.body}`);
  assert.deepEqual(judgeBytes([whole]), []);
  assert.deepEqual(judgeBytes([]), ['connection']);
  assert.deepEqual(judgeBytes([whole, whole]), ['connection']);
  assert.deepEqual(judgeBytes([Buffer.concat([whole, whole])]), ['connection']);
  assert.deepEqual(judgeBytes([whole.subarray(0, -1)]), ['connection']);
});

test('intended text: each format must read back as its value, with nothing left over', () => {
  const means = (format: SlotFormat | undefined, value: JsonValue, text: string) =>
    meansText(['q: ', slot('args.x', format), ' end'], `q: ${text} end`, values({ x: value })) === true;
  assert.ok(means('githubPhrase', 'a OR b', '"a OR b"'));
  assert.ok(!means('githubPhrase', 'a" OR b', '"a" OR b"'));
  assert.ok(!means('githubPhrase', 'a\\', '"a\\"'));
  assert.ok(means('jqlString', 'a" OR \\b', '"a\\" OR \\\\b"'));
  assert.ok(!means('jqlString', 'a" OR b', '"a" OR b"'));
  assert.ok(!means('jqlString', 'ab', '"a"'));
  assert.ok(!means('jqlString', 'a\nb', '"a\nb"'));
  assert.ok(means('csv', ['a', 'b'], 'a,b'));
  assert.ok(!means('csv', ['a,b'], 'a,b'));
  assert.ok(!means('csv', ['a', ''], 'a,'));
  assert.ok(means('base64', 'Ünïcode?', Buffer.from('Ünïcode?').toString('base64')));
  assert.ok(!means('base64', 'a', 'YQ'));
  assert.ok(means('date', '2026-01-31T23:59:59Z', '2026-01-31'));
  assert.ok(!means('date', '2026-01-31T23:59:59Z', '2026-02-01'));
  assert.ok(means('epochSeconds', '1970-01-01T00:01:00Z', '60'));
  assert.ok(!means('epochMillis', '1970-01-01T00:01:00Z', '60'));
  assert.ok(means(undefined, 3, '3'));
  assert.ok(!means(undefined, 3, '30'));
  assert.ok(!means(undefined, 'a', 'a x'));
  assert.notEqual(meansText([slot('args.x')], 'ab', values({ x: 'a' })), true);
});

test('intended text: a label stands for the value its table gives', () => {
  assert.equal(meansText(['h=', slot('resolve.env.host')], 'h=two', values({ env: 'b' })), true);
  assert.notEqual(meansText(['h=', slot('resolve.env.host')], 'h=b', values({ env: 'b' })), true);
});
