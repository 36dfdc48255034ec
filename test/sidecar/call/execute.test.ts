/** The order of an effect: what is read before it, what stops it, what its targets come to, who is told when. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';
import { ALWAYS_GOOD, type Standing } from '#sidecar/call/standing.ts';
import { type Answer, sendJson } from '#test/flow/stage.ts';
import { ASKED, answerNote, FREE, NOTE, READ_NOTE, startRig, writeContract } from './effect-rig.ts';

const NOW = new AbortController().signal;
const FREELY = '  approval: {mode: None, because: a test}';

/** Puts a text on each of several notes. */
const EACH = `
  summary: Put $(args.text) on $(args.ids)
  effect: Write
  arguments: {type: object, additionalProperties: false, required: [ids, text], properties: {ids: {type: array, maxItems: 10, minItems: 1, uniqueItems: true, items: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}}, text: {type: string, maxLength: 60, pattern: "^[a-z0-9 ]*$"}}}
  http: {credential: reader, method: PUT, url: "UPSTREAM/notes/$(each)", body: {json: {text: $(args.text)}}}
  result: {object: /, as: note, fields: [{name: id, presence: Optional}]}
  approval: {mode: None, because: a test}
  idempotency: {mode: Natural}`;
const onFailure = (word: string) => `${EACH}\n  forEach: {argument: /ids, order: Sequential, onFailure: ${word}}`;
const RECHECK = '  recheck: {contract: read-note, arguments: {id: $(args.id)}, expect: "result.note.state == \\"open\\""}';

const notes =
  (states: Record<string, string>, etag?: string): Answer =>
  ({ method, url }, response) => {
    const id = url.pathname.split('/')[2] ?? '';
    if (method === 'GET') sendJson(response, 200, { id, state: states[id] ?? 'open' }, etag === undefined ? {} : { etag });
    else if (states[id] === 'lost') response.destroy();
    else if (states[id] === 'locked') sendJson(response, 423, {});
    else sendJson(response, 200, { id });
  };

test('execute: a target that is no longer what the contract expects is not touched, and no intent is written', async () => {
  const contracts = { 'put-note': writeContract(`${FREELY}\n${RECHECK}`), 'read-note': READ_NOTE };
  await using rig = await startRig({ contracts, answer: notes({ one: 'closed' }) });
  const error = await rig.refused('put_note', NOTE);
  assert.equal(error.reason, 'EVIDENCE_INCOMPLETE');
  assert.equal(rig.effects(), 0);
  assert.deepEqual(rig.journal.get(error.operationId ?? '')?.steps, []);
  assert.deepEqual(rig.told, ['intent read_note', 'answered read_note', 'failed EVIDENCE_INCOMPLETE'], 'the recheck is a recorded read');
});

test('execute: the recheck comes right before the effect, and its strong tag goes with a request to the same resource', async () => {
  const contracts = { 'put-note': writeContract(`${FREELY}\n${RECHECK}`, { method: 'PUT' }), 'read-note': READ_NOTE };
  await using rig = await startRig({ contracts, answer: notes({}, '"v7"') });
  await rig.execute('put_note', NOTE);
  const [read, write] = rig.upstream.requests;
  assert.deepEqual([read?.method, write?.method], ['GET', 'PUT']);
  assert.equal(write?.headers['if-match'], '"v7"');
});

test('execute: a weak tag, or one of another resource, is not sent', async () => {
  const contracts = { 'put-note': writeContract(`${FREELY}\n${RECHECK}`, { method: 'PUT' }), 'read-note': READ_NOTE };
  await using weak = await startRig({ contracts, answer: notes({}, 'W/"v7"') });
  await weak.execute('put_note', NOTE);
  assert.equal(weak.upstream.requests[1]?.headers['if-match'], undefined);
  const elsewhere = { ...contracts, 'put-note': writeContract(`${FREELY}\n${RECHECK}`, { url: 'UPSTREAM/notes/$(args.id)/text' }) };
  await using other = await startRig({ contracts: elsewhere, answer: notes({}, '"v7"') });
  await other.execute('put_note', NOTE);
  assert.equal(other.upstream.requests[1]?.headers['if-match'], undefined);
});

