/**
 * Hostile callers of an action that changes something: a whole sidecar, real gRPC, and a remote that counts.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Operation_State } from '#proto/postern/v1/action_pb.ts';
import { answerOf, executeFrame, openCall, openSession } from '#test/core/runtime/raw-grpc.ts';
import { turns } from '#test/core/runtime/served.ts';
import { FREE } from '#test/sidecar/call/effect-rig.ts';
import { contractFile } from './contract-file.ts';
import { type Stage, sendJson, startStage, startUpstream, type Upstream } from './stage.ts';

const state = mkdtempSync(join(tmpdir(), 'postern-state-'));
let upstream: Upstream;
let stage: Stage;

const noteFrame = (text: string) =>
  executeFrame({ action: 'put_note', argumentsJson: new TextEncoder().encode(JSON.stringify({ id: 'one', text })) });
const port = () => Number(stage.sidecar.address.split(':').at(-1));

before(async () => {
  upstream = await startUpstream((_request, response) => sendJson(response, 200, { id: 'one' }));
  stage = await startStage({
    contracts: contractFile({ 'put-note': FREE }),
    upstreamPort: upstream.port,
    credentials: { 'postern-flow/token': 'a-token-of-the-test' },
    flags: ['--state', join(state, 'of-the-sidecar')],
  });
});
after(async () => {
  await stage[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  rmSync(state, { recursive: true, force: true });
});

test('effects: 3,000 calls opened and reset before they could begin send nothing (GRPC-07)', async () => {
  let sent = 0;
  while (sent < 3000) {
    const session = await openSession(port());
    while (sent < 3000 && !session.closed && !session.destroyed) {
      for (let index = 0; index < 100 && sent < 3000; index += 1, sent += 1) {
        const stream = openCall(session);
        stream.end(noteFrame(`n${sent}`));
        stream.close(8);
      }
      await turns(5);
    }
    session.destroy();
  }
  // One more, which is not reset: whatever was begun before it has come to the remote by now, or never will.
  await stage.call('put_note', { id: 'one', text: 'last' });
  assert.deepEqual(
    upstream.requests.map(({ body }) => body),
    ['{"text":"last"}'],
  );
  const { operations } = await stage.client.listOperations({});
  const begun = operations.filter(({ state: now }) => now !== Operation_State.PLANNED && now !== Operation_State.FAILED);
  assert.equal(begun.length, 1, 'no other operation was done, or is in doubt');
});

test('effects: metadata that looks like an identity, a session or an approval changes nothing (GRPC-15)', async () => {
  const claims = { authorization: 'Bearer x', 'x-session': 'other', 'x-forwarded-for': '10.0.0.1', 'x-approved-by': 'tess' };
  const session = await openSession(port());
  const answer = await answerOf(openCall(session, claims).end(noteFrame('claimed')));
  session.destroy();
  assert.equal(answer.code, 0);
  const request = upstream.requests.find(({ body }) => body === '{"text":"claimed"}');
  assert.equal(request?.headers.authorization, 'Bearer a-token-of-the-test');
  for (const name of ['x-session', 'x-forwarded-for', 'x-approved-by']) assert.equal(request?.headers[name], undefined, name);
});

test('effects: a sidecar without a folder refuses them with the cure, and reads go on', async () => {
  await using plain = await startStage({
    contracts: contractFile({ 'put-note': FREE }),
    upstreamPort: upstream.port,
    credentials: { 'postern-flow/token': 'a-token-of-the-test' },
  });
  const error = await plain.refused('put_note', { id: 'one', text: 'x' });
  assert.equal(error.reason, 'CONTRACT_NOT_READY');
  assert.match(error.message, /--state/);
  const { actions } = await plain.client.listActions({});
  assert.match(actions[0]?.notReady ?? '', /--state/);
});
