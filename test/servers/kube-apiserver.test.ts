import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent, fetch } from 'undici';
import { unavailable } from './build.ts';
import { startKubeApiserver } from './kube-apiserver.ts';

interface List {
  readonly metadata: { readonly continue?: string };
  readonly items: readonly { readonly metadata: { readonly name: string } }[];
}

const skip = await unavailable('etcd', 'kube-apiserver');
const configMaps = '/api/v1/namespaces/default/configmaps';

test('kube-apiserver: a real control plane starts', { skip }, async (t) => {
  await using kube = await startKubeApiserver();
  for (const name of ['a', 'b', 'c']) {
    const created = await kube.request('POST', configMaps, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } });
    assert.equal(created.status, 201);
  }

  await t.test('kube-apiserver: reports the version it was built from', async () => {
    const { body } = await kube.request<{ gitVersion: string }>('GET', '/version');
    assert.match(body.gitVersion, /^v1\.\d+\.\d+/);
    assert.notEqual(body.gitVersion, 'v0.0.0');
  });

  await t.test('kube-apiserver: a list with limit=1 carries a continue token', async () => {
    const first = await kube.request<List>('GET', `${configMaps}?limit=1`);
    assert.deepEqual(names(first.body), ['a']);
    const token = first.body.metadata.continue ?? '';
    assert.notEqual(token, '');
    const second = await kube.request<List>('GET', `${configMaps}?limit=1&continue=${encodeURIComponent(token)}`);
    assert.deepEqual(names(second.body), ['b']);
  });

  await t.test('kube-apiserver: a continue token from before a compaction gets 410 Expired', async () => {
    const first = await kube.request<List>('GET', `${configMaps}?limit=1`);
    await kube.compact();
    const token = encodeURIComponent(first.body.metadata.continue ?? '');
    const late = await kube.request<{ reason: string }>('GET', `${configMaps}?limit=1&continue=${token}`);
    assert.equal(late.status, 410);
    assert.equal(late.body.reason, 'Expired');
  });

  await t.test('kube-apiserver: a ServiceAccount token is known and holds no rights of its own', async () => {
    const token = await kube.createServiceAccountToken('default', 'agent');
    const review = await kube.request<{ status: { user: { username: string } } }>('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token },
    });
    assert.equal(review.body.status.user.username, 'system:serviceaccount:default:agent');
    const dispatcher = new Agent({ connect: { ca: kube.caPem } });
    const headers = { authorization: `Bearer ${token}` };
    const refused = await fetch(`${kube.url}${configMaps}`, { dispatcher, headers });
    await refused.arrayBuffer();
    await dispatcher.close();
    assert.equal(refused.status, 403);
  });
});

function names(list: List): string[] {
  return list.items.map((item) => item.metadata.name);
}
