/** The chart without a cluster: what it renders, and who may do what with it. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { LABEL, OPERATOR } from '#core/resource/names.ts';
import { readOperatorSettings, sizeClasses } from '#operator/settings.ts';
import { unavailable } from '#test/servers/build.ts';
import { chart, everything, type KubeObject, namespace, objectsIn, rendered, required, run } from './release.ts';

const skip = await unavailable('helm');
const deploymentOf = (objects: readonly KubeObject[], name = 'postern-operator') => {
  const found = objects.find(({ kind, metadata }) => kind === 'Deployment' && metadata.name === name);
  assert.ok(found, `no Deployment ${name}`);
  return found as unknown as { spec: { replicas: number; template: { spec: PodSpec } } };
};
interface Container {
  readonly image: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: unknown }[];
  readonly securityContext: unknown;
}
interface PodSpec {
  readonly containers: readonly [Container, ...Container[]];
  readonly securityContext: unknown;
  readonly [field: string]: unknown;
}

test('chart: helm lint --strict has nothing to say', { skip }, async () => {
  const { status, stdout, stderr } = await run('helm', ['lint', '--strict', chart]);
  assert.equal(status, 0, stdout + stderr);
  assert.doesNotMatch(stdout, /\[(WARNING|ERROR)\]/);
});

test('chart: without an image it says what is missing and why a tag will not do', { skip }, async () => {
  const without = await run('helm', ['template', 'postern', chart]);
  assert.notEqual(without.status, 0);
  assert.match(without.stderr, /image\.repository is required: where the image of Postern lives/);
  const undigested = await run('helm', ['template', 'postern', chart, '--set=image.repository=registry.example.com/postern']);
  assert.match(undigested.stderr, /image\.digest is required: sha256:.*A tag could be moved under the guard/);
});

test('chart: the CRDs it carries are crds/, to the letter but for name and labels', { skip }, async () => {
  const crds = (await rendered(required)).filter(({ kind }) => kind === 'CustomResourceDefinition');
  const folder = join(chart, '../../crds');
  const sources = readdirSync(folder).map((name) => parse(readFileSync(join(folder, name), 'utf8'), { maxAliasCount: -1 }) as KubeObject);
  const byName = (a: KubeObject, b: KubeObject) => a.metadata.name.localeCompare(b.metadata.name);
  assert.deepEqual(
    [...crds].sort(byName).map(({ spec }) => spec),
    sources.sort(byName).map(({ spec }) => spec),
  );
  for (const { metadata } of crds) assert.equal(metadata.annotations?.['helm.sh/resource-policy'], 'keep', metadata.name);
  assert.deepEqual(
    (await rendered([...required, '--set=crds.install=false'])).filter(({ kind }) => kind === 'CustomResourceDefinition'),
    [],
  );
});

test('chart: what it sets in the environment is what the operator reads, and nothing else', { skip }, async () => {
  const args = ['--set=sidecar.leaseSeconds=600', '--set=logLevel=debug', '--set=sidecar.pullPolicy=Never'];
  for (const objects of [await rendered(required), await rendered([...required, ...args]), await rendered(everything)]) {
    const [container] = deploymentOf(objects).spec.template.spec.containers;
    const stand: Readonly<Record<string, string>> = {
      POSTERN_NAMESPACE: namespace,
      POSTERN_REPLICA: 'postern-operator-7d9f',
      POSTERN_SERVICE_ACCOUNT: 'postern-operator',
    };
    const env = Object.fromEntries(container.env.map(({ name, value }) => [name, value ?? stand[name] ?? '']));
    const read = readOperatorSettings(env);
    assert.ok(read.ok, JSON.stringify(read));
    assert.equal(read.settings.sidecarImage, container.image);
    assert.deepEqual(
      sizeClasses(read.settings.sidecarSizes).map(({ name }) => name),
      ['small', 'large'],
    );
    const { controlPort, webhookPort, adminPort } = read.settings;
    assert.deepEqual({ controlPort, webhookPort, adminPort }, OPERATOR);
  }
});

test('chart: the operator runs without rights over its node, two of it, spread, and waits for its authority', { skip }, async () => {
  const objects = await rendered(required);
  const { replicas, template } = deploymentOf(objects).spec;
  assert.equal(replicas, 2);
  const { securityContext, containers, volumes, topologySpreadConstraints } = template.spec;
  assert.deepEqual(securityContext, { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  assert.deepEqual(containers[0].securityContext, {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    capabilities: { drop: ['ALL'] },
  });
  assert.equal(containers.length, 1);
  assert.deepEqual(containers[0].args, ['operator']);
  assert.deepEqual(volumes, [{ name: 'authority', secret: { secretName: 'postern-authority', defaultMode: 0o444 } }]);
  assert.equal((topologySpreadConstraints as unknown[]).length, 2);
  assert.ok(objects.some(({ kind }) => kind === 'PodDisruptionBudget'));
});

interface Rule {
  readonly resources?: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
}

test('chart: the operator has no verb on Secrets, and nobody else has but the authority and, where asked for, the watcher', {
  skip,
}, async () => {
  const onSecrets = (objects: readonly KubeObject[]) =>
    objects
      .filter(({ kind, rules }) => /^(Cluster)?Role$/.test(kind) && rules !== undefined)
      .flatMap(({ kind, metadata, rules }) =>
        (rules as Rule[])
          .filter(({ resources = [] }) => resources.some((resource) => /^(secrets(\/.*)?|\*)$/.test(resource)))
          .map(({ verbs, resourceNames }) => ({ role: `${kind}/${metadata.name}`, verbs, only: resourceNames })),
      );
  const authority = [
    { role: 'Role/postern-authority', verbs: ['create'], only: undefined },
    { role: 'Role/postern-authority', verbs: ['get', 'update', 'patch'], only: ['postern-authority'] },
  ];
  assert.deepEqual(onSecrets(await rendered(required)), authority);
  const watcher = { role: 'ClusterRole/postern-watcher', verbs: ['list', 'watch'], only: undefined };
  assert.deepEqual(onSecrets(await rendered(everything)), [watcher, ...authority]);
});

test('chart: no role has a wildcard, a right to impersonate, to bind or to escalate', { skip }, async () => {
  for (const { kind, metadata, rules } of await rendered(everything)) {
    if (!/^(Cluster)?Role$/.test(kind)) continue;
    for (const rule of rules as (Rule & { readonly apiGroups?: readonly string[] })[]) {
      const words = [...(rule.apiGroups ?? []), ...(rule.resources ?? []), ...rule.verbs];
      for (const word of ['*', 'impersonate', 'bind', 'escalate', 'deletecollection']) {
        assert.ok(!words.includes(word), `${kind} ${metadata.name}: ${word}`);
      }
    }
  }
});

interface Webhook {
  readonly name: string;
  readonly clientConfig: { readonly caBundle?: string };
  readonly failurePolicy: string;
  readonly timeoutSeconds: number;
  readonly matchPolicy: string;
  readonly namespaceSelector: {
    readonly matchExpressions: readonly { readonly key: string; readonly operator: string; readonly values?: readonly string[] }[];
  };
}

test('chart: webhooks leave kube-system and their own namespace alone, match equivalent versions, and carry no caBundle (INJ-02, INJ-06, INJ-29)', {
  skip,
}, async () => {
  const webhooks = (await rendered(required)).flatMap(({ webhooks: all }) => (all ?? []) as Webhook[]);
  assert.deepEqual(
    webhooks.map(({ name, failurePolicy }) => [name, failurePolicy]),
    [
      ['pods.postern.dev', 'Ignore'],
      ['contracts.postern.dev', 'Fail'],
      ['bindings.postern.dev', 'Fail'],
      ['namespaces.postern.dev', 'Fail'],
    ],
  );
  for (const { name, clientConfig, matchPolicy, timeoutSeconds, namespaceSelector } of webhooks) {
    assert.equal(clientConfig.caBundle, undefined, name);
    assert.equal(matchPolicy, 'Equivalent');
    assert.ok(timeoutSeconds <= 3);
    const [system] = namespaceSelector.matchExpressions;
    assert.deepEqual(system, { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', namespace] });
  }
  const enforced = webhooks[0]?.namespaceSelector.matchExpressions[1];
  assert.deepEqual(enforced, { key: LABEL.enforce, operator: 'Exists' });
});

test('chart: a template rendered twice is the same, and an unchanged authority Job keeps its name', { skip }, async () => {
  assert.deepEqual(await rendered(everything), await rendered(everything));
  const job = async (...args: string[]) => (await rendered([...required, ...args])).find(({ kind }) => kind === 'Job')?.metadata.name;
  assert.equal(await job(), await job('--set=replicas=3'));
  assert.notEqual(await job(), await job(`--set=image.digest=sha256:${'1'.repeat(64)}`));
});

test('chart: a cluster that is too old is told so', { skip }, async () => {
  const { status, stderr } = await run('helm', ['template', 'postern', chart, ...required, '--kube-version=1.32.9']);
  assert.notEqual(status, 0);
  assert.match(stderr, /chart requires kubeVersion: >=1\.33\.0/);
});

test('chart: packed, it carries the CRDs and renders the same', { skip }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-chart-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const packed = await run('helm', ['package', chart, '--destination', folder]);
  assert.equal(packed.status, 0, packed.stderr);
  const [archive = ''] = readdirSync(folder);
  const { stdout } = await run('helm', ['template', 'postern', join(folder, archive), '-n', namespace, ...everything]);
  assert.deepEqual(objectsIn(stdout), await rendered(everything));
});

test('chart: what helm test makes is gone afterwards, whatever came out', { skip }, async () => {
  const hooks = (await rendered(required)).filter(({ metadata }) => metadata.annotations?.['helm.sh/hook'] === 'test');
  assert.ok(hooks.length > 5);
  for (const { kind, metadata } of hooks) {
    const policy = metadata.annotations?.['helm.sh/hook-delete-policy'];
    assert.equal(policy, 'before-hook-creation,hook-succeeded,hook-failed', `${kind}/${metadata.name}`);
  }
});
