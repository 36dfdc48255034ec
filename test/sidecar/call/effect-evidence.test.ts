/** Effects that rest on what a read showed: which evidence is enough, what a person is shown of the rest, and what may be chosen instead. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';
import { type Answer, sendJson } from '#test/flow/stage.ts';
import { type Rig, type RigOptions, startRig } from './effect-rig.ts';

const NOW = new AbortController().signal;

const LIST = `
  summary: List the notes of $(args.group)
  arguments: {type: object, additionalProperties: false, required: [group], properties: {group: {type: string, enum: [a, b]}}}
  http: {credential: reader, method: GET, url: "UPSTREAM/groups/$(args.group)", query: {after: $(next.after)}}
  result: {items: [/items], as: notes, id: [/id], order: {by: /id, direction: Ascending, compare: Text}, fields: [{name: id}]}
  completeness:
    paging: {next: [{name: after, from: [{body: /next}]}], end: {nextIs: [NullValue]}}
    consistency: {mode: Keyset, because: notes are sorted by id}
    scope: {resource: notes, visibility: all, absence: Provable}
    limits: {pages: 2}`;

const archive = (onIncomplete: string) => `
  summary: Archive $(args.ids) of $(args.group)
  effect: Destructive
  arguments: {type: object, additionalProperties: false, required: [group, ids], properties: {group: {type: string, enum: [a, b]}, ids: {type: array, minItems: 1, maxItems: 10, uniqueItems: true, items: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}}}}
  http: {credential: reader, method: DELETE, url: "UPSTREAM/notes/$(each)"}
  result: {object: /, as: note, fields: [{name: id, presence: Optional}]}
  approval: {mode: ${onIncomplete === 'Refuse' ? 'None, because: the evidence is enough' : 'EachCall'}}
  idempotency: {mode: Natural}
  forEach: {argument: /ids, order: Sequential, onFailure: Stop}
  evidence: {from: list-notes, ids: /ids, claim: Listed, maxAge: 1h, onIncomplete: ${onIncomplete}, match: [{evidenceArgument: group, argument: group}]}`;

/** Three pages of one note each; a read of two pages is not all. `pages` cuts it. */
const notes =
  (state: { pages: number }): Answer =>
  ({ method, url }, response) => {
    if (method !== 'GET') return sendJson(response, 200, {});
    const page = Number(url.searchParams.get('after') ?? '0');
    sendJson(response, 200, { items: [{ id: `n${page}` }], next: page + 1 < state.pages ? String(page + 1) : null });
  };

function rigOf(onIncomplete: string, state: { pages: number }, more: RigOptions = {}): Promise<Rig> {
  return startRig({ contracts: { 'archive-notes': archive(onIncomplete), 'list-notes': LIST }, answer: notes(state), ...more });
}

async function evidenceOf(rig: Rig, group = 'a'): Promise<string> {
  const { evidence } = await rig.execute('list_notes', { group });
  assert.ok(evidence !== undefined);
  return evidence;
}

const deleted = (rig: Rig) => rig.upstream.requests.filter(({ method }) => method === 'DELETE').map(({ url }) => url);

test('evidence: what a whole answer listed may be acted on; nothing shown, nothing done', async () => {
  await using rig = await rigOf('Refuse', { pages: 2 });
  assert.equal((await rig.refused('archive_notes', { group: 'a', ids: ['n0'] })).reason, 'EVIDENCE_REQUIRED');
  const evidence = await evidenceOf(rig);
  await rig.execute('archive_notes', { group: 'a', ids: ['n0', 'n1'] }, { evidence: [evidence] });
  assert.deepEqual(deleted(rig), ['/notes/n0', '/notes/n1']);
});

