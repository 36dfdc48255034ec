/** Who takes the label of guarded namespaces off, on a real API server that asks the webhook as the chart configures it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { podRecord } from '#operator/kube/records.ts';
import { unavailable } from '#test/servers/build.ts';
import { createNamespace, expectStatus, knowNamespace, startWebhookRig, type WebhookRig } from './webhook-rig.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let rig: WebhookRig;
let namespaces = 0;

interface Status {
  readonly message: string;
}

before(async () => {
  if (!skip) rig = await startWebhookRig();
});
after(async () => rig?.[Symbol.asyncDispose]());

async function namespace(): Promise<string> {
  namespaces += 1;
  const name = `guarded-${namespaces}`;
  await createNamespace(rig.kube, name, { 'postern.dev/enforce': '' });
  knowNamespace(rig, name);
  return name;
}

test('namespaces: the label cannot be taken off while bindings exist, and can afterwards (INJ-28)', { skip }, async () => {
  const where = await namespace();
  const path = `/api/v1/namespaces/${where}`;
  const off = { metadata: { labels: { 'postern.dev/enforce': null } } };
  const { status, body } = await rig.kube.request<Status>('PATCH', path, off);
  assert.equal(status, 403);
  assert.match(body.message, /has CredentialBindings \(github\)\. Delete them first/);
  expectStatus(await rig.kube.request('PATCH', path, { metadata: { labels: { team: 'triage' } } }), 200);
  rig.cluster.bindings.remove(`${where}/github`);
  expectStatus(await rig.kube.request('PATCH', path, off), 200);
});

test('namespaces: the label cannot be taken off by a subresource either (INJ-28)', { skip }, async () => {
  const where = await namespace();
  const path = `/api/v1/namespaces/${where}`;
  const { body } = await rig.kube.request<{ metadata: { labels: Record<string, string> } }>('GET', path);
  const { 'postern.dev/enforce': _, ...labels } = body.metadata.labels;
  const without = { ...body, metadata: { ...body.metadata, labels } };
  for (const subresource of ['status', 'finalize']) {
    expectStatus(await rig.kube.request('PUT', `${path}/${subresource}`, body), 200);
    expectStatus(await rig.kube.request('PUT', `${path}/${subresource}`, without), 403);
  }
  expectStatus(await rig.kube.request('PATCH', `${path}/status`, { metadata: { labels: { 'postern.dev/enforce': null } } }), 403);
});

test('namespaces: the label stays while a sidecar runs, also without a binding (INJ-28)', { skip }, async () => {
  const where = await namespace();
  const path = `/api/v1/namespaces/${where}`;
  const off = { metadata: { labels: { 'postern.dev/enforce': null } } };
  rig.cluster.bindings.remove(`${where}/github`);
  const pod = podRecord({
    metadata: { name: 'agent-0', namespace: where, uid: 'u', resourceVersion: '1' },
    spec: { containers: [], initContainers: [{ name: 'postern' }] },
    status: { phase: 'Running' },
  } as unknown as Parameters<typeof podRecord>[0]);
  rig.cluster.pods.put(pod);
  const { status, body } = await rig.kube.request<Status>('PATCH', path, off);
  assert.equal(status, 403);
  assert.match(body.message, /has pods with a sidecar \(agent-0\)\. Delete them first/);
  rig.cluster.pods.put({ ...pod, phase: 'Failed', resourceVersion: '2' });
  expectStatus(await rig.kube.request('PATCH', path, off), 200);
});
