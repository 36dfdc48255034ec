/** The operator's own policy and the report about all guards, on a real API server, by the operator's own client. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { explainPod, findGuards, guardsHold } from '#operator/guard/explain.ts';
import { judgePod } from '#operator/guard/judge.ts';
import { OwnPolicy } from '#operator/guard/own-policy.ts';
import { policies } from '#operator/guard/policies.ts';
import { allowedRelease } from '#operator/guard/sidecar-release.ts';
import { type Connection, connectionTo } from '#operator/kube/connect.ts';
import { sidecarContainer } from '#operator/pod/sidecar-container.ts';
import { accessTo } from '#test/operator/kube/real-access.ts';
import { unavailable } from '#test/servers/build.ts';
import {
  DRY,
  expectAllowed,
  expectRefused,
  type GuardedCluster,
  injectedPod,
  plainPod,
  podsOf,
  release,
  settings,
  sizes,
  startGuardedCluster,
  until,
} from './guarded-cluster.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let cluster: GuardedCluster;
let connection: Connection;
let nowMs = Date.parse('2026-11-30T12:00:00Z');
const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => undefined, alarm: () => () => undefined };
const next = { ...release, image: `registry.example.com/postern@sha256:${'c'.repeat(64)}` };
const root = '/apis/admissionregistration.k8s.io/v1';
const policyPath = `${root}/validatingadmissionpolicies/postern-sidecar`;
const bindingPath = `${root}/validatingadmissionpolicybindings/postern-sidecar`;

before(async () => {
  if (skip) return;
  cluster = await startGuardedCluster(policies(settings));
  connection = connectionTo(accessTo(cluster.kube));
  const role = { metadata: { name: 'postern-operator' }, rules: [] };
  expectAllowed(await cluster.call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', role));
});
after(async () => {
  await connection?.close();
  await cluster?.[Symbol.asyncDispose]();
});

const replica = (of = release) => new OwnPolicy({ client: connection.client, settings, release: allowedRelease(of, sizes), clock });
const evil = () => {
  const pod = injectedPod('evil');
  pod.spec.initContainers[0].image = 'registry.example.com/evil';
  return pod;
};
const create = (pod: object) => cluster.call('POST', podsOf('agents') + DRY, pod);
const inEffect = () => until('the policy is in effect', async () => (await create(evil())).status === 403);

test('own policy: the operator makes it, and pods are judged by it; a second pass writes nothing', { skip }, async () => {
  const own = replica();
  assert.deepEqual(own.releases, []);
  assert.equal(await own.keep(), true);
  assert.equal(await own.keep(), false);
  assert.deepEqual(own.releases, [allowedRelease(release, sizes)]);
  await inEffect();
  expectRefused(await create(evil()), /differs in image/);
  expectAllowed(await create(injectedPod()));
  const { body } = await cluster.call('GET', policyPath);
  assert.equal(body.metadata.ownerReferences[0].kind, 'ClusterRole');
  const found = await findGuards(connection.client, settings);
  assert.deepEqual(
    found.reports.filter(({ state }) => state !== 'Holds'),
    [],
  );
  assert.ok(guardsHold(found));
});

test('own policy: is put right after every kind of edit, also one that server-side apply would leave', { skip }, async () => {
  const own = replica();
  const edits: readonly [string, object][] = [
    [policyPath, { spec: { failurePolicy: 'Ignore' } }],
    [policyPath, { spec: { validations: [{ expression: 'true' }] } }],
    [policyPath, { spec: { matchConditions: [{ name: 'never', expression: 'false' }] } }],
    [
      policyPath,
      {
        spec: {
          matchConstraints: { excludeResourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['*'], resources: ['pods'] }] },
        },
      },
    ],
    [policyPath, { metadata: { annotations: { 'postern.dev/sidecar-releases': 'mine' } } }],
    [bindingPath, { spec: { validationActions: ['Audit'] } }],
    [bindingPath, { spec: { matchResources: { namespaceSelector: { matchLabels: { a: 'b' } } } } }],
  ];
  for (const [path, edit] of edits) {
    expectAllowed(await cluster.call('PATCH', path, edit));
    const before = await findGuards(connection.client, settings);
    assert.equal(before.reports.find(({ name }) => name === 'postern-sidecar')?.state, 'Altered', JSON.stringify(edit));
    assert.equal(guardsHold(before), false);
    assert.equal(await own.keep(), true);
    assert.ok(guardsHold(await findGuards(connection.client, settings)), JSON.stringify(edit));
  }
  // Another manager's condition beside ours: apply alone would keep it.
  const { body } = await cluster.call('GET', policyPath);
  const conditions = [...body.spec.matchConditions, { name: 'never', expression: 'false' }];
  expectAllowed(await cluster.call('PATCH', policyPath, { spec: { matchConditions: conditions } }));
  assert.equal(await own.keep(), true);
  assert.ok(guardsHold(await findGuards(connection.client, settings)));
  for (const path of [policyPath, bindingPath]) {
    expectAllowed(await cluster.call('DELETE', path));
    assert.equal(guardsHold(await findGuards(connection.client, settings)), false);
    assert.equal(await own.keep(), true);
    assert.ok(guardsHold(await findGuards(connection.client, settings)));
  }
});

test('own policy: two releases are allowed during an upgrade, the old one for a day after it, and its pods keep their streams (INJ-23)', {
  skip,
}, async () => {
  await replica().keep();
  const upgraded = replica(next);
  assert.equal(await upgraded.keep(), true);
  assert.equal(await replica().keep(), false, 'replicas of two releases do not write in turns');
  assert.equal(await upgraded.keep(), false);
  const ofNext = injectedPod('next');
  ofNext.spec.initContainers = [sidecarContainer(next, sizes[0]!)];
  await until('the next release is allowed', async () => (await create(ofNext)).status === 201);
  expectAllowed(await create(injectedPod()));
  for (let hours = 0; hours < 25; hours++) {
    nowMs += 3_600_000;
    await upgraded.keep();
  }
  assert.deepEqual(upgraded.releases, [allowedRelease(next, sizes)]);
  await until('the old release is gone', async () => (await create(injectedPod())).status === 403);
  // Pods that run were made when they might be: a restart of the operator, or of its policy, must not take their actions away.
  const running = { ...injectedPod(), status: {} } as unknown as Parameters<typeof judgePod>[0];
  for (const deleted of [false, true]) {
    if (deleted) expectAllowed(await cluster.call('DELETE', policyPath));
    assert.equal(await upgraded.keep(), deleted);
    const restarted = replica(next);
    assert.equal(await restarted.keep(), false);
    for (const { known, releases } of [upgraded, restarted]) {
      assert.deepEqual(judgePod(running, known), []);
      assert.deepEqual(
        judgePod(running, releases).map(({ rule }) => rule),
        ['sidecar-spec'],
      );
    }
  }
  const third = { ...next, image: `registry.example.com/postern@sha256:${'d'.repeat(64)}` };
  const fourth = { ...next, image: `registry.example.com/postern@sha256:${'e'.repeat(64)}` };
  for (const each of [release, third, fourth]) {
    nowMs += 1000;
    await replica(each).keep();
  }
  assert.equal((await findGuards(connection.client, settings)).releases.length, limits.guardReleasesMax);
});

test('own policy: two replicas that write at once lose nothing', { skip }, async () => {
  const release2 = { ...release, image: `registry.example.com/postern@sha256:${'f'.repeat(64)}` };
  await cluster.call('DELETE', policyPath);
  await Promise.allSettled([replica().keep(), replica(release2).keep()]);
  await replica().keep();
  await replica(release2).keep();
  assert.equal((await findGuards(connection.client, settings)).releases.length, 2);
});

test('explain: says which guard is gone and which pod it would refuse', { skip }, async () => {
  await replica().keep();
  expectAllowed(await cluster.call('DELETE', `${root}/validatingadmissionpolicybindings/postern-connect`));
  expectAllowed(await cluster.call('DELETE', `${root}/validatingadmissionpolicies/postern-token`));
  expectAllowed(await cluster.call('PATCH', `${root}/validatingadmissionpolicies/postern-pod`, { spec: { failurePolicy: 'Ignore' } }));
  const found = await findGuards(connection.client, settings);
  const states = Object.fromEntries(found.reports.map(({ name, state }) => [name, state]));
  assert.equal(states['postern-connect'], 'Unbound');
  assert.equal(states['postern-token'], 'Missing');
  assert.equal(states['postern-pod'], 'Altered');
  assert.equal(states['postern-reserved'], 'Holds');
  assert.match(found.reports.find(({ name }) => name === 'postern-pod')?.detail ?? '', /^spec\.failurePolicy is not what/);
  const asked = plainPod();
  asked.metadata.labels = { 'postern.dev/inject': 'true' };
  const { findings, broken } = explainPod(asked, true, found);
  assert.deepEqual(
    findings.map(({ rule }) => rule),
    ['sidecar-demanded'],
  );
  assert.deepEqual(broken.map(({ name }) => name).sort(), ['postern-connect', 'postern-pod', 'postern-token']);
});
