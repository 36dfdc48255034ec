/**
 * Goal: pods that a real API server admits are what injection promises - whole, in every kind of namespace, and beside other webhooks
 * that change pods. Method: the real webhook server, the real CA and caBundle, pods created as a user would.
 */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { sidecarContainer } from '#operator/pod/sidecar-container.ts';
import { until } from '#test/operator/kube/fast-clock.ts';
import { RELEASE, SIZES } from '#test/operator/pod/pods.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Mutator, startMutator } from './other-webhook.ts';
import {
  CONFIGURATIONS,
  changeWebhook,
  createNamespace,
  expectStatus,
  knowNamespace,
  startWebhookRig,
  type WebhookRig,
} from './webhook-rig.ts';

const skip = await unavailable('etcd', 'kube-apiserver');

interface Pod {
  readonly metadata: { readonly name: string; readonly annotations?: Record<string, string> };
  readonly spec: {
    readonly initContainers?: readonly (Record<string, unknown> & { readonly name: string })[];
    readonly containers: readonly { readonly name: string }[];
    readonly volumes: readonly { readonly name: string; readonly projected?: unknown }[];
    readonly securityContext?: Record<string, unknown>;
  };
}
interface Status {
  readonly message: string;
}

let rig: WebhookRig;

before(async () => {
  if (skip) return;
  rig = await startWebhookRig();
});
after(async () => {
  await rig?.[Symbol.asyncDispose]();
});

const SECURE = {
  spec: { securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } } },
  container: { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } } },
};

function agentPod(metadata: object = { generateName: 'agent-' }, spec: object = {}, container: object = {}): object {
  return { metadata, spec: { serviceAccountName: 'triage-bot', containers: [{ name: 'agent', image: 'agent:1', ...container }], ...spec } };
}

let counter = 0;
async function namespace(labels: Readonly<Record<string, string>> = {}): Promise<string> {
  counter += 1;
  const name = `triage-${counter}`;
  await createNamespace(rig.kube, name, { 'postern.dev/enforce': '', ...labels });
  knowNamespace(rig, name);
  return name;
}

const create = <T = Pod>(where: string, pod: object, query = '') =>
  rig.kube.request<T>('POST', `/api/v1/namespaces/${where}/pods${query}`, pod);

/** What the API server stores of the sidecar is, literally, what the guard compares with. */
function expectIntact(pod: Pod): void {
  const expected = sidecarContainer({ ...RELEASE, pin: rig.pin }, SIZES[0]);
  assert.deepEqual(pod.spec.initContainers?.[0], expected);
}

async function expectInjected(answer: { readonly status: number; readonly body: Pod }): Promise<Pod> {
  expectStatus(answer, 201);
  expectIntact(answer.body);
  return answer.body;
}

test('pods: a caller gets the sidecar exactly as compared by the guard, and the API token stays out of it', { skip }, async () => {
  const where = await namespace();
  const pod = await expectInjected(await create(where, agentPod()));
  const agent = pod.spec.containers[0] as unknown as { volumeMounts: { mountPath: string }[] };
  assert.ok(agent.volumeMounts.some(({ mountPath }) => mountPath === '/var/run/secrets/kubernetes.io/serviceaccount'));
  const credentials = pod.spec.volumes.find(({ name }) => name === 'postern-credentials');
  assert.deepEqual(credentials?.projected, {
    sources: [{ secret: { name: 'postern-github', items: [{ key: 'token', path: 'postern-github/token' }], optional: true } }],
    defaultMode: 0o444,
  });
});

test('pods: the large size is stored as it is written', { skip }, async () => {
  const where = await namespace();
  const { body } = await create(where, agentPod({ name: 'large', annotations: { 'postern.dev/sidecar-size': 'large' } }));
  const large = SIZES[1];
  assert.ok(large !== undefined);
  assert.deepEqual(body.spec.initContainers?.[0], sidecarContainer({ ...RELEASE, pin: rig.pin }, large));
});

test('pods: one asked for by label with no contract gets a sidecar with an empty volume', { skip }, async () => {
  const where = await namespace();
  const pod = agentPod({ name: 'labelled', labels: { 'postern.dev/inject': 'true' } }, { serviceAccountName: 'default' });
  await expectInjected(await create(where, pod));
});

test('pods: PodSecurity restricted admits the result (INJ-11)', { skip }, async () => {
  const where = await namespace({
    'pod-security.kubernetes.io/enforce': 'restricted',
    'pod-security.kubernetes.io/enforce-version': 'latest',
  });
  await expectInjected(await create(where, agentPod(undefined, SECURE.spec, SECURE.container)));
});

