/** The informers against a real API server: what a scripted one would say in our favour (OPR-22). */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { type ApiTransport, createApiTransport } from '#operator/kube/api-transport.ts';
import { createKubeClient, type KubeClient } from '#operator/kube/client.ts';
import { type Cluster, emptyCluster } from '#operator/kube/cluster.ts';
import { type Informers, startInformers } from '#operator/kube/informers.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { until } from './fast-clock.ts';
import { accessTo } from './real-access.ts';

const skip = await unavailable('etcd', 'kube-apiserver');

let kube: KubeApiserver;
let transport: ApiTransport;
let client: KubeClient;
before(async () => {
  if (skip !== false) return;
  kube = await startKubeApiserver();
  transport = createApiTransport(accessTo(kube));
  client = createKubeClient(transport);
  for (const plural of ['agentsessions', 'actionapprovals', 'actioncontracts', 'credentialbindings']) {
    const text = await readFile(new URL(`../../../crds/postern.dev_${plural}.yaml`, import.meta.url), 'utf8');
    await client.create(KINDS.customResources, parse(text, { merge: true, maxAliasCount: -1 }) as object);
    await until(async () => (await kube.request('GET', `/apis/postern.dev/v1alpha1/${plural}`)).status === 200, `${plural} are served`);
  }
});
after(async () => {
  await transport?.close();
  await kube?.[Symbol.asyncDispose]();
});

interface Scene extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly informers: Informers;
  readonly relists: string[];
  readonly missed: number[];
}

async function startScene(through = transport): Promise<Scene> {
  const cluster = emptyCluster();
  const relists: string[] = [];
  const missed: number[] = [];
  const observer = {
    relisted: (kind: string, cause: string) => relists.push(`${kind} ${cause}`),
    missed: (_: string, count: number) => missed.push(count),
  };
  const informers = startInformers({ transport: through, cluster, observer });
  await informers.synced;
  return { cluster, informers, relists, missed, [Symbol.asyncDispose]: () => informers.stop() };
}

const createNamespace = (name: string) =>
  client.create<object>(KINDS.namespaces, { metadata: { name, labels: { 'postern.dev/enforce': 'true' } } });

async function createPod(name: string): Promise<void> {
  const containers = [{ name: 'agent', image: 'agent', env: [{ name: 'PADDING', value: 'x'.repeat(500) }] }];
  await client.create<object>(KINDS.pods, {
    metadata: { namespace: 'default', name },
    spec: { serviceAccountName: 'triage-bot', containers },
  });
}

test('informers: list and watch every kind of the cluster, and say so', { skip }, async () => {
  await createNamespace('before');
  await using scene = await startScene();
  const { cluster, informers } = scene;
  assert.equal(cluster.namespaces.get('before')?.enforced, true);
  assert.deepEqual(informers.problems(), []);
  const ages = informers.ages();
  assert.deepEqual(ages.map(({ kind }) => kind).sort(), [
    'actionapprovals',
    'actioncontracts',
    'agentsessions',
    'credentialbindings',
    'namespaces',
    'pods',
    'serviceaccounts',
  ]);
  assert(ages.every(({ synced, ageSeconds }) => synced && ageSeconds < 60));
  await client.create<object>(KINDS.accounts, { metadata: { namespace: 'default', name: 'triage-bot' } });
  await createPod('watched');
  await until(() => cluster.pods.by('account', 'default/triage-bot').length === 1, 'the pod is known by its account');
  await client.delete(KINDS.namespaces, { name: 'before' });
  await client.patch(KINDS.pods, { namespace: 'default', name: 'watched' }, { metadata: { labels: { 'postern.dev/inject': 'true' } } });
  await until(() => cluster.pods.get('default/watched')?.inject === true, 'a change is followed');
  await kube.request('DELETE', '/api/v1/namespaces/default/pods/watched?gracePeriodSeconds=0');
  await until(() => cluster.pods.get('default/watched') === undefined, 'a deletion is followed');
});

test('informers: a compaction while a kind is quiet causes no list, and the next change is heard (OPR-06)', { skip }, async () => {
  await using scene = await startScene();
  const { cluster, relists } = scene;
  // Each watch ends by itself within half a minute, with a bookmark from after the compaction or from before it.
  for (let round = 0; round < 20; round += 1) await createNamespace(`busy-${round}`);
  await kube.compact();
  const startedMs = performance.now();
  await until(() => performance.now() - startedMs > 35_000, 'every watch was asked for anew', 60_000);
  await client.create<object>(KINDS.accounts, { metadata: { namespace: 'default', name: 'after-compaction' } });
  await until(() => cluster.accounts.get('default/after-compaction') !== undefined, 'heard');
  assert.deepEqual([...relists].sort(), relists.filter((line) => line.endsWith(' started')).sort());
  assert.equal(relists.length, 7);
});

test('informers: an API server that goes away in mid-watch and comes back is followed without a list (OPR-01, OPR-07)', {
  skip,
}, async () => {
  await using relay = await startRelay(kube.url);
  const through = createApiTransport({ ...accessTo(kube), server: relay.url });
  await using scene = await startScene(through);
  const { cluster, informers, relists } = scene;
  await relay.close();
  await createPodsWhileAway();
  await until(() => informers.problems().length === 7, 'all of them say so');
  await relay.open();
  await until(() => cluster.pods.size >= 30, 'what happened meanwhile is heard');
  await until(() => informers.problems().length === 0, 'all is well');
  assert.equal(relists.length, 7, relists.join());
  await through.close();
});

test('informers: a list of many pages under a compaction is whole', { skip }, async () => {
  const many = 1_100;
  for (let from = 0; from < many; from += 50) {
    const batch = Array.from({ length: 50 }, (_, index) => from + index);
    await Promise.all(
      batch.map((index) => client.create<object>(KINDS.accounts, { metadata: { namespace: 'default', name: `many-${index}` } })),
    );
  }
  let pages = 0;
  const compacting: ApiTransport = {
    open: (request) => transport.open(request),
    close: () => transport.close(),
    call: async (request) => {
      if (request.query?.continue !== undefined && pages++ === 0) await kube.compact();
      return transport.call(request);
    },
  };
  await using scene = await startScene(compacting);
  assert(pages > 0, 'there were several pages');
  const known = [...scene.cluster.accounts.values()].filter(({ name }) => name.startsWith('many-'));
  assert.equal(known.length, many);
});

async function createPodsWhileAway(): Promise<void> {
  await client.apply(KINDS.accounts, { metadata: { namespace: 'default', name: 'triage-bot' } }, { manager: 'test' });
  for (let index = 0; index < 30; index += 1) await createPod(`away-${index}`);
}

interface Relay extends AsyncDisposable {
  readonly url: string;
  open(): Promise<void>;
  close(): Promise<void>;
}

/** Bytes to and from the API server, until it is closed: then every connection breaks and none is taken. */
async function startRelay(target: string): Promise<Relay> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let own = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    }
    near.pipe(far).pipe(near);
  });
  const open = () =>
    new Promise<void>((resolve) => {
      server.listen(own, '127.0.0.1', () => {
        own = (server.address() as { port: number }).port;
        resolve();
      });
    });
  const close = async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of sockets) socket.resetAndDestroy();
    await closed;
  };
  await open();
  return { url: `https://127.0.0.1:${own}`, open, close, [Symbol.asyncDispose]: close };
}
