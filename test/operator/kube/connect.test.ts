import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtemp, rename, rm, symlink, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { ConnectError } from '#operator/kube/api-access.ts';
import { connectByKubeconfig, connectInCluster, inClusterAccess } from '#operator/kube/connect.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { fastClock } from './fast-clock.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const defaults = { namespace: 'default', name: 'default' };

let folder: string;
let kube: KubeApiserver;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'postern-connect-'));
  if (skip === false) kube = await startKubeApiserver();
});
after(async () => {
  await kube?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

const env = (url = 'https://127.0.0.1:6443') => ({
  KUBERNETES_SERVICE_HOST: new URL(url).hostname,
  KUBERNETES_SERVICE_PORT: new URL(url).port,
});

async function mountAccount(token: string, ca = 'ca'): Promise<string> {
  const mount = await mkdtemp(join(folder, 'account-'));
  await writeFile(join(mount, 'ca.crt'), ca);
  await writeFile(join(mount, 'namespace'), 'postern-system\n');
  await writeFile(join(mount, 'token-1'), `${token}\n`);
  await symlink('token-1', join(mount, 'token'));
  return mount;
}

/** As the kubelet does: a new file, and the link moved over. */
async function rotate(mount: string, token: string): Promise<void> {
  await writeFile(join(mount, 'token-2'), token);
  await symlink('token-2', join(mount, 'token-new'));
  await rename(join(mount, 'token-new'), join(mount, 'token'));
}

test('connect: without the files of a pod it refuses, and asks nobody on localhost (OPR-20)', async () => {
  await assert.rejects(connectInCluster({ env: {}, folder }), (error: unknown) => {
    assert(error instanceof ConnectError);
    assert.match(error.message, /KUBERNETES_SERVICE_HOST/);
    return true;
  });
  await assert.rejects(
    connectInCluster({ env: env(), folder: join(folder, 'nothing') }),
    /nothing\/(ca\.crt|namespace) cannot be read: mount/,
  );
  const mount = await mountAccount('token');
  await unlink(join(mount, 'token-1'));
  await assert.rejects(connectInCluster({ env: env(), folder: mount }), /token cannot be read: mount/);
  await assert.rejects(connectByKubeconfig({ env: { HOME: join(folder, 'nobody') } }), ConnectError);
});

test('connect: NODE_TLS_REJECT_UNAUTHORIZED is refused, whatever it says (OPR-20)', async () => {
  const mount = await mountAccount('token');
  for (const value of ['0', '1', '']) {
    const unchecked = { ...env(), NODE_TLS_REJECT_UNAUTHORIZED: value };
    await assert.rejects(connectInCluster({ env: unchecked, folder: mount }), /NODE_TLS_REJECT_UNAUTHORIZED is set: unset it/);
    await assert.rejects(connectByKubeconfig({ env: unchecked }), /NODE_TLS_REJECT_UNAUTHORIZED is set: unset it/);
  }
});

test('connect: an API server with a certificate of another authority is refused', { skip }, async () => {
  await using other = await startKubeApiserver();
  const folder = await mountAccount(kube.adminToken, other.caPem);
  const connection = await connectInCluster({ env: env(kube.url), folder });
  await assert.rejects(connection.client.get(KINDS.configMaps, defaults), /cannot be reached/);
  await connection.close();
});

test('connect: a token that is replaced is used within its check, and at once after a 401 (OPR-15)', { skip }, async () => {
  const folder = await mountAccount('not-valid-any-more', kube.caPem);
  const connection = await connectInCluster({ env: env(kube.url), folder });
  assert.equal(connection.namespace, 'postern-system');
  await assert.rejects(connection.client.get(KINDS.configMaps, defaults), /401/);
  await rotate(folder, kube.adminToken);
  assert.equal(await connection.client.get(KINDS.configMaps, defaults), null);
  await connection.close();

  const mount = await mountAccount('first');
  const access = await inClusterAccess({ env: env(), folder: mount, clock: fastClock(1_000_000) });
  assert.deepEqual(await access.headers(false), { authorization: 'Bearer first' });
  await rotate(mount, 'second');
  await new Promise((resolve) => setTimeout(resolve, 5));
  assert.deepEqual(await access.headers(false), { authorization: 'Bearer second' });
});

test('connect: a kubeconfig with a token, and one with an exec plugin, reach the API server', { skip }, async () => {
  const cluster = { name: 'c', cluster: { server: kube.url, 'certificate-authority-data': Buffer.from(kube.caPem).toString('base64') } };
  const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: kube.adminToken } };
  const exec = {
    apiVersion: 'client.authentication.k8s.io/v1',
    command: process.execPath,
    args: ['-e', `console.log(${JSON.stringify(JSON.stringify(credential))})`],
    interactiveMode: 'Never',
  };
  const users = [
    { name: 'token', user: { token: kube.adminToken } },
    { name: 'plugin', user: { exec } },
    { name: 'wrong', user: { token: 'wrong' } },
  ];
  const contexts = users.map(({ name }) => ({ name, context: { cluster: 'c', user: name, namespace: 'triage' } }));
  const first = join(folder, 'first');
  const second = join(folder, 'second');
  await writeFile(
    first,
    JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [cluster], users: [], contexts: [], 'current-context': 'token' }),
  );
  await writeFile(second, JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [], users, contexts, 'current-context': 'wrong' }));
  const KUBECONFIG = `${first}:${second}`;
  for (const context of [undefined, 'token', 'plugin']) {
    const connection = await connectByKubeconfig({ env: { KUBECONFIG }, ...(context !== undefined && { context }) });
    assert.equal(connection.namespace, 'triage');
    assert.equal(await connection.client.get(KINDS.configMaps, defaults), null, String(context));
    await connection.close();
  }
  await assert.rejects(connectByKubeconfig({ env: { KUBECONFIG }, context: 'nobody' }), /no such context/);
});

