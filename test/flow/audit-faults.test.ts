/**
 * Goal: whoever calls learns the truth when the audit cannot be written: of an effect nothing is sent, of a read nothing is given; the same
 * process works again once the disk does, and ends in time when it never does. Method: as journal-faults.test.ts, under the chain's log.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { WrittenRecord } from '#core/audit/record.ts';
import { limits } from '#core/bounds/limits.ts';
import { FREE, READ_NOTE } from '#test/sidecar/call/effect-rig.ts';
import { attachFault, NO_STRACE } from './attach-fault.ts';
import { readChain } from './audit-reading.ts';
import { contractFile } from './contract-file.ts';
import { type Stage, sendJson, startStage, startUpstream, textAt, type Upstream } from './stage.ts';

const homes: string[] = [];
after(() => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

interface Scene extends AsyncDisposable {
  readonly upstream: Upstream;
  readonly log: string;
  start(): Promise<Stage>;
  records(): Promise<readonly WrittenRecord[]>;
  asked(method: string): number;
  /** What happens when the remote is asked, before it answers. */
  meanwhile: (method: string) => Promise<void>;
}

async function openScene(): Promise<Scene> {
  const state = mkdtempSync(join(tmpdir(), 'postern-audit-faults-'));
  homes.push(state);
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const upstream = await startUpstream(({ method }, response) => {
    void scene.meanwhile(method).then(() => sendJson(response, 200, { id: 'one', state: 'open' }));
  });
  const scene: Scene = {
    upstream,
    log: join(state, 'audit'),
    start: () =>
      startStage({
        contracts: contractFile({ 'put-note': FREE, 'read-note': READ_NOTE }),
        upstreamPort: upstream.port,
        credentials: { 'postern-flow/token': 'a-token-of-the-test' },
        flags: ['--state', state, '--audit-recipient', recipient],
      }),
    records: async () => (await readChain(join(state, 'audit'), identity)).map(({ record }) => record),
    asked: (method) => upstream.requests.filter((request) => request.method === method).length,
    meanwhile: async () => {},
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
  return scene;
}

const note = (text: string) => ({ id: 'one', text });
const ONE = { id: 'one' };

/** The disk is let go whatever comes: a process that waits for it cannot end. */
async function underFault(stage: Stage, { log }: Scene, fault: string, run: () => Promise<void>): Promise<void> {
  const mend = await attachFault(stage, log, fault);
  try {
    await run();
  } finally {
    await mend();
  }
}

/** Nothing is sent, nothing is given, and a probe and the numbers say why. */
async function assertRefused(stage: Stage, scene: Scene): Promise<void> {
  const before = scene.asked('POST');
  const effect = await stage.refused('put_note', note('while it does not write'));
  assert.equal(effect.reason, 'AUDIT_UNAVAILABLE', effect.message);
  assert.equal(effect.retryable, true);
  const read = await stage.refused('read_note', ONE);
  assert.equal(read.reason, 'AUDIT_UNAVAILABLE', read.message);
  assert.equal(scene.asked('POST'), before);
  assert.equal((await textAt(stage.sidecar.adminPort, '/readyz')).trim(), 'audit');
  assert.ok((await stage.metrics()).includes('\npostern_audit_fault_state 1\n'));
}

async function assertMended(stage: Stage, scene: Scene, text: string): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const told = await stage.call('put_note', note(text)).then(
      () => 'done',
      ({ reason }) => reason,
    );
    if (told === 'done') break;
    assert.equal(told, 'AUDIT_UNAVAILABLE');
    assert.ok(tries < 300, 'calls are taken again');
    await sleep(100);
  }
  await stage.call('read_note', ONE);
  for (let tries = 0; (await textAt(stage.sidecar.adminPort, '/readyz')).trim() !== 'ok'; tries += 1) {
    assert.ok(tries < 300, 'it is ready again');
    await sleep(100);
  }
  const intents = (await scene.records()).filter(({ record }) => record === 'intent');
  assert.ok(intents.length >= scene.asked('POST'), 'each effect has its intent');
}

