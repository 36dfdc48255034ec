import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Connection, connectionTo } from '#operator/kube/connect.ts';
import { KubeError } from '#operator/kube/kube-error.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { accessTo } from './real-access.ts';

const skip = await unavailable('etcd', 'kube-apiserver');

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string; readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>>;
}

let kube: KubeApiserver;
let connection: Connection;
before(async () => {
  if (skip !== false) return;
  kube = await startKubeApiserver();
  connection = connectionTo(accessTo(kube));
});
after(async () => {
  await connection?.close();
  await kube?.[Symbol.asyncDispose]();
});

const configMap = (name: string, data: Record<string, string> = {}) => ({ metadata: { name, namespace: 'default' }, data });

test('client: what is created can be read, changed and deleted on a real API server', { skip }, async () => {
  const { client } = connection;
  const ref = { namespace: 'default', name: 'one' };
  assert.equal(await client.get(KINDS.configMaps, ref), null);
  const created = await client.create<object>(KINDS.configMaps, configMap('one', { a: '1' }));
  assert.deepEqual((await client.get<ConfigMap>(KINDS.configMaps, ref))?.data, { a: '1' });
  await client.patch(KINDS.configMaps, ref, { data: { b: '2' } });
  assert.deepEqual((await client.get<ConfigMap>(KINDS.configMaps, ref))?.data, { a: '1', b: '2' });
  assert.equal(await client.delete(KINDS.configMaps, ref, { uid: 'another' }), false, 'another UID is another object');
  assert.equal(await client.delete(KINDS.configMaps, ref, { uid: (created as ConfigMap).metadata.uid }), true);
  assert.equal(await client.delete(KINDS.configMaps, ref), false);
});

test('client: a change on an old version is refused with 409', { skip }, async () => {
  const { client } = connection;
  const first = (await client.create<object>(KINDS.configMaps, configMap('versions'))) as ConfigMap;
  const ref = { namespace: 'default', name: 'versions' };
  await client.patch(KINDS.configMaps, ref, { data: { a: '1' } });
  const { resourceVersion } = first.metadata;
  await assert.rejects(client.patch(KINDS.configMaps, ref, { metadata: { resourceVersion }, data: { a: '2' } }), (error: KubeError) => {
    assert.equal(error.status, 409);
    assert.equal(error.reason, 'Conflict');
    return true;
  });
});

test('client: server-side apply removes what the manager leaves out, and respects what others own', { skip }, async () => {
  const { client } = connection;
  const mine = { manager: 'postern-operator' };
  await client.apply(KINDS.configMaps, configMap('applied', { a: '1', b: '1' }), mine);
  const second = await client.apply<ConfigMap>(KINDS.configMaps, configMap('applied', { a: '1' }), mine);
  assert.deepEqual(second.data, { a: '1' });
  const other = client.apply(KINDS.configMaps, configMap('applied', { a: '9' }), { manager: 'somebody' });
  await assert.rejects(other, (error: KubeError) => error.status === 409);
  const forced = await client.apply<ConfigMap>(KINDS.configMaps, configMap('applied', { a: '9' }), {
    manager: 'somebody',
    force: true,
  });
  assert.deepEqual(forced.data, { a: '9' });
  const dry = await client.apply<ConfigMap>(KINDS.configMaps, configMap('dry', {}), { ...mine, dryRun: true });
  assert.equal(dry.metadata.name, 'dry');
  assert.equal(await client.get(KINDS.configMaps, { namespace: 'default', name: 'dry' }), null);
});

test('client: reviews answer with the object', { skip }, async () => {
  const token = await kube.createServiceAccountToken('default', 'agent');
  const review = await connection.client.create<{ spec: object; status?: { user?: { username?: string } } }>(KINDS.tokenReviews, {
    spec: { token },
  } as never);
  assert.equal(review.status?.user?.username, 'system:serviceaccount:default:agent');
});

test('client: a list over several pages holds every object once', { skip }, async () => {
  const { client } = connection;
  for (let index = 0; index < 7; index += 1)
    await client.create<object>(KINDS.configMaps, {
      ...configMap(`page-${index}`),
      metadata: { name: `page-${index}`, namespace: 'default', labels: { pages: 'yes' } },
    });
  const names: string[] = [];
  for await (const { metadata } of client.list<ConfigMap>(KINDS.configMaps, { namespace: 'default', labelSelector: 'pages=yes' }))
    names.push(metadata.name);
  assert.deepEqual(
    names.sort(),
    [0, 1, 2, 3, 4, 5, 6].map((index) => `page-${index}`),
  );
});

test('client: an error has our sentence and what the API server said', { skip }, async () => {
  const wrong = connection.client.create<object>(KINDS.configMaps, configMap('Not A Name'));
  await assert.rejects(wrong, (error: unknown) => {
    assert(error instanceof KubeError);
    assert.equal(error.status, 422);
    assert.equal(error.reason, 'Invalid');
    assert.match(error.message, /^The API server answered 422 when asked to create a ConfigMap: .*metadata\.name/);
    return true;
  });
});
