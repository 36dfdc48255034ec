/** What changes between a plan and its bytes: evidence that grew old or was acted on, reads that were edited, clocks that were set back. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { type Answer, sendJson } from '#test/flow/stage.ts';
import { MemoryJournal } from '#test/sidecar/journal/memory-journal.ts';
import { ASKED, FREE, NOTE, READ_NOTE, type Rig, type RigOptions, startRig, writeContract } from './effect-rig.ts';

const MINUTE = 60_000;

const LIST = `
  summary: List the notes of $(args.group)
  arguments: {type: object, additionalProperties: false, required: [group], properties: {group: {type: string, enum: [a, b]}}}
  http: {credential: reader, method: GET, url: "UPSTREAM/groups/$(args.group)"}
  result: {items: [/], as: notes, id: [/id], fields: [{name: id}]}
  completeness: {paging: {mode: SingleResponse}, scope: {resource: notes, visibility: all, absence: Provable}}`;

/** Acts on notes that were listed, or makes ones that were not. */
const acting = (claim: 'Listed' | 'Absent', more = '') => `
  summary: Act on $(args.ids) of $(args.group)
  effect: Write
  arguments: {type: object, additionalProperties: false, required: [group, ids], properties: {group: {type: string, enum: [a, b]}, ids: {type: array, minItems: 1, maxItems: 10, uniqueItems: true, items: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}}}}
  http: {credential: reader, method: POST, url: "UPSTREAM/notes/$(each)", body: {json: {}}}
  result: {object: /, as: note, fields: [{name: id, presence: Optional}]}
  forEach: {argument: /ids, order: Sequential, onFailure: Stop}
  approval: {mode: None, because: the evidence is enough}
  evidence: {from: list-notes, ids: /ids, claim: ${claim}, maxAge: 30m, onIncomplete: Refuse, match: [{evidenceArgument: group, argument: group}]}${more}`;

const notes: Answer = ({ method, url }, response) => {
  if (method === 'GET' && url.pathname.startsWith('/groups')) return sendJson(response, 200, [{ id: 'n0' }, { id: 'n1' }, { id: 'n2' }]);
  if (method === 'GET') return sendJson(response, 200, { id: 'one', state: 'open' });
  return sendJson(response, url.pathname.endsWith('n2') ? 422 : 200, {});
};

function rigOf(claim: 'Listed' | 'Absent', more: RigOptions = {}): Promise<Rig> {
  return startRig({ contracts: { act: acting(claim), 'list-notes': LIST }, answer: notes, ...more });
}

async function evidenceOf(rig: Rig): Promise<string> {
  const { evidence } = await rig.execute('list_notes', { group: 'a' });
  assert.ok(evidence !== undefined);
  // What ends in the millisecond of a read is taken for younger.
  await new Promise((resolve) => setTimeout(resolve, 3));
  return evidence;
}

const posted = (rig: Rig) => rig.upstream.requests.filter(({ method }) => method === 'POST').map(({ url }) => url.split('/').at(-1));

test('evidence: what shows that something is absent makes it once, however often it is shown again (P7)', async () => {
  await using rig = await rigOf('Absent');
  const evidence = [await evidenceOf(rig)];
  await rig.execute('act', { group: 'a', ids: ['new1'] }, { evidence });
  const again = await rig.refused('act', { group: 'a', ids: ['new1'] }, { evidence });
  assert.equal(again.reason, 'EVIDENCE_EXPIRED');
  assert.match(again.message, /new1/);
  assert.equal((await rig.refused('act', { group: 'a', ids: ['new2', 'new1'] }, { evidence })).reason, 'EVIDENCE_EXPIRED');
  await rig.execute('act', { group: 'a', ids: ['new2'] }, { evidence });
  assert.deepEqual(posted(rig), ['new1', 'new2']);
});

