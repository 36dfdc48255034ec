/**
 * A real kube-apiserver with the CRDs, one contract with its binding and three sessions, a kubeconfig as people have it, and the program
 * under its plugin name.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { type Ran, run } from './run-postern.ts';

export const PLUGIN = join(import.meta.dirname, '..', '..', 'cli', 'kubectl-postern.mjs');
export const POSTERN = '/apis/postern.dev/v1alpha1/namespaces/triage';
export const UID = '01234567-89ab-cdef-0123-456789abcdef';

let api: KubeApiserver | undefined;
let folder = '';
export const kubeconfigs = () => folder;
export const running = () => api ?? assert.fail('the API server did not start');

export async function startRig(): Promise<void> {
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
}

export async function stopRig(): Promise<void> {
  await api?.[Symbol.asyncDispose]();
  if (folder !== '') rmSync(folder, { recursive: true });
}

export function writeKubeconfig(name: string, token: string): void {
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

export function plugin(args: readonly string[], user = 'admin'): Promise<Ran> {
  return run(process.execPath, [PLUGIN, ...args], { KUBECONFIG: join(folder, user) });
}

export async function put(plural: string, name: string, spec: unknown, status: unknown, root = POSTERN): Promise<void> {
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

export const condition = (type: string, status: string, message: string) => ({
  type,
  status,
  reason: 'Said',
  message,
  lastTransitionTime: '2026-01-01T00:00:00Z',
});

export const listIssues = {
  action: 'list_issues',
  summary: 'List issues',
  owner: 'triage-team',
  effect: 'Read',
  callers: [{ serviceAccount: 'bot' }],
  credentials: ['github'],
  arguments: { type: 'object', additionalProperties: false, properties: {} },
  http: { credential: 'github', method: 'GET', url: 'https://api.example.com/issues' },
};
export const github = {
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
