/** Whoever deletes, unbinds or edits a guard of a real API server is noticed, and the metric says which guard and what is wrong with it. */
import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { createLog } from '#core/runtime/log.ts';
import { OwnPolicy } from '#operator/guard/own-policy.ts';
import { guardObjects, policies } from '#operator/guard/policies.ts';
import { GuardWatch } from '#operator/guard-watch.ts';
import { type Connection, connectionTo } from '#operator/kube/connect.ts';
import { unavailable } from '#test/servers/build.ts';
import { type GuardedCluster, pathOf, releases, settings, startGuardedCluster } from './guard/guarded-cluster.ts';
import { accessTo } from './kube/real-access.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let cluster: GuardedCluster;
let connection: Connection;
let watch: GuardWatch;
const lines: { level: string; message: string; object?: string; status?: string }[] = [];

before(async () => {
  if (skip) return;
  cluster = await startGuardedCluster(policies(settings));
  connection = connectionTo(accessTo(cluster.kube));
  const destination = new Writable({
    write: (chunk, _, done) => {
      lines.push(JSON.parse(String(chunk)));
      done();
    },
  });
  watch = new GuardWatch({ client: connection.client, settings, clock: systemClock, log: createLog({ level: 'info', destination }) });
});
after(async () => {
  await connection?.close();
  await cluster?.[Symbol.asyncDispose]();
});

async function look() {
  await watch.look();
  return watch.broken();
}

const objectsOf = (name: string) => {
  const guard = policies(settings).find((each) => each.name === name);
  assert.ok(guard !== undefined);
  return guardObjects(guard);
};

test('guard watch: without the policy of the sidecar that one is missing, and once the operator wrote it all guards hold', {
  skip,
}, async () => {
  assert.deepEqual(await look(), [{ policy: 'postern-sidecar', state: 'missing' }]);
  assert.ok(releases[0] !== undefined);
  await new OwnPolicy({ client: connection.client, settings, release: releases[0], clock: systemClock }).keep();
  assert.deepEqual(await look(), []);
  assert.deepEqual(
    lines.map(({ level, message, object, status }) => [level, message, object, status]),
    [
      ['error', 'a guard does not hold', 'postern-sidecar', 'Missing'],
      ['info', 'a guard holds again', 'postern-sidecar', undefined],
    ],
  );
});

test('guard watch: a deleted policy, a deleted binding, and edits of either are told apart, once each', { skip }, async () => {
  const [pod] = objectsOf('postern-pod');
  const [, connect] = objectsOf('postern-connect');
  const [reserved] = objectsOf('postern-reserved');
  const [, token] = objectsOf('postern-token');
  await cluster.call('DELETE', pathOf(pod));
  await cluster.call('DELETE', pathOf(connect));
  // A condition that never holds switches a policy off.
  await cluster.call('PATCH', pathOf(reserved), { spec: { matchConditions: [{ name: 'never', expression: 'false' }] } });
  await cluster.call('PATCH', pathOf(token), { spec: { validationActions: ['Audit'] } });
  lines.length = 0;
  const broken = [
    { policy: 'postern-reserved', state: 'altered' },
    { policy: 'postern-pod', state: 'missing' },
    { policy: 'postern-connect', state: 'unbound' },
    { policy: 'postern-token', state: 'altered' },
  ];
  assert.deepEqual(await look(), broken);
  assert.deepEqual(await look(), broken);
  assert.equal(lines.length, 4, 'a line each, not one a look');
  // An apply alone would leave what was added.
  for (const object of [reserved, token]) await cluster.call('DELETE', pathOf(object));
  await cluster.install(policies(settings));
  assert.deepEqual(await look(), []);
});