test('evidence: a target that was acted on since needs another look; one that was refused, or left alone, does not', async () => {
  await using rig = await rigOf('Listed');
  const evidence = [await evidenceOf(rig)];
  const error = await rig.refused('act', { group: 'a', ids: ['n0', 'n2', 'n1'] }, { evidence });
  assert.deepEqual(error.operation?.targets, { done: 1, refused: 1, untouched: 1, unknown: 0 });
  assert.equal((await rig.refused('act', { group: 'a', ids: ['n0'] }, { evidence })).reason, 'EVIDENCE_EXPIRED');
  await rig.execute('act', { group: 'a', ids: ['n1'] }, { evidence });
  await rig.execute('act', { group: 'a', ids: ['n0'] }, { evidence: [await evidenceOf(rig)] });
  assert.deepEqual(posted(rig), ['n0', 'n2', 'n1', 'n0']);
});

test('evidence: two plans on one look act on a target once', async () => {
  await using rig = await rigOf('Listed');
  const evidence = [await evidenceOf(rig)];
  const first = await rig.prepare('act', { group: 'a', ids: ['n0'] }, { evidence });
  const second = await rig.prepare('act', { group: 'a', ids: ['n1', 'n0'] }, { evidence });
  await rig.confirm(first.planId);
  await assert.rejects(rig.confirm(second.planId), { reason: 'EVIDENCE_EXPIRED' });
  assert.deepEqual(posted(rig), ['n0']);
});

test('evidence: that grows too old between two targets stops the rest', async () => {
  let skewMs = 0;
  const clock = { ...systemClock, wallMs: () => Date.now() + skewMs };
  const answer: Answer = (request, response) => {
    if (request.method === 'POST') skewMs = 31 * MINUTE;
    notes(request, response);
  };
  await using rig = await rigOf('Listed', { clock, answer });
  const error = await rig.refused('act', { group: 'a', ids: ['n0', 'n1'] }, { evidence: [await evidenceOf(rig)] });
  assert.equal(error.reason, 'EVIDENCE_EXPIRED');
  assert.deepEqual(posted(rig), ['n0']);
});

test('plan: a wall clock that was set back makes no plan young again (APR-11)', async () => {
  let skewMs = 0;
  const clock = { ...systemClock, wallMs: () => Date.now() + skewMs };
  await using rig = await startRig({ clock });
  const { planId } = await rig.prepare('put_note', NOTE);
  skewMs = -limits.clockSkewMsMax - MINUTE;
  await assert.rejects(rig.confirm(planId), { reason: 'APPROVAL_EXPIRED' });
  assert.equal(rig.effects(), 0);
});

test('plan: a read that it rests on, edited after it was begun, stops it before its bytes (APR-02)', async () => {
  const recheck = '  recheck: {contract: read-note, arguments: {id: $(args.id)}, expect: "result.note.state == \\"open\\""}';
  const contracts = { 'put-note': writeContract(`  approval: {mode: EachCall}\n${recheck}`), 'read-note': READ_NOTE };
  const edited = { ...contracts, 'read-note': READ_NOTE.replace('visibility: all', 'visibility: some') };
  let rig: Rig | undefined;
  class Journal extends MemoryJournal {
    override async begin(...given: Parameters<MemoryJournal['begin']>) {
      const begun = await super.begin(...given);
      rig?.serve(edited);
      return begun;
    }
  }
  await using started = await startRig({ contracts, journal: new Journal(systemClock), answer: notes });
  rig = started;
  const { operationId = '' } = await rig.refused('put_note', NOTE);
  await rig.approve(operationId);
  await assert.rejects(rig.confirm(operationId), (thrown) => PosternError.from(thrown).details.because === 'changed');
  assert.equal(rig.effects(), 0);
});

test('plan: what its owner suspends after the yes is not done, here or after a restart', async () => {
  for (const contract of [ASKED, FREE]) {
    await using rig = await startRig({ contracts: { 'put-note': contract } });
    const { planId, approval } = await rig.prepare('put_note', NOTE);
    if (approval.state === 'waiting') await rig.approve(planId);
    rig.serve({ 'put-note': `${contract}\n  suspended: {because: an incident}` });
    await assert.rejects(rig.confirm(planId), { reason: 'APPROVAL_EXPIRED' });
    assert.equal(rig.effects(), 0);
  }
});