test('forEach: one request an element, in order, and each has its step', async () => {
  await using rig = await startRig({ contracts: { 'put-notes': onFailure('Stop') }, answer: notes({}) });
  const result = await rig.execute('put_notes', { ids: ['a', 'b', 'c'], text: 'x' });
  assert.deepEqual(JSON.parse(Buffer.from(result.dataJson).toString()), { note: [{ id: 'a' }, { id: 'b' }, { id: 'c' }] });
  assert.deepEqual(
    result.steps?.map(({ elementJson, state }) => [elementJson, state]),
    [
      ['"a"', 'done'],
      ['"b"', 'done'],
      ['"c"', 'done'],
    ],
  );
  assert.deepEqual(
    rig.upstream.requests.map(({ url }) => url),
    ['/notes/a', '/notes/b', '/notes/c'],
  );
});

test('forEach: Stop leaves the rest untouched, Continue goes on; neither is called done', async () => {
  for (const [word, states] of [
    ['Stop', ['done', 'refused', 'untouched']],
    ['Continue', ['done', 'refused', 'done']],
  ] as const) {
    await using rig = await startRig({ contracts: { 'put-notes': onFailure(word) }, answer: notes({ b: 'locked' }) });
    const error = await rig.refused('put_notes', { ids: ['a', 'b', 'c'], text: 'x' });
    assert.equal(error.reason, 'REMOTE_REJECTED', word);
    const operation = await rig.calls.getOperation(error.operationId ?? '', 0, NOW);
    assert.deepEqual(
      operation.steps?.map(({ state }) => state),
      states,
      word,
    );
    assert.equal(operation.state, 'failed', word);
    assert.deepEqual(error.operation?.targets?.refused, 1);
  }
});

test('forEach: one element in doubt makes the operation unknown, and the answer says which', async () => {
  await using rig = await startRig({ contracts: { 'put-notes': onFailure('Continue') }, answer: notes({ b: 'lost' }) });
  const error = await rig.refused('put_notes', { ids: ['a', 'b', 'c'], text: 'x' });
  assert.equal(error.reason, 'OUTCOME_UNKNOWN');
  assert.deepEqual(error.operation?.targets, { done: 2, refused: 0, untouched: 0, unknown: 1 });
});

test('idempotency Natural: an unknown outcome is not held, and its operation_id sends what is in doubt again', async () => {
  const states: Record<string, string> = { b: 'lost' };
  await using rig = await startRig({ contracts: { 'put-notes': onFailure('Stop') }, answer: notes(states) });
  const call = { ids: ['a', 'b', 'c'], text: 'x' };
  const { operationId = '' } = await rig.refused('put_notes', call);
  delete states.b;
  const result = await rig.execute('put_notes', call, { operationId });
  assert.deepEqual(
    result.steps?.map(({ state }) => state),
    ['done', 'done', 'done'],
  );
  assert.deepEqual(
    rig.upstream.requests.map(({ url }) => url),
    ['/notes/a', '/notes/b', '/notes/b', '/notes/c'],
    'what is done is not sent again',
  );
});

test('idempotency Key: the retry carries the key of the first request', async () => {
  const keyed = writeContract(`${FREELY}\n  idempotency: {mode: Key, header: Idempotency-Key, ttl: 1h}`);
  let lose = true;
  const answer: Answer = (request, response) => (lose ? void response.destroy() : answerNote(request, response));
  await using rig = await startRig({ contracts: { 'put-note': keyed }, answer });
  const { operationId = '', reason } = await rig.refused('put_note', NOTE);
  assert.equal(reason, 'OUTCOME_UNKNOWN');
  lose = false;
  await rig.execute('put_note', NOTE, { operationId });
  const keys = rig.upstream.requests.map(({ headers }) => headers['idempotency-key']);
  assert.deepEqual(keys, [operationId, operationId]);
  await rig.execute('put_note', NOTE);
  assert.notEqual(rig.upstream.requests[2]?.headers['idempotency-key'], operationId, 'another operation has another key');
});

