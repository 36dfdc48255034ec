/**
 * A sidecar killed with SIGKILL at each step of an effect, and started again on the same folder: every operation is done once, not done, or
 * unknown - never twice, never lost (AUD-14, APR-15). What is true is what the remote counted.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { type SidecarProcess, startSidecarProcess } from '#examples/quickstart/sidecar-process.ts';
import { ActionService, Operation_State, Step_State } from '#proto/postern/v1/action_pb.ts';
import { READ_NOTE, writeContract } from '#test/sidecar/call/effect-rig.ts';
import { contractFile } from './contract-file.ts';
import { type Answer, sendJson, startUpstream, type Upstream } from './stage.ts';

const CONTRACTS = contractFile({
  'put-note': writeContract(`
  approval: {mode: None, because: a test}
  recheck: {contract: read-note, arguments: {id: $(args.id)}, expect: "result.note.state == \\"open\\""}`),
  'read-note': READ_NOTE,
});
const NOTE = { id: 'one', text: 'hello' };

interface Life extends AsyncDisposable {
  readonly sidecar: SidecarProcess;
  prepare(): Promise<string>;
  /** `done`, or the code of the error. */
  confirm(planId: string): Promise<string>;
  execute(): Promise<string>;
  state(planId: string): Promise<Operation_State | undefined>;
  steps(planId: string): Promise<readonly Step_State[]>;
  kill(): Promise<void>;
}

interface Home extends AsyncDisposable {
  readonly upstream: Upstream;
  /** What the remote does with a request; another one from now on. */
  answer: Answer;
  effects(): number;
  /** A process on the folder of the ones before. */
  live(): Promise<Life>;
}

async function makeHome(): Promise<Home> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-killed-'));
  mkdirSync(join(directory, 'credentials', 'postern-flow'), { recursive: true });
  writeFileSync(join(directory, 'credentials', 'postern-flow', 'token'), 'a-token-of-the-test');
  const upstream = await startUpstream((request, response) => home.answer(request, response));
  writeFileSync(join(directory, 'contracts.yaml'), CONTRACTS.replaceAll(/\bUPSTREAM\b/g, `http://127.0.0.1:${upstream.port}`));
  const home: Home = {
    upstream,
    answer: open,
    effects: () => upstream.requests.filter(({ method }) => method === 'POST').length,
    live: () => startLife(directory),
    [Symbol.asyncDispose]: async () => {
      await upstream[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return home;
}

async function startLife(directory: string): Promise<Life> {
  const sidecar = await startSidecarProcess({
    contracts: [join(directory, 'contracts.yaml')],
    credentials: join(directory, 'credentials'),
    flags: ['--log-level', 'debug', '--state', join(directory, 'state')],
  });
  const connection = connect(sidecar.address);
  const client = connection.client(ActionService);
  const argumentsJson = new TextEncoder().encode(JSON.stringify(NOTE));
  const ended = async (events: AsyncIterable<{ event: { case?: string | undefined } }>) => {
    try {
      for await (const { event } of events) if (event.case === 'result') return 'done';
      return 'nothing';
    } catch (thrown) {
      return PosternError.from(thrown).reason;
    }
  };
  const close = async () => {
    connection.close();
    await sidecar[Symbol.asyncDispose]();
  };
  return {
    sidecar,
    prepare: async () => (await client.prepare({ action: 'put_note', argumentsJson })).planId,
    confirm: (planId) => ended(client.confirm({ planId })),
    execute: () => ended(client.execute({ action: 'put_note', argumentsJson })),
    state: async (operationId) => (await client.getOperation({ operationId })).operation?.state,
    steps: async (operationId) => ((await client.getOperation({ operationId })).operation?.steps ?? []).map(({ state }) => state),
    kill: async () => {
      process.kill(sidecar.pid, 'SIGKILL');
      await close();
    },
    [Symbol.asyncDispose]: close,
  };
}

const open: Answer = ({ method }, response) => sendJson(response, 200, method === 'GET' ? { id: 'one', state: 'open' } : { id: 'one' });

test('killed before anything was sent: the plan is there, and is done once', async () => {
  await using home = await makeHome();
  const first = await home.live();
  const planId = await first.prepare();
  await first.kill();
  await using second = await home.live();
  assert.equal(await second.state(planId), Operation_State.PLANNED);
  assert.equal(await second.confirm(planId), 'done');
  assert.equal(await second.confirm(planId), 'done', 'again it is told, not done');
  assert.equal(home.effects(), 1);
});

test('killed while the target is read again: nothing was sent, and it can begin again', async () => {
  await using home = await makeHome();
  const first = await home.live();
  const planId = await first.prepare();
  const reading = Promise.withResolvers<void>();
  home.answer = () => reading.resolve();
  const call = first.confirm(planId);
  await reading.promise;
  await first.kill();
  await call;
  home.answer = open;
  await using second = await home.live();
  assert.equal(await second.state(planId), Operation_State.PLANNED);
  assert.equal(await second.confirm(planId), 'done');
  assert.equal(home.effects(), 1);
});

test('killed after the remote had the request: unknown, and neither it nor an equal call is sent again', async () => {
  await using home = await makeHome();
  const first = await home.live();
  const planId = await first.prepare();
  const arrived = Promise.withResolvers<void>();
  home.answer = (request, response) => (request.method === 'GET' ? open(request, response) : arrived.resolve());
  const call = first.confirm(planId);
  await arrived.promise;
  await first.kill();
  await call;
  home.answer = open;
  await using second = await home.live();
  assert.equal(await second.state(planId), Operation_State.UNKNOWN);
  assert.deepEqual(await second.steps(planId), [Step_State.UNKNOWN]);
  assert.equal(await second.confirm(planId), 'OUTCOME_UNKNOWN');
  assert.equal(await second.execute(), 'OUTCOME_UNKNOWN');
  assert.equal(home.effects(), 1);
});

test('killed after the caller was told: it is told the same again', async () => {
  await using home = await makeHome();
  const first = await home.live();
  const planId = await first.prepare();
  assert.equal(await first.confirm(planId), 'done');
  await first.kill();
  await using second = await home.live();
  assert.equal(await second.state(planId), Operation_State.DONE);
  assert.equal(await second.confirm(planId), 'done');
  assert.equal(home.effects(), 1);
});

test('killed at any moment of a call: done once, not done, or unknown, and the remote agrees', async () => {
  await using home = await makeHome();
  for (let round = 0; round < 6; round += 1) {
    const before = home.effects();
    const first = await home.live();
    // An operation left in doubt by the round before would hold this one.
    const planId = await first.prepare();
    const call = first.confirm(planId);
    await new Promise((resolve) => setTimeout(resolve, round * 4));
    await first.kill();
    const told = await call;
    await using second = await home.live();
    const state = await second.state(planId);
    const sent = home.effects() - before;
    assert.ok(sent <= 1, `round ${round}: sent ${sent} times`);
    if (told === 'done') assert.equal(state, Operation_State.DONE, `round ${round}: told done`);
    if (state === Operation_State.DONE) assert.equal(sent, 1, `round ${round}: done`);
    if (state === Operation_State.PLANNED || state === Operation_State.FAILED) assert.equal(sent, 0, `round ${round}: not done`);
    if (state === Operation_State.PLANNED) {
      assert.equal(await second.confirm(planId), 'done');
      assert.equal(home.effects() - before, 1);
    }
    // What is in doubt stays so, and its equals are held.
    if (state === Operation_State.UNKNOWN) {
      assert.equal(await second.execute(), 'OUTCOME_UNKNOWN');
      return;
    }
  }
});
