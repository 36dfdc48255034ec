import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { RecordedExchange, RequestPattern } from '#sidecar/contract-test/contract-test.ts';
import { compareRequest } from '#sidecar/contract-test/match-request.ts';
import { ReplayClock } from '#sidecar/contract-test/replay-clock.ts';
import { ReplayTransport } from '#sidecar/contract-test/replay-transport.ts';
import { type OutboundRequest, TransportFailure } from '#sidecar/execute/http/transport.ts';

const OPTIONS = { signal: new AbortController().signal, wireBytesMax: 1000, bodyBytesMax: 1000 };

function pattern(more: Partial<RequestPattern> = {}): RequestPattern {
  return { method: 'GET', path: '/issues', query: {}, headers: {}, ...more };
}

function recorded(request: RequestPattern, body = '', afterMs = 0): RecordedExchange {
  return { request, answer: { kind: 'response', status: 200, headers: [], body: new TextEncoder().encode(body) }, afterMs };
}

function request(target: string, more: Partial<OutboundRequest> = {}): OutboundRequest {
  return { method: 'GET', origin: 'https://api.example.test', target, headers: [], ...more };
}

function differences(expected: Partial<RequestPattern>, sent: OutboundRequest): readonly string[] {
  return compareRequest(pattern(expected), sent).map(({ at }) => at);
}

test('match: query members named must be equal, others are not looked at', () => {
  assert.deepEqual(differences({ query: { state: ['open'] } }, request('/issues?state=open&page=2')), []);
  assert.deepEqual(differences({ query: { state: ['open'] } }, request('/issues?state=closed')), ['query.state']);
  assert.deepEqual(differences({ query: { state: ['open'] } }, request('/issues?state=open&state=open')), ['query.state']);
  assert.deepEqual(differences({ query: { label: ['a', 'b c'] } }, request('/issues?label=a&label=b%20c')), []);
});

test('match: null means absent, in query, headers and body', () => {
  assert.deepEqual(differences({ query: { page: null } }, request('/issues')), []);
  assert.deepEqual(differences({ query: { page: null } }, request('/issues?page=')), ['query.page']);
  assert.deepEqual(differences({ headers: { accept: null } }, request('/issues', { headers: [['accept', '*/*']] })), ['headers.accept']);
  const body = new TextEncoder().encode('{"after":"x"}');
  assert.deepEqual(differences({ body: { after: null, before: null } }, request('/issues', { body })), ['body./after']);
});

test('match: a JSON body is a subset in depth, its lists are whole', () => {
  const body = new TextEncoder().encode('{"variables":{"after":"c1","first":100},"ids":[1,2]}');
  assert.deepEqual(differences({ body: { variables: { after: 'c1' } } }, request('/issues', { body })), []);
  assert.deepEqual(differences({ body: { variables: { after: 'c2' }, ids: [1] } }, request('/issues', { body })), [
    'body./variables/after',
    'body./ids',
  ]);
});

test('match: a form body is compared by field', () => {
  const form = { body: new TextEncoder().encode('q=a%26b&n=1'), headers: [['content-type', 'application/x-www-form-urlencoded']] as const };
  assert.deepEqual(differences({ body: { q: 'a&b' } }, request('/issues', form)), []);
  assert.deepEqual(differences({ body: { q: 'a' } }, request('/issues', form)), ['body./q']);
});

test('match: any request fits its own recording, and no longer once one value differs', () => {
  const texts = fc.dictionary(fc.string({ minLength: 1 }), fc.string(), { minKeys: 1, maxKeys: 4, noNullPrototype: true });
  fc.assert(
    fc.property(texts, fc.jsonValue({ maxDepth: 3 }), (query, json) => {
      const target = `/issues?${new URLSearchParams(query).toString()}`;
      const body = new TextEncoder().encode(JSON.stringify({ json }));
      const exact = {
        query: Object.fromEntries(Object.entries(query).map(([name, value]) => [name, [value]])),
        body: { json: json as JsonValue },
      };
      assert.deepEqual(differences(exact, request(target, { body })), []);
      const [name = '', value = ''] = Object.entries(query)[0] ?? [];
      assert.notEqual(differences({ ...exact, query: { ...exact.query, [name]: [`${value}x`] } }, request(target, { body })).length, 0);
      assert.notEqual(differences({ ...exact, body: { json: { other: [json as JsonValue] } } }, request(target, { body })).length, 0);
    }),
  );
});

