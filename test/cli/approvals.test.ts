/** `postern approvals`, `approve`, `deny` and `resolve` as the person at the terminal sees them, against the real service on a socket. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { socketPath } from '#cli/approval-connection.ts';
import { renderWaiting } from '#cli/approvals.ts';
import { renderCards } from '#cli/question-cards.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { ApprovalService, type Question as ShownQuestion, type UnknownOperation } from '#proto/postern/approval/v1/approval_pb.ts';
import { approverName, openApprovalSocket } from '#sidecar/approval/approval-socket.ts';
import { LocalDecider } from '#sidecar/approval/local-decider.ts';
import { approvalService } from '#sidecar/serve/approval-service.ts';
import { expectHonest, HOSTILE_TEXTS } from '#test/core/encoding/hostile-text.ts';
import { ARGS, alternativeOf, contract, intentOf, questionOf, recordOf } from '#test/sidecar/approval/question-of.ts';
import { MemoryJournal } from '#test/sidecar/journal/memory-journal.ts';
import { program, type Ran, run, runPostern } from './run-postern.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-people-'));
const path = join(directory, 'approvals.sock');
const journal = new MemoryJournal(systemClock);
const decider = new LocalDecider({ journal, clock: systemClock, reachable: true, contractOf: () => contract });
const stopping = new AbortController();
let close: () => Promise<void>;

before(async () => {
  const service = approvalService({ decider, approver: approverName(), stopping: stopping.signal });
  ({ close } = await openApprovalSocket(path, (server) => server.add(ApprovalService, service)));
});
after(async () => {
  stopping.abort();
  await close();
  decider.close();
  rmSync(directory, { recursive: true, force: true });
});

let amount = 10;
async function ask() {
  amount += 1;
  const plain = questionOf(systemClock, { args: { ...ARGS, amount } });
  const question = { ...plain, alternatives: [alternativeOf(systemClock, plain.name, { ...ARGS, amount: 5 })] };
  await journal.plan(recordOf(question));
  await decider.ask(question);
  return question;
}

/** As a person who has set the socket once. */
const postern = (...args: readonly string[]): Promise<Ran> => runPostern(args, { POSTERN_APPROVALS: path });

test('approvals: lists what waits with its sentence, and shows a card with its digest and its alternatives', async () => {
  assert.match((await postern('approvals')).out, /^Nothing waits for a person\.\n$/);
  const question = await ask();
  const listed = await postern('approvals');
  assert.equal(listed.code, 0);
  assert.match(listed.out, /^APPROVAL +ACTION +ASKED +EXPIRES IN +CARD\n/);
  assert.ok(listed.out.includes(question.name) && listed.out.includes(question.card.split('\n')[0] ?? '?'));
  const shown = await postern('approvals', question.name);
  for (const line of question.card.split('\n')) assert.ok(shown.out.includes(line.trimEnd()), line);
  assert.ok(shown.out.includes(question.cardDigest));
  assert.match(shown.out, /Or --alternative listed-only:/);
  const json = JSON.parse((await postern('approvals', '-o', 'json')).out);
  assert.equal(json.questions[0].card_digest, question.cardDigest);
  assert.deepEqual(json.unknown, []);
  await postern('deny', question.name);
});

test('approvals: --watch prints again when something changes', async () => {
  const child = spawn(process.execPath, [program, 'approvals', '--watch', '-o', 'json', '--socket', path], { env: {} });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse((await lines.next()).value ?? '{}').questions.length;
  assert.equal(await next(), 0);
  const question = await ask();
  assert.equal(await next(), 1);
  await postern('deny', question.name, '--reason', 'not today');
  assert.equal(await next(), 0);
  const ended = once(child, 'exit');
  child.kill('SIGINT');
  await ended;
});

test('approve: shows the card and asks; without a terminal it decides nothing unless the digest is given', async () => {
  const question = await ask();
  const unasked = await postern('approve', question.name);
  assert.equal(unasked.code, 2);
  assert.ok(unasked.out.includes(question.cardDigest), 'the card can be read');
  assert.match(unasked.err, /no terminal.*\n.*--card-digest/);
  const wrong = await postern('approve', question.name, '--card-digest', `sha256:${'0'.repeat(64)}`);
  assert.equal(wrong.code, 2);
  assert.deepEqual(decider.state(question.name), { kind: 'waiting' });

  const refused = await onTerminal(question.name, 'n');
  assert.match(refused.out, /Let exactly this run\?[\s\S]*Nothing was decided/);
  assert.deepEqual(decider.state(question.name), { kind: 'waiting' });

  const approved = await onTerminal(question.name, 'y');
  assert.match(approved.out, /Approved by .*\(uid \d+\)/);
  const state = decider.state(question.name);
  assert.ok(state?.kind === 'decided' && state.decision.verdict === 'approved' && state.decision.alternative === undefined);
});

test('approve: takes the digest that was read before, --yes, and an alternative by its name', async () => {
  const [first, second] = [await ask(), await ask()];
  assert.equal((await postern('approve', first.name, '--card-digest', first.cardDigest, '--reason', 'read it')).code, 0);
  const unknown = await postern('approve', second.name, '--alternative', 'none', '--yes');
  assert.match(unknown.err, /no alternative none\n.*listed-only/);
  const chosen = await postern('approve', second.name, '--alternative', 'listed-only', '--yes');
  assert.equal(chosen.code, 0);
  assert.ok(chosen.out.includes(second.alternatives[0]?.cardDigest ?? '?'), 'also with --yes the digest is printed');
  const state = decider.state(second.name);
  assert.ok(state?.kind === 'decided' && state.decision.verdict === 'approved' && state.decision.alternative === 'listed-only');
  const again = await postern('deny', second.name);
  assert.equal(again.code, 2);
  assert.match(again.err, /no question .* waits here\n.*it was decided/);
});

