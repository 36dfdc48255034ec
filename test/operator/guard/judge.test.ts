/**
 * The judge against the API server: pods with and without violations, made by chance, are created on a real one, and both must say the
 * same. What a person is told about a pod is then what will happen to it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { judgePod } from '#operator/guard/judge.ts';
import { UNSAFE_CAPABILITIES } from '#operator/pod/unsafe-pod.ts';
import { unavailable } from '#test/servers/build.ts';
import { DRY, type GuardedCluster, injectedPod, type Pod, plainPod, podsOf, releases, startGuardedCluster } from './guarded-cluster.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let cluster: GuardedCluster;
before(async () => {
  if (!skip) cluster = await startGuardedCluster();
});
after(async () => cluster?.[Symbol.asyncDispose]());

type Change = (pod: Pod) => void;

const secretName = fc.constantFrom('github', 'postern-github', 'postern', 'my-postern-x', 'postern-');
const volumeName = fc.constantFrom('data', 'postern-credentials', 'postern-identity', 'postern-state', 'postern-audit', 'postern-x');
const list = fc.constantFrom('containers', 'initContainers');

const push = (pod: Pod, field: string, item: object) => {
  pod.spec[field] = [...(pod.spec[field] ?? []), item];
};

const source: fc.Arbitrary<object> = fc.oneof(
  secretName.map((name) => ({ secret: { secretName: name } })),
  secretName.map((name) => ({ csi: { driver: 'd.example.com', nodePublishSecretRef: { name } } })),
  secretName.map((name) => ({ csi: { driver: 'd.example.com', volumeAttributes: { x: 'y', z: name } } })),
  secretName.map((name) => ({ azureFile: { shareName: 's', secretName: name } })),
  secretName.map((name) => ({ flexVolume: { driver: 'd/e', secretRef: { name } } })),
  secretName.map((name) => ({ rbd: { monitors: ['m'], image: 'i', secretRef: { name } } })),
  secretName.map((name) => ({ projected: { sources: [{ configMap: { name: 'x' } }, { secret: { name } }] } })),
  secretName.map((name) => ({
    projected: { sources: [{ secret: { name, optional: true, items: [{ key: 'k', path: `${name}/k` }] } }], defaultMode: 0o444 },
  })),
  fc.constantFrom('vault', 'postern', 'postern-control').map((audience) => ({
    projected: { sources: [{ serviceAccountToken: { audience, path: 'token', expirationSeconds: 3600 } }], defaultMode: 0o444 },
  })),
  fc.constant({ emptyDir: {} }),
  fc.constant({ projected: { sources: [] } }),
  fc.constant({ hostPath: { path: '/' } }),
);

const context: fc.Arbitrary<object> = fc.oneof(
  fc.boolean().map((privileged) => ({ privileged })),
  fc
    .constantFrom(...UNSAFE_CAPABILITIES, 'NET_ADMIN', 'sys_admin', 'CAP_BPF', 'CHOWN', '\u017FYS_PTRACE', 'CAP_CAP_BPF')
    .map((name) => ({ capabilities: { add: [name] } })),
  fc.constantFrom(0, 1000).map((runAsUser) => ({ runAsUser })),
  fc.constant({ capabilities: { drop: ['ALL'] } }),
);

const environment: fc.Arbitrary<object> = fc.oneof(
  secretName.map((name) => ({ env: [{ name: 'A', valueFrom: { secretKeyRef: { name, key: 'k' } } }] })),
  secretName.map((name) => ({ envFrom: [{ secretRef: { name } }] })),
  volumeName.map((name) => ({ volumeMounts: [{ name, mountPath: '/m' }] })),
);

const sidecarField: fc.Arbitrary<readonly [string, unknown]> = fc.constantFrom<readonly [string, unknown]>(
  ['image', 'registry.example.com/other'],
  ['imagePullPolicy', 'Always'],
  ['args', ['sidecar']],
  ['env', [{ name: 'X', value: 'y' }]],
  ['workingDir', '/'],
  ['tty', true],
  ['resources', { requests: { cpu: '100m', memory: '192Mi' }, limits: { cpu: '1', memory: '1Gi' } }],
  ['resources', { requests: { cpu: '100m', memory: '192Mi' }, limits: { cpu: '1', memory: '2Gi' } }],
  ['resources', { requests: { cpu: '100m', memory: '192Mi', 'ephemeral-storage': '1Gi' }, limits: { cpu: '1', memory: '1Gi' } }],
  ['resources', { requests: { cpu: '100m', memory: '192Mi' }, limits: { cpu: '1', memory: '1Gi', 'example.com/device': '1' } }],
  ['volumeMounts', []],
);

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.tuple(volumeName, source).map(
    ([name, of]): Change =>
      (pod) => {
        pod.spec.volumes = [...(pod.spec.volumes ?? []).filter((volume: { name: string }) => volume.name !== name), { name, ...of }];
      },
  ),
  fc.tuple(list, fc.constantFrom('odd', 'postern'), environment).map(
    ([at, name, fields]): Change =>
      (pod) =>
        push(pod, at, { name, image: 'i', ...fields }),
  ),
  fc.tuple(list, fc.constantFrom('odd', 'postern'), context).map(
    ([at, name, securityContext]): Change =>
      (pod) =>
        push(pod, at, { name, image: 'i', securityContext }),
  ),
  context.map(
    (of): Change =>
      (pod) => {
        if (pod.spec.initContainers?.[0]) Object.assign(pod.spec.initContainers[0].securityContext ?? {}, of);
      },
  ),
  fc.constantFrom('hostPID', 'hostIPC', 'shareProcessNamespace').map(
    (flag): Change =>
      (pod) => {
        pod.spec[flag] = true;
      },
  ),
  secretName.map(
    (name): Change =>
      (pod) =>
        push(pod, 'imagePullSecrets', { name }),
  ),
  fc.constantFrom('true', 'false').map(
    (value): Change =>
      (pod) => {
        pod.metadata.labels = { 'postern.dev/inject': value };
      },
  ),
  fc.constantFrom('small', 'large', 'huge').map(
    (value): Change =>
      (pod) => {
        pod.metadata.annotations = { 'postern.dev/sidecar-size': value };
      },
  ),
  sidecarField.map(
    ([field, value]): Change =>
      (pod) => {
        if (pod.spec.initContainers?.[0]) pod.spec.initContainers[0][field] = value;
      },
  ),
  fc.constant((pod: Pod) => pod.spec.initContainers?.reverse()),
  fc.constant((pod: Pod) => {
    delete pod.spec.initContainers;
  }),
);

const anyPod = fc.tuple(fc.boolean(), fc.array(change, { maxLength: 3 })).map(([injected, changes]) => {
  const pod = injected ? injectedPod('by-chance') : plainPod('by-chance');
  for (const apply of changes) apply(pod);
  return pod as Pod;
});

/** The pod as the API server would store it, made where no guard looks; undefined when it is no pod at all. */
async function stored(pod: Pod): Promise<Pod | undefined> {
  const { status, body } = await cluster.call('POST', podsOf('postern') + DRY, pod);
  assert.ok(status === 201 || status === 422, JSON.stringify(body.message));
  return status === 201 ? body : undefined;
}

