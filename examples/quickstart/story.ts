/** The quickstart's calls, in the order a newcomer understands them. Every claim that is printed is checked first. */
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { decide } from '#core/completeness/decide.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { GrpcClient } from '#core/runtime/grpc-client.ts';
import type { AnswerDocument } from '#core/wire/answer-document.ts';
import type { ActionService } from '#proto/postern/v1/action_pb.ts';
import { cleanUp } from './cleanup.ts';
import { execute } from './execute.ts';
import type { InventoryApi } from './inventory-api.ts';
import { say } from './say.ts';
import type { SidecarProcess } from './sidecar-process.ts';
import type { Workspace } from './workspace.ts';

export interface Stage {
  readonly client: GrpcClient<typeof ActionService>;
  readonly api: InventoryApi;
  readonly sidecar: SidecarProcess;
  readonly workspace: Workspace;
  readonly token: string;
}

export async function playStory(stage: Stage): Promise<void> {
  say.title(
    'Postern: an agent asks an inventory API through a sidecar. It gets actions, not the credential - and answers that say what they leave out.',
  );
  const said: string[] = [];
  const call = async (action: string, args: object, cursor = ''): Promise<AnswerDocument> => {
    const answer = await execute(stage.client, action, args, { cursor });
    said.push(JSON.stringify(answer));
    return answer;
  };
  await listActions(stage);
  await fourStates(call);
  await refusedArgument(stage, said);
  await staleWarning(stage, call, said);
  await followedCursor(call);
  await cleanUp(stage, said);
  await nowhereElse(stage, said);
}

type Call = (action: string, args: object, cursor?: string) => Promise<AnswerDocument>;

async function listActions({ client }: Stage): Promise<void> {
  say.step('What may the agent do? It sees names, arguments and limits - no URL, no header, no key.');
  const { actions } = await client.listActions({});
  for (const action of actions) say.fact(`${action.action.padEnd(15)} ${action.summary}`);
}

async function fourStates(call: Call): Promise<void> {
  say.step('Complete, with items.');
  say.call('list_stock', { warehouse: 'north' });
  const north = await call('list_stock', { warehouse: 'north' });
  assert(north.completeness.complete && north.evidence !== undefined);
  say.answer(
    north,
    `two pages were walked inside the sidecar; evidence for a later mutation came with it (${north.evidence.length} characters, sealed)`,
  );

  say.step('Complete, and empty: there really is nothing.');
  say.call('list_stock', { warehouse: 'south' });
  const south = await call('list_stock', { warehouse: 'south' });
  assert(south.completeness.complete && south.completeness.page.returned === 0);
  say.answer(south, 'an agent may conclude that the warehouse is empty');

  say.step('Incomplete, with items: a shard is down.');
  say.call('list_stock', { warehouse: 'harbor' });
  const harbor = await call('list_stock', { warehouse: 'harbor' });
  const decision = decide(harbor, { kind: 'mutate' }, Date.now());
  assert(!harbor.completeness.complete && decision === 'refuse_or_request_review');
  say.answer(harbor, `"clean up what is not listed" on this answer: ${decision}`);

  say.step('Incomplete, and empty: the most dangerous answer there is.');
  say.call('list_stock', { warehouse: 'overseas' });
  const overseas = await call('list_stock', { warehouse: 'overseas' });
  assert(!overseas.completeness.complete && overseas.completeness.page.returned === 0);
  say.answer(overseas, 'zero rows, and the answer says that it is not zero stock');
}

async function refusedArgument(stage: Stage, said: string[]): Promise<void> {
  say.step('A refused argument: nothing is sent, and the error says what would be right.');
  const args = { warehouse: 'north/../../admin' };
  say.call('list_stock', args);
  const before = stage.api.seen.authorized;
  const error = await execute(stage.client, 'list_stock', args).then(() => undefined, PosternError.from);
  assert(error?.reason === 'INVALID_ARGUMENT' && stage.api.seen.authorized === before);
  said.push(error.message, JSON.stringify(error.fields));
  say.fact(`${error.reason} (retryable: ${error.retryable})`);
  for (const field of error.fields) say.fact(`${field.path}: ${field.message}`);
  say.fact('=> the upstream saw no request');
}

async function staleWarning(stage: Stage, call: Call, said: string[]): Promise<void> {
  say.step('A warning does not make an answer incomplete, but it forbids evidence, and it is on a dashboard.');
  say.call('search_stock', { text: 'rope' });
  const found = await call('search_stock', { text: 'rope' });
  assert(found.completeness.complete && found.warnings[0]?.code === 'STALE_INDEX' && found.evidence === undefined);
  say.answer(found, 'usable, read with care: the index is nine hours old; no evidence was given');
  const metrics = await textAt(stage.sidecar.adminPort, '/metrics');
  said.push(metrics);
  for (const line of metrics.split('\n').filter((each) => each.startsWith('postern_warning') && each.includes('STALE_INDEX')))
    say.fact(`metric: ${line}`);
}

async function followedCursor(call: Call): Promise<void> {
  say.step('A long list: the sidecar stops at its own limit, says so, and hands out a sealed cursor.');
  const args = { day: '2026-11-30' };
  let cursor = '';
  for (let round = 1; ; round += 1) {
    say.call('list_movements', args, cursor === '' ? '' : `   (cursor ${cursor.slice(0, 16)}...)`);
    const part = await call('list_movements', args, cursor);
    const { continuation, page, complete } = part.completeness;
    say.answer(
      part,
      complete
        ? `the whole walk: ${page.walk.returned} rows over ${page.walk.calls} calls, counted from its first page`
        : 'go on with the cursor',
    );
    assert(round <= 3 && (complete || continuation.kind === 'next_cursor'));
    if (continuation.kind !== 'next_cursor') return;
    cursor = continuation.cursor;
  }
}

async function nowhereElse({ api, sidecar, workspace, token }: Stage, said: readonly string[]): Promise<void> {
  say.step('And the credential?');
  assert(api.seen.authorized > 0 && api.seen.refused === 0);
  say.fact(`it reached the upstream with each of ${api.seen.authorized} requests`);
  const places = new Map<string, string>([
    ['answers, errors and metrics', said.join('\n')],
    ['log of the sidecar', sidecar.log()],
    ...workspace.texts(),
  ]);
  const leaks = [...places].filter(([, text]) => text.includes(token)).map(([place]) => place);
  assert.deepEqual(leaks, []);
  say.fact(`it is in none of: ${said.length} answers, the sidecar's log (${sidecar.log().length} bytes), ${workspace.texts().size} files`);
  say.line();
}

/** Plain HTTP on loopback: the admin port of the sidecar this process started. */
function textAt(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get({ host: '127.0.0.1', port, path }, async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve(text);
    }).on('error', reject);
  });
}
