/**
 * The chart on a real API server, without nodes: installed, upgraded and removed by Helm and by kubectl, with what the operator writes
 * written in its name. Everything of Postern is looked at through the API, never through what Helm says it did.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FIELD_MANAGER } from '#core/resource/names.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { startGarbageCollector } from './garbage-collector.ts';
import { chart, everything, type KubeObject, namespace, objectsIn, required, run, type Tools, toolsFor } from './release.ts';
import { until } from './until.ts';

const skip = await unavailable('etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl', 'helm');

const CLUSTER_WIDE = [
  'customresourcedefinitions',
  'clusterroles',
  'clusterrolebindings',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingwebhookconfigurations',
  'validatingwebhookconfigurations',
];
const NAMESPACED = [
  'deployments',
  'jobs',
  'services',
  'serviceaccounts',
  'secrets',
  'configmaps',
  'roles',
  'rolebindings',
  'poddisruptionbudgets',
];

/** Everything of Postern in the cluster: `kind/name` -> resource version. Helm's own records are not of Postern. */
async function ofPostern({ kubectl }: Tools): Promise<ReadonlyMap<string, string>> {
  const list = async (...args: string[]) =>
    (JSON.parse(await kubectl('get', ...args, '-o', 'json')) as { items: (KubeObject & { metadata: { resourceVersion: string } })[] })
      .items;
  const all = [...(await list(CLUSTER_WIDE.join(','))), ...(await list(NAMESPACED.join(','), '-A'))];
  const ours = all.filter(({ metadata: { name } }) => /postern/.test(name) && !name.startsWith('sh.helm.release'));
  return new Map(ours.map(({ kind, metadata }) => [`${kind}/${metadata.name}`, metadata.resourceVersion]));
}

/** What the leader writes: caBundle by server-side apply, and the policy that its ClusterRole owns. */
async function writeAsOperator({ kubectl, kubectlWith }: Tools): Promise<void> {
  const uid = await kubectl('get', 'clusterrole', 'postern-operator', '-o', 'jsonpath={.metadata.uid}');
  const caBundle = Buffer.from('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n').toString('base64');
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const bundles = (kind: string, names: readonly string[]) => ({
    apiVersion,
    kind,
    metadata: { name: 'postern' },
    webhooks: names.map((name) => ({ name, clientConfig: { caBundle } })),
  });
  const metadata = {
    name: 'postern-sidecar',
    ownerReferences: [{ apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'postern-operator', uid }],
  };
  const objects = [
    bundles('MutatingWebhookConfiguration', ['pods.postern.dev']),
    bundles('ValidatingWebhookConfiguration', ['contracts.postern.dev', 'bindings.postern.dev', 'namespaces.postern.dev']),
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }] },
        validations: [{ expression: "!object.metadata.name.startsWith('refused')", message: 'refused by its name' }],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: 'postern-sidecar', validationActions: ['Deny'] },
    },
  ];
  const applied = await kubectlWith(
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects }),
    'apply',
    '--server-side',
    // What is applied are parts of objects.
    '--validate=false',
    `--field-manager=${FIELD_MANAGER.operator}`,
    '-f',
    '-',
  );
  assert.equal(applied.status, 0, applied.stderr);
}

const pod = (name: string, podNamespace = 'default') => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: podNamespace },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'agent', image: 'example.invalid/agent' }] },
});

async function createPod(kube: KubeApiserver, name: string, podNamespace = 'default') {
  return kube.request<{ message?: string }>('POST', `/api/v1/namespaces/${podNamespace}/pods`, pod(name, podNamespace));
}

const CRDS = ['actionapprovals', 'actioncontracts', 'agentsessions', 'credentialbindings'].map(
  (name) => `CustomResourceDefinition/${name}.postern.dev`,
);

