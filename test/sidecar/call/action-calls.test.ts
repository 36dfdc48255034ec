/**
 * What becomes of a call around its read: who is told, in which order, and what an agent sees when one of them fails. The
 * contract is compiled as in production; the remote is an object that counts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import type { Exchange } from '#core/completeness/exchange.ts';
import { compileContract } from '#core/contract/compile.ts';
import { readYaml } from '#core/contract/read-yaml.ts';
import { createSealer } from '#core/encoding/seal.ts';
import { ActionCalls } from '#sidecar/call/action-calls.ts';
import { Bundle } from '#sidecar/call/bundle.ts';
import { DoubtfulReads } from '#sidecar/call/doubtful-reads.ts';
import { EvidenceSealer } from '#sidecar/call/evidence.ts';
import type { Recorder } from '#sidecar/call/recorder.ts';
import { ALWAYS_GOOD } from '#sidecar/call/standing.ts';
import { Cursors } from '#sidecar/cursor/cursor.ts';
import { ephemeralKeys } from '#sidecar/cursor/keys.ts';
import { Operations } from '#sidecar/journal/operations.ts';
import { contractFile } from '#test/flow/contract-file.ts';

const CONTRACTS = contractFile({
  'get-item': `
  summary: Read item $(args.id)
  arguments: {type: object, additionalProperties: false, required: [id], properties: {id: {type: string, enum: [one, two]}}}
  http: {credential: reader, method: GET, url: "UPSTREAM/items/$(args.id)"}
  result: {object: /, as: item, fields: [{name: id}]}
  completeness: {scope: {resource: one item, visibility: all, absence: Never}}`,
});

const OPERATION = `op_${'a'.repeat(26)}`;

/** `told`: what the recorder and the remote saw, in order. `ask` stands in for the remote. */
function build({
  intent = () => {},
  fault,
  ask = async () => item('one'),
}: {
  intent?: Recorder['intent'];
  fault?: string;
  ask?: () => Promise<Exchange>;
} = {}) {
  const told: string[] = [];
  const recorder: Recorder = {
    fault,
    intent: (passed) => {
      told.push('intent');
      return intent(passed);
    },
    cursorUsed: (_action, outcome) => told.push(`cursor ${outcome}`),
    outcome: (_plan, end) => {
      told.push(end.kind === 'answered' ? 'answered' : `failed ${end.error.reason}`);
    },
    replayed: ({ action }) => told.push(`replayed ${action}`),
    refused: ({ action }, { reason }) => told.push(`refused ${action} ${reason}`),
    found: () => {},
  };
  const { objects } = readYaml(CONTRACTS.replaceAll('UPSTREAM', 'http://127.0.0.1:9'), 'contracts.yaml');
  const ofKind = (kind: string) => objects.filter((object) => object.kind === kind);
  const contracts = ofKind('ActionContract');
  const served = contracts.map((contract) => {
    const compiled = compileContract({ contract, bindings: ofKind('CredentialBinding'), presets: [], contracts, nowMs: 0 });
    assert(compiled.contract !== undefined, JSON.stringify(compiled.problems));
    const remote = {
      ask: () => {
        told.push('asked');
        return ask();
      },
    };
    return { contract: compiled.contract, remote: () => remote };
  });
  const keys = ephemeralKeys();
  const operations = new Operations(systemClock, 10);
  const calls = new ActionCalls(() => new Bundle(served), {
    clock: systemClock,
    operations,
    recorder,
    cursors: new Cursors(createSealer('cursor', keys.ring), keys.session, systemClock),
    evidence: new EvidenceSealer(createSealer('evidence', keys.ring), keys.session),
    standing: ALWAYS_GOOD,
    doubtful: new DoubtfulReads(systemClock),
    effects: { none: 'Nothing is kept here.' },
  });
  const execute = (args: string, extra: { operationId?: string; cursor?: string } = {}) =>
    calls.execute(
      { action: 'get_item', argumentsJson: Buffer.from(args), onePage: false, ...extra },
      { requestId: 'req_1', signal: new AbortController().signal, onProgress: () => {} },
    );
  return { told, operations, calls, execute };
}

