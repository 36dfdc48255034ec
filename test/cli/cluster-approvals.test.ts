/**
 * Goal: a person decides with `kubectl postern` while no part of Postern runs. Method: a real kube-apiserver with the CRDs and the chart's
 * policies, the program as a process, people as ServiceAccounts of another namespace with the rights of their role.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { approvalRow, stateOf } from '#cli/cluster-approvals.ts';
import { chosenHold } from '#cli/cluster-resolve.ts';
import { renderTable } from '#cli/table.ts';
import type { ActionApproval } from '#core/resource/gen/action-approval.ts';
import { expectHonest, HOSTILE_TEXTS } from '#test/core/encoding/hostile-text.ts';
import {
  account,
  allow,
  expectAllowed,
  type GuardedCluster,
  operator,
  startGuardedCluster,
  until,
} from '#test/operator/guard/guarded-cluster.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Ran, run } from './run-postern.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const PLUGIN = join(import.meta.dirname, '..', '..', 'cli', 'kubectl-postern.mjs');
const APPROVALS = '/apis/postern.dev/v1alpha1/namespaces/agents/actionapprovals';
const digest = (digit: string) => `sha256:${digit.repeat(64)}`;
const OPERATION = `op_${'a1b2c3d4e5'.repeat(3).slice(0, 26)}`;
const NAME = OPERATION.replace('_', '-');
const HOUR_MS = 3_600_000;

let cluster: GuardedCluster | undefined;
let folder = '';
const running = () => cluster ?? assert.fail('the API server did not start');

before(
  async () => {
    if (skip !== false) return;
    folder = mkdtempSync(join(tmpdir(), 'postern-approve-cli-'));
    cluster = await startGuardedCluster();
    const { call } = cluster;
    const everything = ['actionapprovals', 'actionapprovals/status', 'actioncontracts', 'actioncontracts/status'];
    await allow(call, 'agents', operator, { apiGroups: ['postern.dev'], resources: everything, verbs: ['*'] });
    const decide = [
      { apiGroups: ['postern.dev'], resources: ['actionapprovals'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['postern.dev'], resources: ['actionapprovals/status'], verbs: ['get', 'patch', 'update'] },
      { apiGroups: ['postern.dev'], resources: ['actioncontracts'], verbs: ['get', 'list', 'watch'] },
    ];
    const approve = { apiGroups: ['postern.dev'], resources: ['actioncontracts'], verbs: ['approve'] };
    for (const [namespace, name, rules] of [
      ['plain', 'ada', [...decide, approve]],
      ['plain', 'grace', decide],
      ['agents', 'release-bot', [...decide, { ...approve, resourceNames: ['deploy-service'] }]],
    ] as const) {
      writeKubeconfig(name, await cluster.kube.createServiceAccountToken(namespace, name));
      await allow(call, 'agents', account(namespace, name), ...rules);
    }
    for (const name of ['ada', 'grace', 'release-bot'])
      await until(`${name} may list`, async () => (await plugin(['approvals'], name)).code === 0);
  },
  { timeout: 240_000 },
);

after(async () => {
  await cluster?.[Symbol.asyncDispose]();
  if (folder !== '') rmSync(folder, { recursive: true });
});

function writeKubeconfig(name: string, token: string): void {
  const { url, caPem } = running().kube;
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'agents' } }],
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } }],
    users: [{ name: 'test', user: { token } }],
  };
  writeFileSync(join(folder, name), JSON.stringify(config));
}

function plugin(args: readonly string[], user = 'ada'): Promise<Ran> {
  return run(process.execPath, [PLUGIN, ...args], { KUBECONFIG: join(folder, user) });
}

const CARD = 'Deploy version 2.14.3 of api to production\n  reason      the fix is in\n';

function spec(more: Partial<ActionApproval['spec']> = {}): ActionApproval['spec'] {
  return {
    purpose: 'Call',
    session: { name: 'release-bot-1', uid: '01234567-89ab-cdef-0123-456789abcdef' },
    serviceAccount: 'release-bot',
    contract: 'deploy-service',
    action: 'deploy_service',
    revision: digest('1'),
    argumentsDigest: digest('2'),
    planDigest: digest('3'),
    operationId: OPERATION,
    card: CARD,
    cardDigest: digest('4'),
    alternatives: [
      {
        name: 'retry-longer',
        card: 'Ask once more, with ten minutes\n',
        cardDigest: digest('5'),
        planDigest: digest('6'),
        argumentsDigest: digest('2'),
      },
    ],
    expiresAt: new Date(Date.now() + HOUR_MS).toISOString().replace(/\.\d+Z$/, 'Z'),
    ...more,
  };
}

/** As the operator makes it; `state`: as it has written, before it went down. */
async function ask(name: string, more: Partial<ActionApproval['spec']> = {}, state?: string): Promise<void> {
  const { call } = running();
  expectAllowed(
    await call(
      'POST',
      APPROVALS,
      { apiVersion: 'postern.dev/v1alpha1', kind: 'ActionApproval', metadata: { name }, spec: spec(more) },
      { as: operator },
    ),
  );
  if (state !== undefined) expectAllowed(await call('PATCH', `${APPROVALS}/${name}/status`, { status: { state } }, { as: operator }));
}

