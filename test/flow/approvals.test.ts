/**
 * Goal: with a person in between, an effect happens once or not at all, over every restart. Method: a whole sidecar, the real commands on a
 * real socket, and an upstream that counts what reaches it.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { after, before, beforeEach, test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { Fate, Verdict } from '#proto/postern/approval/v1/approval_pb.ts';
import { Approval_State, Operation_State } from '#proto/postern/v1/action_pb.ts';
import { runPostern } from '#test/cli/run-postern.ts';
import { ApprovalsStage, type Waiting } from './approvals-stage.ts';
import { contractFile } from './contract-file.ts';
import { sendJson, startUpstream, type Upstream } from './stage.ts';

const drop = (summary: string) => ({
  'drop-item': `
  summary: ${summary}
  effect: Destructive
  arguments: {type: object, additionalProperties: false, required: [id, reason], properties: {id: {type: string, pattern: "^[a-z0-9-]{1,20}$", maxLength: 20}, reason: {type: string, maxLength: 100}}}
  http: {credential: reader, method: DELETE, url: "UPSTREAM/items/$(args.id)"}
  result: {object: /, as: item, fields: [{name: id}]}
  approval: {mode: EachCall, reason: /reason}`,
});
const CONTRACTS = contractFile(drop('Drop item $(args.id)'));
const ARGS = { id: 'a-1', reason: 'it is broken' };

let upstream: Upstream;
let stage: ApprovalsStage;
/** Answers are held back until the test lets them go. */
let held: PromiseWithResolvers<void> | undefined;
before(async () => {
  upstream = await startUpstream(({ url }, response) => {
    const answer = () => sendJson(response, 200, { id: url.pathname.split('/').at(-1) });
    if (held === undefined) answer();
    else void held.promise.then(answer);
  });
});
after(() => upstream[Symbol.asyncDispose]());
beforeEach(() => {
  held = undefined;
  upstream.requests.length = 0;
});

const on = (name: string, body: () => Promise<void>) =>
  test(name, async () => {
    await using started = await ApprovalsStage.start(CONTRACTS, upstream.port);
    stage = started;
    await body();
  });

const again = (waiting: Waiting) => stage.call('drop_item', ARGS, { operationId: waiting.operationId });
const refusedAgain = (waiting: Waiting) => stage.refused('drop_item', ARGS, { operationId: waiting.operationId });

on('approvals: a call waits for a person, then happens once, however many call at once (APR-03)', async () => {
  const waiting = await stage.asked('drop_item', ARGS);
  assert.deepEqual(await stage.waiting(), [waiting.name]);
  assert.deepEqual((await stage.asked('drop_item', ARGS)).operationId, waiting.operationId, 'the same call is the same question');
  assert.equal(upstream.requests.length, 0);
  await stage.approve(waiting);
  assert.deepEqual(await stage.waiting(), []);
  const answers = await Promise.all(Array.from({ length: 100 }, () => again(waiting)));
  for (const answer of answers) assert.deepEqual(answer.data, { item: { id: 'a-1' } });
  assert.equal(upstream.requests.length, 1);
  // What was used works for nobody else: the next call needs its own yes.
  const next = await stage.asked('drop_item', ARGS);
  assert.notEqual(next.operationId, waiting.operationId);
  assert.equal(upstream.requests.length, 1);
});

on('approvals: a denied call never runs, and its caller reads why', async () => {
  const waiting = await stage.asked('drop_item', ARGS);
  await stage.deny(waiting, 'the item\u202e is fine');
  const error = await refusedAgain(waiting);
  assert.equal(error.reason, 'APPROVAL_DENIED');
  assert.equal(error.details.because, 'the item<U+202E> is fine');
  assert.equal((await refusedAgain(waiting)).reason, 'APPROVAL_DENIED');
  assert.equal((await stage.refused('drop_item', ARGS)).reason, 'APPROVAL_DENIED', 'an equal call is not asked again at once');
  assert.equal(upstream.requests.length, 0);
});

on('approvals: an operation that is asked for tells of the decision while its caller waits', async () => {
  const waiting = await stage.asked('drop_item', ARGS);
  const { operationId } = waiting;
  const told = async (wanted: Approval_State) => {
    for (;;) {
      const { operation } = await stage.agent.getOperation({ operationId, waitMs: 10_000 });
      if (operation?.approval?.state === wanted) return operation;
      assert.equal(operation?.approval?.state, Approval_State.WAITING);
    }
  };
  const decided = told(Approval_State.APPROVED);
  await stage.approve(waiting);
  assert.equal((await decided).state, Operation_State.PLANNED);
  await again(waiting);
  assert.equal((await stage.agent.getOperation({ operationId })).operation?.state, Operation_State.DONE);
});

for (const [how, end] of [
  ['stopped', () => stage.stop()],
  ['killed', () => stage.kill()],
] as const) {
  on(`approvals: what waits and what was approved is there after the sidecar was ${how}, and runs once`, async () => {
    const waiting = await stage.asked('drop_item', ARGS);
    await end();
    await stage.start();
    assert.deepEqual(await stage.waiting(), [waiting.name]);
    assert.equal((await stage.people.list({})).questions[0]?.card, waiting.card);
    await stage.approve(waiting);
    await end();
    await stage.start();
    assert.deepEqual(await stage.waiting(), []);
    const done = await again(waiting);
    await end();
    await stage.start();
    assert.deepEqual((await again(waiting)).data, done.data, 'the recorded outcome');
    assert.equal(upstream.requests.length, 1);
  });
}