function item(id: string): Exchange {
  const sent = { method: 'GET', path: `/items/${id}`, query: {}, headers: {}, body: null };
  const reply = { status: 200, headers: {}, body: { id }, bytes: 10, normalized: [], reflected: false, receivedAtMs: 0 };
  return { sent, reply: { kind: 'reply', ...reply } };
}

test('calls: the intent is told before the remote is asked, the outcome once after', async () => {
  const { told, execute, calls } = build();
  const result = await execute('{"id":"one"}');
  assert.deepEqual(told, ['intent', 'asked', 'answered']);
  assert.equal((await calls.getOperation(result.operationId, 0, new AbortController().signal)).state, 'done');
  assert.equal(calls.running, 0);
});

test('calls: a read whose intent cannot be recorded gives nothing of its answer, and has failed', async () => {
  const { told, execute, operations } = build({ intent: () => Promise.reject(new Error('disk full')) });
  await assert.rejects(execute('{"id":"one"}', { operationId: OPERATION }), {
    reason: 'AUDIT_UNAVAILABLE',
    operationId: OPERATION,
    requestId: 'req_1',
  });
  assert.deepEqual(told, ['intent', 'asked', 'failed AUDIT_UNAVAILABLE']);
  assert.equal(operations.get(OPERATION).state, 'failed');
});

test('calls: while records are known not to be taken, a read whose intent is refused is not sent', async () => {
  const { told, execute } = build({ intent: () => Promise.reject(new Error('disk full')), fault: 'full' });
  await assert.rejects(execute('{"id":"one"}', { operationId: OPERATION }), { reason: 'AUDIT_UNAVAILABLE' });
  assert.deepEqual(told, ['intent', 'failed AUDIT_UNAVAILABLE']);
});

test('calls: a read waits for its intent after it was asked, and before it answers', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const ask = async () => {
    resolve();
    return item('one');
  };
  const { told, execute } = build({ intent: () => promise, ask });
  await execute('{"id":"one"}', { operationId: OPERATION });
  assert.deepEqual(told, ['intent', 'asked', 'answered']);
});

test('calls: what is refused before its intent is told as refused, with the reason', async () => {
  const { told, execute } = build();
  await assert.rejects(execute('{"id":"three"}'), { reason: 'INVALID_ARGUMENT', requestId: 'req_1' });
  await assert.rejects(execute('{"id":"one"}', { cursor: 'AAAA' }), { reason: 'CURSOR_INVALID' });
  assert.deepEqual(told, ['refused get_item INVALID_ARGUMENT', 'cursor invalid', 'refused get_item CURSOR_INVALID']);
});

test('calls: the id of a running operation is refused, told, and does not end the first', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const { told, execute } = build({ ask: () => held.then(() => item('one')) });
  const first = execute('{"id":"one"}', { operationId: OPERATION });
  await assert.rejects(execute('{"id":"one"}', { operationId: OPERATION }), { reason: 'IDEMPOTENCY_BUSY', operationId: OPERATION });
  release();
  assert.equal((await first).operationId, OPERATION);
  assert.deepEqual(
    told.filter((word) => word !== 'asked'),
    ['intent', 'refused get_item IDEMPOTENCY_BUSY', 'answered'],
  );
});

test('calls: an unexpected fault of ours is INTERNAL with the ids, and ends the operation', async () => {
  const { told, execute, operations } = build({ ask: () => Promise.reject(new TypeError('a bug')) });
  await assert.rejects(execute('{"id":"one"}', { operationId: OPERATION }), { reason: 'INTERNAL', requestId: 'req_1' });
  assert.deepEqual(told, ['intent', 'asked', 'failed INTERNAL']);
  assert.equal(operations.get(OPERATION).state, 'failed');
});
