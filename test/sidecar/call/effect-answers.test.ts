/** What answers of an effect may cost and say: larger than a message, reflecting a credential, on disk (promises P1 and P2). */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { DurableJournal } from '#sidecar/journal/durable-journal.ts';
import { sendJson } from '#test/flow/stage.ts';
import { NOTE, startRig, writeContract } from './effect-rig.ts';

const ALL = writeContract('  approval: {mode: EachCall}\n  idempotency: {mode: Natural}').replace(
  'fields: [{name: id, presence: Optional}]',
  'allFields: {because: a test}',
);
const EACH = ALL.replace(
  'id: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}',
  'id: {type: array, minItems: 1, maxItems: 9, uniqueItems: true, items: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}}',
)
  .replace('UPSTREAM/notes/$(args.id)', 'UPSTREAM/notes/$(each)')
  .concat('\n  forEach: {argument: /id, order: Sequential, onFailure: Stop}');

for (const [what, contract, id, bytes] of [
  ['one answer', ALL, 'one', 4 * 1024 * 1024],
  ['the answers of several targets', EACH, ['a', 'b', 'c', 'd', 'e'], 1024 * 1024],
] as const) {
  test(`effect: ${what} larger than a message is cut with its reason, and the effect is done`, async () => {
    await using rig = await startRig({
      contracts: { 'put-note': contract },
      answer: (_request, response) => sendJson(response, 200, { text: 'x'.repeat(bytes) }),
    });
    const { planId } = await rig.prepare('put_note', { ...NOTE, id });
    await rig.approve(planId);
    const { envelope, dataJson, steps } = await rig.confirm(planId);
    assert.ok(dataJson.byteLength <= limits.resultDataBytesMax, `${dataJson.byteLength} bytes`);
    assert.ok(steps?.every(({ state }) => state === 'done'));
    assert.equal(envelope.status, 'partial');
    assert.equal(envelope.completeness.truncated, true);
    assert.deepEqual(envelope.completeness.incomplete_reasons.map(({ code, limit }) => [code, limit]).at(-1), [
      'RESULT_LIMIT_REACHED',
      { message_bytes: limits.resultDataBytesMax },
    ]);
    const { note } = JSON.parse(Buffer.from(dataJson).toString('utf8'));
    if (Array.isArray(note)) assert.deepEqual([note.length, note[0].text.length, note[4]], [5, bytes, null], 'one place a target');
  });
}

test('journal: holds no credential, whatever a remote repeats, in answers, refusals and what is read before (P1)', async () => {
  const token = 'a-token-of-the-test';
  const folder = mkdtempSync(join(tmpdir(), 'postern-canary-'));
  const journal = await DurableJournal.open({ folder, clock: systemClock });
  const shows = '\n  prepare: {contract: read-note, arguments: {id: $(args.id)}, fields: [{name: state, path: /note/state}]}';
  const read = `
  summary: Read the note $(args.id)
  arguments: {type: object, additionalProperties: false, required: [id], properties: {id: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}}}
  http: {credential: reader, method: GET, url: "UPSTREAM/notes/$(args.id)"}
  result: {object: /, as: note, fields: [{name: state}]}
  completeness: {scope: {resource: one note, visibility: all, absence: Never}}`;
  try {
    await using rig = await startRig({
      contracts: { 'put-note': ALL + shows, 'read-note': read },
      journal,
      answer: ({ method, headers, url }, response) => {
        const said = String(headers.authorization ?? '');
        assert.ok(said.includes(token), 'the remote does get it');
        const forms = [said, Buffer.from(token).toString('base64'), encodeURIComponent(token), Buffer.from(token).toString('hex')];
        if (method === 'POST' && url.pathname.endsWith('two')) return sendJson(response, 422, { error: forms }, { 'x-debug': said });
        return sendJson(response, 200, { state: said, forms }, { 'x-debug': said, etag: `"${token}"` });
      },
    });
    for (const id of ['one', 'two']) {
      const { planId } = await rig.prepare('put_note', { ...NOTE, id });
      await rig.approve(planId);
      await rig.confirm(planId).catch(() => {});
    }
    assert.equal(rig.effects(), 2);
    await journal.close();
    const bytes = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
    assert.ok(Buffer.concat(bytes).includes('put_note'), 'it is in there');
    for (const form of [token, Buffer.from(token).toString('base64'), Buffer.from(token).toString('hex')])
      assert.ok(!Buffer.concat(bytes).includes(form), form);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
