/**
 * The doors of a running pod, on a real API server whose node is a kubelet that only writes down what it is asked: which container a
 * request without a name means is not to be believed but seen.
 */
import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { policies } from '#operator/guard/policies.ts';
import { unavailable } from '#test/servers/build.ts';
import { createAuthority } from '#test/servers/certificates.ts';
import {
  type Answer,
  account,
  allow,
  expectAllowed,
  expectRefused,
  type GuardedCluster,
  injectedPod,
  type Person,
  person,
  plainPod,
  podsOf,
  settings,
  startGuardedCluster,
} from './guarded-cluster.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let cluster: GuardedCluster;
let kubelet: Server;
const asked: string[] = [];
const pods = podsOf('agents');
const debugger_ = person('dee');
const bot = account('agents', 'bot');

before(async () => {
  if (skip) return;
  const authority = await createAuthority();
  const { certificatePem, keyPem } = await authority.issue({ commonName: 'node-1', hosts: ['127.0.0.1'] });
  kubelet = createServer({ cert: certificatePem, key: keyPem }, (request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(418).end();
  });
  kubelet.on('upgrade', (request, socket) => {
    asked.push(request.url ?? '');
    socket.end('HTTP/1.1 418 I am no kubelet\r\ncontent-length: 0\r\n\r\n');
  });
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
  cluster = await startGuardedCluster();
  const node = { metadata: { name: 'node-1' } };
  expectAllowed(await cluster.call('POST', '/api/v1/nodes', node));
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: (kubelet.address() as AddressInfo).port } },
  };
  expectAllowed(await cluster.call('PATCH', '/api/v1/nodes/node-1/status', { status }));
  const several = injectedPod('several');
  several.spec.containers.push({ name: 'second', image: 'i' });
  for (const pod of [injectedPod('one'), several]) expectAllowed(await cluster.call('POST', pods, onNode(pod)));
  expectAllowed(
    await cluster.call('POST', podsOf('plain'), onNode({ ...plainPod('one'), spec: { containers: [{ name: 'postern', image: 'i' }] } })),
  );
  const verbs = ['get', 'create'];
  for (const who of [debugger_, bot]) {
    const resources = ['pods/exec', 'pods/attach', 'pods/portforward'];
    for (const namespace of ['agents', 'plain']) await allow(cluster.call, namespace, who, { apiGroups: [''], resources, verbs });
  }
});
after(async () => {
  await cluster?.[Symbol.asyncDispose]();
  kubelet?.closeAllConnections();
  kubelet?.close();
});

function onNode(pod: { spec: object }): object {
  return { ...pod, spec: { ...pod.spec, nodeName: 'node-1' } };
}

