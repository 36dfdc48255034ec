/**
 * Goal: whoever calls learns the truth when the journal cannot be written, and only effects suffer: nothing is sent that was not written down
 * first, and what was sent and cannot be written down is unknown. Method: a whole sidecar whose volume is really full, or whose kernel reports
 * an error or does not answer, from a moment on and until it does again (strace attached to the running process).
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Operation_State } from '#proto/postern/v1/action_pb.ts';
import { FREE, READ_NOTE } from '#test/sidecar/call/effect-rig.ts';
import { attachFault, NO_STRACE } from './attach-fault.ts';
import { contractFile } from './contract-file.ts';
import { type Answer, type Stage, sendJson, startStage, startUpstream, textAt, type Upstream } from './stage.ts';

const home = mkdtempSync(join(tmpdir(), 'postern-journal-faults-'));
after(() => rmSync(home, { recursive: true, force: true }));

const isRoot = process.getuid?.() === 0;
const namespaces = spawnSync('unshare', [...(isRoot ? [] : ['--user', '--map-root-user']), '--mount', 'true']).status === 0;

interface Scene extends AsyncDisposable {
  readonly upstream: Upstream;
  readonly state: string;
  /** What the remote does with a write, from now on. */
  onWrite: Answer;
  start(under?: readonly string[]): Promise<Stage>;
  /** Requests that change something. */
  effects(): number;
}

async function openScene(name: string): Promise<Scene> {
  const state = join(home, name);
  mkdirSync(state);
  const upstream = await startUpstream((request, response) =>
    request.method === 'GET' ? sendJson(response, 200, { id: 'one', state: 'open' }) : scene.onWrite(request, response),
  );
  const scene: Scene = {
    upstream,
    state,
    onWrite: (_request, response) => sendJson(response, 200, { id: 'one' }),
    start: (under) =>
      startStage({
        contracts: contractFile({ 'put-note': FREE, 'read-note': READ_NOTE }),
        upstreamPort: upstream.port,
        credentials: { 'postern-flow/token': 'a-token-of-the-test' },
        flags: ['--state', state],
        ...(under === undefined ? {} : { under }),
      }),
    effects: () => upstream.requests.filter(({ method }) => method === 'POST').length,
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
  return scene;
}

const note = (text: string) => ({ id: 'one', text });
const ready = async ({ sidecar }: Stage) => (await textAt(sidecar.adminPort, '/readyz')).trim();

/** Effects are refused and nothing is sent; reads, and the answer about it, are as ever. */
async function assertRefused(stage: Stage, scene: Scene, text: string): Promise<void> {
  const before = scene.effects();
  const error = await stage.refused('put_note', note(text));
  assert.equal(error.reason, 'AUDIT_UNAVAILABLE', error.message);
  assert.equal(scene.effects(), before, 'nothing was sent');
  assert.equal((await stage.call('read_note', { id: 'one' })).status, 'ok');
  assert.equal(await ready(stage), 'journal');
  assert.match(await stage.metrics(), /^postern_journal_failed_state 1$/m);
}

/** The same process takes effects again; at most so long after the cause is gone as a call may wait before it tries the volume again. */
async function assertMended(stage: Stage, scene: Scene, text: string): Promise<void> {
  const before = scene.effects();
  for (let tries = 0; ; tries += 1) {
    const told = await stage.call('put_note', note(text)).then(
      () => 'done',
      ({ reason }) => reason,
    );
    if (told === 'done') break;
    assert.equal(told, 'AUDIT_UNAVAILABLE');
    assert.ok(tries < 200, 'effects are taken again');
    await sleep(100);
  }
  assert.equal(scene.effects(), before + 1);
  assert.equal(await ready(stage), 'ok');
  assert.match(await stage.metrics(), /^postern_journal_failed_state 0$/m);
}

test('journal: on a volume that is really full effects are AUDIT_UNAVAILABLE, reads go on, and with room they work again (AUD-08)', {
  skip: namespaces ? false : 'namespaces are not allowed here',
}, async () => {
  await using scene = await openScene('full');
  const script = 'mount -t tmpfs -o size=4m tmpfs "$1" && shift && exec "$@"';
  const enter = ['unshare', ...(isRoot ? [] : ['--user', '--map-root-user']), '--mount'];
  await using stage = await scene.start([...enter, 'sh', '-c', script, 'sh', scene.state]);
  const filler = join('/proc', String(stage.sidecar.pid), 'root', scene.state, 'filler');
  fill(filler);
  await assertRefused(stage, scene, 'no room');
  rmSync(filler);
  await assertMended(stage, scene, 'room again');
  // The room of a segment is taken before its first record, so that a volume that fills up takes nothing back from who is under way.
  scene.onWrite = (_request, response) => {
    fill(filler);
    sendJson(response, 200, { id: 'one' });
  };
  await assertMended(stage, scene, 'filled while it ran');
  rmSync(filler);
});

function fill(path: string): void {
  try {
    writeFileSync(path, Buffer.alloc(16 * 1024 * 1024, 1));
    assert.fail('the volume took more than it has');
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC');
  }
}

test('journal: while its volume reports errors effects are AUDIT_UNAVAILABLE, and work again without a restart (AUD-10)', {
  skip: NO_STRACE,
}, async () => {
  await using scene = await openScene('errors');
  await using stage = await scene.start();
  await assertMended(stage, scene, 'before');
  const mend = await attachFault(stage, join(scene.state, 'journal'), 'error=EIO');
  await assertRefused(stage, scene, 'error');
  await mend();
  await assertMended(stage, scene, 'after');
});

test('journal: while its volume does not answer an effect is refused in time with nothing sent, and others at once (AUD-15)', {
  skip: NO_STRACE,
}, async () => {
  await using scene = await openScene('hangs');
  await using stage = await scene.start();
  await assertMended(stage, scene, 'before');
  const mend = await attachFault(stage, join(scene.state, 'journal'), 'delay_enter=12000000');
  await assertRefused(stage, scene, 'hangs');
  await assertRefused(stage, scene, 'hangs still');
  await mend();
  await assertMended(stage, scene, 'after');
});

test('journal: what was sent and can no longer be written down is OUTCOME_UNKNOWN, held, and still so after a restart (AUD-10, AUD-14)', {
  skip: NO_STRACE,
}, async () => {
  await using scene = await openScene('between');
  const first = await scene.start();
  let mend: (() => Promise<void>) | undefined;
  scene.onWrite = async (_request, response) => {
    mend = await attachFault(first, join(scene.state, 'journal'), 'error=EIO');
    sendJson(response, 200, { id: 'one' });
  };
  const error = await first.refused('put_note', note('in between'));
  assert.equal(error.reason, 'OUTCOME_UNKNOWN');
  await mend?.();
  const operationId = error.operationId ?? '';
  assert.equal((await first.refused('put_note', note('in between'))).reason, 'OUTCOME_UNKNOWN');
  await first[Symbol.asyncDispose]();
  scene.onWrite = (_request, response) => sendJson(response, 200, { id: 'one' });
  await using second = await scene.start();
  const { operation } = await second.client.getOperation({ operationId });
  assert.equal(operation?.state, Operation_State.UNKNOWN);
  assert.equal((await second.refused('put_note', note('in between'))).reason, 'OUTCOME_UNKNOWN');
  assert.equal(scene.effects(), 1);
  await assertMended(second, scene, 'another');
});
