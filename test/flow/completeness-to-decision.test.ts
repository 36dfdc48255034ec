/**
 * Goal: the rule the product stands for, through a whole sidecar: what an agent may do follows from what the answer says about
 * itself. Method: real answers over gRPC, then the one pure function that clients and the gate share.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { decide } from '#core/completeness/decide.ts';
import type { AnswerDocument } from '#core/wire/answer-document.ts';
import { contractFile, keysetList } from './contract-file.ts';
import { type Stage, sendJson, startStage, startUpstream, type Upstream } from './stage.ts';

const LIMITS = 'limits: {pages: 1, items: 100, time: 10s}';
const query = 'query: {after: "$(next.after)"}';
const READ = `  summary: List rows
  arguments: {type: object, additionalProperties: false, properties: {}}`;
const CONTRACTS = contractFile({
  'empty-then-more': `${READ}
  http: {credential: reader, method: GET, url: "UPSTREAM/empty-then-more", ${query}}
${keysetList(LIMITS)}`,
  empty: `${READ}
  http: {credential: reader, method: GET, url: "UPSTREAM/empty", ${query}}
${keysetList(LIMITS)}`,
  forbidden: `${READ}
  http: {credential: reader, method: GET, url: "UPSTREAM/forbidden", ${query}}
${keysetList(LIMITS.replace('pages: 1', 'pages: 5'))}`,
});

let upstream: Upstream;
let stage: Stage;

before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    const later = url.searchParams.has('after');
    if (url.pathname === '/empty') sendJson(response, 200, { items: [], next: null });
    else if (url.pathname === '/forbidden' && later) sendJson(response, 403, {});
    else if (later) sendJson(response, 200, { items: [{ id: 7 }], next: null });
    else sendJson(response, 200, { items: [], next: 'more' });
  });
  stage = await startStage({
    contracts: CONTRACTS,
    upstreamPort: upstream.port,
    credentials: { 'postern-flow/token': 'flow-token-0123456789' },
  });
});
after(async () => {
  await stage?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
});

function decisions(answer: AnswerDocument): Readonly<Record<'report' | 'mutate' | 'absence', string>> {
  const of = (kind: 'report' | 'mutate' | 'act_on_absence') => decide(answer, { kind }, Date.now());
  return { report: of('report'), mutate: of('mutate'), absence: of('act_on_absence') };
}

test('decision: an empty first page with more pages is continue_search, and a cleanup fed by it is refuse_or_request_review', async () => {
  const answer = await stage.call('empty_then_more');
  assert.deepEqual(answer.data, { rows: [] });
  assert.equal(answer.completeness.complete, false);
  assert.equal(answer.completeness.continuation.kind, 'next_cursor');
  assert.equal(answer.evidence, undefined);
  assert.deepEqual(decisions(answer), {
    report: 'continue_search',
    mutate: 'refuse_or_request_review',
    absence: 'refuse_or_request_review',
  });
});

test('decision: the search that goes on finds the row, and only its end may be acted on', async () => {
  const first = await stage.call('empty_then_more');
  const way = first.completeness.continuation;
  assert(way.kind === 'next_cursor');
  const last = await stage.call('empty_then_more', {}, { cursor: way.cursor });
  assert.deepEqual(last.data, { rows: [{ id: 7 }] });
  assert.notEqual(last.evidence, undefined);
  assert.deepEqual(decisions(last), { report: 'proceed', mutate: 'proceed', absence: 'proceed' });
});

test('decision: one page asked for is never the ground of a cleanup', async () => {
  const answer = await stage.call('empty_then_more', {}, { onePage: true });
  assert.equal(decisions(answer).absence, 'refuse_or_request_review');
});

test('decision: nothing at all, complete and provable, may be acted on', async () => {
  const answer = await stage.call('empty');
  assert.deepEqual(answer.data, { rows: [] });
  assert.notEqual(answer.evidence, undefined);
  assert.equal(decisions(answer).absence, 'proceed');
});

test('decision: an empty page before a refused one is refuse_or_request_review for everything', async () => {
  const answer = await stage.call('forbidden');
  assert.deepEqual(answer.data, { rows: [] });
  assert.deepEqual(decisions(answer), {
    report: 'refuse_or_request_review',
    mutate: 'refuse_or_request_review',
    absence: 'refuse_or_request_review',
  });
});