test('settle: a read tells that a lost call took effect, and whoever calls again is told so', async () => {
  const rules =
    '  idempotency: {mode: None, settle: {contract: read-note, arguments: {id: $(args.id)}, done: "result.note.state == \\"put\\"", notDone: "result.note.state == \\"open\\""}}';
  const states: Record<string, string> = { one: 'lost' };
  const contracts = { 'put-note': writeContract(`${FREELY}\n${rules}`), 'read-note': READ_NOTE };
  await using rig = await startRig({ contracts, answer: notes(states) });
  const { operationId = '' } = await rig.refused('put_note', NOTE);
  states.one = 'put';
  const told = await rig.execute('put_note', NOTE);
  assert.equal(told.operationId, operationId);
  assert.equal(told.envelope.status, 'partial', 'the answer itself was lost');
  assert.equal(rig.effects(), 1);
  assert.equal((await rig.calls.getOperation(operationId, 0, NOW)).resolution?.by, 'settle');
});

test('settle: notDone frees the call, and an answer that does not tell leaves it held', async () => {
  const rules =
    '  idempotency: {mode: None, settle: {contract: read-note, arguments: {id: $(args.id)}, done: "result.note.state == \\"put\\"", notDone: "result.note.state == \\"open\\""}}';
  const states: Record<string, string> = { one: 'lost' };
  const contracts = { 'put-note': writeContract(`${FREELY}\n${rules}`), 'read-note': READ_NOTE };
  await using rig = await startRig({ contracts, answer: notes(states) });
  await rig.refused('put_note', NOTE);
  assert.equal((await rig.refused('put_note', NOTE)).reason, 'OUTCOME_UNKNOWN', 'the state "lost" tells nothing');
  assert.equal(rig.effects(), 1);
  states.one = 'open';
  const { operationId } = await rig.execute('put_note', NOTE);
  assert.equal(rig.effects(), 2);
  assert.equal(rig.journal.get(operationId)?.phase, 'done');
});

test('approval: what prepare read is on the card, and a target that changed since is not touched', async () => {
  const shows = '  prepare: {contract: read-note, arguments: {id: $(args.id)}, fields: [{name: state, path: /note/state}]}';
  const states: Record<string, string> = {};
  const contracts = { 'put-note': writeContract(`  approval: {mode: EachCall}\n${shows}`), 'read-note': READ_NOTE };
  await using rig = await startRig({ contracts, answer: notes(states) });
  const asked = await rig.refused('put_note', NOTE);
  assert.match(asked.operation?.card ?? '', /state.*open/);
  await rig.approve(asked.operationId ?? '');
  states.one = 'archived';
  const error = await rig.refused('put_note', NOTE);
  assert.equal(error.details.because, 'changed');
  assert.equal(rig.effects(), 0);
});

test('approval Session: one yes covers so many calls, whatever may vary, and no more', async () => {
  const session = writeContract('  approval: {mode: Session, calls: 2, vary: [/text]}\n  idempotency: {mode: Natural}');
  await using rig = await startRig({ contracts: { 'put-note': session } });
  const { operationId = '' } = await rig.refused('put_note', NOTE);
  await rig.approve(operationId);
  await rig.execute('put_note', NOTE);
  await rig.execute('put_note', { ...NOTE, text: 'another' });
  assert.equal((await rig.refused('put_note', { ...NOTE, text: 'third' })).reason, 'APPROVAL_REQUIRED', 'used up');
  assert.equal((await rig.refused('put_note', { ...NOTE, id: 'two' })).reason, 'APPROVAL_REQUIRED', 'another target');
  assert.equal(rig.effects(), 2);
});

