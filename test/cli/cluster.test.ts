/**
 * Goal: what a person gets from `kubectl postern`. Method: the program as a process under its plugin name, a real kube-apiserver with
 * the CRDs, a kubeconfig as people have it; once through the real kubectl.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { programPath, unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { type Ran, run } from './run-postern.ts';

const skip = await unavailable('etcd', 'kube-apiserver', 'kubectl');
const PLUGIN = join(import.meta.dirname, '..', '..', 'cli', 'kubectl-postern.mjs');
const POSTERN = '/apis/postern.dev/v1alpha1/namespaces/triage';
const UID = '01234567-89ab-cdef-0123-456789abcdef';

let api: KubeApiserver | undefined;
let folder = '';
const running = () => api ?? assert.fail('the API server did not start');

before(
  async () => {
    if (skip !== false) return;
    folder = mkdtempSync(join(tmpdir(), 'postern-cluster-cli-'));
    api = await startKubeApiserver();
    for (const name of readdirSync('crds')) {
      const crd = parse(readFileSync(`crds/${name}`, 'utf8'), { maxAliasCount: -1 });
      assert.equal((await api.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)).status, 201);
    }
    assert.equal((await api.request('POST', '/api/v1/namespaces', { metadata: { name: 'triage' } })).status, 201);
    for (const plural of ['actioncontracts', 'credentialbindings', 'agentsessions']) {
      while ((await api.request('GET', `${POSTERN}/${plural}`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    }
    writeKubeconfig('admin', api.adminToken);
    await fill();
  },
  { timeout: 120_000 },
);

after(async () => {
  await api?.[Symbol.asyncDispose]();
  if (folder !== '') rmSync(folder, { recursive: true });
});

function writeKubeconfig(name: string, token: string): void {
  const { url, caPem } = running();
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace: 'triage' } }],
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') } }],
    users: [{ name: 'test', user: { token } }],
  };
  writeFileSync(join(folder, name), JSON.stringify(config));
}

function plugin(args: readonly string[], user = 'admin'): Promise<Ran> {
  return run(process.execPath, [PLUGIN, ...args], { KUBECONFIG: join(folder, user) });
}

async function put(plural: string, name: string, spec: unknown, status: unknown, root = POSTERN): Promise<void> {
  const kind = { actioncontracts: 'ActionContract', credentialbindings: 'CredentialBinding', agentsessions: 'AgentSession' }[plural];
  const made = await running().request<{ message?: string }>('POST', `${root}/${plural}`, {
    apiVersion: 'postern.dev/v1alpha1',
    kind,
    metadata: { name },
    spec,
  });
  assert.equal(made.status, 201, made.body.message);
  const told = await running().request<{ message?: string }>('PATCH', `${root}/${plural}/${name}/status`, { status });
  assert.equal(told.status, 200, told.body.message);
}

const condition = (type: string, status: string, message: string) => ({
  type,
  status,
  reason: 'Said',
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

const listIssues = {
  action: 'list_issues',
  summary: 'List issues',
  owner: 'triage-team',
  effect: 'Read',
  callers: [{ serviceAccount: 'bot' }],
  credentials: ['github'],
  arguments: { type: 'object', additionalProperties: false, properties: {} },
  http: { credential: 'github', method: 'GET', url: 'https://api.example.com/issues' },
};
const github = {
  owner: 'platform',
  secret: { name: 'postern-github' },
  contracts: ['list-issues'],
  destinations: [{ origin: 'https://api.example.com' }],
  use: { bearer: { key: 'token' } },
};

async function fill(): Promise<void> {
  const contract = {
    ...listIssues,
    warnings: [
      { name: 'lag', code: 'STALE_INDEX', owner: 'search-team', expires: '2020-01-01', message: 'The index lags' },
      { name: 'scope', code: 'DEFAULT_SCOPE_APPLIED', owner: 'triage-team', expires: '2999-01-01', message: 'Open ones only' },
    ],
  };
  await put('actioncontracts', 'list-issues', contract, {
    best: 'Complete',
    sessions: { current: 2, behind: 1 },
    warnings: [{ code: 'STALE_INDEX', owner: 'search-team', sessions: 2, lastSeen: '2026-01-01T00:00:00Z' }],
    conditions: [condition('Ready', 'False', 'The binding github is not there \u001b[31m yet')],
  });
  const session = (pod: string, serviceAccount: string) => ({ pod: { name: pod, uid: UID }, serviceAccount, node: 'n1', image: 'agent:1' });
  const connected = { state: 'Active', conditions: [condition('Connected', 'True', 'Connected')] };
  for (const pod of ['bot-a', 'bot-b']) await put('agentsessions', `${pod}-01234567`, session(pod, 'bot'), connected);
  await put('agentsessions', 'other-01234567', session('other', 'other'), { state: 'Suspended', because: 'a second sidecar' });
  await put('credentialbindings', 'github', github, {
    announcedRevision: 'old',
    keys: [{ key: 'token', present: 2, values: [{ digest: '11111111', sidecars: 2 }] }],
  });
}

test('kubectl postern actions: shows the state and why an action does not work, without acting on control characters', {
  skip,
}, async () => {
  const { code, out } = await plugin(['actions']);
  assert.equal(code, 0);
  assert.match(out, /^ACTION +EFFECT +READY/);
  assert.match(out, /list_issues +Read +False +Complete +bot +2 +1 +triage-team +Said: The binding github is not there <U\+001B>\[31m yet/);
});

test('kubectl postern actions: -A -o json prints the objects', { skip }, async () => {
  const { out } = await plugin(['actions', '-A', '-o', 'json']);
  assert.deepEqual(
    (JSON.parse(out) as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name),
    ['list-issues'],
  );
});

test('kubectl postern actions: a contract that is ready while its binding is not says why it does not work', { skip }, async () => {
  const namespace = { metadata: { name: 'keyless' } };
  assert.equal((await running().request('POST', '/api/v1/namespaces', namespace)).status, 201);
  const root = '/apis/postern.dev/v1alpha1/namespaces/keyless';
  const keysUnusable = { ...condition('Ready', 'False', 'No sidecar can use it: token is not in the Secret.'), reason: 'KeysUnusable' };
  const ready = { conditions: [condition('Accepted', 'True', ''), condition('Ready', 'True', '')] };
  const spec = (action: string, credential: string) => {
    return { ...listIssues, action, credentials: [credential], http: { ...listIssues.http, credential } };
  };
  await put('credentialbindings', 'github', github, { conditions: [condition('Accepted', 'True', ''), keysUnusable] }, root);
  await put('credentialbindings', 'fine', github, ready, root);
  await put('actioncontracts', 'list-issues', spec('list_issues', 'github'), ready, root);
  await put('actioncontracts', 'other-issues', spec('other_issues', 'fine'), ready, root);
  const why = /list_issues +Read +True .*binding github: KeysUnusable: No sidecar can use it: token is not in the Secret\.$/m;
  const { out, err } = await plugin(['actions', '-n', 'keyless']);
  assert.match(out, why);
  assert.equal(out.match(/binding github/g)?.length, 1, 'the other contract uses another binding');
  assert.equal(err, '');
  assert.match((await plugin(['actions', '-A'])).out, /^keyless .*binding github: KeysUnusable/m);

  // As postern-approver: contracts, and no bindings.
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/keyless';
  const rules = [{ apiGroups: ['postern.dev'], resources: ['actioncontracts'], verbs: ['get', 'list'] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
  const subjects = [{ kind: 'ServiceAccount', name: 'reader', namespace: 'keyless' }];
  await running().request('POST', `${rbac}/roles`, { metadata: { name: 'reader' }, rules });
  await running().request('POST', `${rbac}/rolebindings`, { metadata: { name: 'reader' }, roleRef, subjects });
  writeKubeconfig('reader', await running().createServiceAccountToken('keyless', 'reader'));
  const allowed = async () => (await plugin(['actions', '-n', 'keyless'], 'reader')).code === 0;
  while (!(await allowed())) await new Promise((resolve) => setTimeout(resolve, 50));
  const without = await plugin(['actions', '-n', 'keyless'], 'reader');
  assert.match(without.out, /list_issues +Read +True/);
  assert.match(without.err, /You may not list credentialbindings/);
});

test('kubectl postern sessions: filters by state and says why', { skip }, async () => {
  const { out } = await plugin(['sessions', '--state', 'Suspended']);
  assert.equal(out.trimEnd().split('\n').length, 2);
  assert.match(out, /other-01234567 +other +Suspended .*a second sidecar/);
});

test('kubectl postern sessions: an empty list leaves standard output empty', { skip }, async () => {
  const { code, out, err } = await plugin(['sessions', '-n', 'default']);
  assert.deepEqual([code, out], [0, '']);
  assert.match(err, /No session is here/);
});

test('kubectl postern warnings: the expired one comes first, with its owner', { skip }, async () => {
  const { out } = await plugin(['warnings']);
  const lines = out.trimEnd().split('\n');
  assert.match(lines[1] ?? '', /^expired +STALE_INDEX +search-team +list-issues +2 .*2020-01-01 \(\d+d ago\)/);
  assert.match(lines[2] ?? '', /^declared +DEFAULT_SCOPE_APPLIED +triage-team .*2999-01-01 \(in \d+d\)/);
});

test('kubectl postern revoke: a name that is not there revokes nothing', { skip }, async () => {
  const { code, err } = await plugin(['revoke', 'bot-a-01234567', 'typo']);
  assert.equal(code, 2);
  assert.match(err, /there is no session typo/);
  assert.equal((await session('bot-a-01234567')).spec.revoked, undefined);
});

test('kubectl postern revoke: without a name it refuses instead of choosing all', { skip }, async () => {
  assert.equal((await plugin(['revoke'])).code, 2);
});

test('kubectl postern revoke: takes a pod, an account, and says what was done before', { skip }, async () => {
  assert.match((await plugin(['revoke', 'pod/bot-a'])).out, /bot-a-01234567 revoked \(pod bot-a, account bot\)/);
  const { out } = await plugin(['revoke', '--account', 'bot']);
  assert.match(out, /bot-a-01234567 was revoked before/);
  assert.match(out, /bot-b-01234567 revoked/);
  assert.equal((await session('bot-b-01234567')).spec.revoked, true);
  assert.equal((await session('other-01234567')).spec.revoked, undefined);
});

test('kubectl postern revoke: a session that cannot be written keeps no other its right to call, and the failure is told', {
  skip,
}, async () => {
  const admission = '/apis/admissionregistration.k8s.io/v1';
  const rules = [{ apiGroups: ['postern.dev'], apiVersions: ['*'], operations: ['UPDATE'], resources: ['agentsessions'] }];
  const validations = [{ expression: "object.metadata.name != 'crowd-a'", message: 'frozen' }];
  const policy = { metadata: { name: 'frozen' }, spec: { failurePolicy: 'Fail', matchConstraints: { resourceRules: rules }, validations } };
  await running().request('POST', `${admission}/validatingadmissionpolicies`, policy);
  const binding = { metadata: { name: 'frozen' }, spec: { policyName: 'frozen', validationActions: ['Deny'] } };
  await running().request('POST', `${admission}/validatingadmissionpolicybindings`, binding);
  for (const name of ['crowd-a', 'crowd-b']) {
    const spec = { pod: { name, uid: UID }, serviceAccount: 'crowd', node: 'n1', image: 'agent:1' };
    await put('agentsessions', name, spec, { state: 'Active' });
  }
  const probe = { metadata: { annotations: { probe: 'x' } } };
  while ((await running().request('PATCH', `${POSTERN}/agentsessions/crowd-a`, probe)).status === 200)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const { code, out, err } = await plugin(['revoke', '--account', 'crowd']);
  assert.equal(code, 1);
  assert.match(out, /crowd-a NOT revoked/);
  assert.match(err, /frozen/);
  assert.equal((await session('crowd-b')).spec.revoked, true);
});

test('kubectl postern admit: sets admitted', { skip }, async () => {
  assert.equal((await plugin(['admit', 'other-01234567'])).code, 0);
  assert.equal((await session('other-01234567')).spec.admitted, true);
});

test('kubectl postern rotate: waits for the operator, and says so when it does not come', { skip }, async () => {
  const { code, out } = await plugin(['rotate', 'github', '--wait', '1s']);
  assert.equal(code, 3);
  assert.match(out, /the operator has not told the pods yet/);
});

test('kubectl postern rotate: is done when every sidecar uses another value than before', { skip }, async () => {
  const announced = plugin(['rotate', 'github', '--wait', '60s']);
  const requested = () =>
    running().request<{ metadata: { annotations: Record<string, string> } }>('GET', `${POSTERN}/credentialbindings/github`);
  const before = (await requested()).body.metadata.annotations['postern.dev/rotate-requested'];
  while ((await requested()).body.metadata.annotations['postern.dev/rotate-requested'] === before)
    await new Promise((resolve) => setTimeout(resolve, 50));
  const values = (digest: string) => ({
    announcedRevision: 'new',
    keys: [{ key: 'token', present: 2, values: [{ digest, sidecars: 2 }] }],
  });
  await running().request('PATCH', `${POSTERN}/credentialbindings/github/status`, { status: values('22222222') });
  const { code, out } = await announced;
  assert.match(out, /2 sidecars use the new value/);
  assert.equal(code, 0);
});

test('kubectl postern explain-pod: says why a pod has no sidecar, which guards are missing, and what to do', { skip }, async () => {
  const pod = await makePod('bot-c');
  const first = await plugin(['explain-pod', pod]);
  assert.equal(first.code, 0);
  assert.match(first.out, /^pod bot-c \(account bot\): has no sidecar\n {2}why: Namespace triage is not enforced/);
  assert.match(first.out, /guards: 0 of \d+ hold\n {4}postern-\S+ Missing: no ValidatingAdmissionPolicy/);
  assert.match(first.out, /do: Run: kubectl label namespace triage postern\.dev\/enforce=/);
  await running().request('PATCH', '/api/v1/namespaces/triage', { metadata: { labels: { 'postern.dev/enforce': '' } } });
  const accepted = { observedGeneration: 1, conditions: [condition('Accepted', 'True', 'ok')], callers: [{ serviceAccount: 'bot' }] };
  await running().request('PATCH', `${POSTERN}/actioncontracts/list-issues/status`, { status: accepted });
  const { out } = await plugin(['explain-pod', pod]);
  assert.match(out, /granted, and not mounted: postern-github \(token\)/);
  assert.match(out, /do: Make the pod anew/);
});

test('kubectl postern explain-pod: -o json has the same, and a pod that is not there is a usage error', { skip }, async () => {
  const { out } = await plugin(['explain-pod', 'bot-c', '-o', 'json']);
  const { verdict, guards } = JSON.parse(out) as { verdict: { injected: boolean }; guards: unknown[] };
  assert.deepEqual([verdict.injected, guards.length > 5], [false, true]);
  assert.equal((await plugin(['explain-pod', 'typo'])).code, 2);
});

async function makePod(name: string): Promise<string> {
  await running().createServiceAccountToken('triage', 'bot');
  const made = await running().request<{ message?: string }>('POST', '/api/v1/namespaces/triage/pods', {
    metadata: { name },
    spec: { serviceAccountName: 'bot', containers: [{ name: 'agent', image: 'agent:1' }] },
  });
  assert.equal(made.status, 201, made.body.message);
  return name;
}

test('kubectl postern: a refusal of the API server is one sentence and a cure, not a stack', { skip }, async () => {
  writeKubeconfig('nobody', await running().createServiceAccountToken('triage', 'nobody'));
  const { code, err } = await plugin(['sessions'], 'nobody');
  assert.equal(code, 1);
  assert.match(err, /403.*agentsessions.*forbidden/s);
  assert.match(err, /Ask for the role/);
  const pod = await plugin(['explain-pod', 'bot-c'], 'nobody');
  assert.match(pod.err, /403.*pods.*forbidden.*ask for view in the namespace/s);
  assert.doesNotMatch(err, /at .*\.ts:/);
});

test('kubectl postern: the real kubectl finds the plugin by its name', { skip }, async () => {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(PLUGIN, join(bin, 'kubectl-postern'));
  const path = [bin, dirname(process.execPath), process.env.PATH ?? ''].join(delimiter);
  const { code, out } = await run(await programPath('kubectl'), ['postern', 'actions'], { PATH: path, KUBECONFIG: join(folder, 'admin') });
  assert.equal(code, 0);
  assert.match(out, /list_issues/);
});

async function session(name: string): Promise<{ spec: { revoked?: boolean; admitted?: boolean } }> {
  return (await running().request<{ spec: { revoked?: boolean; admitted?: boolean } }>('GET', `${POSTERN}/agentsessions/${name}`)).body;
}
