/**
 * Goal: whoever calls an effect from a terminal learns what waits for whom, what happened and what to do, from words and from the exit code.
 * Method: the program as a process, a real sidecar with a journal and a socket, an upstream that counts what reaches it.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { Verdict } from '#proto/postern/approval/v1/approval_pb.ts';
import { ApprovalsStage } from '#test/flow/approvals-stage.ts';
import { contractFile, keysetList } from '#test/flow/contract-file.ts';
import { sendJson, startUpstream, type Upstream } from '#test/flow/stage.ts';
import { expectHonest, HOSTILE_TEXTS } from '../core/encoding/hostile-text.ts';
import { type Ran, runPostern } from './run-postern.ts';

const TEXT = 'type: string, minLength: 1, maxLength: 8192, x-postern-text: {render: plain, lines: 40}';
const CONTRACTS = contractFile({
  'drop-item': `
  summary: Drop item $(args.id)
  effect: Destructive
  arguments: {type: object, additionalProperties: false, required: [id, reason], properties: {id: {type: string, pattern: "^[a-z0-9-]{1,20}$", maxLength: 20}, reason: {${TEXT}}}}
  http: {credential: reader, method: DELETE, url: "UPSTREAM/items/$(args.id)"}
  result: {object: /, as: item, fields: [{name: id}]}
  approval: {mode: EachCall, reason: /reason}`,
  'touch-item': `
  summary: Touch item $(args.id)
  effect: Write
  arguments: {type: object, additionalProperties: false, required: [id], properties: {id: {type: string, pattern: "^[a-z0-9-]{1,20}$", maxLength: 20}}}
  http: {credential: reader, method: POST, url: "UPSTREAM/items/$(args.id)/touch"}
  result: {object: /, as: item, fields: [{name: id}]}
  approval: {mode: None, because: touching does no harm}`,
  'list-items': `
  summary: List items
  arguments: {type: object, additionalProperties: false, properties: {}}
  http: {credential: reader, method: GET, url: "UPSTREAM/items", query: {after: "$(next.after)"}}
${keysetList('limits: {pages: 3, items: 500, time: 20s}')}`,
  'archive-items': `
  summary: Archive $(args.ids)
  effect: Write
  arguments: {type: object, additionalProperties: false, required: [ids], properties: {ids: {type: array, minItems: 1, maxItems: 20, uniqueItems: true, items: {type: integer, minimum: 1}}}}
  forEach: {argument: /ids, order: Sequential, onFailure: Stop}
  http: {credential: reader, method: POST, url: "UPSTREAM/items/$(each)/archive"}
  result: {object: /, as: item, fields: [{name: id}]}
  evidence: {from: list-items, ids: /ids, claim: Listed, maxAge: 30m, onIncomplete: Refuse, match: [], proof: Checked}
  idempotency: {mode: Natural}
  approval: {mode: None}`,
});

let upstream: Upstream;
let stage: ApprovalsStage;

before(async () => {
  upstream = await startUpstream(({ method, url }, response) => {
    const [, , id = '', verb = ''] = url.pathname.split('/');
    if (id === 'lost') response.destroy();
    else if (method === 'GET') sendJson(response, 200, { items: [{ id: 1 }, { id: 2 }, { id: 3 }], next: null });
    else if (verb === 'archive' && id === '2') sendJson(response, 409, {});
    else sendJson(response, 200, { id });
  });
  stage = await ApprovalsStage.start(CONTRACTS, upstream.port);
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
});
beforeEach(() => {
  upstream.requests.length = 0;
});

const postern = (...args: readonly string[]): Promise<Ran> => runPostern(args, { POSTERN_ADDRESS: stage.sidecar.address });
const writes = () => upstream.requests.filter(({ method }) => method !== 'GET').map(({ url }) => url);
const OPERATION = /op_[a-z0-9]{26}/;
const operationIn = (text: string) => OPERATION.exec(text)?.[0] ?? '';
const drop = (id: string, reason = 'it is broken') => JSON.stringify({ id, reason });

test('call: an effect that needs a person exits 4, shows the card and says who does what next', async () => {
  const { code, out, err } = await postern('call', 'drop_item', drop('a-1'));
  assert.equal(code, 4, err);
  assert.equal(out, '');
  assert.match(err, /^error: APPROVAL_REQUIRED: /);
  assert.match(err, /\nDrop item a-1\n/);
  assert.match(err, /\n {2}card {8}sha256:[0-9a-f]{64}\n/);
  assert.match(err, /tell your user: this waits for a person until .*postern approve op-/);
  assert.match(err, /then it runs with: postern call --confirm op_/);
  assert.deepEqual(writes(), []);
});

test('call: --wait runs what was agreed, once, and exits as a call does', async () => {
  const waiting = postern('call', 'drop_item', drop('a-2'), '--wait');
  await approveNext('a-2');
  const { code, out, err } = await waiting;
  assert.equal(code, 0, err);
  assert.match(err, /Drop item a-2[\s\S]*waits for a person/);
  assert.match(out, /^COMPLETE: 1 returned/);
  assert.deepEqual(writes(), ['/items/a-2']);
});

test('call: --wait with a time gives up without having done anything, and the question stays', async () => {
  const { code } = await postern('call', 'drop_item', drop('a-3'), '--wait', '200ms');
  assert.equal(code, 4);
  assert.deepEqual(writes(), []);
  assert.ok(await questionOf('a-3'));
});

test('call: --wait tells a no, and exits 1', async () => {
  const waiting = postern('call', 'drop_item', drop('a-4'), '--wait', '-o', 'json');
  const question = await questionOf('a-4');
  await stage.people.decide({ name: question.name, verdict: Verdict.DENIED, cardDigest: question.cardDigest, reason: 'not today' });
  const { code, out } = await waiting;
  assert.equal(code, 1);
  assert.equal(JSON.parse(out).error.code, 'APPROVAL_DENIED');
  assert.deepEqual(writes(), []);
});

test('call: --prepare sends nothing, and --confirm runs exactly that plan once', async () => {
  const prepared = await postern('call', 'touch_item', '{"id": "b-1"}', '--prepare');
  assert.equal(prepared.code, 0, prepared.err);
  assert.match(prepared.out, /^Touch item b-1\n/);
  assert.deepEqual(writes(), []);
  const command = /to run it: postern (call --confirm op_[a-z0-9]{26})/.exec(prepared.out)?.[1] ?? '';
  for (const attempt of [1, 2]) {
    const { code, err } = await postern(...command.split(' '));
    assert.equal(code, 0, `attempt ${attempt}: ${err}`);
  }
  assert.deepEqual(writes(), ['/items/b-1/touch']);
});

test('call: --operation means the same operation, and other arguments of it are refused', async () => {
  const first = JSON.parse((await postern('call', 'touch_item', '{"id": "b-2"}', '-o', 'json')).out);
  const again = await postern('call', 'touch_item', '{"id": "b-2"}', '--operation', first.operation_id, '-o', 'json');
  assert.equal(JSON.parse(again.out).operation_id, first.operation_id);
  assert.deepEqual(writes(), ['/items/b-2/touch']);
  const other = await postern('call', 'touch_item', '{"id": "b-3"}', '--operation', first.operation_id);
  assert.equal(other.code, 1);
  assert.match(other.err, /IDEMPOTENCY_CONFLICT.*\n[\s\S]*leave out --operation/);
  assert.deepEqual(writes(), ['/items/b-2/touch']);
});

test('call: a lost reply exits 5 and says not to call again; the operation tells it later', async () => {
  const { code, err } = await postern('call', 'touch_item', '{"id": "lost"}');
  assert.equal(code, 5, err);
  assert.match(err, /^error: OUTCOME_UNKNOWN: /);
  assert.match(err, /do not call it again as a new operation/);
  assert.match(err, /somebody else runs "postern resolve op_[a-z0-9]{26} --done"/);
  const operation = await postern('operation', operationIn(err));
  assert.equal(operation.code, 5);
  assert.match(operation.out, /touch_item {2}UNKNOWN: it was sent/);
  const list = await postern('operations');
  assert.match(list.out, /touch_item +write +UNKNOWN/);
  const held = await postern('call', 'touch_item', '{"id": "lost"}');
  assert.equal(held.code, 5);
  assert.deepEqual(writes(), ['/items/lost/touch']);
});

test('call: evidence comes from the file of an answer, and what became of each target is told', async () => {
  const without = await postern('call', 'archive_items', '{"ids": [1, 3]}');
  assert.equal(without.code, 1);
  assert.match(without.err, /EVIDENCE_REQUIRED[\s\S]*--evidence FILE/);
  const answer = await postern('call', 'list_items', '-o', 'json');
  const file = join(stage.directory, 'items.json');
  writeFileSync(file, answer.out);
  const { code, out, err } = await postern('call', 'archive_items', '{"ids": [1, 3]}', '--evidence', file);
  assert.equal(code, 0, err);
  assert.match(out, /targets: 2 done/);
  assert.deepEqual(writes(), ['/items/1/archive', '/items/3/archive']);
  const before: string = JSON.parse(answer.out).evidence;
  const acted = await postern('call', 'archive_items', '{"ids": [2, 1]}', '--evidence', before);
  assert.equal(acted.code, 1);
  assert.match(acted.err, /EVIDENCE_EXPIRED: This action acted on 1 after the evidence was read/);
  const token: string = JSON.parse((await postern('call', 'list_items', '-o', 'json')).out).evidence;
  const stopped = await postern('call', 'archive_items', '{"ids": [2, 1]}', '--evidence', token);
  assert.equal(stopped.code, 1);
  assert.match(stopped.err, /targets: 0 done, 1 refused, 1 untouched, 0 unknown/);
  const steps = await postern('operation', operationOf(await postern('operations'), 'archive_items'));
  assert.match(steps.out, /targets: 1 refused, 1 untouched\n {4}2: refused, REMOTE_[A-Z]+: .*\n {4}1: untouched/);
});

test('call: a file without evidence is said to be that before anything is asked', async () => {
  const file = join(stage.directory, 'partial.json');
  writeFileSync(file, '{"status": "partial"}');
  const { code, err } = await postern('call', 'archive_items', '{"ids": [1]}', '--evidence', file);
  assert.equal(code, 2);
  assert.match(err, /holds no evidence/);
});

test('call: wrong combinations exit 2 with the cure', async () => {
  for (const args of [
    ['call'],
    ['call', 'drop_item', '{}', '--confirm', 'op_x'],
    ['call', '--confirm', 'op_x', '--prepare'],
    ['call', '--confirm', 'op_x', '--operation', 'op_y'],
    ['call', 'drop_item', '{}', '--prepare', '--wait'],
    ['call', 'drop_item', '{}', '--wait', 'soon'],
  ]) {
    const { code, err } = await postern(...args);
    assert.equal(code, 2, `${args.join(' ')}: ${err}`);
  }
});

test('operation: an id nobody knows is an error with the cure', async () => {
  const { code, err } = await postern('operation', 'op_00000000000000000000000000');
  assert.equal(code, 1);
  assert.match(err, /INVALID_ARGUMENT: No such operation/);
});

test('call: no hostile text makes the terminal lie, neither as a card nor as an operation (APR-06 to APR-09)', async () => {
  const some = HOSTILE_TEXTS.filter(({ text }) => text.isWellFormed());
  let shown = 0;
  for (const hostile of some) {
    const prepared = await stage.agent
      .prepare({ action: 'drop_item', argumentsJson: new TextEncoder().encode(drop('c-1', hostile.text)) })
      .catch(() => undefined);
    // Refused by the schema: free text takes no controls. What passes is shown.
    if (prepared === undefined || shown >= TRIED_ON_THE_TERMINAL) continue;
    shown += 1;
    expectHonest((await postern('call', 'drop_item', drop('c-1', hostile.text), '--prepare')).out, hostile);
    expectHonest((await postern('operation', prepared.planId)).out, hostile);
  }
  assert.ok(shown > 5, `${shown} texts reach a card`);
});

/** Each costs two processes. */
const TRIED_ON_THE_TERMINAL = 12;

function operationOf({ out }: Ran, action: string): string {
  return operationIn(out.split('\n').find((line) => line.includes(action)) ?? '');
}

async function questionOf(id: string) {
  for (let tries = 0; tries < 600; tries += 1) {
    const { questions } = await stage.people.list({});
    const found = questions.find(({ card }) => card.startsWith(`Drop item ${id}\n`));
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nobody asked about ${id}`);
}

async function approveNext(id: string): Promise<void> {
  const { name, cardDigest } = await questionOf(id);
  await stage.people.decide({ name, verdict: Verdict.APPROVED, cardDigest });
}
