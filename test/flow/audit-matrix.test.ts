/**
 * Every way that a request can end leaves a record that says which (AUD-26): what the operator sends, what a remote does, what a caller does.
 * Method: whole sidecars, and their chains read by the recipient.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { WrittenRecord } from '#core/audit/record.ts';
import { State } from '#proto/postern/control/v1/control_pb.ts';
import { bundleOf } from '#test/fakes/operator.ts';
import { type Identity, makeIdentity } from '#test/sidecar/audit/chain-stage.ts';
import { FREE, READ_NOTE } from '#test/sidecar/call/effect-rig.ts';
import { readChain } from './audit-reading.ts';
import { contractFile, keysetList } from './contract-file.ts';
import { controlledRig, ONE } from './controlled-rig.ts';
import { eventually, podDirectory } from './controlled-stage.ts';
import { type Answer, sendJson, startStage, startUpstream } from './stage.ts';

function word(record: WrittenRecord): string {
  const action = 'action' in record ? `${record.action} ` : '';
  if (record.record === 'session') return `session ${record.event}${record.event === 'state' ? ` ${record.state}` : ''}`;
  if (record.record === 'outcome')
    return `outcome ${action}${record.status}${record.code === undefined ? '' : ` ${record.code}`}${record.incomplete_reasons === undefined ? '' : ` ${record.incomplete_reasons.join()}`}`;
  if (record.record === 'refused') return `refused ${action}${record.code}`;
  if (record.record === 'request') return `request ${record.method} ${record.code}`;
  return `${record.record} ${action}`.trim();
}

async function recorded(folder: string, { secret }: Identity, wanted: readonly string[]): Promise<readonly WrittenRecord[]> {
  let records: readonly WrittenRecord[] = [];
  await eventually(
    async () => {
      records = (await readChain(folder, secret)).map(({ record }) => record);
      const words = records.map(word);
      return wanted.every((each) => words.includes(each));
    },
    () => `${wanted.join('\n')}\namong\n${records.map(word).join('\n')}`,
  );
  return records;
}

test('audit: what an operator pushes, and each refusal that follows from it, is in the chain (AUD-26)', async () => {
  await using rig = await controlledRig();
  const identity = makeIdentity();
  const directory = podDirectory();
  const settings = { recipients: [identity.recipient], origin: 'postern.dev/audit/test/flow/uid-1', shipped: false, keepsIntents: false };
  await using master = await rig.operator({
    welcome: { case: 'welcome', value: { session: 'agent-1', namespace: 'flow', protocol: 3, heartbeatMs: 1_000n } },
    greeting: () => [{ case: 'auditSettings', value: settings }, rig.bundle],
  });
  {
    await using sidecar = await rig.sidecarOf(master, { directory });
    const stream = await master.stream(0);
    await sidecar.until('get_item', 'OK', ONE);
    for (const [state, code] of [
      [State.SUSPENDED, 'SESSION_SUSPENDED'],
      [State.REVOKED, 'SESSION_REVOKED'],
    ] as const) {
      await stream.send({ case: 'session', value: { state, because: 'a person said so' } });
      await sidecar.until('get_item', code, ONE);
      await stream.send({ case: 'session', value: { state: State.ACTIVE } });
      await sidecar.until('get_item', 'OK', ONE);
    }
    const waiting = rig.hold();
    const given = new AbortController();
    const call = sidecar.refused('list_rows', {}, { signal: given.signal });
    await eventually(async () => waiting() === 1, 'the second page to be asked');
    given.abort();
    await call;
    rig.release();
    await stream.send(
      bundleOf(rig.contracts((yaml) => yaml.replace('  action: list_rows\n', '  action: list_rows\n  suspended: {because: x}\n'))),
    );
    await sidecar.until('list_rows', 'SESSION_SUSPENDED');
    await sidecar.refused('list_rows');
  }
  const records = await recorded(join(directory, 'state', 'audit'), identity, [
    'session started',
    'session bundle',
    'session state Active',
    'session state Suspended',
    'refused get_item SESSION_SUSPENDED',
    'session state Revoked',
    'refused get_item SESSION_REVOKED',
    'outcome list_rows partial TIME_BUDGET_EXCEEDED,MORE_PAGES_AVAILABLE',
    'refused list_rows SESSION_SUSPENDED',
    'session ended',
  ]);
  const bundles = records.flatMap((record) => (record.record === 'session' && record.event === 'bundle' ? [record] : []));
  assert.equal(bundles.length, 2);
  assert.notEqual(bundles[0]?.bundle_revision, bundles[1]?.bundle_revision);
  const intents = records.flatMap((record) => (record.record === 'intent' ? [record.operation_id] : []));
  const outcomes = records.flatMap((record) => (record.record === 'outcome' ? [record.operation_id] : []));
  assert.deepEqual(outcomes.toSorted(), intents.toSorted(), 'each intent has one outcome');
  rmSync(directory, { recursive: true });
});

test('audit: what a remote does with a call is in its outcome (AUD-26)', async () => {
  let answer: Answer = (_request, response) => sendJson(response, 200, {});
  await using upstream = await startUpstream((request, response) => answer(request, response));
  const state = mkdtempSync(join(tmpdir(), 'postern-matrix-'));
  const identity = makeIdentity();
  await using stage = await startStage({
    contracts: contractFile({
      'put-note': FREE,
      'read-note': READ_NOTE,
      'list-rows': `
  summary: List all rows
  arguments: {type: object, additionalProperties: false, properties: {}}
  http: {credential: reader, method: GET, url: UPSTREAM/rows, query: {after: "$(next.after)"}}
${keysetList('limits: {pages: 5, items: 500, time: 5s}')}`,
    }),
    upstreamPort: upstream.port,
    credentials: { 'postern-flow/token': 'a-token-of-the-test' },
    flags: ['--state', state, '--audit-recipient', identity.recipient],
  });
  answer = (_request, response) => sendJson(response, 429, {}, { 'retry-after': '9999' });
  const limited = await stage.refused('read_note', ONE);
  answer = (_request, response) => sendJson(response, 500, {});
  const broken = await stage.refused('read_note', ONE);
  answer = (_request, response) => sendJson(response, 403, {});
  const refused = await stage.refused('put_note', { id: 'one', text: 'refused' });
  answer = (_request, response) => void response.destroy();
  const unknown = await stage.refused('put_note', { id: 'one', text: 'cut' });
  assert.equal(unknown.reason, 'OUTCOME_UNKNOWN');
  answer = ({ url }, response) =>
    url.searchParams.has('after') ? sendJson(response, 500, {}) : sendJson(response, 200, { items: [{ id: 1 }], next: 1 });
  const partial = await stage.call('list_rows');
  assert.equal(partial.status, 'partial');
  answer = () => {};
  const late = await stage.refused('read_note', ONE, { deadlineMs: 300 });
  await recorded(join(state, 'audit'), identity, [
    `outcome read_note failed ${limited.reason}`,
    `outcome read_note failed ${broken.reason}`,
    `outcome put_note failed ${refused.reason}`,
    'outcome put_note unknown OUTCOME_UNKNOWN',
    `outcome list_rows partial ${partial.completeness.incomplete_reasons.map(({ code }) => code).join()}`,
    `outcome read_note failed ${late.reason}`,
  ]);
  rmSync(state, { recursive: true });
});
