/**
 * An effect from refusal to outcome: not on an incomplete list, not without a person, not twice. The API writes off once more with every
 * request it gets, so what it counted is what happened.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { PosternError } from '#core/error/postern-error.ts';
import type { AnswerDocument } from '#core/wire/answer-document.ts';
import { type CallExtra, execute } from './execute.ts';
import { say } from './say.ts';
import type { Stage } from './story.ts';

const ACTION = 'write_off_items';
const CLEANUP = { warehouse: 'harbor', skus: ['anchor-5', 'rope-20'], reason: 'water damage after the storm' };

export async function cleanUp(stage: Stage, said: string[]): Promise<void> {
  await refusedForIncompleteEvidence(stage, said);
  const asked = await askedAPerson(stage, said);
  await approved(stage, asked.name, asked.cardDigest, said);
  await doneOnce(stage, asked, said);
}

async function refusedForIncompleteEvidence({ client, api }: Stage, said: string[]): Promise<void> {
  say.step('An effect. "Write off what the list shows" - but the list of harbor is not all of it: a shard is down.');
  say.call('list_stock', { warehouse: 'harbor' });
  const part = await execute(client, 'list_stock', { warehouse: 'harbor' });
  assert(!part.completeness.complete && part.evidence === undefined);
  say.answer(part, 'no evidence comes with an incomplete answer');
  say.call(ACTION, CLEANUP);
  tell(await refusal(client, {}), 'EVIDENCE_REQUIRED', said);
  const north = await execute(client, 'list_stock', { warehouse: 'north' });
  say.call(ACTION, CLEANUP, '   (with the complete evidence of another warehouse)');
  tell(await refusal(client, { evidence: evidenceOf(north) }), 'EVIDENCE_INCOMPLETE', said);
  assert.equal(api.seen.writeOffs, 0);
  say.fact(`=> the upstream counts ${api.seen.writeOffs} write-offs`);
}

interface Asked {
  readonly name: string;
  readonly operationId: string;
  readonly cardDigest: string;
  readonly evidence: readonly string[];
}

async function askedAPerson({ client, api }: Stage, said: string[]): Promise<Asked> {
  say.step('The shard is back, the list is complete - and the effect still waits for a person.');
  api.bringShardBack();
  say.call('list_stock', { warehouse: 'harbor' });
  const whole = await execute(client, 'list_stock', { warehouse: 'harbor' });
  assert(whole.completeness.complete);
  const evidence = evidenceOf(whole);
  say.answer(whole, 'complete, with evidence');
  say.call(ACTION, CLEANUP, '   (with that evidence)');
  const error = await refusal(client, { evidence });
  const { approval: name, card, cardDigest } = error.operation ?? {};
  const { operationId } = error;
  assert(name !== undefined && card !== undefined && cardDigest !== undefined && operationId !== undefined);
  tell(error, 'APPROVAL_REQUIRED', said);
  said.push(card);
  say.fact('What the person reads; a yes is about exactly this text, by its digest:');
  say.block(card);
  say.fact(`digest  ${cardDigest}`);
  assert.equal(api.seen.writeOffs, 0);
  return { name, operationId, cardDigest, evidence };
}

/** With the real command, over a socket that only the user of the sidecar may open. */
async function approved({ workspace }: Stage, name: string, cardDigest: string, said: string[]): Promise<void> {
  say.step('A person decides, at a socket of mode 0600. In earnest the agent runs as another user, who cannot open it.');
  say.person(`postern approve ${name} --card-digest ${cardDigest.slice(0, 20)}...`);
  const told = await postern('approve', name, '--card-digest', cardDigest, '--socket', workspace.approvals);
  said.push(told);
  const last = told.trimEnd().split('\n').at(-1) ?? '';
  assert.match(last, /^Approved by /);
  say.fact(last);
}

async function doneOnce({ client, api }: Stage, { operationId, evidence }: Asked, said: string[]): Promise<void> {
  say.step('The same call goes through, once. Asked again, the same operation tells what became of it and sends nothing.');
  say.call(ACTION, CLEANUP, `   (operation ${operationId.slice(0, 9)}...)`);
  const done = await execute(client, ACTION, CLEANUP, { evidence, operationId });
  say.fact(JSON.stringify(done.data));
  assert.equal(api.seen.writeOffs, 1);
  say.call(ACTION, CLEANUP, `   (operation ${operationId.slice(0, 9)}..., again)`);
  const again = await execute(client, ACTION, CLEANUP, { evidence, operationId });
  said.push(JSON.stringify(done), JSON.stringify(again));
  say.fact(JSON.stringify(again.data));
  assert.deepEqual(again.data, done.data);
  assert.equal(api.seen.writeOffs, 1);
  say.fact(`=> the upstream counts ${api.seen.writeOffs} write-off; one more would be WO-2`);
}

async function refusal(client: Stage['client'], extra: CallExtra): Promise<PosternError> {
  const error = await execute(client, ACTION, CLEANUP, extra).then(() => undefined, PosternError.from);
  assert(error !== undefined, 'the effect was not refused');
  return error;
}

function tell(error: PosternError, reason: PosternError['reason'], said: string[]): void {
  assert.equal(error.reason, reason);
  said.push(error.message);
  say.fact(`${error.reason}: ${error.message}`);
}

function evidenceOf({ evidence }: AnswerDocument): readonly string[] {
  assert(evidence !== undefined);
  return [evidence];
}

function postern(...args: readonly string[]): Promise<string> {
  const program = join(import.meta.dirname, '..', '..', 'cli', 'postern.mjs');
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...args], { env: {} }, (error, out, err) => {
      if (error === null) resolve(out);
      else reject(new Error(err, { cause: error }));
    });
  });
}