test('replay: equal requests take equal exchanges in order, each once', async () => {
  const transport = new ReplayTransport(new ReplayClock(0));
  transport.load([recorded(pattern(), 'first'), recorded(pattern(), 'second')]);
  const bodies = [await transport.send(request('/issues'), OPTIONS), await transport.send(request('/issues'), OPTIONS)];
  assert.deepEqual(
    bodies.map(({ body }) => new TextDecoder().decode(body)),
    ['first', 'second'],
  );
  await assert.rejects(transport.send(request('/issues'), OPTIONS), TransportFailure);
  assert.equal(transport.unmatched[0]?.nearest?.taken, true);
});

test('replay: a request nothing fits is told with the exchange that differs least', async () => {
  const transport = new ReplayTransport(new ReplayClock(0));
  transport.load([recorded(pattern({ path: '/pulls', query: { page: ['2'] } })), recorded(pattern({ query: { page: ['3'] } }))]);
  await assert.rejects(transport.send(request('/issues?page=2'), OPTIONS), TransportFailure);
  assert.deepEqual(transport.unmatched[0]?.nearest, {
    exchange: 1,
    taken: false,
    differences: [{ at: 'query.page', expected: '3', got: '2' }],
  });
  assert.deepEqual(transport.leftOver, [0, 1]);
});

test('replay: a body above the cap is cut and said to be', async () => {
  const transport = new ReplayTransport(new ReplayClock(0));
  transport.load([recorded(pattern(), 'x'.repeat(1001))]);
  const reply = await transport.send(request('/issues'), OPTIONS);
  assert.equal(reply.fault, 'tooLarge');
  assert.equal(reply.body.byteLength, 1000);
});

test('replay: a recorded failure is thrown, and says whether anything was sent', async () => {
  const transport = new ReplayTransport(new ReplayClock(0));
  transport.load(
    ['unreachable', 'timedOut'].map((failure) => ({
      request: pattern(),
      answer: { kind: 'failure', failure } as RecordedExchange['answer'],
      afterMs: 0,
    })),
  );
  await assert.rejects(transport.send(request('/issues'), OPTIONS), { kind: 'unreachable', sent: false });
  await assert.rejects(transport.send(request('/issues'), OPTIONS), { kind: 'timedOut', sent: true });
});

test('replay clock: an answer that takes longer than the deadline is cut by it', async () => {
  const clock = new ReplayClock(1000);
  const deadline = new AbortController();
  void clock.sleep(5000).then(() => deadline.abort());
  const transport = new ReplayTransport(clock);
  transport.load([recorded(pattern(), '', 4000), recorded(pattern(), '', 4000)]);
  await transport.send(request('/issues'), { ...OPTIONS, signal: deadline.signal });
  assert.equal(clock.wallMs(), 5000);
  await assert.rejects(transport.send(request('/issues'), { ...OPTIONS, signal: deadline.signal }), { kind: 'timedOut' });
});

test('replay clock: when all wait, time jumps to the first timer, and an aborted sleep rejects', async () => {
  const clock = new ReplayClock(0);
  const fired: string[] = [];
  const abort = new AbortController();
  const late = assert.rejects(clock.sleep(3_600_000, abort.signal));
  await Promise.all([clock.sleep(20).then(() => fired.push('20')), clock.sleep(10).then(() => fired.push('10'))]);
  assert.deepEqual(fired, ['10', '20']);
  assert.equal(clock.monotonicMs(), 20);
  abort.abort();
  await late;
  await assert.rejects(clock.sleep(1, abort.signal));
});
