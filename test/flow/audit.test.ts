/**
 * A whole sidecar with an audit, beside an upstream that counts: what it did is in its chain, readable by the recipient alone, in the order in
 * which it had to be there - also where it was killed (AUD-14, AUD-25, AUD-26, LEAK-22).
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { generateX25519Identity, identityToRecipient } from 'age-encryption';
import type { WrittenRecord } from '#core/audit/record.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { ApprovalService, Verdict } from '#proto/postern/approval/v1/approval_pb.ts';
import { READ_NOTE, writeContract } from '#test/sidecar/call/effect-rig.ts';
import { type ReadRecord, readChain } from './audit-reading.ts';
import { contractFile } from './contract-file.ts';
import { type Answer, type Stage, sendJson, startStage, startUpstream } from './stage.ts';

const CONTRACTS = contractFile({
  'put-note': writeContract('  approval: {mode: None, because: a test}'),
  'ask-note': writeContract('  approval: {mode: EachCall}'),
  'read-note': READ_NOTE,
});
const CANARY = 'canary7credential5of4the2test';
const NOTE = { id: 'one', text: 'hello' };
const answerNote: Answer = (_request, response) => sendJson(response, 200, { id: 'one', state: 'open' });

interface Audited extends AsyncDisposable {
  readonly stage: Stage;
  readonly state: string;
  readonly sent: readonly { readonly method: string }[];
  records(): Promise<readonly ReadRecord[]>;
  /** Kills it, and starts it again on the same state. */
  again(): Promise<Stage>;
}

async function startAudited(answer: Answer = answerNote): Promise<Audited> {
  const upstream = await startUpstream((request, response) => answer(request, response));
  const state = mkdtempSync(join(tmpdir(), 'postern-audited-'));
  const identity = await generateX25519Identity();
  const recipient = await identityToRecipient(identity);
  const start = () =>
    startStage({
      contracts: CONTRACTS,
      upstreamPort: upstream.port,
      credentials: { 'postern-flow/token': CANARY },
      flags: ['--state', state, '--audit-recipient', recipient, '--approvals', join(state, 'approvals.sock')],
    });
  let stage = await start();
  return {
    get stage() {
      return stage;
    },
    state,
    sent: upstream.requests,
    records: () => readChain(join(state, 'audit'), identity),
    again: async () => {
      process.kill(stage.sidecar.pid, 'SIGKILL');
      await stage[Symbol.asyncDispose]();
      stage = await start();
      return stage;
    },
    [Symbol.asyncDispose]: async () => {
      await stage[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
      rmSync(state, { recursive: true, force: true });
    },
  };
}

function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((each) =>
    each.isFile() ? [join(each.parentPath, each.name)] : [],
  );
}

