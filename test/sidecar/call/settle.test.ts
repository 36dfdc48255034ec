/** Reads that find out what became of operations in doubt: after a restart, and of many targets at once. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#core/bounds/clock.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import { type Answer, sendJson, startUpstream } from '#test/flow/stage.ts';
import { NOTE, READ_NOTE, startRig, writeContract } from './effect-rig.ts';

const NOW = new AbortController().signal;
const FREELY = '  approval: {mode: None, because: a test}';
const settleOf = (slot: string, more = '') =>
  `  idempotency: {mode: None, settle: {contract: read-note, arguments: {id: ${slot}}, done: "result.note.state == \\"put\\"", notDone: "result.note.state == \\"open\\""${more}}}`;
const ONE = { 'put-note': writeContract(`${FREELY}\n${settleOf('$(args.id)')}`), 'read-note': READ_NOTE };
const MANY = {
  'put-notes': `
  summary: Put $(args.text) on $(args.ids)
  effect: Write
  arguments: {type: object, additionalProperties: false, required: [ids, text], properties: {ids: {type: array, maxItems: 10, minItems: 1, uniqueItems: true, items: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}}, text: {type: string, maxLength: 60, pattern: "^[a-z0-9 ]*$"}}}
  http: {credential: reader, method: PUT, url: "UPSTREAM/notes/$(each)", body: {json: {text: $(args.text)}}}
  result: {object: /, as: note, fields: [{name: id, presence: Optional}]}
${FREELY}
${settleOf('$(each)')}
  forEach: {argument: /ids, order: Sequential, onFailure: Continue}`,
  'read-note': READ_NOTE,
};
const ASKED_FOR = { ids: ['a', 'b'], text: 'x' };

/** `lost`: whose replies never come. `states`: what the reads say afterwards. */
function remote({ lost, states }: { lost: ReadonlySet<string>; states: Readonly<Record<string, string>> }): Answer {
  return ({ method, url }, response) => {
    const id = url.pathname.split('/')[2] ?? '';
    if (method === 'GET') sendJson(response, 200, { id, state: states[id] ?? 'unclear' });
    else if (lost.has(id)) response.destroy();
    else sendJson(response, 200, { id });
  };
}

/** A journal whose process dies before it can write what came of a request. */
function dying(journal: DurableJournal): DurableJournal {
  const refuse = () => Promise.reject(new PosternError('AUDIT_UNAVAILABLE', 'The process is dead.'));
  return new Proxy(journal, {
    get(target, name) {
      if (name === 'step' || name === 'end') return refuse;
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
}

for (const [state, phase] of [
  ['put', 'done'],
  ['open', 'failed'],
] as const) {
  test(`settle: what a dead process left in doubt is found out by the next one, unasked (${phase}, AUD-14)`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'postern-settle-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    await using upstream = await startUpstream(remote({ lost: new Set(['one']), states: { one: state } }));
    const first = await DurableJournal.open({ folder, clock: systemClock });
    const operationId = await (async () => {
      await using rig = await startRig({ contracts: ONE, journal: dying(first), upstream });
      return (await rig.refused('put_note', NOTE)).operationId ?? '';
    })();
    await first.close();
    const second = await DurableJournal.open({ folder, clock: systemClock });
    t.after(() => second.close());
    assert.equal(second.get(operationId)?.phase, 'unknown');
    await using rig = await startRig({ contracts: ONE, journal: second, upstream });
    while (second.get(operationId)?.phase === 'unknown') await sleep(50);
    assert.equal(second.get(operationId)?.phase, phase);
    assert.equal((await rig.calls.getOperation(operationId, 0, NOW)).resolution?.by, 'settle');
    assert.equal(rig.effects(), 1);
  });
}

test('settle: of several targets in doubt some done and some not is for a person, and holds equal calls until then', async () => {
  const answer = remote({ lost: new Set(['a', 'b']), states: { a: 'put', b: 'open' } });
  await using rig = await startRig({ contracts: MANY, answer });
  const { operationId = '' } = await rig.refused('put_notes', ASKED_FOR);
  assert.equal((await rig.refused('put_notes', ASKED_FOR)).reason, 'OUTCOME_UNKNOWN');
  assert.equal((await rig.calls.getOperation(operationId, 0, NOW)).state, 'unknown');
  assert.ok(rig.upstream.requests.filter(({ method }) => method === 'GET').length >= 2, 'both were read after');
  assert.equal(rig.effects(), 2);
  await rig.decider.resolve(operationId, 'notDone', 'tess');
  assert.equal((await rig.calls.getOperation(operationId, 0, NOW)).resolution?.by, 'person');
});

test('settle: a list of which one took effect and the other did not is told as that, and is not done once more', async () => {
  const answer = remote({ lost: new Set(['b']), states: { b: 'open' } });
  await using rig = await startRig({ contracts: MANY, answer });
  const { operationId = '' } = await rig.refused('put_notes', ASKED_FOR);
  const told = await rig.refused('put_notes', ASKED_FOR);
  assert.equal(told.operationId, operationId);
  assert.deepEqual(told.operation?.targets, { done: 1, refused: 1, untouched: 0, unknown: 0 });
  const { state, steps } = await rig.calls.getOperation(operationId, 0, NOW);
  assert.deepEqual([state, steps?.map((step) => step.state)], ['failed', ['done', 'refused']]);
  assert.equal(rig.effects(), 2);
});

test('settle: a list of which one was refused and the other is found done is not called done', async () => {
  const answer: Answer = (request, response) =>
    request.method !== 'GET' && request.url.pathname.endsWith('/a')
      ? sendJson(response, 423, {})
      : remote({ lost: new Set(['b']), states: { b: 'put' } })(request, response);
  await using rig = await startRig({ contracts: MANY, answer });
  const { operationId = '' } = await rig.refused('put_notes', ASKED_FOR);
  const { state, steps } = await rig.calls.getOperation(operationId, 0, NOW);
  assert.deepEqual([state, steps?.map((step) => step.state)], ['failed', ['refused', 'done']]);
});