test('evidence: another question, an id that was not listed, an edited token, another session: refused before anything is sent (P7)', async () => {
  await using rig = await rigOf('Refuse', { pages: 2 });
  const evidence = await evidenceOf(rig);
  const refused = async (args: unknown, token: string) => (await rig.refused('archive_notes', args, { evidence: [token] })).reason;
  assert.equal(await refused({ group: 'b', ids: ['n0'] }, evidence), 'EVIDENCE_INCOMPLETE');
  assert.equal(await refused({ group: 'a', ids: ['n0', 'n9'] }, evidence), 'EVIDENCE_INCOMPLETE');
  assert.equal(await refused({ group: 'a', ids: ['n0'] }, `${evidence.slice(0, -2)}AA`), 'EVIDENCE_REQUIRED');
  await using other = await rigOf('Refuse', { pages: 2 });
  assert.equal(await refused({ group: 'a', ids: ['n0'] }, await evidenceOf(other)), 'EVIDENCE_REQUIRED');
  assert.deepEqual(deleted(rig), []);
});

test('evidence: an incomplete answer goes to a person, with what it lacks and the choices on the card', async () => {
  const state = { pages: 5 };
  await using rig = await rigOf('RequestReview', state);
  const evidence = await evidenceOf(rig);
  const plan = await rig.prepare('archive_notes', { group: 'a', ids: ['n0', 'n4'] }, { evidence: [evidence] });
  assert.equal(plan.approval.state, 'waiting');
  assert.match(plan.card, /NOT COMPLETE/);
  assert.deepEqual(
    plan.alternatives.map(({ name }) => name),
    ['listed-only', 'retry-longer'],
  );
  await rig.approve(plan.planId);
  await rig.confirm(plan.planId);
  assert.deepEqual(deleted(rig), ['/notes/n0', '/notes/n4'], 'a person agreed to that');
});

test('choice listed-only: what was listed is archived, the plan itself is over and names what was chosen', async () => {
  await using rig = await rigOf('RequestReview', { pages: 5 });
  const args = { group: 'a', ids: ['n0', 'n4'] };
  const plan = await rig.prepare('archive_notes', args, { evidence: [await evidenceOf(rig)] });
  const [listed] = plan.alternatives;
  assert.equal(listed?.name, 'listed-only');
  await rig.choose(plan.planId, 'listed-only');
  assert.equal((await rig.calls.getOperation(plan.planId, 0, NOW)).approval?.chosenPlanId, listed.planId);
  const error = await rig.confirm(plan.planId).then(() => assert.fail('it was done'), PosternError.from);
  assert.equal(error.reason, 'APPROVAL_DENIED');
  assert.equal(error.details.chosen_plan_id, listed.planId);
  assert.deepEqual(deleted(rig), []);
  await rig.confirm(listed.planId);
  assert.deepEqual(deleted(rig), ['/notes/n0']);
});

test('choice retry-longer: read again right before; enough it is done, not enough nothing is', async () => {
  for (const pages of [2, 5]) {
    const state = { pages: 5 };
    await using rig = await rigOf('RequestReview', state);
    const plan = await rig.prepare('archive_notes', { group: 'a', ids: ['n0', 'n1'] }, { evidence: [await evidenceOf(rig)] });
    const longer = plan.alternatives.find(({ name }) => name === 'retry-longer');
    await rig.choose(plan.planId, 'retry-longer');
    state.pages = pages;
    const told = await rig.confirm(longer?.planId ?? '').then(
      () => 'done',
      ({ reason }: PosternError) => reason,
    );
    assert.equal(told, pages === 2 ? 'done' : 'EVIDENCE_INCOMPLETE');
    assert.equal(deleted(rig).length, pages === 2 ? 2 : 0);
  }
});

test('evidence: a read that changed since gives none, and voids the plan that rests on it', async () => {
  await using rig = await rigOf('RequestReview', { pages: 2 });
  const evidence = await evidenceOf(rig);
  const plan = await rig.prepare('archive_notes', { group: 'a', ids: ['n0'] }, { evidence: [evidence] });
  await rig.approve(plan.planId);
  rig.serve({ 'archive-notes': archive('RequestReview'), 'list-notes': LIST.replace('visibility: all', 'visibility: some') });
  const error = await rig.confirm(plan.planId).then(() => assert.fail('it was done'), PosternError.from);
  assert.equal(error.details.because, 'changed');
  assert.equal((await rig.refused('archive_notes', { group: 'a', ids: ['n0'] }, { evidence: [evidence] })).reason, 'EVIDENCE_INCOMPLETE');
  assert.deepEqual(deleted(rig), []);
});