async function decisionOf(name: string): Promise<Record<string, string> | undefined> {
  return (await running().call('GET', `${APPROVALS}/${name}`)).body.status?.decision;
}

test('kubectl postern approve: shows the card, and writes the decision under the own name and the digest shown', { skip }, async () => {
  await ask(NAME);
  const { code, out, err } = await plugin(['approve', NAME, '--yes', '--reason', 'release window']);
  assert.equal(code, 0, err);
  assert.match(out, /^Deploy version 2\.14\.3 of api to production\n {2}reason {6}the fix is in\n {2}card {8}sha256:4{64}/);
  assert.match(out, /Approved by system:serviceaccount:plain:ada\. It runs when the agent calls again\.\n$/);
  assert.deepEqual(await decisionOf(NAME), {
    approver: 'system:serviceaccount:plain:ada',
    verdict: 'Approved',
    cardDigest: digest('4'),
    reason: 'release window',
  });
});

test('kubectl postern approve: a decision is made once, and says who made it (APR-19)', { skip }, async () => {
  for (const args of [
    ['approve', NAME, '--yes'],
    ['deny', NAME],
  ]) {
    const { code, err } = await plugin(args);
    assert.equal(code, 2);
    assert.match(err, /is decided: Approved by system:serviceaccount:plain:ada/);
  }
});

test('kubectl postern approve: an alternative is decided on by its own card', { skip }, async () => {
  await ask('op-alternative', {}, 'Waiting');
  const wrong = await plugin(['approve', 'op-alternative', '--alternative', 'abandon', '--yes']);
  assert.match(wrong.err, /no alternative abandon\n {2}Choose one of: retry-longer/);
  const { code, out } = await plugin(['approve', 'op-alternative', '--alternative', 'retry-longer', '--card-digest', digest('5')]);
  assert.equal(code, 0);
  assert.match(out, /^Ask once more, with ten minutes/);
  const { alternative, cardDigest } = (await decisionOf('op-alternative')) ?? {};
  assert.deepEqual([alternative, cardDigest], ['retry-longer', digest('5')]);
});

test('kubectl postern approve: without a terminal, or with the digest of another card, decides nothing', { skip }, async () => {
  await ask('op-quiet');
  assert.match((await plugin(['approve', 'op-quiet'])).err, /nobody can be asked/);
  const other = await plugin(['approve', 'op-quiet', '--card-digest', digest('9')]);
  assert.equal(other.code, 2);
  assert.match(other.err, /another one than --card-digest says/);
  assert.equal(await decisionOf('op-quiet'), undefined);
});

test('kubectl postern deny: refuses, with the reason for the agent', { skip }, async () => {
  await ask('op-deny');
  const { code, out } = await plugin(['deny', 'op-deny', '--reason', 'wrong environment']);
  assert.equal(code, 0);
  assert.match(out, /^Denied by system:serviceaccount:plain:ada: Deploy version/);
  assert.equal((await decisionOf('op-deny'))?.verdict, 'Denied');
  assert.match((await plugin(['deny', 'op-quiet', '--reason', 'x'.repeat(501)])).err, /longer than 500 characters/);
});

test('APR-05: without the verb approve nothing is written, and the words say whom to ask', { skip }, async () => {
  await ask('op-grace');
  const { code, err } = await plugin(['approve', 'op-grace', '--yes'], 'grace');
  assert.equal(code, 1);
  assert.match(err, /system:serviceaccount:plain:grace may not approve calls of deploy-service in agents/);
  assert.match(err, /role postern-approver/);
  assert.equal(await decisionOf('op-grace'), undefined);
});

test('APR-04: who asks does not decide, also with the verb by name', { skip }, async () => {
  const { code, err } = await plugin(['approve', 'op-grace', '--yes'], 'release-bot');
  assert.equal(code, 1);
  assert.match(err, /release-bot is who asks, and an agent never decides about itself/);
});

test('kubectl postern approve: what expired, is gone or is of the other kind says so', { skip }, async () => {
  await ask('op-late', { expiresAt: '2026-01-01T00:00:00Z' });
  assert.match((await plugin(['approve', 'op-late', '--yes'])).err, /op-late expired \d+[hd] ago/);
  assert.match((await plugin(['approve', 'typo', '--yes'])).err, /there is no approval typo in agents/);
  await ask('hold-kind', { purpose: 'Resolve' }, 'Waiting');
  assert.match((await plugin(['approve', 'hold-kind', '--yes'])).err, /kubectl postern resolve/);
  assert.match((await plugin(['resolve', NAME, '--done'])).err, /kubectl postern approve or deny/);
});

