/** What becomes of effects is counted as it is: a part that took effect is not nothing, and an outcome told again is not a second effect. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { createLog } from '#core/runtime/log.ts';
import { SidecarMetrics } from '#core/runtime/metrics.ts';
import { RequestLog } from '#sidecar/call/request-log.ts';
import { type Answer, sendJson } from '#test/flow/stage.ts';
import { FREE, NOTE, type Rig, startRig } from './effect-rig.ts';

const EACH = `
  summary: Put $(args.text) on $(args.ids)
  effect: Write
  arguments: {type: object, additionalProperties: false, required: [ids, text], properties: {ids: {type: array, maxItems: 5, minItems: 1, uniqueItems: true, items: {type: string, maxLength: 20, pattern: "^[a-z0-9]+$"}}, text: {type: string, maxLength: 60, pattern: "^[a-z0-9 ]*$"}}}
  http: {credential: reader, method: POST, url: "UPSTREAM/notes/$(each)", body: {json: {text: $(args.text)}}}
  result: {object: /, as: note, fields: [{name: id, presence: Optional}]}
  approval: {mode: None, because: a test}
  idempotency: {mode: Natural}
  forEach: {argument: /ids, order: Sequential, onFailure: Continue}`;

/** By the note: locked ones are refused, the reply about lost ones is lost. */
const answer: Answer = ({ url }, response) => {
  const id = url.pathname.split('/')[2] ?? '';
  if (id.startsWith('locked')) sendJson(response, 423, {});
  else if (id.startsWith('lost')) response.destroy();
  else sendJson(response, 200, { id });
};

async function counted(use: (rig: Rig) => Promise<unknown>): Promise<readonly string[]> {
  const metrics = new SidecarMetrics(systemClock);
  const log = new RequestLog(createLog({ level: 'silent' }), metrics);
  await using rig = await startRig({ contracts: { 'put-note': FREE, 'put-notes': EACH }, answer, recorder: log });
  metrics.serve(
    rig
      .bundle()
      .actions()
      .map(({ contract }) => contract),
  );
  await use(rig);
  const { text } = await metrics.exposition();
  return text.split('\n').filter((line) => /^postern_(effects|replays)_total/.test(line));
}

for (const [ids, outcome] of [
  [['a', 'b'], 'done'],
  [['a', 'locked'], 'partly_done'],
  [['locked', 'locked2'], 'not_done'],
  [['a', 'locked', 'lost'], 'unknown'],
] as const) {
  test(`effect metrics: ${ids.join(', ')} are one effect that is ${outcome}`, async () => {
    const lines = await counted((rig) => rig.execute('put_notes', { ids, text: 'x' }).catch(() => undefined));
    assert.deepEqual(lines, [`postern_effects_total{action="put_notes",outcome="${outcome}"} 1`]);
  });
}

test('effect metrics: an outcome that is told again is a replay, and no second effect', async () => {
  const lines = await counted(async (rig) => {
    const { operationId } = await rig.execute('put_note', NOTE);
    await rig.execute('put_note', NOTE, { operationId });
    await rig.confirm(operationId);
  });
  assert.deepEqual(lines, ['postern_effects_total{action="put_note",outcome="done"} 1', 'postern_replays_total{action="put_note"} 2']);
});
