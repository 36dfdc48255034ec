/**
 * The chart's RBAC against the operator itself: it runs on a real API server with a token of its account, and the API server's own
 * audit log tells what it asked for. Nothing may have been refused, and nothing may be granted that is not asked for.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLog } from '#core/runtime/log.ts';
import { createAuthority } from '#operator/certificate/issue.ts';
import { findGuards } from '#operator/guard/explain.ts';
import { startOperator } from '#operator/main.ts';
import { readOperatorSettings } from '#operator/settings.ts';
import { startWatcher } from '#operator/watcher.ts';
import { mountedAuthority } from '#test/operator/certificate/mounted-authority.ts';
import { bindingObject, contractObject } from '#test/operator/contract/records.ts';
import { unavailable } from '#test/servers/build.ts';
import { assertExact, startAuditedApi } from './audited-api.ts';
import { everything, namespace, required } from './release.ts';
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
  'get actionapprovals.postern.dev': 'the approval an intent uses (operator/approval/register.ts)',
  'create actionapprovals.postern.dev': 'a question or a hold of a sidecar (operator/approval/register.ts)',
  'delete actionapprovals.postern.dev': 'a hold whose end is told (operator/approval/holds.ts)',
  'get pods': 'the pod that a token names (operator/control/authenticate.ts)',
  'patch pods': 'an announced rotation (operator/rotation/rotate.ts)',
  'get replicasets.apps': 'what made a pod (operator/control/session-object.ts)',
  'get jobs.batch': 'what made a pod (operator/control/session-object.ts)',
  'patch events.events.k8s.io': 'an Event that repeats (operator/kube/events.ts)',
  'create tokenreviews.authentication.k8s.io': 'a stream of a sidecar (operator/control/authenticate.ts)',
  // Asked for as `patch`; the API server wants both for an apply that makes the object.
  'create validatingadmissionpolicies.admissionregistration.k8s.io': 'the first apply of postern-sidecar (operator/guard/own-policy.ts)',
  'create validatingadmissionpolicybindings.admissionregistration.k8s.io':
    'the first apply of postern-sidecar (operator/guard/own-policy.ts)',
};

test('operator rights: with what the chart grants it leads, is refused nothing, and is granted nothing it does not ask for', {
  skip,
}, async () => {
  await using api = await startAuditedApi(required);
  const { tools } = api;
  const ca = await createAuthority(Date.now());
  await using authority = await mountedAuthority({ 'ca.crt': ca.certificatePem, 'ca.key': ca.keyPem });
  const connection = await api.connect('postern-operator');
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
    const digest = `sha256:${'1'.repeat(64)}`;
    const hold = {
      apiVersion: 'postern.dev/v1alpha1',
      kind: 'ActionApproval',
      metadata: { name: 'hold-1', namespace: 'shop' },
      spec: {
        purpose: 'Resolve',
        serviceAccount: account,
        contract: contractObject().metadata.name,
        action: 'deploy',
        revision: digest,
        argumentsDigest: digest,
        operationId: `op_${'a'.repeat(26)}`,
        card: 'Deploy',
        cardDigest: digest,
        expiresAt: '2000-01-01T00:00:00Z',
      },
    };
    const asked = await tools.kubectlWith(JSON.stringify(hold), 'create', `--as=${USER}`, '-f', '-');
    assert.equal(asked.status, 0, asked.stderr);
    await until(
      'the approval has a state',
      async () => (await tools.kubectl('get', 'aappr', 'hold-1', '-n', 'shop', '-o', 'jsonpath={.status.state}')) || undefined,
    );
    await until(
      'the CA is in the webhooks',
      async () =>
        (await tools.kubectl('get', 'validatingwebhookconfiguration', 'postern', '-o', 'jsonpath={.webhooks[0].clientConfig.caBundle}')) ||
        undefined,
    );
    await until(
      'the operator is ready',
      async () => (operator.notReady().length === 0 ? true : undefined),
      () => `; it waits for ${operator.notReady().join(', ')}`,
    );
    const { reports } = await findGuards(connection.client, { namespace, serviceAccount: 'postern-operator' });
    assert.deepEqual(
      reports.filter(({ state }) => state !== 'Holds'),
      [],
      'it may read every guard, and each is what this version writes',
    );
    await until(
      'an Event tells of the pod',
      async () => (await tools.kubectl('get', 'events.events.k8s.io', '-A', '-o', 'name')) || undefined,
    );
  } finally {
    await operator.stop();
  }

  await assertExact(api, 'postern-operator', NOT_PLAYED);
});

test('watcher rights: with what the chart grants it tells of a changed Secret, and has no right it does not use', { skip }, async () => {
  await using api = await startAuditedApi([...everything, '--set=metrics.monitors.enabled=false', '--set=alerts.enabled=false']);
  const { tools } = api;
  await tools.kubectl('create', 'namespace', 'shop');
  const { kind, metadata, spec } = bindingObject();
  const secret = (value: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: spec.secret.name, namespace: 'shop' },
    stringData: { token: value },
  });
  for (const object of [
    secret('before'),
    { apiVersion: 'postern.dev/v1alpha1', kind, metadata: { name: metadata.name, namespace: 'shop' }, spec },
  ]) {
    const made = await tools.kubectlWith(JSON.stringify(object), 'apply', '-f', '-');
    assert.equal(made.status, 0, made.stderr);
  }
  const connection = await api.connect('postern-watcher');
  const watcher = await startWatcher(connection, { host: '127.0.0.1', port: 0 }, createLog({ level: 'error' }));
  const annotations = () => tools.kubectl('get', 'credb', metadata.name, '-n', 'shop', '-o', 'jsonpath={.metadata.annotations}');
  try {
    const before = await until('the binding has the version of its Secret', async () => {
      const now = await annotations();
      return now.includes('postern.dev/secret-version') ? now : undefined;
    });
    await tools.kubectlWith(JSON.stringify(secret('after')), 'apply', '-f', '-');
    await until('the binding has the new version', async () => ((await annotations()) !== before ? true : undefined));
  } finally {
    await watcher.stop();
    await connection.close();
  }
  await assertExact(api, 'postern-watcher', {});
});