test('resolve: shows what was sent and takes one word about it', async () => {
  const sent = questionOf(systemClock, { args: { ...ARGS, amount: 7 } });
  await journal.plan(recordOf(sent));
  await journal.begin(sent.operationId);
  await decider.admit(intentOf(sent));
  await journal.intent(sent.operationId, 0);
  await journal.step(sent.operationId, 0, 'unknown');
  await journal.end(sent.operationId, 'unknown', {});
  await decider.settled(sent.operationId, 'unknown');
  assert.match((await postern('approvals')).out, new RegExp(`OUTCOME UNKNOWN.*\n${sent.operationId}`));
  assert.match((await postern('resolve', sent.operationId)).err, /either --done or --not-done/);
  assert.match((await postern('resolve', sent.operationId, '--done', '--not-done')).err, /either --done or --not-done/);
  assert.match((await postern('resolve', 'op_none', '--done')).err, new RegExp(`These are: ${sent.operationId}`));
  const told = await postern('resolve', sent.operationId, '--done', '--reason', 'the ledger has it');
  assert.equal(told.code, 0);
  assert.ok(told.out.includes(sent.card.split('\n')[0] ?? '?'));
  assert.equal(journal.get(sent.operationId)?.resolution?.verdict, 'done');
});

test('approvals: says where it looked and what to do when nobody listens, or this user may not', async () => {
  const nobody = await runPostern(['approvals', '--socket', join(directory, 'other.sock')]);
  assert.equal(nobody.code, 2);
  assert.match(nobody.err, /no sidecar takes decisions at .*other\.sock\n.*--approvals PATH/);
  assert.equal(socketPath({}, { XDG_RUNTIME_DIR: '/run/user/1000' }), '/run/user/1000/postern/approvals.sock');
  assert.equal(socketPath({}, {}), '/run/postern/approvals.sock');
  assert.equal(socketPath({ socket: '/a' }, { POSTERN_APPROVALS: '/b' }), '/a');
});

const FILES = ['--contracts', directory, '--credentials', directory];
const CONTROL = ['--control', '127.0.0.1:9', '--control-pin', `sha256:${'9f'.repeat(32)}`, '--control-token', join(directory, 'token')];
for (const [what, flags, said] of [
  ['a socket without a state folder', [...FILES, '--approvals', path], /--approvals needs --state\n.*must outlive a restart/],
  [
    'a socket beside an operator',
    [...CONTROL, '--credentials', directory, '--state', directory, '--approvals', path],
    /--approvals is for a sidecar without an operator\n.*kubectl postern approvals/,
  ],
] as const)
  test(`sidecar: refuses ${what}, with the cure`, async () => {
    const { code, err } = await runPostern(['sidecar', ...flags]);
    assert.equal(code, 2);
    assert.match(err, said);
  });

test('sidecar: does not start with a socket that others could replace, and says which folder and what to do', async () => {
  const open = join(directory, 'open');
  mkdirSync(open);
  chmodSync(open, 0o777);
  const contracts = fileURLToPath(new URL('../../examples/contracts/ssh-restart.yaml', import.meta.url));
  const flags = ['--contracts', contracts, '--credentials', directory, '--state', join(directory, 'state')];
  const ports = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];
  const { code, err } = await runPostern(['sidecar', ...flags, ...ports, '--approvals', join(open, 'a.sock')]);
  assert.equal(code, 2, err);
  assert.match(err, /cannot take decisions: others may write to the folder .*open\n.*mode 0700/);
});

for (const hostile of HOSTILE_TEXTS)
  test(`approvals: list and card are read as they are meant with ${hostile.id} ${hostile.kind} (APR-09)`, () => {
    // Arguments with half a pair are refused long before there is a card.
    const reason = hostile.text.isWellFormed() ? hostile.text : 'half a pair';
    const question = questionOf(systemClock, { args: { ...ARGS, reason } });
    const { name, operationId, card, cardDigest } = question;
    const times = { askedAtMs: 0n, expiresAtMs: 0n };
    const alternatives = [{ name: hostile.text, card, cardDigest }];
    const shown = { name, operationId, action: hostile.text, card, cardDigest, alternatives, ...times } as unknown as ShownQuestion;
    const lost = {
      operationId,
      action: hostile.text,
      card: '',
      argumentsDigest: hostile.text,
      plannedAtMs: 0n,
    } as unknown as UnknownOperation;
    expectHonest(renderCards(shown.name, shown), hostile);
    expectHonest(renderWaiting({ questions: [shown], unknown: [lost] }, 0), hostile);
  });

/** With a terminal of its own, as util-linux `script` gives one; `answer` is typed. */
function onTerminal(name: string, answer: string): Promise<Ran> {
  const command = [process.execPath, program, 'approve', name, '--socket', path].join(' ');
  return run('script', ['-qec', command, '/dev/null'], {}, `${answer}\n`);
}
