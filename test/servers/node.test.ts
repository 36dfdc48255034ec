import './isolated.ts';
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { type Node, nodeUnavailable, startNode } from './node.ts';
import { nodeAddress } from './node-network.ts';
import { podReady } from './pods.ts';

const skip = await nodeUnavailable();

test('node: a cluster of one node starts', { skip }, async (t) => {
  await using node = await startNode();
  await apply(node, ...objects(node));
  await podReady(node, 'default', 'agent');

  await t.test('node: a container sees the Secret that is mounted into it, and its neighbour does not', async () => {
    const read = ['cat', '/secret/token'];
    const sidecar = await node.kubectl(['exec', 'agent', '-c', 'sidecar', '--', ...read]);
    assert.equal(sidecar.stdout, 'the-value', sidecar.stderr);
    const app = await node.kubectl(['exec', 'agent', '-c', 'app', '--', ...read]);
    assert.notEqual(app.code, 0);
  });

  await t.test('node: a pod reaches a Service by its cluster name, and the API server by its own', async () => {
    const answer = await inApp(node, 'nc -w 5 echo.default.svc.cluster.local 80 </dev/null');
    assert.equal(answer.stdout.trim(), 'from the pod', answer.stderr);
    const url = 'https://kubernetes.default.svc/version';
    const script = `fetch('${url}').then(async (r) => console.log(r.status), (e) => console.log(e.cause.code))`;
    const version = await inApp(node, `NODE_EXTRA_CA_CERTS=/var/run/secrets/kubernetes.io/serviceaccount/ca.crt node -e "${script}"`);
    assert.equal(version.stdout.trim(), '200', version.stderr);
  });

  await t.test('node: a pod reaches what the test serves on the address of the node, by any name below test', async () => {
    const upstream = createServer((_request, response) => response.end('from the test'));
    await new Promise<void>((resolve) => upstream.listen(0, nodeAddress, resolve));
    const { port } = upstream.address() as { port: number };
    try {
      const script = `fetch('http://upstream.test:${port}/').then(async (r) => console.log(await r.text()))`;
      const answer = await inApp(node, `node -e "${script}"`);
      assert.equal(answer.stdout.trim(), 'from the test', answer.stderr);
    } finally {
      upstream.close();
    }
  });

  await t.test('node: an image is known by its digest', async () => {
    const { stdout } = await node.kubectl(['get', 'pod', 'agent', '-o', 'jsonpath={.status.containerStatuses[0].imageID}']);
    assert.match(stdout, new RegExp(`${node.images.agent.digest}$`));
  });

  await t.test('node: the API server comes back after a crash, and pods can be made again', async () => {
    await node.restartApiserver();
    await apply(node, { ...objects(node)[1], metadata: { name: 'later', labels: {} } });
    await podReady(node, 'default', 'later');
  });
});

async function apply(node: Node, ...items: readonly unknown[]): Promise<void> {
  const { code, stderr } = await node.kubectl(['apply', '-f', '-'], JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  assert.equal(code, 0, stderr);
}

function inApp(node: Node, script: string) {
  return node.kubectl(['exec', 'agent', '-c', 'app', '--', 'sh', '-c', script]);
}

/** A pod with a native sidecar, which alone mounts the Secret; the app answers on port 8080 behind a Service. */
function objects(node: Node): readonly Record<string, unknown>[] {
  const image = { image: node.images.agent.reference, imagePullPolicy: 'Never' };
  const serve = "require('net').createServer((s) => s.end('from the pod')).listen(8080)";
  return [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'credential' }, stringData: { token: 'the-value' } },
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'agent', labels: { app: 'echo' } },
      spec: {
        terminationGracePeriodSeconds: 0,
        initContainers: [
          {
            name: 'sidecar',
            ...image,
            command: ['sleep', '1000'],
            restartPolicy: 'Always',
            volumeMounts: [{ name: 'secret', mountPath: '/secret' }],
          },
        ],
        containers: [{ name: 'app', ...image, command: ['node', '-e', serve] }],
        volumes: [{ name: 'secret', secret: { secretName: 'credential' } }],
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'echo' },
      spec: { selector: { app: 'echo' }, ports: [{ port: 80, targetPort: 8080 }] },
    },
  ];
}