test('pods: a ResourceQuota on requests and limits is met, a LimitRange leaves the sidecar as it is (INJ-12)', { skip }, async () => {
  const where = await namespace();
  const hard = { 'requests.cpu': '2', 'requests.memory': '2Gi', 'limits.cpu': '4', 'limits.memory': '4Gi' };
  expectStatus(
    await rig.kube.request('POST', `/api/v1/namespaces/${where}/resourcequotas`, { metadata: { name: 'all' }, spec: { hard } }),
    201,
  );
  const quota = `/api/v1/namespaces/${where}/resourcequotas/all`;
  // Without a controller nobody counts what is used; the quota is not enforced before.
  await rig.kube.request('PATCH', `${quota}/status`, {
    status: { hard, used: Object.fromEntries(Object.keys(hard).map((name) => [name, '0'])) },
  });
  const limits = [{ type: 'Container', default: { cpu: '200m', memory: '128Mi' }, defaultRequest: { cpu: '50m', memory: '64Mi' } }];
  expectStatus(
    await rig.kube.request('POST', `/api/v1/namespaces/${where}/limitranges`, { metadata: { name: 'd' }, spec: { limits } }),
    201,
  );
  await expectInjected(await create(where, agentPod()));
  const { body } = await rig.kube.request<{ status: { used: Record<string, string> } }>('GET', quota);
  assert.notEqual(body.status.used['limits.memory'], '0');
});

test('pods: resources that a LimitRange gives and the sidecar does not name are the platform’s, beside ours (INJ-12)', {
  skip,
}, async () => {
  const where = await namespace();
  const storage = { 'ephemeral-storage': '1Gi' };
  const limits = [{ type: 'Container', default: storage, defaultRequest: storage }];
  expectStatus(
    await rig.kube.request('POST', `/api/v1/namespaces/${where}/limitranges`, { metadata: { name: 'd' }, spec: { limits } }),
    201,
  );
  const { body } = expectStatus(await create(where, agentPod()), 201);
  const expected = sidecarContainer({ ...RELEASE, pin: rig.pin }, SIZES[0]) as unknown as {
    resources: { requests: object; limits: object };
  };
  const resources = { requests: { ...expected.resources.requests, ...storage }, limits: { ...expected.resources.limits, ...storage } };
  assert.deepEqual(body.spec.initContainers?.[0], { ...expected, resources });
});

test('pods: a dry run gets the same pod, and nothing is made (INJ-14)', { skip }, async () => {
  const where = await namespace();
  const pod = agentPod({ name: 'dry' });
  const dry = await expectInjected(await create(where, pod, '?dryRun=All'));
  expectStatus(await rig.kube.request('GET', `/api/v1/namespaces/${where}/pods/dry`), 404);
  const wet = await expectInjected(await create(where, pod));
  const bare = ({ spec }: Pod) => JSON.stringify(spec).replace(/kube-api-access-\w+/g, 'kube-api-access');
  assert.equal(bare(dry), bare(wet));
});

