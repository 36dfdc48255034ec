import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sessionOf } from '#operator/control/session-object.ts';
import { emptyCluster } from '#operator/kube/cluster.ts';
import { KubeError } from '#operator/kube/kube-error.ts';
import type { PodObject } from '#operator/kube/records.ts';

const controller = (kind: string, name: string) => [{ apiVersion: 'apps/v1', kind, name, uid: `${name}-uid`, controller: true }];
const pod = {
  metadata: {
    name: 'bot-5d4f',
    namespace: 'agents',
    uid: '01234567-89ab',
    resourceVersion: '1',
    ownerReferences: controller('ReplicaSet', 'bot-5d'),
  },
  spec: { containers: [{ name: 'agent', image: 'i' }], nodeName: 'node-1' },
} as unknown as PodObject;

/** The controller a session gets when the API server answers so about its ReplicaSet. */
async function controllerWhen(answer: () => unknown): Promise<string | undefined> {
  const made: { spec: { controller?: { kind: string; name: string } } }[] = [];
  const kube = {
    get: async () => answer() as never,
    create: async (_kind: unknown, object: never) => {
      made.push(object);
      return { ...(object as object), metadata: { ...(object as { metadata: object }).metadata, uid: 'u', resourceVersion: '2' } } as never;
    },
  };
  await sessionOf(kube, emptyCluster(), { namespace: 'agents', account: 'bot', pod, expiresMs: 0 });
  const found = made[0]?.spec.controller;
  return found === undefined ? undefined : `${found.kind}/${found.name}`;
}

const refusing = (status: number) => () => {
  throw new KubeError('said so', { status, reason: 'Test' });
};

test('session: belongs to the Deployment above its ReplicaSet', async () => {
  const set = { metadata: { name: 'bot-5d', uid: 'bot-5d-uid', ownerReferences: controller('Deployment', 'bot') } };
  assert.equal(await controllerWhen(() => set), 'Deployment/bot');
  assert.equal(await controllerWhen(() => ({ metadata: { ...set.metadata, uid: 'another' } })), 'ReplicaSet/bot-5d', 'recreated');
});

test('session: what made its controller may be gone or not to be read', async () => {
  assert.equal(await controllerWhen(() => null), 'ReplicaSet/bot-5d');
  assert.equal(await controllerWhen(refusing(403)), 'ReplicaSet/bot-5d');
});

for (const status of [429, 500, 503, 504]) {
  test(`session: is not made under the name of a ReplicaSet because the API server answered ${status}: it would not follow a revoked one`, async () => {
    await assert.rejects(controllerWhen(refusing(status)), KubeError);
  });
}