test('kubectl postern resolve: finds the operation by its id, and says what became of it', { skip }, async () => {
  const operationId = `op_${'z'.repeat(26)}`;
  await ask('hold-operation', { purpose: 'Resolve', operationId }, 'Waiting');
  assert.match((await plugin(['resolve', operationId])).err, /say either --done or --not-done/);
  const { code, out } = await plugin(['resolve', operationId, '--not-done', '--reason', 'no such run']);
  assert.equal(code, 0);
  assert.match(out, /Not done, says system:serviceaccount:plain:ada\.\n$/);
  assert.equal((await decisionOf('hold-operation'))?.verdict, 'NotDone');
  assert.match((await plugin(['resolve', `op_${'y'.repeat(26)}`, '--done'])).err, /no operation op_y+ of unknown outcome is here/);
});

test('kubectl postern resolve: an operation that is under way cannot be resolved yet', { skip }, async () => {
  await ask('hold-running', { purpose: 'Resolve', operationId: `op_${'r'.repeat(26)}` });
  assert.match((await plugin(['resolve', 'hold-running', '--done'])).err, /still under way/);
});

test('kubectl postern approvals: lists what waits, one with its alternatives, and as JSON', { skip }, async () => {
  const { out } = await plugin(['approvals']);
  assert.match(out, /^APPROVAL +ASKS +ACTION +ACCOUNT +STATE +BY +AGE +EXPIRES IN +CARD\n/);
  assert.match(
    out,
    /op-quiet +may it run\? +deploy_service +release-bot +Waiting +- +\S+ +\d+m +Deploy version 2\.14\.3 of api to production\n/,
  );
  assert.match(out, /hold-kind +was it done\?/);
  assert.doesNotMatch(out, /op-deny|op-late|hold-running/);
  assert.match((await plugin(['approvals', '--all'])).out, /op-deny .* Denied +system:serviceaccount:plain:ada/);
  const one = await plugin(['approvals', 'op-alternative']);
  assert.match(one.out, /\n\nOr --alternative retry-longer:\nAsk once more/);
  assert.match(one.out, /decided {5}Approved by system:serviceaccount:plain:ada/);
  const json = await plugin(['approvals', '-o', 'json']);
  assert.ok((JSON.parse(json.out) as ActionApproval[]).some(({ metadata }) => metadata.name === 'op-quiet'));
});

test('kubectl postern approve: a decision made between reading and writing is not written over', { skip }, async () => {
  await ask('op-race');
  const verdicts = ['approve', 'deny', 'approve', 'deny'].map((verb) =>
    plugin([verb, 'op-race', ...(verb === 'approve' ? ['--yes'] : [])]),
  );
  const codes = (await Promise.all(verdicts)).map(({ code }) => code);
  assert.equal(codes.filter((code) => code === 0).length, 1, String(codes));
});

for (const hostile of HOSTILE_TEXTS) {
  test(`kubectl postern approvals: no column shows what ${hostile.id} (${hostile.kind}) wants (APR-09, APR-18)`, () => {
    const { text } = hostile;
    const approval = {
      apiVersion: 'postern.dev/v1alpha1',
      kind: 'ActionApproval',
      metadata: { name: text, creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { ...spec(), action: text, serviceAccount: text, card: text },
      status: { state: text, decision: { approver: text, verdict: 'Approved', cardDigest: digest('4'), reason: text } },
    } as unknown as ActionApproval;
    const row = approvalRow(approval, Date.now());
    for (const cell of row) expectHonest(renderTable(['X'], [[cell]]), hostile);
    expectHonest(renderTable([...'123456789'], [row]), hostile);
  });
}

test('kubectl postern approvals: a question without an operator waits; an admitted operation does not', () => {
  const nowMs = Date.parse('2026-01-01T00:00:00Z');
  const waits = spec({ expiresAt: '2026-01-01T01:00:00Z' });
  assert.equal(stateOf({ spec: waits }, nowMs), 'Waiting');
  assert.equal(stateOf({ spec: { ...waits, purpose: 'Resolve' } }, nowMs), 'UnderWay');
  assert.equal(stateOf({ spec: waits }, nowMs + HOUR_MS), 'Expired');
  assert.equal(stateOf({ spec: waits, status: { state: 'Used' } }, nowMs), 'Used');
});

test('kubectl postern resolve: an operation is found by its id among holds alone', () => {
  const object = (name: string, more: Partial<ActionApproval['spec']>) => ({ metadata: { name }, spec: spec(more) }) as ActionApproval;
  const all = [object('op-call', {}), object('hold-1', { purpose: 'Resolve' })];
  assert.equal(chosenHold(all, OPERATION).metadata.name, 'hold-1');
});