test('judge: says what the API server says, of any pod in any namespace', { skip }, async () => {
  let refused = 0;
  let taken = 0;
  await fc.assert(
    fc.asyncProperty(anyPod, fc.boolean(), async (pod, enforced) => {
      const asStored = await stored(pod);
      if (asStored === undefined) return;
      const answer = await cluster.call('POST', podsOf(enforced ? 'agents' : 'plain') + DRY, pod);
      const findings = judgePod(asStored, releases, { enforced });
      const text = JSON.stringify({ message: answer.body.message, findings });
      assert.equal(answer.status, findings.length === 0 ? 201 : 403, text);
      if (findings.length === 0) taken++;
      else refused++;
      if (findings.length === 0) return;
      // The first refusal is one of ours, word for word; names of fields come in any order.
      const said = String(answer.body.message).split('denied request: ')[1] ?? '';
      const told = (message: string) => said.includes(message) || (message.includes('It differs in') && said.includes('It differs in'));
      assert.ok(
        findings.some(({ message }) => told(message)),
        text,
      );
    }),
    { numRuns: 400 },
  );
  assert.ok(refused > 50 && taken > 50, `${refused} refused, ${taken} taken`);
});

test('judge: names rule, path and cure', () => {
  const pod = injectedPod();
  pod.spec.containers[0].env = [
    { name: 'A', value: 'x' },
    { name: 'B', valueFrom: { secretKeyRef: { name: 'postern-x', key: 'k' } } },
  ];
  pod.spec.initContainers[0].env = [{ name: 'NODE_OPTIONS', value: '--require x' }];
  pod.spec.hostPID = true;
  const findings = judgePod(pod, releases);
  assert.deepEqual(
    findings.map(({ rule, path }) => [rule, path]),
    [
      ['reserved-container-secret', 'spec.containers[0].env[1].valueFrom.secretKeyRef.name'],
      ['shared-namespaces', 'spec.hostPID'],
      ['sidecar-spec', 'spec.initContainers[0]'],
    ],
  );
  assert.match(findings[2]?.message ?? '', /It differs in env\.$/);
  assert.deepEqual(judgePod(injectedPod(), releases), []);
});

test('judge: refuses every sidecar while no release is known', () => {
  assert.deepEqual(
    judgePod(injectedPod(), [])
      .map(({ rule }) => rule)
      .slice(0, 1),
    ['sidecar-spec'],
  );
  assert.deepEqual(judgePod(plainPod(), []), []);
});
