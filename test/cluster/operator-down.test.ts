/** The cluster without Postern's processes, and Postern after its own losses: nothing stops, nothing starts unguarded (P6). */
import '#test/servers/isolated.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Node, nodeUnavailable } from '#test/servers/node.ts';
import { type Pod, podReady, until } from '#test/servers/pods.ts';
import { sidecarOf } from './injected.ts';
import { binding, contract, namespace, pod, serviceAccount, triage } from './objects.ts';
import { applyTriage, conditionIs, install, type Stage, startStage, system } from './stage.ts';

const skip = await nodeUnavailable();

test('operator down: a cluster whose operator comes and goes', { skip }, async (t) => {
  await using stage = await startStage();
  const { node, tracker } = stage;
  await install(stage);
  const agent = await applyTriage(stage);
  const name = agent.metadata.name;
  await stage.apply(serviceAccount('other'), { ...namespace('plain'), metadata: { name: 'plain' } });
  await scale(node, 0);

  await t.test('operator down: pods of other namespaces and of the system start at once (INJ-02, INJ-03)', async () => {
    await Promise.all([startsIn(stage, 'plain'), startsIn(stage, 'kube-system')]);
  });

  await t.test('operator down: an ordinary pod of a guarded namespace starts', async () => {
    await stage.apply(pod(node.images, 'ordinary', { spec: { serviceAccountName: 'other' } }));
    await podReady(node, triage, 'ordinary');
  });

  await t.test('operator down: a pod that must have the sidecar is refused, since nobody can give it one (INJ-01)', async () => {
    const refused = await applied(node, pod(node.images, 'demanding', { labels: { 'postern.dev/inject': 'true' } }));
    assert.match(refused, /ValidatingAdmissionPolicy 'postern-pod'/);
  });

  await t.test('operator down: a pod that names a reserved Secret is refused in every namespace', async () => {
    const spec = { serviceAccountName: 'default', volumes: [{ name: 'stolen', secret: { secretName: 'postern-issues' } }] };
    for (const inNamespace of [triage, 'plain']) {
      assert.match(await applied(node, pod(node.images, 'thief', { spec, inNamespace })), /ValidatingAdmissionPolicy 'postern-reserved'/);
    }
  });

  await t.test('operator down: a pod with a sidecar of its own making is refused by its literal spec (INJ-15, INJ-16)', async () => {
    const initContainers = [{ ...sidecarOf(agent), image: node.images.agent.reference }];
    const copied = { ...pod(node.images, 'thief'), spec: { ...agent.spec, nodeName: undefined, initContainers } };
    assert.match(await applied(node, copied), /ValidatingAdmissionPolicy 'postern-sidecar'/);
  });

  await t.test('operator down: a container that mounts a volume of the sidecar is refused', async () => {
    const { containers } = agent.spec as { containers: { name: string; volumeMounts?: object[] }[] };
    const [own] = containers;
    const volumeMounts = [...(own?.volumeMounts ?? []), { name: 'postern-credentials', mountPath: '/stolen' }];
    const copied = { ...pod(node.images, 'thief'), spec: { ...agent.spec, nodeName: undefined, containers: [{ ...own, volumeMounts }] } };
    assert.match(await applied(node, copied), /ValidatingAdmissionPolicy 'postern-reserved'/);
  });

  await t.test('operator down: a sidecar that runs serves on', async () => {
    assert.equal((await stage.call(name, 'list_issues')).status, 'ok');
  });

  await t.test('operator down: a sidecar whose container starts anew serves what it kept', async () => {
    const stopped = await restartSidecar(node, agent);
    assert.equal(stopped, true);
    await until('an answer', async () => ((await stage.call(name, 'list_issues')).status === 'ok' ? true : undefined));
  });

  await t.test('operator down: the operator itself starts unaided, and takes up what has happened meanwhile (INJ-02)', async () => {
    await scale(node, 2);
    const { origin } = tracker;
    await applyPatiently(stage, binding({ origin, contracts: ['list-issues', 'list-later'] }), contract({ name: 'list-later', origin }));
    await conditionIs(node, 'actioncontracts', 'list-later', 'Ready', 'True');
    await until('an answer of it', async () => ((await stage.call(name, 'list_later')).status === 'ok' ? true : undefined));
    await stage.apply(pod(node.images, 'demanding', { labels: { 'postern.dev/inject': 'true' } }));
    await podReady(node, triage, 'demanding');
  });

  await t.test('operator down: when the leader is killed another one leads (OPR-16, OPR-17)', async () => {
    const leader = await leaderOf(node);
    await node.kubectl(['delete', 'pod', '-n', system, leader, '--grace-period=0', '--force']);
    const next = await until('another leader', async () => {
      const found = await leaderOf(node);
      return found === leader ? undefined : found;
    });
    assert.notEqual(next, leader);
    await suspendAndResume(stage, name);
  });

  await t.test('operator down: after the API server has crashed, changes are enforced as before (OPR-01, OPR-07)', async () => {
    await node.restartApiserver();
    await suspendAndResume(stage, name);
  });
});