/** Until what is not waited for is there. */
async function eventually(audited: Audited, wanted: (records: readonly WrittenRecord[]) => boolean): Promise<readonly WrittenRecord[]> {
  for (let tries = 0; ; tries += 1) {
    const records = (await audited.records()).map(({ record }) => record);
    if (wanted(records)) return records;
    assert.ok(tries < 300, `the chain has only: ${records.map((each) => JSON.stringify(each)).join('\n')}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A person decides on the question that waits. */
async function decide({ state }: Audited, verdict: Verdict): Promise<void> {
  const connection = connect(`unix:${join(state, 'approvals.sock')}`);
  try {
    const people = connection.client(ApprovalService);
    const { questions } = await people.list({});
    const { name = '', cardDigest = '' } = questions[0] ?? {};
    await people.decide({ name, verdict, cardDigest });
  } finally {
    connection.close();
  }
}

const word = (record: WrittenRecord) => {
  if (record.record === 'session') return `session ${record.event}`;
  if (record.record === 'approval') return `approval ${record.event}`;
  if (record.record === 'request') return `request ${record.method} ${record.code}`;
  if (record.record === 'refused') return `refused ${record.code}`;
  if (record.record === 'outcome') return `outcome ${record.status}`;
  return record.record;
};

test('audit: what a session did is in its chain, in order, and readable by the recipient alone (AUD-25)', async () => {
  await using audited = await startAudited();
  const { stage, state } = audited;
  await stage.call('put_note', NOTE);
  await stage.call('read_note', { id: 'one' });
  const records = await eventually(audited, (all) => all.filter(({ record }) => record === 'outcome').length === 2);
  assert.deepEqual(records.map(word), ['session started', 'session bundle', 'intent', 'outcome ok', 'intent', 'outcome ok']);
  const intent = records.find((record) => record.record === 'intent');
  assert.deepEqual(intent?.arguments, NOTE);
  assert.equal(intent?.effect, 'Write');
  assert.deepEqual(intent?.target, { index: 0 });
  const disk = Buffer.concat(filesBelow(join(state, 'audit')).map((path) => readFileSync(path)));
  for (const text of ['put_note', 'hello', CANARY]) assert.equal(disk.includes(text), false, text);
  assert.equal(statSync(join(state, 'audit-key')).mode & 0o777, 0o600);
});

test('audit: every request and every end of one leaves a record (AUD-26)', async () => {
  await using audited = await startAudited();
  const { stage } = audited;
  const { client } = stage;
  const argumentsJson = Buffer.from(JSON.stringify(NOTE));
  await client.listActions({});
  await stage.refused('no_such_action');
  await stage.refused('put_note', { id: 'UPPER' });
  const asked = await stage.refused('ask_note', NOTE);
  assert.equal(asked.reason, 'APPROVAL_REQUIRED');
  await decide(audited, Verdict.DENIED);
  await stage.refused('ask_note', { id: 'one', text: 'hello' }, { operationId: asked.operationId ?? '' });
  await stage.refused('ask_note', { id: 'two', text: 'hello' });
  await decide(audited, Verdict.APPROVED);
  await stage.call('ask_note', { id: 'two', text: 'hello' });
  await stage.refused('put_note', {}, { raw: Buffer.from(`{"text":"${'x'.repeat(limits.argumentsBytesMax)}"}`) });
  const { planId } = await client.prepare({ action: 'put_note', argumentsJson });
  for await (const _ of client.confirm({ planId }));
  for await (const _ of client.confirm({ planId }));
  await client.getOperation({ operationId: planId });
  await client.getOperation({ operationId: `op_${'z'.repeat(26)}` }).catch(PosternError.from);
  await client.listOperations({});
  const wanted = [
    'request ListActions OK',
    'refused ACTION_UNKNOWN',
    'refused INVALID_ARGUMENT',
    'approval asked',
    'refused APPROVAL_REQUIRED',
    'approval denied',
    'refused APPROVAL_DENIED',
    'approval approved',
    'approval used',
    'request Prepare OK',
    'intent',
    'outcome ok',
    'replayed',
    'request GetOperation OK',
    'request GetOperation INVALID_ARGUMENT',
    'request ListOperations OK',
  ];
  await eventually(audited, (records) => wanted.every((each) => records.map(word).includes(each)));
});

test('audit: a credential that is sent as an argument is in no record, not even of the very first call (LEAK-22)', async () => {
  await using audited = await startAudited();
  await audited.stage.call('put_note', { id: 'one', text: `it is ${CANARY}` });
  const records = await audited.records();
  const lines = records.map(({ line }) => line).join('\n');
  assert.equal(lines.includes(CANARY), false);
  assert.match(lines, /"text":"it is \[masked\]"/);
});

test('audit: killed after the remote had the effect, its intent stands in the chain, and the next start says it is unknown (AUD-14)', async () => {
  const arrived = Promise.withResolvers<void>();
  await using audited = await startAudited(({ method }, response) => {
    if (method === 'GET') sendJson(response, 200, { id: 'one', state: 'open' });
    else arrived.resolve();
  });
  const call = audited.stage.refused('put_note', NOTE);
  await arrived.promise;
  await audited.again();
  await call;
  const records = await eventually(audited, (all) => all.some((record) => record.record === 'outcome'));
  const intent = records.findIndex(({ record }) => record === 'intent');
  const outcome = records.find((record) => record.record === 'outcome');
  assert.ok(intent >= 0);
  assert.equal(outcome?.status, 'unknown');
  assert.equal(outcome?.found, 'start');
});

test('audit: killed at any moment of an effect, what the remote had is in the chain (AUD-14)', async () => {
  await using audited = await startAudited();
  for (let round = 0; round < 5; round += 1) {
    const { stage } = audited;
    const text = `round ${round}`;
    void stage.refused('put_note', { id: 'one', text }).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, round * 3));
    await audited.again();
    const intents = (await audited.records()).filter(({ record }) => record.record === 'intent').length;
    const sent = audited.sent.filter(({ method }) => method === 'POST').length;
    assert.ok(sent <= intents, `round ${round}: ${sent} effects and ${intents} intents`);
  }
});

test('audit: told to stop it says so, signs the end and ships all of it', async () => {
  await using audited = await startAudited();
  await audited.stage.call('read_note', { id: 'one' });
  await audited.stage[Symbol.asyncDispose]();
  const records = (await audited.records()).map(({ record }) => word(record));
  assert.equal(records.at(-1), 'session ended');
  const stored = filesBelow(join(audited.state, 'audit-archive'));
  assert.ok(
    stored.some((path) => path.endsWith('.seg')),
    stored.join(' '),
  );
});
