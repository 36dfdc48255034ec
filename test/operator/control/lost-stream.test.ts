/** A stream that ended without a word, on a real API server: its session does not look connected for ever. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { endLostStream, type LostStreamMeans, watchLostStreams } from '#operator/control/lost-stream.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Agent, ControlRig, type Replica } from './control-rig.ts';
import { type TestSidecar, until } from './test-sidecar.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let rig: ControlRig;
let replica: Replica;
let agent: Agent;
let sidecar: TestSidecar;
before(
  async () => {
    if (skip !== false) return;
    rig = await ControlRig.start();
    replica = await rig.replica();
    await rig.namespace('lost');
    await rig.account('lost', 'bot');
    await rig.contract('lost', 'list-open-issues', ['bot']);
    await rig.namespace('postern', { 'postern.dev/enforce': '' });
    await rig.account('postern', 'default');
    agent = await rig.pod('lost', 'bot-1', 'bot');
    await until(() => replica.cluster.contracts.by('caller', 'lost/bot').some(({ status }) => status?.observedGeneration !== undefined));
    sidecar = rig.sidecar(replica, agent);
    await until(() => [...replica.cluster.sessions.values()].some(({ status }) => status?.appliedRevision !== undefined), 'acknowledged');
  },
  { timeout: 120_000 },
);
after(() => rig?.[Symbol.asyncDispose]());

async function connected() {
  const session = await rig.session(agent);
  const condition = session.status?.conditions?.find(({ type }) => type === 'Connected');
  return { status: condition?.status, reason: condition?.reason, session };
}

const later = (ms: number): Clock => ({ ...systemClock, wallMs: () => Date.now() + ms });

const means = (ms: number): LostStreamMeans => ({
  client: rig.connection.client,
  cluster: replica.cluster,
  clock: later(ms),
  namespace: 'postern',
  replica: 'leader',
});

async function look(ms: number) {
  const [key] = [...replica.cluster.sessions.keys()];
  return endLostStream(key ?? '', means(ms));
}

const seen = async () => (await connected()).session.metadata;

test('lost stream: a stream that has said a word lately is left alone, without a write', { skip }, async () => {
  const before = await seen();
  const wish = await look(0);
  assert.ok(wish !== undefined && wish.afterMs > 0);
  assert.deepEqual(await seen(), before);
});

test('lost stream: one taken for lost although it stands is connected again with its next word', { skip }, async () => {
  await look(limits.controlUnseenMs + 1_000);
  assert.deepEqual([(await connected()).status, (await connected()).reason], ['False', 'StreamLost']);
  sidecar.send({ case: 'warnings', value: { warnings: [{ action: 'list_open_issues', code: 'STALE_INDEX', owner: 'search' }] } });
  await until(async () => (await connected()).status === 'True', 'connected again');
  assert.equal(sidecar.over, false);
  await until(() =>
    [...replica.cluster.sessions.values()].some(({ status }) => status?.conditions?.some(({ status: is }) => is === 'True') === true),
  );
});

test('lost stream: where replicas are no pods, their pods are not missed', { skip }, async () => {
  await look(limits.controlOrphanedMs + 1_000);
  assert.equal((await connected()).status, 'True');
});

test('lost stream: while the pod of the replica is there its streams have as long as their words take', { skip }, async () => {
  const pod = await rig.pod('postern', replica.name, 'default');
  await rig.pod('postern', 'leader', 'default');
  await until(() => [replica.name, 'leader'].every((name) => replica.cluster.pods.get(`postern/${name}`) !== undefined));
  const wish = await look(limits.controlOrphanedMs + 1_000);
  assert.ok(wish !== undefined && wish.afterMs > limits.controlOrphanedMs);
  assert.equal((await connected()).status, 'True');

  const asked: string[] = [];
  const stop = watchLostStreams(means(0), (key) => asked.push(key));
  await rig.deletePod(pod);
  await until(() => asked.length > 0, 'looked at when the pod goes');
  stop();
  await look(limits.controlOrphanedMs + 1_000);
  const { status, reason, session } = await connected();
  assert.deepEqual([status, reason], ['False', 'StreamLost']);
  assert.ok(session.status?.appliedRevision !== undefined && session.status.instance !== undefined, 'what else the stream wrote stays');
});
