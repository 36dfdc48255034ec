/**
 * Goal: what an agent gets over gRPC from a whole sidecar, walks and cursors above all. Method: a collection of known
 * rows behind a real HTTP server; the answer is compared with the collection, not with the sidecar's own counts.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Completeness } from '#core/completeness/envelope.ts';
import type { AnswerDocument } from '#core/wire/answer-document.ts';
import { contractFile, keysetList } from './contract-file.ts';
import { type Stage, sendJson, startStage, startUpstream, type Upstream } from './stage.ts';

const ROWS = 1000;
const CONTRACTS = contractFile({
  'list-rows': listSpec('/rows', 'limits: {pages: 100, items: 330, time: 20s, pageSize: 100}'),
  'list-wide-rows': listSpec('/wide', 'limits: {pages: 100, items: 5000, bytes: 64Mi, time: 20s, pageSize: 100}'),
  'list-few': listSpec('/rows', 'limits: {pages: 2, items: 5000, time: 20s, pageSize: 100}'),
  'short-lived': listSpec('/rows', 'limits: {pages: 1, items: 5000, time: 20s, pageSize: 100}\n    cursor: {ttl: 1s}'),
});

function listSpec(path: string, more: string): string {
  return `
  summary: List rows of $(args.group)
  arguments: {type: object, additionalProperties: false, required: [group], properties: {group: {type: string, enum: [a, b]}}}
  http:
    credential: reader
    method: GET
    url: UPSTREAM${path}
    query: {group: "$(args.group)", limit: "$(limits.pageSize)", after: "$(next.after)"}
${keysetList(more)}`;
}

let upstream: Upstream;
let stage: Stage;

before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    const start = Number(url.searchParams.get('after') ?? 0);
    const end = Math.min(ROWS, start + Number(url.searchParams.get('limit')));
    const items = [];
    for (let id = start + 1; id <= end; id += 1)
      items.push(url.pathname === '/wide' ? { id, text: 'w'.repeat(9000 + (id % 7) * 900) } : { id });
    sendJson(response, 200, { items, next: end < ROWS ? end : null });
  });
  stage = await startStage({
    contracts: CONTRACTS,
    upstreamPort: upstream.port,
    credentials: { 'postern-flow/token': 'flow-token-0123456789' },
  });
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});

function idsOf(answer: AnswerDocument): number[] {
  const rows = answer.data.rows;
  assert(Array.isArray(rows));
  return rows.map((row) => Number((row as { id: number }).id));
}

async function walkAll(action: string): Promise<{ ids: number[]; answers: AnswerDocument[] }> {
  const ids: number[] = [];
  const answers: AnswerDocument[] = [];
  let cursor: string | undefined;
  do {
    const answer = await stage.call(action, { group: 'a' }, cursor === undefined ? {} : { cursor });
    ids.push(...idsOf(answer));
    answers.push(answer);
    const way = answer.completeness.continuation;
    cursor = way.kind === 'next_cursor' ? way.cursor : undefined;
    assert(answers.length < 50);
  } while (cursor !== undefined);
  return { ids, answers };
}

const EVERY_ID = Array.from({ length: ROWS }, (_, index) => index + 1);

test('walk: an items limit that cuts a page in two loses and doubles no row', async () => {
  const { ids, answers } = await walkAll('list_rows');
  assert.deepEqual(ids, EVERY_ID);
  assert.deepEqual(
    answers.map((answer) => idsOf(answer).length),
    [330, 330, 330, 10],
  );
  assert.deepEqual(
    answers.map(({ completeness }) => completeness.complete),
    [false, false, false, true],
  );
  assert.deepEqual(
    answers[0]?.completeness.incomplete_reasons.map(({ code, limit }) => ({ code, limit: limit ?? {} })),
    [
      { code: 'RESULT_LIMIT_REACHED', limit: { items: 330 } },
      { code: 'MORE_PAGES_AVAILABLE', limit: {} },
    ],
  );
  assert.equal(answers.at(-1)?.completeness.page.walk.returned, ROWS);
  assert.equal(answers.at(-1)?.completeness.page.walk.calls, 4);
});

test('walk: a result larger than one gRPC message ends in a cursor, and the walk is whole', async () => {
  const { ids, answers } = await walkAll('list_wide_rows');
  assert.deepEqual(ids, EVERY_ID);
  assert(answers.length > 2);
  assert(answers[0]?.completeness.incomplete_reasons.some(({ limit }) => limit !== undefined && 'message_bytes' in limit));
  assert.equal(answers.at(-1)?.completeness.complete, true);
});

test('walk: complete speaks for the walk from its first page', async () => {
  const { answers } = await walkAll('list_few');
  assert.deepEqual(
    answers.map(({ completeness }) => completeness.complete),
    [false, false, false, false, true],
  );
  assert.notEqual(answers.at(-1)?.evidence, undefined);
  assert(answers.slice(0, -1).every(({ evidence }) => evidence === undefined));
});

test('walk: one page asked for gives only MORE_PAGES_AVAILABLE', async () => {
  const answer = await stage.call('list_few', { group: 'a' }, { onePage: true });
  assert.deepEqual(
    answer.completeness.incomplete_reasons.map(({ code }) => code),
    ['MORE_PAGES_AVAILABLE'],
  );
  assert.equal(idsOf(answer).length, 100);
});

test('cursor: other arguments, another action, a changed letter are refused (APR-17)', async () => {
  const way = (await stage.call('list_few', { group: 'a' })).completeness.continuation;
  assert(way.kind === 'next_cursor');
  const { cursor } = way;
  const flipped = `${cursor.slice(0, 40)}${cursor[40] === 'A' ? 'B' : 'A'}${cursor.slice(41)}`;
  const before = upstream.requests.length;
  assert.equal((await stage.refused('list_few', { group: 'b' }, { cursor })).reason, 'CURSOR_INVALID');
  assert.equal((await stage.refused('list_rows', { group: 'a' }, { cursor })).reason, 'CURSOR_INVALID');
  assert.equal((await stage.refused('list_few', { group: 'a' }, { cursor: flipped })).reason, 'CURSOR_INVALID');
  assert.equal(upstream.requests.length, before);
});

test('cursor: past its time it is expired, and nothing is asked', async () => {
  const way = (await stage.call('short_lived', { group: 'a' })).completeness.continuation;
  assert(way.kind === 'next_cursor');
  await new Promise((resolve) => setTimeout(resolve, 1100));
  const before = upstream.requests.length;
  const error = await stage.refused('short_lived', { group: 'a' }, { cursor: way.cursor });
  assert.equal(error.reason, 'CURSOR_EXPIRED');
  const { completeness } = error as { completeness?: Completeness };
  assert.equal(completeness?.continuation.kind, 'restart');
  assert.deepEqual(
    completeness?.incomplete_reasons.map(({ code }) => code),
    ['CURSOR_EXPIRED'],
  );
  assert.equal(upstream.requests.length, before);
});