/** A change reaches the agent's sidecar, both ways. */
async function suspendAndResume(stage: Stage, name: string): Promise<void> {
  const { origin } = stage.tracker;
  await applyPatiently(stage, contract({ origin, spec: { suspended: { because: 'a test of the way to the sidecar' } } }));
  await until('SESSION_SUSPENDED', async () =>
    (await stage.call(name, 'list_issues')).error?.code === 'SESSION_SUSPENDED' ? true : undefined,
  );
  await applyPatiently(stage, contract({ origin }));
  await until('an answer', async () => ((await stage.call(name, 'list_issues')).status === 'ok' ? true : undefined));
}

/** While replicas come and go a webhook call may find nobody; whoever applies tries again. */
async function applyPatiently(stage: Stage, ...objects: readonly unknown[]): Promise<void> {
  await until('the change to be admitted', async () => {
    await stage.apply(...objects);
    return true;
  });
}

async function startsIn(stage: Stage, inNamespace: string): Promise<void> {
  await stage.apply(pod(stage.node.images, 'ordinary', { inNamespace, spec: { serviceAccountName: 'default' } }));
  await podReady(stage.node, inNamespace, 'ordinary');
}

/** What was said; empty when it was admitted. */
async function applied(node: Node, object: unknown): Promise<string> {
  return (await node.kubectl(['create', '-f', '-'], JSON.stringify(object))).stderr;
}

async function scale(node: Node, replicas: number): Promise<void> {
  await node.kubectl(['scale', '-n', system, 'deployment/postern-operator', `--replicas=${replicas}`]);
  const path = `/api/v1/namespaces/${system}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3Doperator`;
  await until(`${replicas} replicas`, async () => {
    const { body } = await node.request<{ items: readonly Pod[] }>('GET', path);
    const ready = body.items.filter(({ status }) => status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'));
    return body.items.length === replicas && ready.length === replicas ? true : undefined;
  });
}

async function leaderOf(node: Node): Promise<string> {
  const { stdout } = await node.kubectl(['get', 'leases', '-n', system, '-o', 'jsonpath={.items[*].spec.holderIdentity}']);
  return stdout.split('_')[0] ?? ''; // pod_random
}

/** As the out-of-memory killer would: the process dies, the kubelet starts the container again. */
async function restartSidecar(node: Node, agent: Pod): Promise<boolean> {
  const before = await restarts(node, agent);
  await node.killContainer(agent, 'postern');
  return until('the sidecar to run again', async () => {
    const now = await restarts(node, agent);
    return now > before ? true : undefined;
  });
}

async function restarts(node: Node, { metadata }: Pod): Promise<number> {
  const { body } = await node.request<Pod>('GET', `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`);
  const sidecar = body.status?.initContainerStatuses?.find(({ name }) => name === 'postern');
  return sidecar?.state.running === undefined ? -1 : sidecar.restartCount;
}