test('audit: while its volume reports errors nothing is sent or given, and calls work again without a restart (AUD-08, AUD-10)', {
  skip: NO_STRACE,
}, async () => {
  await using scene = await openScene();
  await using stage = await scene.start();
  await assertMended(stage, scene, 'before');
  await underFault(stage, scene, 'error=ENOSPC', () => assertRefused(stage, scene));
  await assertMended(stage, scene, 'after');
});

test('audit: while its volume does not answer, calls are refused in time, and work again without a restart (AUD-15)', {
  skip: NO_STRACE,
}, async () => {
  await using scene = await openScene();
  await using stage = await scene.start();
  await assertMended(stage, scene, 'before');
  await underFault(stage, scene, 'delay_enter=12000000', async () => {
    await assertRefused(stage, scene);
    await assertRefused(stage, scene);
  });
  await assertMended(stage, scene, 'after');
});

test('audit: what was sent is told as it ended although its outcome cannot be written, and is written once it can (AUD-10)', {
  skip: NO_STRACE,
}, async () => {
  await using scene = await openScene();
  await using stage = await scene.start();
  await assertMended(stage, scene, 'before');
  let mend: (() => Promise<void>) | undefined;
  scene.meanwhile = async (method) => {
    if (method === 'POST') mend = await attachFault(stage, scene.log, 'error=EIO');
  };
  const answer = await stage.call('put_note', note('in between'));
  assert.equal(answer.status, 'ok');
  scene.meanwhile = async () => {};
  await mend?.();
  for (let tries = 0; ; tries += 1) {
    const records = await scene.records();
    const ended = records.some((record) => record.record === 'outcome' && record.operation_id === answer.operation_id);
    if (ended) break;
    assert.ok(tries < 300, 'the outcome is written');
    await sleep(100);
  }
});

test('audit: told to end while its volume does not answer, the process stops in time, and the next one goes on (AUD-15)', {
  skip: NO_STRACE,
}, async () => {
  await using scene = await openScene();
  const first = await scene.start();
  await assertMended(first, scene, 'before');
  const before = (await scene.records()).length;
  await underFault(first, scene, 'delay_enter=600000000', async () => {
    await assertRefused(first, scene);
    process.kill(first.sidecar.pid, 'SIGTERM');
    // A pod is killed after 30 s.
    const untilMs = performance.now() + limits.drainMsMax + limits.auditFlushMs;
    while (!first.sidecar.log().includes('"message":"stopped"')) {
      assert.ok(performance.now() < untilMs, 'it has stopped');
      await sleep(50);
    }
  });
  await first[Symbol.asyncDispose]();
  await using second = await scene.start();
  await assertMended(second, scene, 'after');
  assert.ok((await scene.records()).length > before);
});

test('audit: killed while a read runs, the next start says that its end is not known, once (AUD-14)', async () => {
  await using scene = await openScene();
  const first = await scene.start();
  const asked = Promise.withResolvers<void>();
  scene.meanwhile = () => {
    asked.resolve();
    return new Promise(() => {});
  };
  const call = first.refused('read_note', ONE);
  await asked.promise;
  for (let tries = 0; !(await scene.records()).some(({ record }) => record === 'intent'); tries += 1) {
    assert.ok(tries < 300, 'the intent is there');
    await sleep(20);
  }
  process.kill(first.sidecar.pid, 'SIGKILL');
  await first[Symbol.asyncDispose]();
  await call;
  for (let starts = 0; starts < 2; starts += 1) {
    const next = await scene.start();
    await next[Symbol.asyncDispose]();
  }
  const records = await scene.records();
  const intent = records.find((record) => record.record === 'intent');
  const outcomes = records.filter((record) => record.record === 'outcome');
  assert.equal(outcomes.length, 1);
  const { at: _at, ...outcome } = outcomes[0] ?? {};
  assert.deepEqual(outcome, {
    record: 'outcome',
    operation_id: intent?.operation_id,
    status: 'unknown',
    code: 'OUTCOME_UNKNOWN',
    found: 'start',
  });
});