test('release: on a real API server', { skip }, async (t) => {
  await using kube = await startKubeApiserver();
  using tools = toolsFor(kube);
  await using _collector = await startGarbageCollector(tools.env.KUBECONFIG ?? '');
  await kube.request('POST', '/api/v1/namespaces/default/serviceaccounts', {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default' },
  });
  const { helm, kubectl, kubectlWith } = tools;
  const install = ['install', 'postern', chart, '-n', namespace, '--create-namespace', ...required];

  await t.test('release: helm install says what to do next, with commands that this cluster takes', async () => {
    const said = await helm(...install);
    assert.match(said, /helm test postern -n postern-system/);
    assert.match(said, /Nothing watches it yet/);
    const commands = [...said.matchAll(/^ {5}(kubectl .*)$/gm)].map(([, command = '']) => command.replace('NAMESPACE', 'default'));
    assert.ok(commands.length >= 2);
    for (const command of commands) {
      const words = command.split(' ').slice(1);
      await kubectl(...words, ...(command.includes('--dry-run') ? [] : ['--dry-run=server']));
    }
  });

  await t.test('release: an upgrade to the same changes nothing, not even what the operator wrote', async () => {
    await writeAsOperator(tools);
    const before = await ofPostern(tools);
    await helm('upgrade', 'postern', chart, '-n', namespace, ...required);
    assert.deepEqual(await ofPostern(tools), before);
    const bundle = await kubectl('get', 'mutatingwebhookconfiguration', 'postern', '-o', 'jsonpath={.webhooks[0].clientConfig.caBundle}');
    assert.notEqual(bundle, '');
  });

  await t.test('release: an upgrade that changes a value leaves caBundle and policy of the operator alone (INJ-06)', async () => {
    await helm('upgrade', 'postern', chart, '-n', namespace, ...required, '--set=webhooks.timeoutSeconds=2', '--set=replicas=3');
    const webhook = JSON.parse(await kubectl('get', 'validatingwebhookconfiguration', 'postern', '-o', 'json')) as {
      webhooks: { timeoutSeconds: number; clientConfig: { caBundle?: string } }[];
    };
    for (const { timeoutSeconds, clientConfig } of webhook.webhooks) {
      assert.equal(timeoutSeconds, 2);
      assert.ok(clientConfig.caBundle);
    }
    assert.ok((await ofPostern(tools)).has('ValidatingAdmissionPolicy/postern-sidecar'));
  });

  await t.test('release: with no operator anywhere, pods of other namespaces and of the system start (INJ-01, INJ-02)', async () => {
    await kubectl('label', 'namespace', 'default', 'postern.dev/enforce=');
    assert.equal((await createPod(kube, 'agent')).status, 201);
    await kubectl('create', 'serviceaccount', 'default', '-n', 'kube-system');
    assert.equal((await createPod(kube, 'system', 'kube-system')).status, 201);
    const lost = await kubectlWith('', 'label', 'namespace', 'default', 'postern.dev/enforce-');
    assert.match(lost.stderr, /namespaces\.postern\.dev/);
    assert.equal((await kubectlWith('', 'label', 'namespace', 'default', 'other=label')).status, 0);
  });

  await t.test('release: helm test names what is not right, and what to do about it', async () => {
    const said = await runCheck(tools, kube);
    assert.equal(said.status, 1);
    assert.match(said.stdout, /FAIL {2}the operator is ready: 0 of 3 replicas are ready: kubectl logs -n postern-system/);
    assert.match(said.stdout, /FAIL {2}the webhook answers[^:]*: the API server cannot reach it: /);
    assert.match(said.stdout, /ok {4}the policies stand and are bound/);
    assert.match(said.stdout, /ok {4}a pod with a reserved Secret is refused/);
  });

  await t.test('release: after uninstall nothing of it is left but the CRDs, and pods start', async () => {
    await until('the policy of the operator refuses', async () => ((await createPod(kube, 'refused')).status === 422 ? true : undefined));
    await helm('uninstall', 'postern', '-n', namespace);
    await until('only the CRDs are left', async () =>
      [...(await ofPostern(tools)).keys()].sort().join() === CRDS.join() ? true : undefined,
    );
    await until('pods start', async () => ((await createPod(kube, 'refused')).status === 201 ? true : undefined));
    await kubectl('label', 'namespace', 'default', 'postern.dev/enforce-');
  });

  await t.test('release: it can be installed again over the CRDs that stayed', async () => {
    await helm(...install);
    await helm('uninstall', 'postern', '-n', namespace);
  });

  await t.test('release: kubectl applies what helm template renders, and a second time changes nothing', async () => {
    const { stdout: manifest } = await run('helm', ['template', 'postern', chart, '-n', namespace, '--skip-tests', ...required]);
    const apply = async () => {
      const applied = await kubectlWith(manifest, 'apply', '--server-side', '-f', '-');
      assert.equal(applied.status, 0, applied.stderr);
    };
    await kubectlWith('', 'delete', 'crd', ...CRDS.map((crd) => crd.slice(crd.indexOf('/') + 1)));
    await apply();
    const before = await ofPostern(tools);
    assert.equal([...before.keys()].length >= objectsIn(manifest).length, true);
    await apply();
    assert.deepEqual(await ofPostern(tools), before);

    await writeAsOperator(tools);
    const diff = await kubectlWith(manifest, 'diff', '--server-side', '-f', '-');
    assert.equal(diff.status, 0, diff.stdout + diff.stderr);
    const deleted = await kubectlWith(manifest, 'delete', '-f', '-');
    assert.equal(deleted.status, 0, deleted.stderr);
    await until('nothing is left', async () => ((await ofPostern(tools)).size === 0 ? true : undefined));
  });

  await t.test('release: an API server takes all that is off by default, but for the kinds of the Prometheus operator', async () => {
    const { stdout } = await run('helm', ['template', 'postern', chart, '-n', namespace, '--skip-tests', ...everything]);
    const known = objectsIn(stdout).filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com/'));
    const applied = await kubectlWith(
      JSON.stringify({ apiVersion: 'v1', kind: 'List', items: known }),
      'apply',
      '--server-side',
      '-f',
      '-',
    );
    assert.equal(applied.status, 0, applied.stderr);
  });
});

/** The program of `helm test`, with the account that the chart gives it. */
async function runCheck({ helm, kubectl, kubectlWith }: Tools, kube: KubeApiserver) {
  const hooks = objectsIn(await helm('get', 'hooks', 'postern', '-n', namespace)).filter(
    ({ kind }) => kind !== 'Pod' && kind !== 'ConfigMap',
  );
  await kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: hooks }), 'apply', '-f', '-');
  const folder = mkdtempSync(join(tmpdir(), 'postern-check-'));
  try {
    writeFileSync(join(folder, 'token'), await kubectl('create', 'token', 'postern-check', '-n', namespace));
    writeFileSync(join(folder, 'ca.crt'), kube.caPem);
    const said = spawnSync(process.execPath, [join(chart, 'files/check.mjs'), kube.url, folder, namespace], { encoding: 'utf8' });
    for (const { kind, metadata } of hooks) {
      const place = metadata.namespace === undefined ? [] : ['-n', metadata.namespace];
      await kubectl('delete', kind.toLowerCase(), metadata.name, ...place);
    }
    return said;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
