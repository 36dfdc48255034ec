/**
 * Goal: the edges of one call - refused, cancelled, late, locked, suspended. Method: a whole sidecar and an upstream that
 * counts what reaches it; "nothing was sent" is read off the upstream.
 */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Completeness } from '#core/completeness/envelope.ts';
import { contractFile, keysetList } from './contract-file.ts';
import { type Stage, sendJson, startStage, startUpstream, type Upstream } from './stage.ts';

const TOKEN = 'first-token-0123456789';
const CONTRACTS = contractFile({
  'get-item': `
  summary: Read item $(args.id)
  arguments: {type: object, additionalProperties: false, required: [id], properties: {id: {type: string, pattern: "^[a-z0-9-]{1,20}$", maxLength: 20}}}
  http: {credential: reader, method: GET, url: "UPSTREAM/items/$(args.id)"}
  result: {object: /, as: item, fields: [{name: id}, {name: secret_price, presence: Restricted}]}
  completeness: {scope: {resource: one item, visibility: all, absence: Never}, limits: {time: 5s}}`,
  'slow-list': `
  summary: List slowly
  arguments: {type: object, additionalProperties: false, properties: {}}
  http: {credential: reader, method: GET, url: "UPSTREAM/slow", query: {after: "$(next.after)"}}
${keysetList('limits: {pages: 10, items: 100, time: 20s}')}`,
  paused: `
  summary: Read what is paused
  suspended: {because: the owner is investigating}
  arguments: {type: object, additionalProperties: false, properties: {}}
  http: {credential: reader, method: GET, url: "UPSTREAM/items/x"}
  result: {object: /, as: item, fields: [{name: id}]}
  completeness: {scope: {resource: one item, visibility: all, absence: Never}}`,
  'drop-item': `
  summary: Drop item $(args.id)
  effect: Destructive
  arguments: {type: object, additionalProperties: false, required: [id, reason], properties: {id: {type: string, pattern: "^[a-z0-9-]{1,20}$", maxLength: 20}, reason: {type: string, maxLength: 100}}}
  http: {credential: reader, method: DELETE, url: "UPSTREAM/items/$(args.id)"}
  result: {object: /, as: item, fields: [{name: id}]}
  approval: {mode: EachCall, reason: /reason}`,
});

let upstream: Upstream;
let stage: Stage;
const held: ServerResponse[] = [];

before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    if (url.pathname === '/slow' && url.searchParams.has('after')) held.push(response);
    else if (url.pathname === '/slow') sendJson(response, 200, { items: [{ id: 1 }, { id: 2 }], next: 2 });
    else if (url.pathname === '/items/held') held.push(response);
    else sendJson(response, 200, { id: url.pathname.slice(7) });
  });
  stage = await startStage({ contracts: CONTRACTS, upstreamPort: upstream.port, credentials: { 'postern-flow/token': TOKEN } });
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});
beforeEach(() => {
  upstream.requests.length = 0;
  for (const response of held.splice(0)) response.destroy();
});

test('call: a restricted field that is missing is named with its cause', async () => {
  const answer = await stage.call('get_item', { id: 'bolt-8' });
  assert.deepEqual(answer.data, { item: { id: 'bolt-8' } });
  assert.equal(answer.completeness.complete, true);
  assert.deepEqual(answer.omitted_fields, [{ path: '/secret_price', cause: 'NOT_PERMITTED' }]);
});

test('call: an unknown action names the nearest one and sends nothing', async () => {
  const error = await stage.refused('get_items', { id: 'x' });
  assert.equal(error.reason, 'ACTION_UNKNOWN');
  assert.match(error.message, /get_item/);
  assert.notEqual(error.requestId, undefined);
  assert.equal(upstream.requests.length, 0);
});

test('call: a destructive contract is listed and answers CONTRACT_NOT_READY', async () => {
  const { actions } = await stage.client.listActions({});
  const listed = actions.find(({ action }) => action === 'drop_item');
  assert.equal(listed?.ready, false);
  const error = await stage.refused('drop_item', { id: 'x', reason: 'because of a test' });
  assert.equal(error.reason, 'CONTRACT_NOT_READY');
  assert.equal(upstream.requests.length, 0);
});

test('call: a suspended contract answers SESSION_SUSPENDED and sends nothing', async () => {
  assert.equal((await stage.refused('paused')).reason, 'SESSION_SUSPENDED');
  assert.equal(upstream.requests.length, 0);
});

test('call: arguments are refused with path and rule before anything is sent', async () => {
  const raw = new TextEncoder().encode('{"id":"a","id":"b"}');
  const twice = await stage.refused('get_item', {}, { raw });
  assert.equal(twice.reason, 'INVALID_ARGUMENT');
  assert.deepEqual(
    twice.fields.map(({ rule }) => rule),
    ['duplicate_key'],
  );
  const foreign = await stage.refused('get_item', { id: 'a', url: 'https://evil.example' });
  assert.deepEqual(
    foreign.fields.map(({ path }) => path),
    ['/url'],
  );
  assert.equal(upstream.requests.length, 0);
});

