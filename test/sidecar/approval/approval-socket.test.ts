/**
 * Goal: nobody but the owner of the socket decides. Method: the real service on a real socket, the real command, and a process of
 * another user that tries to connect from the moment the path is there.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { ApprovalService, Fate, Verdict, type WatchResponse } from '#proto/postern/approval/v1/approval_pb.ts';
import { approverName, openApprovalSocket } from '#sidecar/approval/approval-socket.ts';
import { LocalDecider } from '#sidecar/approval/local-decider.ts';
import { approvalService } from '#sidecar/serve/approval-service.ts';
import { MemoryJournal } from '#test/sidecar/journal/memory-journal.ts';
import { ARGS, alternativeOf, contract, intentOf, questionOf, recordOf } from './question-of.ts';

const root = mkdtempSync(join(tmpdir(), 'postern-socket-'));
const closers: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of closers.reverse()) await close();
  rmSync(root, { recursive: true, force: true });
});

let next = 0;
async function serve() {
  next += 1;
  const path = join(root, `${next}.sock`);
  const journal = new MemoryJournal(systemClock);
  const decider = new LocalDecider({ journal, clock: systemClock, reachable: true, contractOf: () => contract });
  const stopping = new AbortController();
  const socket = await openApprovalSocket(path, (server) =>
    server.add(ApprovalService, approvalService({ decider, approver: approverName(), stopping: stopping.signal })),
  );
  const connection = connect(`unix:${path}`);
  let open = true;
  const close = async () => {
    if (!open) return;
    open = false;
    stopping.abort();
    connection.close();
    await socket.close();
    decider.close();
  };
  closers.push(close);
  const ask = async (more: Parameters<typeof questionOf>[1] = {}) => {
    const plain = questionOf(systemClock, more);
    const question = { ...plain, alternatives: [alternativeOf(systemClock, plain.name, { ...ARGS, amount: 5 })] };
    await journal.plan(recordOf(question));
    await decider.ask(question);
    return question;
  };
  return { path, decider, journal, client: connection.client(ApprovalService), ask, close };
}

test('approval socket: has mode 0600 and is gone when it closes', async () => {
  const stage = await serve();
  assert.equal(lstatSync(stage.path).mode & 0o777, 0o600);
  await stage.close();
  assert.equal(lstatSync(stage.path, { throwIfNoEntry: false }), undefined);
});

test('approval socket: another user cannot connect, from its first moment on (APR-04)', {
  skip: process.getuid?.() !== 0 && 'only root can become another user',
}, async () => {
  // The folder lets others pass, so that the socket alone keeps them out.
  chmodSync(root, 0o711);
  const path = join(root, `${next + 1}.sock`);
  const program = `
    const net = require('net');
    const errors = {};
    const end = Date.now() + 20000;
    const attempt = () => {
      const socket = net.connect(${JSON.stringify(path)});
      socket.on('connect', () => { console.log('CONNECTED'); process.exit(); });
      socket.on('error', ({ code }) => {
        errors[code] = (errors[code] ?? 0) + 1;
        if (errors.EACCES >= 50 || Date.now() > end) { console.log(JSON.stringify(errors)); process.exit(); }
        setImmediate(attempt);
      });
    };
    console.log('READY');
    attempt();`;
  const child = spawn(process.execPath, ['-e', program], { uid: 65_534, gid: 65_534, cwd: '/', env: {} });
  let out = '';
  const ready = Promise.withResolvers<void>();
  child.stdout.on('data', (chunk) => {
    out += String(chunk);
    if (out.includes('READY')) ready.resolve();
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  await ready.promise;
  await serve();
  await ended;
  assert.doesNotMatch(out, /CONNECTED/);
  assert.match(out, /EACCES/);
});

test('approval socket: a decision names the digest of the card, and is recorded under the owner of the socket', async () => {
  const { client, decider, ask } = await serve();
  const question = await ask();
  const [shown] = (await client.list({})).questions;
  assert.equal(shown?.card, question.card);
  assert.equal(shown?.cardDigest, question.cardDigest);
  const refused = async (request: Parameters<typeof client.decide>[0], path: string) => {
    const error = await client.decide(request).then(() => undefined, PosternError.from);
    assert.equal(error?.reason, 'INVALID_ARGUMENT');
    assert.equal(error?.fields[0]?.path, path);
  };
  const { name } = question;
  await refused({ name, verdict: Verdict.APPROVED }, '/card_digest');
  await refused({ name, verdict: Verdict.DENIED }, '/card_digest');
  await refused({ name, verdict: Verdict.APPROVED, cardDigest: `sha256:${'0'.repeat(64)}` }, '/card_digest');
  await refused({ name, cardDigest: question.cardDigest }, '/verdict');
  await refused({ name, verdict: Verdict.APPROVED, cardDigest: question.cardDigest, alternative: 'other' }, '/alternative');
  await refused(
    { name, verdict: Verdict.APPROVED, cardDigest: question.cardDigest, reason: 'x'.repeat(limits.approvalReasonCharsMax + 1) },
    '/reason',
  );
  assert.equal(decider.state(name)?.kind, 'waiting');
  const { approver } = await client.decide({ name, verdict: Verdict.APPROVED, cardDigest: question.cardDigest, reason: 'read it' });
  assert.equal(approver, approverName());
  assert.match(approver, /uid \d+/);
  const state = decider.state(name);
  assert.ok(state?.kind === 'decided' && state.decision.verdict === 'approved' && state.decision.approver === approver);
});

test('approval socket: a watch shows what waits at once and after every change, and ends with the sidecar', async () => {
  const stage = await serve();
  const watch = stage.client.watch({})[Symbol.asyncIterator]();
  const until = async (told: (shown: WatchResponse) => boolean) => {
    for (;;) {
      const { value, done } = await watch.next();
      assert.ok(done !== true, 'the watch ended');
      if (told(value)) return;
    }
  };
  await until(({ questions }) => questions.length === 0);
  const question = await stage.ask();
  await until(({ questions }) => questions[0]?.name === question.name && questions[0].alternatives.length === 1);
  await stage.client.decide({ name: question.name, verdict: Verdict.DENIED, cardDigest: question.cardDigest });
  await until(({ questions }) => questions.length === 0);

  const sent = questionOf(systemClock, { args: { ...ARGS, amount: 7 } });
  await stage.journal.plan(recordOf(sent));
  await stage.journal.begin(sent.operationId);
  await stage.decider.admit(intentOf(sent));
  await stage.journal.intent(sent.operationId, 0);
  await stage.journal.step(sent.operationId, 0, 'unknown');
  await stage.journal.end(sent.operationId, 'unknown', {});
  await stage.decider.settled(sent.operationId, 'unknown');
  await until(({ unknown }) => unknown[0]?.operationId === sent.operationId && unknown[0].card === sent.card);
  const { resolvedBy } = await stage.client.resolve({ operationId: sent.operationId, fate: Fate.DONE, reason: 'the ledger has it' });
  assert.match(resolvedBy, /the ledger has it/);
  await until(({ unknown }) => unknown.length === 0);
  assert.equal(stage.journal.get(sent.operationId)?.phase, 'done');

  const end = watch.next().then(
    ({ done }) => done === true,
    () => true,
  );
  await stage.close();
  assert.equal(await end, true);
});