test('pods: refusals reach the person with the path of the field (INJ-13, INJ-15, INJ-26)', { skip }, async () => {
  const where = await namespace();
  const refusals: readonly (readonly [object, RegExp])[] = [
    [
      agentPod({ name: 'a', annotations: { 'postern.dev/sidecar-memory': 'abc' } }),
      /metadata\.annotations\[postern\.dev\/sidecar-memory\]/,
    ],
    [
      agentPod({ name: 'b' }, { initContainers: [{ name: 'postern', image: 'mine:1' }] }),
      /spec\.initContainers\[0\]\.[a-zA-Z]+: the container name postern is reserved/,
    ],
    [agentPod({ name: 'c', labels: { 'postern.dev/inject': 'true' } }, { hostPID: true }), /spec\.hostPID: the node's processes/],
  ];
  for (const [pod, words] of refusals) {
    const { status, body } = await create<Status>(where, pod);
    assert.equal(status, 403);
    assert.match(body.message, words);
  }
  const unlabelled = await create(where, agentPod({ name: 'd' }, { hostPID: true }));
  assert.equal(expectStatus(unlabelled, 201).body.spec.initContainers, undefined);
});

test('pods: one whose contract is not decided yet is asked to come again, as API clients do by themselves', { skip }, async () => {
  const where = await namespace();
  const contract = rig.cluster.contracts.get(`${where}/list-open-issues`);
  assert.ok(contract !== undefined);
  rig.cluster.contracts.put({ ...contract, resourceVersion: '2', status: undefined });
  const { status, body } = await create<Status & { details: { retryAfterSeconds: number } }>(where, agentPod());
  assert.equal(status, 429);
  assert.equal(body.details.retryAfterSeconds, 1);
  rig.cluster.contracts.put({ ...contract, resourceVersion: '3' });
  await expectInjected(await create(where, agentPod()));
});

async function withMutator(mutate: (pod: Pod) => object, work: (where: string, mutator: Mutator) => Promise<void>): Promise<void> {
  await using mutator = await startMutator(rig.kube, (pod) => mutate(pod as Pod));
  const where = await namespace({ 'test.postern.dev/mutator': 'true' });
  await until(async () => {
    await create(where, agentPod(undefined, { serviceAccountName: 'default' }), '?dryRun=All');
    return mutator.calls > 0;
  }, 'the API server asks the other webhook');
  await work(where, mutator);
}

test('pods: behind a mesh that puts its own init container first, the sidecar is first again (INJ-10)', { skip }, async () => {
  const mesh = ({ spec }: Pod) => ({ ...spec, initContainers: [{ name: 'mesh-init', image: 'mesh:1' }, ...(spec.initContainers ?? [])] });
  await withMutator(mesh, async (where) => {
    const pod = await expectInjected(await create(where, agentPod()));
    assert.deepEqual(
      pod.spec.initContainers?.map(({ name }) => name),
      ['postern', 'mesh-init'],
    );
  });
});

test('pods: a webhook that writes pods through an old schema, without restartPolicy, is refused with the field (INJ-09)', {
  skip,
}, async () => {
  const old = ({ spec }: Pod) => ({
    ...spec,
    initContainers: (spec.initContainers ?? []).map(({ restartPolicy: _, ...container }) => container),
  });
  await withMutator(old, async (where) => {
    const { status, body } = await create<Status>(where, agentPod());
    assert.equal(status, 403);
    assert.match(body.message, /spec\.initContainers\[0\]\.(restartPolicy|startupProbe|livenessProbe): /);
  });
});

test('pods: a platform that assigns users from a range leaves the rest of the sidecar as it was (INJ-11)', { skip }, async () => {
  const assign = (container: Record<string, unknown>) => ({
    ...container,
    securityContext: { runAsUser: 1000680000, ...(container.securityContext as object | undefined) },
  });
  const platform = ({ spec }: Pod) => ({
    ...spec,
    securityContext: { ...spec.securityContext, fsGroup: 1000680000 },
    initContainers: (spec.initContainers ?? []).map(assign),
    containers: spec.containers.map((container) => assign(container)),
  });
  await withMutator(platform, async (where) => {
    const { body } = expectStatus(await create(where, agentPod()), 201);
    const expected = sidecarContainer({ ...RELEASE, pin: rig.pin }, SIZES[0]) as unknown as { securityContext: object };
    assert.deepEqual(body.spec.initContainers?.[0], {
      ...expected,
      securityContext: { ...expected.securityContext, runAsUser: 1000680000 },
    });
    assert.equal(body.spec.initContainers?.length, 1);
  });
});

test('pods: with the webhook gone pods are admitted as they came; the guards judge them (INJ-01)', { skip }, async () => {
  const where = await namespace();
  const path = `${CONFIGURATIONS}/mutatingwebhookconfigurations/postern`;
  const { body } = await rig.kube.request<{ webhooks: { clientConfig: { url: string } }[] }>('GET', path);
  const [webhook] = body.webhooks;
  assert.ok(webhook !== undefined);
  const at = async (url: string) => {
    const { body: now } = await rig.kube.request<object>('GET', path);
    expectStatus(
      await rig.kube.request('PUT', path, { ...now, webhooks: [{ ...webhook, clientConfig: { ...webhook.clientConfig, url } }] }),
      200,
    );
  };
  // Nobody listens on the discard port.
  await at('https://localhost:9/mutate/pods');
  const bare = async () => expectStatus(await create(where, agentPod()), 201).body.spec.initContainers === undefined;
  await until(bare, 'the API server asks the address where nobody is');
  await at(webhook.clientConfig.url);
  await until(async () => !(await bare()), 'the API server asks us again');
});

test('pods: with the webhook in a black hole pods are admitted after the time the configuration gives (INJ-03)', { skip }, async () => {
  const where = await namespace();
  // Takes connections and never says a word.
  const held = new Set<Socket>();
  const hole = createServer((socket) => held.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => hole.listen(0, '127.0.0.1', resolve));
  const { port } = hole.address() as AddressInfo;
  const path = `${CONFIGURATIONS}/mutatingwebhookconfigurations/postern`;
  const { body } = await rig.kube.request<{ webhooks: { clientConfig: { caBundle: string } }[] }>('GET', path);
  const { caBundle } = body.webhooks[0]?.clientConfig ?? {};
  await changeWebhook(rig.kube, { timeoutSeconds: 1, clientConfig: { url: `https://localhost:${port}/mutate/pods`, caBundle } });
  const bare = async () => expectStatus(await create(where, agentPod()), 201).body.spec.initContainers === undefined;
  await until(bare, 'the API server gives up on the hole');
  // Elsewhere nobody waits: the webhook is not asked.
  await createNamespace(rig.kube, 'elsewhere', {});
  expectStatus(await create('elsewhere', agentPod()), 201);
  for (const socket of held) socket.destroy();
  await new Promise<void>((resolve) => hole.close(() => resolve()));
});

test('webhooks: nothing failed on the way', { skip }, () => {
  assert.deepEqual(rig.faults, []);
  assert.equal(rig.outcomes['pods failed'], undefined);
});