on('approvals: killed in the middle of an effect, it says that nobody knows, holds equal calls, and a person resolves it', async () => {
  const waiting = await stage.asked('drop_item', ARGS);
  await stage.approve(waiting);
  held = Promise.withResolvers();
  const lost = again(waiting).then(
    () => undefined,
    () => undefined,
  );
  while (upstream.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
  await stage.kill();
  held.resolve();
  await lost;
  await stage.start();
  assert.equal((await refusedAgain(waiting)).reason, 'OUTCOME_UNKNOWN');
  assert.equal((await stage.refused('drop_item', ARGS)).reason, 'OUTCOME_UNKNOWN', 'an equal call is held');
  const { operations } = await stage.people.listUnknown({});
  assert.deepEqual(
    operations.map(({ operationId, card }) => [operationId, card]),
    [[waiting.operationId, waiting.card]],
  );
  assert.equal(upstream.requests.length, 1);
  const told = await runPostern(['resolve', waiting.operationId, '--not-done', '--socket', stage.socket]);
  assert.equal(told.code, 0, told.err);
  await stage.asked('drop_item', ARGS);
  assert.equal(
    (await stage.people.resolve({ operationId: waiting.operationId, fate: Fate.DONE }).then(() => undefined, PosternError.from))?.reason,
    'INVALID_ARGUMENT',
  );
  assert.equal(upstream.requests.length, 1);
});

on('approvals: a contract that was changed while a call waited, or was approved, voids it (APR-02)', async () => {
  const [first, second] = [await stage.asked('drop_item', ARGS), await stage.asked('drop_item', { ...ARGS, id: 'b-2' })];
  await stage.approve(first);
  await stage.stop();
  stage.write(contractFile(drop('Drop item $(args.id) for good')));
  await stage.start();
  assert.deepEqual(await stage.waiting(), []);
  assert.equal((await refusedAgain(first)).reason, 'APPROVAL_EXPIRED');
  assert.equal((await stage.refused('drop_item', { ...ARGS, id: 'b-2' }, { operationId: second.operationId })).reason, 'APPROVAL_EXPIRED');
  const late = await stage.people
    .decide({ name: second.name, verdict: Verdict.APPROVED, cardDigest: second.cardDigest })
    .then(() => undefined, PosternError.from);
  assert.equal(late?.reason, 'APPROVAL_EXPIRED');
  assert.equal(upstream.requests.length, 0);
});

on('approvals: of two people at two terminals one decides (APR-03)', async () => {
  const waiting = await stage.asked('drop_item', ARGS);
  const common = ['--socket', stage.socket];
  const [yes, no] = await Promise.all([
    runPostern(['approve', waiting.name, '--card-digest', waiting.cardDigest, ...common]),
    runPostern(['deny', waiting.name, ...common]),
  ]);
  assert.equal([yes, no].filter(({ code }) => code === 0).length, 1, `${yes.err}${no.err}`);
  if (yes.code === 0) await again(waiting);
  else assert.equal((await refusedAgain(waiting)).reason, 'APPROVAL_DENIED');
  assert.equal(upstream.requests.length, yes.code === 0 ? 1 : 0);
});

test('approvals: the user of an agent cannot decide over its own call (APR-04)', {
  skip: process.getuid?.() !== 0 && 'only root can become another user',
}, async () => {
  await using started = await ApprovalsStage.start(CONTRACTS, upstream.port);
  const waiting = await started.asked('drop_item', ARGS);
  // A client of its own: that user may not even read this project.
  const attempt = `require('net').connect(${JSON.stringify(started.socket)}).on('connect', () => console.log('in')).on('error', (fault) => console.log(fault.code))`;
  const child = spawn(process.execPath, ['-e', attempt], { uid: 65_534, gid: 65_534, cwd: '/', env: {} });
  let out = '';
  child.stdout.on('data', (chunk) => {
    out += String(chunk);
  });
  await new Promise((resolve) => child.once('close', resolve));
  assert.equal(out.trim(), 'EACCES');
  assert.deepEqual(await started.waiting(), [waiting.name]);
});

test('approvals: without a state folder, or without a socket, an effect that needs a person says what is missing', async () => {
  await using started = await ApprovalsStage.start(CONTRACTS, upstream.port);
  await started.stop();
  for (const [flags, missing] of [
    [[], /--state/],
    [['--state', `${started.directory}/state`], /--approvals/],
  ] as const) {
    await started.start(flags);
    const error = await started.refused('drop_item', ARGS);
    assert.equal(error.reason, 'CONTRACT_NOT_READY');
    assert.match(error.message, missing);
    await started.stop();
  }
  assert.equal(upstream.requests.length, 0);
});

test('approvals: the port of the agent has no service that decides', async () => {
  await using started = await ApprovalsStage.start(CONTRACTS, upstream.port);
  const connection = connect(started.sidecar.address);
  const { ApprovalService } = await import('#proto/postern/approval/v1/approval_pb.ts');
  const refused = await connection
    .client(ApprovalService)
    .list({})
    .then(() => undefined, PosternError.from);
  connection.close();
  assert.ok(refused, 'the service of people answers at the port of the agent');
});
