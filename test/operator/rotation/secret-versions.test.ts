/**
 * Goal: a changed Secret reaches its bindings, and no value of a Secret reaches the watcher. Method: the watcher against a real
 * kube-apiserver, through a relay that keeps every byte the API server sent.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { createLog } from '#core/runtime/log.ts';
import { connectionTo } from '#operator/kube/connect.ts';
import { type RunningWatcher, startWatcher } from '#operator/watcher.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const VALUE = 'canary-of-a-secret-value-7f3a';
let api: KubeApiserver | undefined;
let watcher: RunningWatcher | undefined;
const running = () => api ?? assert.fail('the API server did not start');
const seen: string[] = [];

async function start(): Promise<void> {
  const { url, caPem, adminToken } = running();
  const connection = connectionTo({
    server: url,
    tls: { ca: caPem, rejectUnauthorized: true },
    namespace: 'postern-system',
    headers: async () => ({ authorization: `Bearer ${adminToken}` }),
  });
  // Everything the process is given of the API server passes here.
  const { transport } = connection;
  const kept = {
    ...connection,
    transport: {
      call: async (request: Parameters<typeof transport.call>[0]) => {
        const answer = await transport.call(request);
        seen.push(JSON.stringify(answer));
        return answer;
      },
      open: async (request: Parameters<typeof transport.open>[0]) => {
        return Readable.from(recorded(await transport.open(request)), { objectMode: false }) as Awaited<ReturnType<typeof transport.open>>;
      },
      close: () => transport.close(),
    },
  };
  watcher = await startWatcher(kept, { host: '127.0.0.1', port: 0 }, createLog({ level: 'silent' }));
}

async function* recorded(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    seen.push(Buffer.from(chunk).toString());
    yield chunk;
  }
}

before(
  async () => {
    if (skip !== false) return;
    api = await startKubeApiserver();
    const crd = parse(readFileSync('crds/postern.dev_credentialbindings.yaml', 'utf8'), { maxAliasCount: -1 });
    assert.ok(readdirSync('crds').includes('postern.dev_credentialbindings.yaml'));
    assert.equal((await api.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)).status, 201);
    assert.equal((await api.request('POST', '/api/v1/namespaces', { metadata: { name: 'triage' } })).status, 201);
    while ((await api.request('GET', BINDINGS)).status !== 200) await pause();
    await makeSecret('postern-github');
    await makeSecret('ordinary');
    await bind('github', 'postern-github');
    await start();
  },
  { timeout: 120_000 },
);

after(async () => {
  await watcher?.stop();
  await api?.[Symbol.asyncDispose]();
});

const SECRETS = '/api/v1/namespaces/triage/secrets';
const BINDINGS = '/apis/postern.dev/v1alpha1/namespaces/triage/credentialbindings';
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

async function makeSecret(name: string): Promise<void> {
  assert.equal((await running().request('POST', SECRETS, { metadata: { name }, stringData: { token: VALUE } })).status, 201);
}

async function bind(name: string, secret: string): Promise<void> {
  const spec = {
    owner: 'platform',
    secret: { name: secret },
    contracts: ['list'],
    destinations: [{ origin: 'https://api.example.com' }],
    use: { bearer: { key: 'token' } },
  };
  const made = await running().request('POST', BINDINGS, {
    apiVersion: 'postern.dev/v1alpha1',
    kind: 'CredentialBinding',
    metadata: { name },
    spec,
  });
  assert.equal(made.status, 201);
}

interface Named {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string; readonly annotations?: Readonly<Record<string, string>> };
}

async function versionOf(binding: string): Promise<string | undefined> {
  return (await running().request<Named>('GET', `${BINDINGS}/${binding}`)).body.metadata.annotations?.['postern.dev/secret-version'];
}

async function versionOfSecret(name: string): Promise<string> {
  const { uid, resourceVersion } = (await running().request<Named>('GET', `${SECRETS}/${name}`)).body.metadata;
  return `${uid}.${resourceVersion}`;
}

async function expectVersion(binding: string, version: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  while ((await versionOf(binding)) !== version) {
    assert.ok(Date.now() < deadline, `${binding} never carried ${version}`);
    await pause();
  }
}

test('watcher: a binding carries the version of its Secret', { skip }, async () => {
  await expectVersion('github', await versionOfSecret('postern-github'));
});

test('watcher: a changed Secret changes its bindings, and a binding made later gets it too', { skip }, async () => {
  const before = await versionOfSecret('postern-github');
  await running().request('PATCH', `${SECRETS}/postern-github`, { stringData: { token: `${VALUE}-2` } });
  const now = await versionOfSecret('postern-github');
  assert.notEqual(now, before);
  await expectVersion('github', now);
  await bind('second', 'postern-github');
  await expectVersion('second', now);
});

test('watcher: a change while it was away is seen when it is back', { skip }, async () => {
  await watcher?.stop();
  await running().request('PATCH', `${SECRETS}/postern-github`, { stringData: { token: `${VALUE}-3` } });
  await start();
  await expectVersion('github', await versionOfSecret('postern-github'));
});

test('watcher: a deleted Secret is no new value; made anew, it is one', { skip }, async () => {
  const before = await versionOf('github');
  await running().request('DELETE', `${SECRETS}/postern-github`);
  await bind('third', 'postern-other');
  await makeSecret('postern-other');
  await expectVersion('third', await versionOfSecret('postern-other'));
  assert.equal(await versionOf('github'), before);
  await makeSecret('postern-github');
  await expectVersion('github', await versionOfSecret('postern-github'));
});

test('watcher: no value of a Secret is ever sent to it', { skip }, () => {
  const all = seen.join('');
  assert.ok(all.includes('postern-github'), 'nothing was recorded');
  for (const form of [VALUE, Buffer.from(VALUE).toString('base64').slice(0, -2)]) assert.ok(!all.includes(form));
});
