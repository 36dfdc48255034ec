/**
 * The chart's RBAC against the operator itself: it runs on a real API server with a token of its account, and the API server's own
 * audit log tells what it asked for. Nothing may have been refused, and nothing may be granted that is not asked for.
 */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createAuthority } from '#operator/certificate/issue.ts';
import { connectionTo } from '#operator/kube/connect.ts';
import { startOperator } from '#operator/main.ts';
import { readOperatorSettings } from '#operator/settings.ts';
import { mountedAuthority } from '#test/operator/certificate/mounted-authority.ts';
import { bindingObject, contractObject } from '#test/operator/contract/records.ts';
import { unavailable } from '#test/servers/build.ts';
import { startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { type KubeObject, namespace, rendered, required, toolsFor } from './release.ts';
import { until } from './until.ts';

const skip = await unavailable('etcd', 'kube-apiserver', 'kubectl', 'helm');
const USER = `system:serviceaccount:${namespace}:postern-operator`;

/** Granted, and asked for only by what this test does not play: streams of sidecars, rotation, upgrades. Each with who asks. */
const NOT_PLAYED: Readonly<Record<string, string>> = {
  'get actioncontracts.postern.dev': 'a status that somebody changed meanwhile (operator/kube/status.ts)',
  'get credentialbindings.postern.dev': 'a status that somebody changed meanwhile (operator/kube/status.ts)',
  'get agentsessions.postern.dev': 'a replica that finds the session of another (operator/control/session-object.ts)',
  'create agentsessions.postern.dev': 'a stream of a sidecar (operator/control/session-object.ts)',
  'patch agentsessions.postern.dev': 'a session that outlives its pod (operator/session/reconcile.ts)',
  'delete agentsessions.postern.dev': 'a session 24 hours after its end (operator/session/reconcile.ts)',
  'get pods': 'the pod that a token names (operator/control/authenticate.ts)',
  'patch pods': 'an announced rotation (operator/rotation/rotate.ts)',
  'get replicasets.apps': 'what made a pod (operator/control/session-object.ts)',
  'get jobs.batch': 'what made a pod (operator/control/session-object.ts)',
  'patch events.events.k8s.io': 'an Event that repeats (operator/kube/events.ts)',
  'create tokenreviews.authentication.k8s.io': 'a stream of a sidecar (operator/control/authenticate.ts)',
  'get clusterroles.rbac.authorization.k8s.io': 'the owner of the policy postern-sidecar',
  'create validatingadmissionpolicies.admissionregistration.k8s.io': 'the policy postern-sidecar',
  'get validatingadmissionpolicies.admissionregistration.k8s.io': 'the policy postern-sidecar',
  'patch validatingadmissionpolicies.admissionregistration.k8s.io': 'the policy postern-sidecar',
  'create validatingadmissionpolicybindings.admissionregistration.k8s.io': 'the policy postern-sidecar',
  'get validatingadmissionpolicybindings.admissionregistration.k8s.io': 'the policy postern-sidecar',
  'patch validatingadmissionpolicybindings.admissionregistration.k8s.io': 'the policy postern-sidecar',
};

interface AuditEvent {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource: string; readonly apiGroup?: string; readonly subresource?: string };
  readonly responseStatus?: { readonly code: number; readonly message?: string };
}

const rightOf = (verb: string, resource: string, group: string) => `${verb} ${resource}${group === '' ? '' : `.${group}`}`;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

function grantedTo(role: string, objects: readonly KubeObject[]): ReadonlySet<string> {
  const rules = objects
    .filter(({ kind, metadata }) => /Role$/.test(kind) && metadata.name === role)
    .flatMap(({ rules: all }) => all as Rule[]);
  return new Set(
    rules.flatMap(({ apiGroups, resources, verbs }) =>
      apiGroups.flatMap((group) => resources.flatMap((resource) => verbs.map((verb) => rightOf(verb, resource, group)))),
    ),
  );
}

