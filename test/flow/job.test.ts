/**
 * Goal: a job that is not finished when our time is over gives what it has found, and a cursor that does not start it
 * again. Method: a real HTTP server that starts a job, answers one poll with rows so far, and holds the next poll.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contractFile } from './contract-file.ts';
import { sendJson, startStage, startUpstream } from './stage.ts';

const CONTRACTS = contractFile({
  'run-query': `
  summary: Run the prepared query
  readOnlyBecause: starting the query changes no data
  arguments: {type: object, additionalProperties: false, properties: {}}
  http:
    credential: reader
    method: GET
    url: UPSTREAM/results
    query: {job: "$(open.job)"}
    open: {method: POST, url: "UPSTREAM/start", body: {json: {}}, values: {job: /job}}
    close: {method: DELETE, url: "UPSTREAM/stop", body: {json: {job: "$(open.job)"}}}
  result:
    items: [/rows]
    as: rows
    id: [/id]
    fields: [{name: id}]
    outcomes: [{name: running, when: "status == 200 && body.state == 'running'", is: Pending}]
  completeness:
    job: {interval: 100ms, rowsWhilePending: Return}
    paging: {mode: SingleResponse}
    cursor: {ttl: 10m}
    limits: {pages: 2, items: 100, time: 20s}
    scope: {resource: rows of the query, visibility: all, absence: Never}`,
});

test('job: unfinished at the deadline gives its rows so far and a cursor that holds the handle', async () => {
  let polls = 0;
  let hold = true;
  await using upstream = await startUpstream(({ url }, response) => {
    if (url.pathname === '/start') return sendJson(response, 200, { job: 'job-7' });
    if (url.pathname === '/stop') return sendJson(response, 200, {});
    polls += 1;
    if (polls === 1) return sendJson(response, 200, { state: 'running', rows: [{ id: 1 }] });
    // The second poll is never answered while `hold`: the deadline strikes inside it.
    if (!hold) sendJson(response, 200, { state: 'done', rows: [{ id: 1 }, { id: 2 }] });
  });
  await using stage = await startStage({
    contracts: CONTRACTS,
    upstreamPort: upstream.port,
    credentials: { 'postern-flow/token': 'flow-token-0123456789' },
  });
  const first = await stage.call('run_query', {}, { deadlineMs: 1500 });
  assert.deepEqual(first.data, { rows: [{ id: 1 }] });
  assert.equal(first.completeness.complete, false);
  assert(first.completeness.incomplete_reasons.some(({ code }) => code === 'TIME_BUDGET_EXCEEDED'));
  const way = first.completeness.continuation;
  assert(way.kind === 'next_cursor');
  hold = false;
  const rest = await stage.call('run_query', {}, { cursor: way.cursor });
  assert.equal(rest.completeness.complete, true);
  assert.deepEqual(rest.data, { rows: [{ id: 1 }, { id: 2 }] });
  const paths = upstream.requests.map(({ method, url }) => `${method} ${url}`);
  assert.deepEqual(
    paths.filter((path) => path.startsWith('POST')),
    ['POST /start'],
    'the job is paid for once',
  );
  assert.equal(paths.at(-1), 'DELETE /stop');
});
