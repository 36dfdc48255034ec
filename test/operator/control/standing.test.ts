/** Many streams, a replica that stops, an API server that is away. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { State } from '#proto/postern/control/v1/control_pb.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Agent, ControlRig, type Replica } from './control-rig.ts';
import { type TestSidecar, until } from './test-sidecar.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const STREAMS = 200;
let rig: ControlRig;
let replica: Replica;
const agents: Agent[] = [];
const sidecars: TestSidecar[] = [];
before(
  async () => {
    if (skip !== false) return;
    rig = await ControlRig.start();
    replica = await rig.replica();
    await rig.namespace('many');
    await rig.account('many', 'bot');
    await rig.contract('many', 'list-open-issues', ['bot']);
    await until(() => replica.cluster.contracts.by('caller', 'many/bot').some(({ status }) => status?.observedGeneration !== undefined));
    for (let index = 0; index < STREAMS; index += 1) agents.push(await rig.pod('many', `bot-${index}`, 'bot'));
  },
  { timeout: 120_000 },
);
after(() => rig?.[Symbol.asyncDispose]());

test(`control: ${STREAMS} sidecars connect at once, and one changed contract is made once and reaches all of them`, { skip }, async () => {
  const startedMs = performance.now();
  for (const agent of agents) sidecars.push(rig.sidecar(replica, agent));
  await until(() => sidecars.every(({ contracts }) => contracts?.length === 1), 'all connected');
  console.log(`${STREAMS} streams opened: ${Math.round(performance.now() - startedMs)} ms`);
  assert.equal(replica.service.open, STREAMS);
  await until(() => replica.pushes.length === STREAMS, 'all acknowledged once');
  replica.pushes.length = 0;
  const changedMs = performance.now();
  await rig.contract('many', 'list-open-issues', ['bot'], { summary: 'Changed for all' });
  await until(() => sidecars.every(({ bundles }) => bundles === 2), 'all changed');
  console.log(`one change in ${STREAMS} streams: ${Math.round(performance.now() - changedMs)} ms from kubectl apply`);
  await until(() => replica.pushes.length === STREAMS, 'all acknowledged');
  const slowest = Math.round(Math.max(...replica.pushes));
  console.log(`slowest push, change seen to acknowledged: ${slowest} ms`);
});

test('control: each sidecar finds its acknowledgement in its session, although writes are paced', { skip }, async () => {
  await until(async () => {
    const { items } = await rig.call<{ items: { status?: { appliedRevision?: string } }[] }>(
      'GET',
      '/apis/postern.dev/v1alpha1/namespaces/many/agentsessions',
    );
    return items.length === STREAMS && new Set(items.map(({ status }) => status?.appliedRevision)).size === 1;
  }, 'all written');
});

test('control: a replica that stops sends its sidecars to another one, which knows their sessions', { skip }, async () => {
  await using next = await rig.replica({ random: Math.random });
  await using stopping = await rig.replica({ random: Math.random });
  const some = agents.slice(0, 20);
  const moved = some.map((agent) => rig.sidecar(stopping, agent));
  await until(() => moved.every(({ state }) => state === State.ACTIVE), 'connected');
  const stopped = stopping.stop();
  const ends = moved.map(async ({ ended }, index) => {
    assert.equal(await ended, 'DRAINING');
    return rig.sidecar(next, some[index] as Agent);
  });
  const again = await Promise.all(ends);
  await stopped;
  await until(() => again.every(({ state }) => state === State.ACTIVE), 'connected again');
  assert.ok(again.every(({ over }) => !over));
});

test('control: when the API server goes, streams stand, and whoever comes new is sent away', { skip }, async () => {
  const before = replica.service.open;
  await rig.api[Symbol.asyncDispose]();
  const refused = await rig.sidecar(replica, agents[0] as Agent).ended;
  assert.equal(refused, 'NOT_READY');
  assert.equal(replica.service.open, before);
  assert.ok(sidecars.slice(20).every(({ over }) => !over));
});
