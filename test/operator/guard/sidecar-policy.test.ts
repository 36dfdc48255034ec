/** The policy the operator owns, on a real API server: what an init container `postern` may be. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unavailable } from '#test/servers/build.ts';
import {
  DRY,
  expectAllowed,
  expectRefused,
  type GuardedCluster,
  injectedPod,
  type Pod,
  podsOf,
  startGuardedCluster,
  until,
} from './guarded-cluster.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let cluster: GuardedCluster;
const create = (pod: Pod) => cluster.call('POST', podsOf('agents') + DRY, pod);

before(async () => {
  if (!skip) cluster = await startGuardedCluster();
});
after(async () => cluster?.[Symbol.asyncDispose]());

test('sidecar policy: a sidecar that another webhook changed is refused, and the field is named (INJ-09, INJ-15, INJ-21)', {
  skip,
}, async () => {
  const changes: Readonly<Record<string, unknown>> = {
    image: 'registry.example.com/other',
    imagePullPolicy: 'Always',
    args: ['sidecar', '--control=evil.example.com:7720'],
    command: ['/bin/sh'],
    env: [{ name: 'NODE_OPTIONS', value: '--require /tmp/hook.js' }],
    envFrom: [{ configMapRef: { name: 'hooks' } }],
    ports: [{ name: 'postern-admin', containerPort: 7719, protocol: 'TCP' }],
    resources: { requests: { cpu: '1m', memory: '1Mi' }, limits: { cpu: '2m', memory: '2Mi' } },
    startupProbe: { exec: { command: ['/bin/true'] } },
    livenessProbe: { exec: { command: ['/bin/true'] } },
    readinessProbe: { exec: { command: ['/bin/true'] } },
    lifecycle: { preStop: { exec: { command: ['/bin/sh'] } } },
    terminationMessagePath: '/var/run/postern/credentials/x',
    terminationMessagePolicy: 'FallbackToLogsOnError',
    workingDir: '/tmp',
    stdin: true,
    tty: true,
    resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
  };
  for (const [field, value] of Object.entries(changes)) {
    const pod = injectedPod('new');
    pod.spec.initContainers[0][field] = value;
    expectRefused(await create(pod), new RegExp(`differs in (\\w+, )*${field}\\b`));
  }
  const pod = injectedPod('new');
  delete pod.spec.initContainers[0].restartPolicy;
  for (const probe of ['startupProbe', 'livenessProbe']) delete pod.spec.initContainers[0][probe];
  expectRefused(await create(pod), /differs in .*restartPolicy/);
  const mounted = injectedPod('new');
  mounted.spec.volumes.push({ name: 'hooks', emptyDir: {} });
  mounted.spec.initContainers[0].volumeMounts.push({ name: 'hooks', mountPath: '/postern' });
  expectRefused(await create(mounted), /differs in volumeMounts/);
});

test('sidecar policy: every security setting of the sidecar is fixed, but any user other than root (INJ-11)', { skip }, async () => {
  const changes = [
    { runAsUser: 0, runAsNonRoot: false },
    { runAsNonRoot: false },
    { readOnlyRootFilesystem: false },
    { allowPrivilegeEscalation: true },
    { capabilities: { drop: ['ALL'], add: ['CHOWN'] } },
    { seccompProfile: { type: 'Unconfined' } },
    { seLinuxOptions: { type: 'spc_t' } },
    { runAsGroup: 0 },
    { appArmorProfile: { type: 'Unconfined' } },
  ];
  for (const change of changes) {
    const pod = injectedPod('new');
    Object.assign(pod.spec.initContainers[0].securityContext, change);
    expectRefused(await create(pod), /differs in securityContext/);
  }
  const ranged = injectedPod('new');
  for (const container of [ranged.spec.initContainers[0], ranged.spec.containers[0]]) {
    container.securityContext = { ...container.securityContext, runAsUser: 1_000_650_000 };
  }
  ranged.spec.securityContext = {
    fsGroup: 1_000_650_000,
    seLinuxOptions: { level: 's0:c25,c20' },
    seccompProfile: { type: 'RuntimeDefault' },
  };
  expectAllowed(await create(ranged));
  const root = injectedPod('new');
  root.spec.initContainers[0].securityContext.runAsUser = 0;
  assert.notEqual((await create(root)).status, 201);
});

test('sidecar policy: defaults of a LimitRange for resources the sidecar does not name are let through (INJ-12)', { skip }, async () => {
  const storage = { 'ephemeral-storage': '1Gi' };
  const range = [{ type: 'Container', default: storage, defaultRequest: storage }];
  const path = '/api/v1/namespaces/agents/limitranges';
  expectAllowed(await cluster.call('POST', path, { metadata: { name: 'storage' }, spec: { limits: range } }));
  try {
    // The API server's own admission reads LimitRanges from a cache.
    await until('the LimitRange is in effect', async () => {
      const { status, body } = await create(injectedPod('new'));
      expectAllowed({ status, body, warnings: '' });
      return body.spec.initContainers[0].resources.limits['ephemeral-storage'] === '1Gi';
    });
  } finally {
    await cluster.call('DELETE', `${path}/storage`);
  }
  const given = (resources: object) => {
    const pod = injectedPod('new');
    pod.spec.initContainers[0].resources = { ...pod.spec.initContainers[0].resources, ...resources };
    return create(pod);
  };
  const { limits } = injectedPod('new').spec.initContainers[0].resources;
  expectRefused(await given({ limits: { ...limits, memory: '193Mi', ...storage } }), /differs in resources/);
  // A device plugin gives mounts and environment with its device.
  const device = { 'example.com/device': '1' };
  expectRefused(await given({ limits: { ...limits, ...device } }), /differs in resources/);
});

test("sidecar policy: the sidecar's volumes are what the operator makes them", { skip }, async () => {
  const breaks: readonly ((volumes: Pod) => void)[] = [
    ([credentials]) => {
      credentials.projected.sources[0].secret.name = 'ordinary';
    },
    ([credentials]) => {
      credentials.projected.sources[0].secret.items[0].path = 'postern-other/token';
    },
    ([credentials]) => {
      delete credentials.projected.sources[0].secret.items;
    },
    ([credentials]) => {
      credentials.projected.sources[0].secret.optional = false;
    },
    ([credentials]) => {
      credentials.projected.sources[0].secret.items[0].mode = 0o777;
    },
    ([credentials]) => {
      credentials.projected.defaultMode = 0o777;
    },
    ([credentials]) => {
      credentials.projected.sources.push({ configMap: { name: 'mine' } });
    },
    (volumes) => {
      volumes[0] = { name: 'postern-credentials', emptyDir: {} };
    },
    ([, identity]) => {
      identity.projected.sources[0].serviceAccountToken.audience = 'postern-other';
    },
    ([, identity]) => {
      identity.projected.sources[0].serviceAccountToken.expirationSeconds = 86_400;
    },
    (volumes) => {
      volumes[1] = { name: 'postern-identity', configMap: { name: 'mine' } };
    },
    (volumes) => {
      volumes[2] = { name: 'postern-state', persistentVolumeClaim: { claimName: 'shared' } };
    },
    (volumes) => {
      volumes[3] = { name: 'postern-audit', hostPath: { path: '/var/log' } };
    },
  ];
  for (const [index, change] of breaks.entries()) {
    const pod = injectedPod('new');
    change(pod.spec.volumes);
    const answer = await create(pod);
    expectRefused(answer, /volume postern-(credentials|identity|state|audit): /);
    assert.ok(index >= 0);
  }
});

test('sidecar policy: a size class that does not exist is refused with the annotation (INJ-13)', { skip }, async () => {
  const pod = injectedPod('new');
  pod.metadata.annotations = { 'postern.dev/sidecar-size': 'abc' };
  expectRefused(await create(pod), /annotation postern\.dev\/sidecar-size: no size class of that name; there are small, large/);
  pod.metadata.annotations['postern.dev/sidecar-size'] = 'small';
  expectAllowed(await create(pod));
});
