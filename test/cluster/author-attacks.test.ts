/**
 * A ServiceAccount that may do with pods whatever it likes, but may not read Secrets: what an agent becomes that has found such
 * a token. The guards in the API server must hold for it as they hold for everybody. Each test is named after what stops it.
 */
import '#test/servers/isolated.ts';
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { Agent } from 'undici';
import { type KubeAnswer, requester } from '#test/servers/kube-apiserver.ts';
import { type Node, nodeUnavailable } from '#test/servers/node.ts';
import { writeKubeconfig } from '#test/servers/node-files.ts';
import { until } from '#test/servers/pods.ts';
import { sidecarOf, sidecarStatus } from './injected.ts';
import { agentPod, deployment, pod, triage } from './objects.ts';
import { containerReferences, volumeReferences } from './secret-references.ts';
import { applyTriage, install, startStage } from './stage.ts';

const skip = await nodeUnavailable();
const pods = `/api/v1/namespaces/${triage}/pods`;
const author = 'pod-author';

test('author attack: an account that may do everything with pods', { skip }, async (t) => {
  await using stage = await startStage();
  const { node } = stage;
  await install(stage);
  const agent = await applyTriage(stage);
  const name = agent.metadata.name;
  await stage.apply(...authorObjects());
  const token = await node.createServiceAccountToken(triage, author);
  await using connection = connect(node, token);
  const { request, kubectl } = connection;
  const attempt = (title: string, run: () => Promise<void>) => t.test(`author attack: ${title}`, run);
  const create = (body: unknown) => request('POST', `${pods}?dryRun=All`, body);
  const withVolume = (volume: object) => pod(node.images, 'thief', { spec: { volumes: [{ name: 'stolen', ...volume }] } });

  await attempt('an ordinary pod of the same account is admitted, so what follows is refused for its content', async () => {
    assert.equal((await create(pod(node.images, 'ordinary'))).status, 201);
  });

  for (const [kind, volume] of Object.entries(volumeReferences('postern-issues'))) {
    await attempt(`a pod that mounts the Secret as ${kind} is stopped by the reserved name (INJ-18)`, async () => {
      refusedBy('postern-reserved', await create(withVolume(volume)));
    });
  }

  for (const [kind, container] of Object.entries(containerReferences('postern-issues'))) {
    for (const list of ['containers', 'initContainers']) {
      await attempt(`a pod that takes the Secret as ${kind} of ${list} is stopped by the reserved name (INJ-18)`, async () => {
        const { spec } = agentPod(node.images);
        const thief = { name: 'thief', image: node.images.agent.reference, command: ['true'], ...container };
        const lists = { containers: spec.containers as object[], initContainers: [] as object[] };
        const all = { ...lists, [list]: [...lists[list as keyof typeof lists], thief] };
        refusedBy('postern-reserved', await create(pod(node.images, 'thief', { spec: all })));
      });
    }
  }

  await attempt('a pod that pulls its image with the Secret is stopped by the reserved name', async () => {
    refusedBy('postern-reserved', await create(pod(node.images, 'thief', { spec: { imagePullSecrets: [{ name: 'postern-issues' }] } })));
  });

  await attempt('a Deployment with the Secret is warned about, and its pods are stopped by the reserved name (INJ-31)', async () => {
    const volumes = [{ name: 'stolen', secret: { secretName: 'postern-issues' } }];
    const made = await request(
      'POST',
      `/apis/apps/v1/namespaces/${triage}/deployments`,
      deployment(node.images, { name: 'thief', spec: { volumes } }),
    );
    assert.equal(made.status, 201);
    const message = await until('the ReplicaSet to fail', async () => {
      const { stdout } = await node.kubectl(['get', 'replicasets', '-n', triage, '-l', 'app=thief', '-o', 'json']);
      const { items } = JSON.parse(stdout) as { items: { status: { conditions?: { type: string; message: string }[] } }[] };
      return items[0]?.status.conditions?.find(({ type }) => type === 'ReplicaFailure')?.message;
    });
    assert.match(message, /ValidatingAdmissionPolicy 'postern-reserved'/);
  });

  await attempt('a container that mounts the volumes of the sidecar is stopped by their reserved names', async () => {
    for (const volume of ['postern-credentials', 'postern-identity', 'postern-state', 'postern-audit']) {
      const container = { volumeMounts: [{ name: volume, mountPath: '/stolen' }] };
      refused(await create(pod(node.images, 'thief', { container })));
    }
  });

  await attempt('a pod whose own container asks for a token for Postern is stopped by the reserved audience', async () => {
    const projected = { sources: [{ serviceAccountToken: { path: 'token', audience: 'postern-control' } }] };
    refusedBy('postern-reserved', await create(withVolume({ projected })));
  });

  await attempt('a token for Postern asked of the API is stopped by the reserved audience', async () => {
    const path = `/api/v1/namespaces/${triage}/serviceaccounts/triage-bot/token`;
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { audiences: ['postern-control'] } };
    refusedBy('postern-token', await request('POST', path, body));
  });

  await attempt('a sidecar with another image, command or environment is stopped by its literal spec (INJ-15, INJ-21)', async () => {
    const real = sidecarOf(agent);
    const changes = [
      { image: node.images.agent.reference },
      { command: ['sh', '-c', 'cat /var/run/postern/credentials/*/token'] },
      { env: [{ name: 'NODE_OPTIONS', value: '--require=/tmp/steal.js' }] },
      { args: [...(real.args ?? []), '--log-level=debug'] },
      { securityContext: { runAsUser: 0 } },
      { lifecycle: { postStart: { exec: { command: ['true'] } } } },
    ];
    for (const change of changes) {
      const spec = { ...agent.spec, nodeName: undefined, initContainers: [{ ...real, ...change }] };
      refused(await create({ ...pod(node.images, 'thief'), spec }));
    }
  });

  await attempt('an ephemeral container with the volumes of the sidecar is stopped by the reserved names (INJ-17)', async () => {
    const debug = {
      name: 'debug',
      image: node.images.agent.reference,
      volumeMounts: [{ name: 'postern-credentials', mountPath: '/stolen' }],
    };
    for (const _ of ['first', 'second']) {
      refusedBy('postern-', await request('PATCH', `${pods}/${name}/ephemeralcontainers`, { spec: { ephemeralContainers: [debug] } }));
    }
  });

  await attempt('kubectl debug --target=postern is stopped by the guard on targets (INJ-17, LEAK-16)', async () => {
    for (const profile of ['general', 'sysadmin']) {
      const image = `--image=${node.images.agent.reference}`;
      const { code, stderr } = await kubectl(['debug', '-n', triage, name, image, '--target=postern', `--profile=${profile}`, '--', 'sh']);
      assert.notEqual(code, 0);
      assert.match(stderr, /ValidatingAdmissionPolicy 'postern-pod'/);
    }
  });

  await attempt('exec and attach into the sidecar are stopped by the guard on connections (INJ-30, LEAK-16)', async () => {
    for (const command of [
      ['exec', name, '-c', 'postern', '--', 'cat', '/etc/passwd'],
      ['attach', name, '-c', 'postern'],
    ]) {
      const { code, stderr } = await kubectl([...command.slice(0, 1), '-n', triage, ...command.slice(1)]);
      assert.notEqual(code, 0);
      assert.match(stderr, /ValidatingAdmissionPolicy 'postern-connect'/);
    }
  });

  await attempt('a forwarded port is stopped by the guard on connections', async () => {
    const { stderr } = await kubectl(['port-forward', '-n', triage, name, ':7717', '--pod-running-timeout=5s']);
    assert.match(stderr, /ValidatingAdmissionPolicy 'postern-connect'/);
  });

  await attempt('another image in the running sidecar is stopped by the guard on updates (INJ-24)', async () => {
    const initContainers = [{ ...sidecarOf(agent), image: node.images.agent.reference }];
    refusedBy('postern-', await request('PATCH', `${pods}/${name}`, { spec: { initContainers } }));
    const { body } = await node.request<typeof agent>('GET', `${pods}/${name}`);
    assert.equal(sidecarStatus(body).restartCount, 0);
  });

  await attempt('starving the sidecar by a resize is stopped by the guard on updates (INJ-25)', async () => {
    const resources = { requests: { cpu: '1m', memory: '8Mi' }, limits: { cpu: '1m', memory: '8Mi' } };
    const initContainers = [{ ...sidecarOf(agent), resources }];
    refusedBy('postern-', await request('PATCH', `${pods}/${name}/resize`, { spec: { initContainers } }));
  });

  for (const [field, spec] of Object.entries({
    shareProcessNamespace: { shareProcessNamespace: true },
    hostPID: { hostPID: true },
    hostNetwork: { hostNetwork: true },
    hostPath: { volumes: [{ name: 'disk', hostPath: { path: '/' } }] },
  })) {
    await attempt(`a pod with ${field} gets no credential, by injection and guard (INJ-26)`, async () => {
      const answer = await create(pod(node.images, 'thief', { labels: { 'postern.dev/inject': 'true' }, spec }));
      assert.ok(answer.status >= 400, 'it would have been admitted');
      assert.match(JSON.stringify(answer.body), /postern/);
    });
  }

  await attempt('after all of it the agent calls as before', async () => {
    assert.equal((await stage.call(name, 'list_issues')).status, 'ok');
  });
});

