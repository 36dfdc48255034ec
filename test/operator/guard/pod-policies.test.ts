/** The guards of pods on a real API server, with the operator down. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { UNSAFE_CAPABILITIES } from '#operator/pod/unsafe-pod.ts';
import { unavailable } from '#test/servers/build.ts';
import {
  account,
  allGuards,
  allow,
  DRY,
  expectAllowed,
  expectRefused,
  type GuardedCluster,
  injectedPod,
  operator,
  type Pod,
  person,
  plainPod,
  podsOf,
  sizes,
  startGuardedCluster,
} from './guarded-cluster.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let cluster: GuardedCluster;
const pods = podsOf('agents');
const create = (pod: Pod, namespace = 'agents', as = person('jo')) =>
  cluster.call('POST', podsOf(namespace) + DRY, pod, as.user === 'jo' ? {} : { as });
const secretVolume = { name: 'mine', secret: { secretName: 'postern-github' } };

before(async () => {
  if (skip) return;
  cluster = await startGuardedCluster([]);
  // Made before the guards, as in a cluster that gets Postern later.
  const old = plainPod('old');
  old.metadata.finalizers = ['example.com/hold'];
  old.metadata.labels = { 'postern.dev/inject': 'true' };
  old.spec.volumes = [secretVolume, { name: 'node', hostPath: { path: '/' } }];
  old.spec.containers[0].volumeMounts = [{ name: 'mine', mountPath: '/mine' }];
  old.spec.containers.push({ name: 'postern', image: 'registry.example.com/other', securityContext: { privileged: true } });
  expectAllowed(await cluster.call('POST', pods, old));
  await cluster.install(allGuards());
  expectAllowed(await cluster.call('POST', pods, injectedPod('injected')));
});
after(async () => cluster?.[Symbol.asyncDispose]());

test('pod guards: take what the operator makes, in every size, and pods without Postern (INJ-20)', { skip }, async () => {
  for (const index of sizes.keys()) expectAllowed(await create(injectedPod('new', index)));
  expectAllowed(await create(plainPod()));
  expectAllowed(await create(plainPod(), 'plain'));
  const noSecrets = injectedPod('new');
  noSecrets.spec.volumes[0].projected.sources = [];
  expectAllowed(await create(noSecrets));
});

test('pod guards: a pod that asks for the sidecar and has none is refused while the operator is down (INJ-01, INJ-16)', {
  skip,
}, async () => {
  const pod = plainPod();
  pod.metadata.labels = { 'postern.dev/inject': 'true' };
  expectRefused(await create(pod), /label postern\.dev\/inject=true asks for the sidecar/);
  pod.metadata.annotations = { 'postern.dev/injection': 'injected' };
  expectRefused(await create(pod), /asks for the sidecar/);
  expectAllowed(await create(pod, 'plain'));
});

test('pod guards: an init container of that name with nothing of the sidecar is no sidecar (INJ-16)', { skip }, async () => {
  const pod = plainPod();
  pod.metadata.labels = { 'postern.dev/inject': 'true' };
  pod.spec.initContainers = [{ name: 'postern', image: 'registry.example.com/agent' }];
  expectRefused(await create(pod), /lacks its volumes/);
});

test('pod guards: pods of the operator and of kube-system start unaided (INJ-02)', { skip }, async () => {
  await cluster.call('POST', '/api/v1/namespaces/kube-system/serviceaccounts', { metadata: { name: 'default' } });
  for (const namespace of ['kube-system', 'postern']) {
    const pod = plainPod();
    pod.metadata.labels = { 'postern.dev/inject': 'true' };
    pod.spec.volumes = [secretVolume];
    pod.spec.hostNetwork = true;
    expectAllowed(await create(pod, namespace));
  }
});

test('pod guards: the sidecar is the first init container, and nobody else has its name (INJ-10, INJ-15)', { skip }, async () => {
  const late = injectedPod('new');
  late.spec.initContainers.unshift({ name: 'setup', image: 'registry.example.com/setup' });
  expectRefused(await create(late), /must be the first init container/);
  const named = plainPod();
  named.spec.containers[0].name = 'postern';
  expectRefused(await create(named), /the name postern is the sidecar's/);
  expectAllowed(await create(named, 'plain'));
});

test('pod guards: nothing in a pod with the sidecar takes the wall down (INJ-26)', { skip }, async () => {
  const container = (context: object) => (pod: Pod) => {
    pod.spec.containers[0].securityContext = context;
  };
  const init = (context: object) => (pod: Pod) => {
    pod.spec.initContainers.push({ name: 'setup', image: 'registry.example.com/setup', securityContext: context });
  };
  const shapes: readonly [RegExp, (pod: Pod) => void][] = [
    ...['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace'].map((flag): [RegExp, (pod: Pod) => void] => [
      // Beside the flag, hostNetwork changes the ports of all containers.
      /shares no namespace|differs in ports/,
      (pod) => {
        pod.spec[flag] = true;
      },
    ]),
    [/node's disk/, (pod) => pod.spec.volumes.push({ name: 'node', hostPath: { path: '/var/lib/kubelet' } })],
    [/leave privileged out/, container({ privileged: true })],
    [/leave privileged out/, init({ privileged: true })],
    [
      /leave procMount out/,
      (pod) => {
        pod.spec.hostUsers = false;
        pod.spec.containers[0].securityContext = { procMount: 'Unmasked' };
      },
    ],
    ...[...UNSAFE_CAPABILITIES, 'sys_ptrace', 'CAP_SYS_PTRACE', '\u017FYS_PTRACE'].map((name): [RegExp, (pod: Pod) => void] => [
      /leave it out of capabilities\.add/,
      container({ capabilities: { add: ['CHOWN', name] } }),
    ]),
    [/leave it out of capabilities\.add/, init({ capabilities: { add: ['SYS_PTRACE'] } })],
  ];
  for (const [words, change] of shapes) {
    const pod = injectedPod('new');
    change(pod);
    expectRefused(await create(pod), words);
  }
  const mesh = injectedPod('new');
  mesh.spec.containers[0].securityContext = { capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } };
  expectAllowed(await create(mesh));
  const without = plainPod();
  without.spec.shareProcessNamespace = true;
  without.spec.containers[0].securityContext = { capabilities: { add: ['SYS_PTRACE'] } };
  expectAllowed(await create(without));
});

test('pod guards: a running sidecar keeps its image, whoever asks; the agent may change its own (INJ-24)', { skip }, async () => {
  const { body } = await cluster.call('GET', `${pods}/injected`);
  for (const as of [undefined, operator]) {
    const swapped = structuredClone(body);
    swapped.spec.initContainers[0].image = 'registry.example.com/evil';
    const answer = await cluster.call(
      'PUT',
      `${pods}/injected${DRY}`,
      swapped,
      as === undefined ? {} : { as: { ...as, groups: ['system:masters'] } },
    );
    expectRefused(answer, as === undefined ? /does not change/ : /does not change|only the annotation/);
  }
  const agent = structuredClone(body);
  agent.spec.containers[0].image = 'registry.example.com/agent:2';
  expectAllowed(await cluster.call('PUT', `${pods}/injected${DRY}`, agent));
});

test('pod guards: the sidecar is not resized (INJ-25)', { skip }, async () => {
  const resize = (list: string, name: string) => {
    const resources = { requests: { cpu: '20m', memory: '32Mi' }, limits: { cpu: '20m', memory: '32Mi' } };
    const options = { contentType: 'application/strategic-merge-patch+json' };
    return cluster.call('PATCH', `${pods}/injected/resize${DRY}`, { spec: { [list]: [{ name, resources }] } }, options);
  };
  expectRefused(await resize('initContainers', 'postern'), /does not change, neither its image nor its resources/);
  // Refused by the API's own rules, if at all: resources cannot be added to a container that had none of its kind.
  assert.doesNotMatch(String((await resize('containers', 'agent')).body.message), /ValidatingAdmissionPolicy/);
});

test('pod guards: ephemeral containers neither target the sidecar nor mount its volumes nor trace, first or second time (INJ-17)', {
  skip,
}, async () => {
  const debug = (container: object, dry = DRY) => {
    const added = { image: 'registry.example.com/debug', terminationMessagePolicy: 'File', ...container };
    const options = { contentType: 'application/strategic-merge-patch+json' };
    return cluster.call('PATCH', `${pods}/injected/ephemeralcontainers${dry}`, { spec: { ephemeralContainers: [added] } }, options);
  };
  expectAllowed(await debug({ name: 'first' }, ''));
  for (const name of ['second', 'third']) {
    expectRefused(await debug({ name, targetContainerName: 'postern' }), /nobody debugs the sidecar/);
    expectRefused(
      await debug({ name, volumeMounts: [{ name: 'postern-credentials', mountPath: '/c' }] }),
      /only the init container postern mounts/,
    );
    expectRefused(await debug({ name, securityContext: { capabilities: { add: ['SYS_PTRACE'] } } }), /leave it out of capabilities/);
    const env = [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'postern-github', key: 'token' } } }];
    expectRefused(await debug({ name, env }), /only the sidecar mounts Secrets/);
  }
  expectAllowed(await debug({ name: 'second', targetContainerName: 'agent' }));
});

test('pod guards: an account that may create pods gets no second pod with the Secret, owned or not (INJ-31)', { skip }, async () => {
  const bot = account('agents', 'triage-bot');
  await allow(cluster.call, 'agents', bot, { apiGroups: [''], resources: ['pods'], verbs: ['create'] });
  const pod = plainPod();
  pod.spec.volumes = [secretVolume];
  expectRefused(await create(pod, 'agents', bot), /only the sidecar mounts Secrets/);
  pod.metadata.ownerReferences = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'b1c2d3e4-0000-0000-0000-000000000000' }];
  expectRefused(await create(pod, 'agents', bot), /only the sidecar mounts Secrets/);
});

test('pod guards: a mirror pod passes when a node makes it, and the annotation is worth nothing to others (INJ-19)', { skip }, async () => {
  const pod = plainPod('static-node-1');
  pod.metadata.labels = { 'postern.dev/inject': 'true' };
  pod.metadata.annotations = { 'kubernetes.io/config.mirror': 'x' };
  pod.metadata.ownerReferences = [
    { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'b1c2d3e4-0000-0000-0000-000000000000', controller: true },
  ];
  Object.assign(pod.spec, { nodeName: 'node-1', automountServiceAccountToken: false });
  expectRefused(await create(pod), /asks for the sidecar/);
  const node = { metadata: { name: 'node-1', uid: 'b1c2d3e4-0000-0000-0000-000000000000' } };
  expectAllowed(await cluster.call('POST', '/api/v1/nodes', node));
  const { body } = await cluster.call('GET', '/api/v1/nodes/node-1');
  pod.metadata.ownerReferences[0].uid = body.metadata.uid;
  expectAllowed(await create(pod, 'agents', { user: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] }));
});

test('pod guards: pods older than the guards keep their labels, finalizers, images and their end (INJ-22)', { skip }, async () => {
  const patch = (body: object) => cluster.call('PATCH', `${pods}/old`, body);
  expectAllowed(await patch({ metadata: { labels: { team: 'x' } } }));
  const { body } = await cluster.call('GET', `${pods}/old`);
  body.spec.containers[0].image = 'registry.example.com/agent:2';
  expectAllowed(await cluster.call('PUT', `${pods}/old`, body));
  expectAllowed(await cluster.call('DELETE', `${pods}/old`, { gracePeriodSeconds: 0 }));
  expectAllowed(await patch({ metadata: { finalizers: null } }));
  assert.equal((await cluster.call('GET', `${pods}/old`)).status, 404);
});

test('pod guards: the largest pod that the API server takes is not refused for its size', { skip }, async () => {
  const pod = plainPod();
  const env = Array.from({ length: 300 }, (_, index) => ({ name: `V_${index}`, value: 'x'.repeat(20) }));
  pod.spec.containers = Array.from({ length: 60 }, (_, index) => ({ name: `c${index}`, image: 'registry.example.com/agent', env }));
  pod.spec.volumes = Array.from({ length: 500 }, (_, index) => ({
    name: `v${index}`,
    projected: { sources: [{ secret: { name: 's' } }] },
  }));
  expectAllowed(await create(pod));
  pod.spec.containers[59].env = [...env, { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'postern-x', key: 'k' } } }];
  expectRefused(await create(pod), /only the sidecar mounts Secrets/);
});