test('operator rights: with what the chart grants it leads, is refused nothing, and is granted nothing it does not ask for', {
  skip,
}, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'postern-audit-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const audit = join(folder, 'audit.log');
  const policy = {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived', 'ResponseStarted'],
    rules: [{ level: 'Metadata' }],
  };
  writeFileSync(join(folder, 'policy.yaml'), JSON.stringify(policy));
  await using kube = await startKubeApiserver({
    flags: [`--audit-log-path=${audit}`, `--audit-policy-file=${join(folder, 'policy.yaml')}`],
  });
  using tools = toolsFor(kube);
  const objects = (await rendered([...required, '--skip-tests'])).filter(({ kind }) => kind !== 'Deployment' && kind !== 'Job');
  await tools.kubectl('create', 'namespace', namespace);
  // Nothing routes to the operator of this test: its webhook is not asked.
  const items = JSON.parse(
    JSON.stringify(objects).replaceAll('"failurePolicy":"Fail","matchPolicy"', '"failurePolicy":"Ignore","matchPolicy"'),
  ) as KubeObject[];
  const applied = await tools.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '--server-side', '-f', '-');
  assert.equal(applied.status, 0, applied.stderr);
  await tools.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');

  const ca = await createAuthority(Date.now());
  await using authority = await mountedAuthority({ 'ca.crt': ca.certificatePem, 'ca.key': ca.keyPem });
  const token = await kube.createServiceAccountToken(namespace, 'postern-operator');
  const connection = connectionTo({
    server: kube.url,
    tls: { ca: kube.caPem, rejectUnauthorized: true },
    namespace,
    headers: async () => ({ authorization: `Bearer ${token}` }),
  });
  const read = readOperatorSettings({
    POSTERN_NAMESPACE: namespace,
    POSTERN_SERVICE_ACCOUNT: 'postern-operator',
    POSTERN_REPLICA: 'postern-operator-0',
    POSTERN_SERVICE: 'postern-operator',
    POSTERN_SIDECAR_IMAGE: `registry.example.com/postern@sha256:${'0'.repeat(64)}`,
    POSTERN_AUTHORITY: authority.folder,
    POSTERN_CONTROL_PORT: '0',
    POSTERN_WEBHOOK_PORT: '0',
    POSTERN_ADMIN_PORT: '0',
    POSTERN_HOST: '127.0.0.1',
    POSTERN_LOG_LEVEL: 'error',
  });
  assert.ok(read.ok);
  const operator = await startOperator({ settings: read.settings, version: '0.1.0', connection });
  try {
    await tools.kubectl('create', 'namespace', 'shop');
    await tools.kubectl('label', 'namespace', 'shop', 'postern.dev/enforce=');
    await tools.kubectl('create', 'serviceaccount', 'shop-bot', '-n', 'shop');
    const account = contractObject().spec.callers[0]?.serviceAccount ?? '';
    if (account !== 'shop-bot') await tools.kubectl('create', 'serviceaccount', account, '-n', 'shop');
    for (const { kind, metadata, spec } of [bindingObject(), contractObject()]) {
      const body = { apiVersion: 'postern.dev/v1alpha1', kind, metadata: { name: metadata.name, namespace: 'shop' }, spec };
      const made = await tools.kubectlWith(JSON.stringify(body), 'apply', '-f', '-');
      assert.equal(made.status, 0, made.stderr);
    }
    // Runs as a caller, without the sidecar: the operator tells of it in an Event.
    const pod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bot', namespace: 'shop' },
      spec: {
        serviceAccountName: account,
        automountServiceAccountToken: false,
        containers: [{ name: 'agent', image: 'example.invalid/agent' }],
      },
    };
    const created = await tools.kubectlWith(JSON.stringify(pod), 'apply', '-f', '-');
    assert.equal(created.status, 0, created.stderr);
    const session = {
      apiVersion: 'postern.dev/v1alpha1',
      kind: 'AgentSession',
      metadata: { name: 'bot-0b6f6c1e', namespace: 'shop' },
      spec: {
        pod: { name: 'bot', uid: '0b6f6c1e-8a0f-4a53-9d5e-3f1c2b7a9e10' },
        serviceAccount: account,
        node: 'node-1',
        image: 'example.invalid/agent',
      },
    };
    const held = await tools.kubectlWith(JSON.stringify(session), 'apply', `--as=${USER}`, '-f', '-');
    assert.equal(held.status, 0, held.stderr);

    const ready = (kind: string, name: string) =>
      tools.kubectl('get', kind, name, '-n', 'shop', '-o', `jsonpath={.status.conditions[?(@.type=="Ready")].status}`);
    await until('the contract is ready', async () => ((await ready('actc', contractObject().metadata.name)) === 'True' ? true : undefined));
    await until(
      'the session has a state',
      async () => (await tools.kubectl('get', 'asess', 'bot-0b6f6c1e', '-n', 'shop', '-o', 'jsonpath={.status.state}')) || undefined,
    );
    await until(
      'the CA is in the webhooks',
      async () =>
        (await tools.kubectl('get', 'validatingwebhookconfiguration', 'postern', '-o', 'jsonpath={.webhooks[0].clientConfig.caBundle}')) ||
        undefined,
    );
    await until('the operator is ready', async () => (operator.notReady().length === 0 ? true : undefined));
    await until(
      'an Event tells of the pod',
      async () => (await tools.kubectl('get', 'events.events.k8s.io', '-A', '-o', 'name')) || undefined,
    );
  } finally {
    await operator.stop();
  }

  const events = readFileSync(audit, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ user, objectRef }) => user.username === USER && objectRef !== undefined);
  const refused = events.filter(({ responseStatus }) => responseStatus?.code === 403);
  assert.deepEqual(
    refused.map(({ verb, objectRef, responseStatus }) => `${verb} ${objectRef?.resource}: ${responseStatus?.message}`),
    [],
  );

  const asked = new Set(
    events.map(({ verb, objectRef: { resource = '', apiGroup = '', subresource } = {} }) =>
      rightOf(verb, subresource === undefined ? resource : `${resource}/${subresource}`, apiGroup),
    ),
  );
  const idle = [...grantedTo('postern-operator', objects)].filter((right) => !asked.has(right));
  assert.deepEqual(
    idle.filter((right) => NOT_PLAYED[right] === undefined),
    [],
    'granted, never asked for',
  );
});