/** By the webhook, which comes first while the operator runs; operator-down.test.ts has the same without it. */
function refused({ status, body }: KubeAnswer<unknown>): void {
  assert.ok(status >= 400 && status < 500, `admitted with ${status}`);
  assert.match((body as { message?: string }).message ?? '', /admission webhook "pods\.postern\.dev" denied the request/);
}

function refusedBy(policy: string, { status, body }: KubeAnswer<unknown>): void {
  const { message = '' } = body as { message?: string };
  assert.ok(status >= 400 && status < 500, `admitted with ${status}: ${message}`);
  assert.match(message, new RegExp(`ValidatingAdmissionPolicy '${policy}`));
}

function authorObjects(): readonly object[] {
  const metadata = { name: author, namespace: triage };
  const all = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
  const resources = [
    'pods',
    'pods/exec',
    'pods/attach',
    'pods/portforward',
    'pods/ephemeralcontainers',
    'pods/resize',
    'serviceaccounts/token',
  ];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata,
      rules: [
        { apiGroups: [''], resources, verbs: all },
        { apiGroups: ['apps', 'batch'], resources: ['*'], verbs: all },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: author },
      subjects: [{ kind: 'ServiceAccount', name: author, namespace: triage }],
    },
  ];
}

function connect(node: Node, token: string) {
  const agent = new Agent({ connect: { ca: node.caPem } });
  const written = writeKubeconfig(tmpdir(), author, { ...node, token });
  return {
    request: requester(agent, { ...node, adminToken: token }),
    kubectl: async (args: readonly string[]) => node.kubectl(['--kubeconfig', await written, ...args]),
    [Symbol.asyncDispose]: () => agent.destroy(),
  };
}