test('call: cancelled before dispatch it sends nothing upstream (GRPC-07)', async () => {
  const attempts = Array.from({ length: 50 }, () => {
    const abort = new AbortController();
    const call = stage.call('get_item', { id: 'cancelled' }, { signal: abort.signal }).catch(() => {});
    abort.abort();
    return call;
  });
  await Promise.all(attempts);
  await stage.call('get_item', { id: 'after' });
  assert.deepEqual(
    upstream.requests.filter(({ url }) => url.includes('cancelled')),
    [],
  );
});

test('call: cancelled in flight its request is given up and the operation is recorded', async () => {
  const abort = new AbortController();
  const call = stage.call('get_item', { id: 'held' }, { signal: abort.signal }).catch(() => 'cancelled');
  while (held.length === 0) await wait(5);
  const closed = new Promise((resolve) => held[0]?.once('close', resolve));
  abort.abort();
  assert.equal(await call, 'cancelled');
  await closed;
  const { operations } = await stage.client.listOperations({});
  assert.equal(operations[0]?.error?.code, 'DEADLINE_EXCEEDED');
});

test('call: its own deadline ends a walk with what was collected, and says so', async () => {
  const answer = await stage.call('slow_list', {}, { deadlineMs: 1500 });
  assert.equal(answer.status, 'partial');
  assert.deepEqual(answer.data, { rows: [{ id: 1 }, { id: 2 }] });
  assert.deepEqual(answer.completeness.incomplete_reasons.map(({ code }) => code).sort(), ['MORE_PAGES_AVAILABLE', 'TIME_BUDGET_EXCEEDED']);
  assert.equal(answer.completeness.budget.deadline_ms, 1500);
  assert.equal(answer.completeness.continuation.kind, 'next_cursor');
});

test('call: a deadline before the first page is DEADLINE_EXCEEDED with a way on', async () => {
  const error = await stage.refused('get_item', { id: 'held' }, { deadlineMs: 300 });
  assert.equal(error.reason, 'DEADLINE_EXCEEDED');
  assert.equal(error.retryable, true);
  assert.notEqual(error.completeness, undefined);
});

test('call: an operation is found again by its id, and an unknown one is refused', async () => {
  const answer = await stage.call('get_item', { id: 'bolt-8' });
  const { operation } = await stage.client.getOperation({ operationId: answer.operation_id });
  assert.equal(operation?.requestId, answer.request_id);
  assert.equal(operation?.complete, true);
  await assert.rejects(stage.client.getOperation({ operationId: 'op_aaaaaaaaaaaaaaaaaaaaaaaaaa' }), { reason: 'INVALID_ARGUMENT' });
});

test('credential: a rotated file is used by the next call, a missing one locks the vault and comes back', async () => {
  await stage.call('get_item', { id: 'one' });
  stage.writeCredential('postern-flow', 'token', 'second-token-0123456789');
  await wait(1200);
  await stage.call('get_item', { id: 'two' });
  assert.deepEqual(
    upstream.requests.map(({ headers }) => headers.authorization),
    [`Bearer ${TOKEN}`, 'Bearer second-token-0123456789'],
  );
  rmSync(join(stage.directory, 'credentials', 'postern-flow', 'token'));
  await wait(1200);
  assert.equal((await stage.refused('get_item', { id: 'three' })).reason, 'VAULT_LOCKED');
  stage.writeCredential('postern-flow', 'token', 'third-token-0123456789');
  await wait(1200);
  assert.equal((await stage.call('get_item', { id: 'four' })).status, 'ok');
});

test('metrics: count calls by action and code, and nothing of their content', async () => {
  await stage.call('get_item', { id: 'very-special-item' });
  const text = await stage.metrics();
  assert.match(text, /postern_calls_total\{action="get_item",code="OK"\} [1-9]/);
  assert.match(text, /postern_calls_total\{action="unknown",code="ACTION_UNKNOWN"\} [1-9]/);
  assert.doesNotMatch(text, /very-special-item|token-0123456789/);
});

test('metrics: show requests to the remote, connections and the state of credentials', async () => {
  await stage.call('get_item', { id: 'counted' });
  const text = await stage.metrics();
  assert.match(text, /postern_remote_requests_total\{action="get_item",outcome="2xx"\} [1-9]/);
  assert.match(text, /postern_pool_connections\{state="free"\} [1-9]/);
  assert.match(text, /postern_credential_locked_state\{secret="postern-flow"\} 0/);
  assert.match(text, /postern_kept_operations [1-9]/);
  assert.match(text, /postern_build_info\{version="0\.1\.0"/);
});

test('credential: away in mid-walk it costs neither the rows nor the way on', async () => {
  const first = await stage.call('slow_list', {}, { onePage: true });
  const way = first.completeness.continuation;
  assert(way.kind === 'next_cursor');
  rmSync(join(stage.directory, 'credentials', 'postern-flow', 'token'));
  await wait(1200);
  const error = await stage.refused('slow_list', {}, { cursor: way.cursor });
  stage.writeCredential('postern-flow', 'token', TOKEN);
  assert.equal(error.reason, 'VAULT_LOCKED');
  assert.equal(error.retryable, true);
  const { completeness } = error as { completeness?: Completeness };
  assert(completeness !== undefined && 'cursor' in completeness.continuation, 'the cursor of the walk stays usable');
});