const UPGRADE = { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': 'v4.channel.k8s.io' };

async function connect(method: string, path: string, as: Person = debugger_) {
  const before = asked.length;
  const answer = await cluster.call(method, `${pods}/${path}`, undefined, { as, headers: UPGRADE }).catch(cut);
  return { answer, asked: asked.slice(before) };
}

/** What the API server does when a kubelet does not speak: the request went through. */
function cut(error: NodeJS.ErrnoException): Answer {
  if (error.code !== 'ECONNRESET') throw error;
  return { status: 0, body: {}, warnings: '' };
}

test('connect: nobody runs commands in the sidecar or attaches to it, by either method (INJ-30, LEAK-16)', { skip }, async () => {
  for (const method of ['GET', 'POST']) {
    for (const as of [debugger_, bot]) {
      for (const pod of ['one', 'several']) {
        const exec = await connect(method, `${pod}/exec?container=postern&command=id&stdout=true`, as);
        expectRefused(exec.answer, /nobody runs commands in the sidecar/);
        const attach = await connect(method, `${pod}/attach?container=postern&stdout=true`, as);
        expectRefused(attach.answer, /nobody runs commands in the sidecar/);
        assert.deepEqual([...exec.asked, ...attach.asked], []);
      }
    }
  }
});

test('connect: a request without a name means the only app container, never the sidecar (INJ-30)', { skip }, async () => {
  const one = await connect('POST', 'one/exec?command=id&stdout=true');
  assert.deepEqual(
    one.asked.map((url) => url.split('?')[0]),
    ['/exec/agents/one/agent'],
  );
  const attached = await connect('POST', 'one/attach?stdout=true');
  assert.deepEqual(
    attached.asked.map((url) => url.split('?')[0]),
    ['/attach/agents/one/agent'],
  );
  const several = await connect('POST', 'several/exec?command=id&stdout=true');
  assert.equal(several.answer.status, 400);
  assert.match(several.answer.body.message, /container name must be specified/);
  assert.deepEqual(several.asked, []);
});

test('connect: of two names in one request the judged one is the one that is used (INJ-30)', { skip }, async () => {
  const agentFirst = await connect('POST', 'one/exec?container=agent&container=postern&command=id&stdout=true');
  assert.ok(agentFirst.asked.every((url) => url.startsWith('/exec/agents/one/agent')));
  const sidecarFirst = await connect('POST', 'one/exec?container=postern&container=agent&command=id&stdout=true');
  assert.ok(sidecarFirst.asked.every((url) => url.startsWith('/exec/agents/one/agent')));
});

test('connect: the agent stays open to those who may debug it, and other namespaces are not touched', { skip }, async () => {
  const exec = await connect('POST', 'one/exec?container=agent&command=id&stdout=true');
  assert.equal(exec.asked.length, 1);
  const before = asked.length;
  const path = `${podsOf('plain')}/one/exec?container=postern&command=id&stdout=true`;
  await cluster.call('POST', path, undefined, { as: debugger_, headers: UPGRADE }).catch(cut);
  assert.equal(asked.length, before + 1);
});

test('connect: no ServiceAccount forwards ports of a guarded pod; a person with the right does (INJ-30)', { skip }, async () => {
  for (const method of ['GET', 'POST']) {
    const refused = await connect(method, 'one/portforward?ports=7717', bot);
    expectRefused(refused.answer, /no ServiceAccount forwards ports/);
    assert.deepEqual(refused.asked, []);
  }
  assert.equal((await connect('POST', 'one/portforward')).asked.length, 1);
});

test('connect: tokens for Postern are given to kubelets alone', { skip }, async () => {
  const path = '/api/v1/namespaces/agents/serviceaccounts/default/token';
  const ask = (audiences?: readonly string[], as?: Person) =>
    cluster.call('POST', path, { spec: { ...(audiences !== undefined && { audiences }) } }, as === undefined ? {} : { as });
  for (const audience of ['postern', 'postern-control'])
    expectRefused(await ask(['vault', audience]), /spec\.audiences: audiences postern\* are the sidecar's/);
  expectAllowed(await ask(['vault']));
  expectAllowed(await ask());
  const node = { user: 'system:node:node-1', groups: ['system:nodes', 'system:authenticated'] };
  const { body } = await cluster.call('GET', `${pods}/one`);
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'one', uid: body.metadata.uid };
  expectAllowed(await cluster.call('POST', path, { spec: { audiences: ['postern-control'], boundObjectRef } }, { as: node }));
});

/** Each way to change or enter a pod, with the policy that sees it, or why none does. */
const DOORS: Readonly<Record<string, string>> = {
  'CREATE pods': 'postern-reserved postern-pod',
  'UPDATE pods': 'postern-reserved postern-pod',
  'UPDATE pods/ephemeralcontainers': 'postern-reserved postern-pod',
  'UPDATE pods/resize': 'postern-reserved postern-pod',
  'CONNECT pods/exec': 'postern-connect',
  'CONNECT pods/attach': 'postern-connect',
  'CONNECT pods/portforward': 'postern-connect',
  'CREATE serviceaccounts/token': 'postern-token',
};
/** Neither container nor volume is in them, or nothing but the sidecar's probes and metrics is behind them. */
const HARMLESS = ['pods/binding', 'pods/eviction', 'pods/log', 'pods/proxy', 'pods/status'];

test('guards: every verb and subresource of a pod is guarded or known to be harmless (INJ-29)', { skip }, async () => {
  const { body } = await cluster.call('GET', '/api/v1');
  const served = body.resources
    .map(({ name }: { name: string }) => name)
    .filter((name: string) => name === 'pods' || name.startsWith('pods/'));
  const guarded = Object.keys(DOORS).map((door) => door.split(' ')[1] ?? '');
  assert.deepEqual([...new Set([...guarded, ...HARMLESS])].filter((name) => name.startsWith('pods')).sort(), served.sort());
  const doors: Record<string, string[]> = {};
  for (const { name, policy } of policies(settings).filter(({ name }) => name !== 'postern-operator-pods')) {
    assert.equal(policy.matchConstraints.matchPolicy, 'Equivalent');
    for (const { apiGroups, operations, resources } of policy.matchConstraints.resourceRules) {
      if (!apiGroups.includes('') || policy.failurePolicy !== 'Fail') continue;
      for (const door of operations.flatMap((operation) => resources.map((resource) => `${operation} ${resource}`))) {
        doors[door] = [...(doors[door] ?? []), name];
      }
    }
  }
  for (const [door, names] of Object.entries(DOORS)) assert.equal(doors[door]?.join(' '), names, door);
});