test('revocation: before the send nothing leaves, and between elements the operation stops (APR-12)', async () => {
  let revoked = false;
  const refusal = () => (revoked ? new PosternError('SESSION_REVOKED', 'The session of this pod was revoked.') : undefined);
  const standing: Standing = { refusal, of: (contract) => ({ ...ALWAYS_GOOD.of(contract), refusal }) };
  const answer: Answer = ({ url }, response) => {
    if (url.pathname === '/notes/b') revoked = true;
    sendJson(response, 200, { id: 'x' });
  };
  await using rig = await startRig({ contracts: { 'put-notes': onFailure('Continue') }, standing, answer });
  const error = await rig.refused('put_notes', { ids: ['a', 'b', 'c'], text: 'x' });
  assert.equal(error.reason, 'SESSION_REVOKED');
  assert.deepEqual(error.operation?.targets, { done: 2, refused: 0, untouched: 1, unknown: 0 });
  assert.equal(rig.effects(), 2);
  await using late = await startRig({
    standing: { refusal: () => undefined, of: () => ({ onLost: () => () => {}, refusal }) },
    contracts: { 'put-note': FREE },
  });
  assert.equal((await late.refused('put_note', NOTE)).reason, 'SESSION_REVOKED');
  assert.equal(late.effects(), 0);
});

test('leaving: before the send nothing is sent; after it the operation goes on, and its outcome is there (GRPC-07, GRPC-11)', async () => {
  const gone = new AbortController();
  gone.abort();
  await using rig = await startRig();
  assert.equal((await rig.refused('put_note', NOTE, { signal: gone.signal })).reason, 'DEADLINE_EXCEEDED');
  assert.equal(rig.effects(), 0);

  const leave = new AbortController();
  const release = Promise.withResolvers<void>();
  await using slow = await startRig({
    answer: (request, response) => {
      leave.abort();
      void release.promise.then(() => answerNote(request, response));
    },
  });
  const error = await slow.refused('put_note', NOTE, { signal: leave.signal });
  assert.equal(error.reason, 'OUTCOME_UNKNOWN');
  assert.equal(error.details.because, 'running');
  release.resolve();
  const operation = await slow.calls.getOperation(error.operationId ?? '', 5000, NOW);
  assert.equal(operation.state, 'done');
  assert.equal(slow.effects(), 1);
});

test('leaving while the target is read again: nothing is sent; with another caller still there it goes on (GRPC-07)', async () => {
  const contracts = { 'put-note': writeContract(`${FREELY}\n${RECHECK}`), 'read-note': READ_NOTE };
  for (const stays of [false, true]) {
    const leave = new AbortController();
    const release = Promise.withResolvers<void>();
    const reading = Promise.withResolvers<void>();
    await using rig = await startRig({
      contracts,
      answer: (request, response) => {
        if (request.method !== 'GET') return answerNote(request, response);
        reading.resolve();
        void release.promise.then(() => answerNote(request, response));
      },
    });
    const { planId } = await rig.prepare('put_note', NOTE);
    const first = rig.confirm(planId, { signal: leave.signal }).catch(PosternError.from);
    const second = stays ? rig.confirm(planId) : undefined;
    await reading.promise;
    leave.abort();
    await first;
    release.resolve();
    if (second !== undefined) assert.equal((await second).operationId, planId);
    const operation = await rig.calls.getOperation(planId, 5000, NOW);
    assert.equal(operation.state, stays ? 'done' : 'failed');
    assert.equal(rig.effects(), stays ? 1 : 0);
  }
});

test('approval: a wait with GetOperation ends when the person decides', async () => {
  await using rig = await startRig({ contracts: { 'put-note': ASKED } });
  const { operationId = '' } = await rig.refused('put_note', NOTE);
  const waiting = rig.calls.getOperation(operationId, 60_000, NOW);
  await rig.approve(operationId);
  assert.equal((await waiting).approval?.state, 'approved');
});
