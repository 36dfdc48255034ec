/** `postern authority` as the chart's Job runs it: by an account that may touch one Secret, against a real API server. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createAuthority } from '#operator/certificate/issue.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const NAMESPACE = 'postern-system';
const SECRET = `/api/v1/namespaces/${NAMESPACE}/secrets/postern-authority`;

let kube: KubeApiserver;
let folder: string;

interface Secret {
  readonly metadata: { readonly resourceVersion: string };
  readonly data: Readonly<Record<string, string>>;
}

before(async () => {
  if (skip) return;
  kube = await startKubeApiserver();
  folder = await mkdtemp(join(tmpdir(), 'postern-authority-'));
  await kube.request('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  const token = await kube.createServiceAccountToken(NAMESPACE, 'postern-authority');
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${NAMESPACE}`;
  // As in charts/postern/templates/authority.yaml.
  const rules = [
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    { apiGroups: [''], resources: ['secrets'], resourceNames: ['postern-authority'], verbs: ['get', 'update', 'patch'] },
  ];
  await kube.request('POST', `${rbac}/roles`, { metadata: { name: 'postern-authority' }, rules });
  await kube.request('POST', `${rbac}/rolebindings`, {
    metadata: { name: 'postern-authority' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'postern-authority' },
    subjects: [{ kind: 'ServiceAccount', name: 'postern-authority', namespace: NAMESPACE }],
  });
  const cluster = { server: kube.url, 'certificate-authority-data': Buffer.from(kube.caPem).toString('base64') };
  const config = {
    clusters: [{ name: 'c', cluster }],
    users: [{ name: 'u', user: { token } }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', namespace: NAMESPACE } }],
    'current-context': 'x',
  };
  await writeFile(join(folder, 'config'), JSON.stringify(config));
});
after(async () => {
  await kube?.[Symbol.asyncDispose]();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

function authority(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const program = join(import.meta.dirname, '../../cli/postern.mjs');
  const env = { PATH: process.env.PATH ?? '' };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, 'authority', ...args, '--kubeconfig', join(folder, 'config')],
      { env },
      (error, stdout, stderr) => {
        resolve({ code: Number(error?.code ?? 0), text: stdout + stderr });
      },
    );
  });
}

const secret = async () => (await kube.request<Secret>('GET', SECRET)).body;

test('authority: create makes the Secret once and leaves it as it is afterwards; no key is printed', { skip }, async () => {
  const first = await authority('create');
  assert.equal(first.code, 0, first.text);
  assert.match(first.text, /^written\ncurrent: sha256:[0-9a-f]{64}, ends 20/);
  const made = await secret();
  assert.deepEqual(Object.keys(made.data).sort(), ['ca.crt', 'ca.key']);
  const again = await authority('create');
  assert.match(again.text, /^there already, left as it is\ncurrent: sha256:/);
  assert.equal((await secret()).metadata.resourceVersion, made.metadata.resourceVersion);
  const key = Buffer.from(made.data['ca.key'] ?? '', 'base64').toString();
  assert.ok(!(first.text + again.text).includes(key.slice(40, 80)));
});

test('authority: a rotation takes its three steps in order, each refused before its time', { skip }, async () => {
  const early = await authority('rotate', '--stage', 'switch');
  assert.equal(early.code, 1);
  assert.match(early.text, /There is no next CA to switch to: begin with --stage next\.\n {2}Nothing was changed\./);
  assert.match((await authority('rotate', '--stage', 'next')).text, /^written\ncurrent: .*\nnext: sha256:/);
  assert.match((await authority('rotate', '--stage', 'switch')).text, /This step is due in [1-5] minutes/);
  assert.match((await authority('rotate', '--stage', 'switch', '--at-once')).text, /^written\ncurrent: .*\nprevious: sha256:/);
  assert.match((await authority('rotate', '--stage', 'drop')).text, /pods made before the switch pin the previous CA/);
  assert.match((await authority('rotate', '--stage', 'drop', '--at-once')).text, /^written\ncurrent: [^\n]*\n$/);
  assert.deepEqual(Object.keys((await secret()).data).sort(), ['ca.crt', 'ca.key']);
  assert.equal((await authority('rotate')).code, 2);
});

test('authority: a drop names the pods that pin the previous CA, asked by whoever may list pods, and a previous CA that has expired is dropped (INJ-04)', {
  skip,
}, async () => {
  await authority('rotate', '--stage', 'next');
  const switched = await authority('rotate', '--stage', 'switch', '--at-once');
  const pin = /previous: (sha256:[0-9a-f]{64})/.exec(switched.text)?.[1] ?? assert.fail(switched.text);
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }];
  await kube.request('POST', `${rbac}/clusterroles`, { metadata: { name: 'pods' }, rules });
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'pods' };
  const subjects = [{ kind: 'ServiceAccount', name: 'postern-authority', namespace: NAMESPACE }];
  await kube.request('POST', `${rbac}/clusterrolebindings`, { metadata: { name: 'pods' }, roleRef, subjects });
  const pods = `/api/v1/namespaces/${NAMESPACE}/pods`;
  const sidecar = { name: 'postern', image: 'a:1', restartPolicy: 'Always', args: ['sidecar', `--control-pin=${pin}`] };
  const spec = { serviceAccountName: 'postern-authority', initContainers: [sidecar], containers: [{ name: 'agent', image: 'a:1' }] };
  const made = await kube.request('POST', pods, { metadata: { name: 'old-agent' }, spec });
  assert.equal(made.status, 201);
  const refused = await authority('rotate', '--stage', 'drop');
  assert.match(refused.text, /Sidecars of 1 pods still pin the previous CA .*postern-system\/old-agent/);
  await kube.request('DELETE', `${pods}/old-agent`, { gracePeriodSeconds: 0 });
  assert.match((await authority('rotate', '--stage', 'drop')).text, /This step is due in /);
  const old = await createAuthority(Date.now() - 20 * 365 * 86_400_000);
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const data = { 'previous.crt': base64(old.certificatePem), 'previous.key': base64(old.keyPem) };
  const stageSince = new Date(Date.now() - 2 * 86_400_000).toISOString();
  await kube.request('PATCH', SECRET, { metadata: { annotations: { 'postern.dev/authority-stage-since': stageSince } }, data });
  assert.match((await authority('rotate', '--stage', 'drop')).text, /^written\ncurrent: [^\n]*\n$/);
});

test('authority: a Secret that cannot be used is named and not replaced', { skip }, async () => {
  const { data } = await secret();
  await kube.request('PATCH', SECRET, { data: { 'ca.key': data['ca.crt'] } });
  const refused = await authority('create');
  assert.equal(refused.code, 1);
  assert.match(refused.text, /ca\.key cannot be read as PEM: restore the Secret\./);
  assert.equal((await secret()).data['ca.key'], data['ca.crt']);
});
