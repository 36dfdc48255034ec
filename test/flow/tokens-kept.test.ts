/**
 * What a caller was given outlives the container, and nothing else: with the folder of before a cursor, evidence and a plan go on; with another
 * one they are none of this sidecar's. A key that was rotated opens what it sealed for as long as it stands beside the new one.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { PosternError } from '#core/error/postern-error.ts';
import { contractFile } from './contract-file.ts';
import { sendJson, startStage, startUpstream, type Upstream } from './stage.ts';

const CONTRACTS = contractFile({
  'list-notes': `
  summary: List the notes
  arguments: {type: object, additionalProperties: false, properties: {}}
  http: {credential: reader, method: GET, url: "UPSTREAM/notes", query: {after: $(next.after)}}
  result: {items: [/items], as: notes, id: [/id], order: {by: /id, direction: Ascending, compare: Text}, fields: [{name: id}]}
  completeness:
    paging: {next: [{name: after, from: [{body: /next}]}], end: {nextIs: [NullValue]}}
    consistency: {mode: Keyset, because: notes are sorted by id}
    scope: {resource: notes, visibility: all, absence: Provable}
    limits: {pages: 2}`,
  'drop-notes': `
  summary: Drop $(args.ids)
  effect: Destructive
  arguments: {type: object, additionalProperties: false, required: [ids], properties: {ids: {type: array, minItems: 1, maxItems: 10, uniqueItems: true, items: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}}}}
  http: {credential: reader, method: DELETE, url: "UPSTREAM/notes/$(each)"}
  result: {object: /, as: note, fields: [{name: id, presence: Optional}]}
  approval: {mode: None, because: the evidence is enough}
  idempotency: {mode: Natural}
  forEach: {argument: /ids, order: Sequential, onFailure: Stop}
  evidence: {from: list-notes, ids: /ids, claim: Listed, maxAge: 1h, onIncomplete: Refuse, match: []}`,
});

const home = mkdtempSync(join(tmpdir(), 'postern-tokens-'));
let upstream: Upstream;
/** Pages that the remote has, one note each. */
let pages = 2;

before(async () => {
  upstream = await startUpstream(({ method, url }, response) => {
    if (method !== 'GET') return sendJson(response, 200, {});
    const page = Number(url.searchParams.get('after') ?? '0');
    sendJson(response, 200, { items: [{ id: `n${page}` }], next: page + 1 < pages ? String(page + 1) : null });
  });
});
after(async () => {
  await upstream[Symbol.asyncDispose]();
  rmSync(home, { recursive: true, force: true });
});

const start = (state: string) =>
  startStage({
    contracts: CONTRACTS,
    upstreamPort: upstream.port,
    credentials: { 'postern-flow/token': 'a-token-of-the-test' },
    flags: ['--state', join(home, state)],
  });

interface Given {
  readonly cursor: string;
  readonly evidence: string;
  readonly planId: string;
}

/** What a caller holds when its sidecar goes away. */
async function givenBy(state: string): Promise<Given> {
  await using stage = await start(state);
  pages = 3;
  const part = await stage.call('list_notes');
  const { continuation } = part.completeness;
  assert.ok(continuation.kind === 'next_cursor');
  pages = 2;
  const { evidence } = await stage.call('list_notes');
  assert.ok(evidence !== undefined);
  const argumentsJson = new TextEncoder().encode(JSON.stringify({ ids: ['n0'] }));
  const { planId } = await stage.client.prepare({ action: 'drop_notes', argumentsJson, evidence: [evidence] });
  pages = 3;
  return { cursor: continuation.cursor, evidence, planId };
}

/** What a container on this folder tells each of them: `done`, or the reason of the refusal. */
async function toldBy(state: string, { cursor, evidence, planId }: Given): Promise<readonly string[]> {
  await using stage = await start(state);
  const told = (call: Promise<unknown>) =>
    call.then(
      () => 'done',
      ({ reason }: PosternError) => reason,
    );
  return [
    await told(stage.call('list_notes', {}, { cursor })),
    await told(stage.call('drop_notes', { ids: ['n1'] }, { evidence: [evidence] })),
    await told(stage.call('drop_notes', { ids: ['n0'] }, { operationId: planId })),
  ];
}

test('a restarted container with its folder goes on with every cursor, evidence and plan it gave', async () => {
  const given = await givenBy('kept');
  assert.deepEqual(await toldBy('kept', given), ['done', 'done', 'done']);
});

test('with another folder none of them is anything: refused, and nothing is sent', async () => {
  const given = await givenBy('left');
  const sent = upstream.requests.length;
  assert.deepEqual(await toldBy('other', given), ['CURSOR_INVALID', 'EVIDENCE_REQUIRED', 'INVALID_ARGUMENT']);
  assert.equal(upstream.requests.length, sent);
});

test('a key that was rotated opens what it sealed beside the new one, and no longer', async () => {
  const given = await givenBy('rotated');
  const file = join(home, 'rotated', 'session.json');
  const { session, current: previous } = JSON.parse(readFileSync(file, 'utf8'));
  const current = randomBytes(32).toString('base64');
  writeFileSync(file, JSON.stringify({ session, current, previous }));
  assert.deepEqual(await toldBy('rotated', given), ['done', 'done', 'done']);
  writeFileSync(file, JSON.stringify({ session, current }));
  const [cursor, evidence] = await toldBy('rotated', given);
  assert.deepEqual([cursor, evidence], ['CURSOR_INVALID', 'EVIDENCE_REQUIRED']);
});