test('connect: a file of the list that is not there is left out, as by kubectl; a list of none, or a file that is broken, is refused', async () => {
  const there = join(folder, 'there');
  const broken = join(folder, 'broken');
  const cluster = { name: 'c', cluster: { server: 'https://api.example.com' } };
  const context = { name: 'x', context: { cluster: 'c', user: 'u', namespace: 'triage' } };
  await writeFile(
    there,
    JSON.stringify({ clusters: [cluster], users: [{ name: 'u', user: {} }], contexts: [context], 'current-context': 'x' }),
  );
  await writeFile(broken, '{');
  const absent = join(folder, 'absent');
  for (const KUBECONFIG of [`${absent}:${there}`, `${there}:${absent}`]) {
    const connection = await connectByKubeconfig({ env: { KUBECONFIG } });
    assert.equal(connection.namespace, 'triage', KUBECONFIG);
    await connection.close();
  }
  for (const KUBECONFIG of [absent, `${absent}:${absent}-too`, `${there}:${broken}`]) {
    await assert.rejects(connectByKubeconfig({ env: { KUBECONFIG } }), /cannot be read/, KUBECONFIG);
  }
});

test('connect: a kubeconfig without TLS is refused (OPR-20)', async () => {
  const file = join(folder, 'plain');
  const cluster = { name: 'c', cluster: { server: 'http://localhost:8080' } };
  const context = { name: 'x', context: { cluster: 'c', user: 'u' } };
  await writeFile(
    file,
    JSON.stringify({ clusters: [cluster], users: [{ name: 'u', user: {} }], contexts: [context], 'current-context': 'x' }),
  );
  await assert.rejects(connectByKubeconfig({ env: {}, kubeconfig: file }), /without TLS: use https/);
});

test('connect: in a pod the client library is never loaded', () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const { connectInCluster } = await import('#operator/kube/connect.ts');
    await connectInCluster({ env: {} }).catch(() => {});
    console.log(JSON.stringify(loaded.filter((url) => /kubernetes|connect\\.ts/.test(url)).map((url) => url.split('/').at(-1))));`;
  const cwd = new URL('../../..', import.meta.url);
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { cwd, encoding: 'utf8' });
  assert.deepEqual(JSON.parse(stdout || 'null'), ['connect.ts'], stderr);
});
