import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { State } from '#proto/postern/control/v1/control_pb.ts';
import { unavailable } from '#test/servers/build.ts';
import { ControlRig, type Replica } from './control-rig.ts';
import { until } from './test-sidecar.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let rig: ControlRig;
let replica: Replica;
before(
  async () => {
    if (skip !== false) return;
    rig = await ControlRig.start();
    replica = await rig.replica();
    await rig.namespace('triage');
    await rig.account('triage', 'bot');
    await rig.account('triage', 'other');
    await rig.contract('triage', 'list-open-issues', ['bot']);
    await until(() => replica.cluster.contracts.by('caller', 'triage/bot').length === 1);
  },
  { timeout: 120_000 },
);
after(() => rig?.[Symbol.asyncDispose]());

test('control: the sidecar of a guarded pod gets a session, its contracts and its state', { skip }, async () => {
  const agent = await rig.pod('triage', 'bot-1', 'bot');
  const sidecar = rig.sidecar(replica, agent);
  await until(() => sidecar.state === State.ACTIVE, 'active');
  const [welcome, bundle] = sidecar.messages;
  assert.equal(welcome?.case, 'welcome');
  assert.equal(bundle?.case, 'bundle');
  assert.deepEqual(sidecar.contracts, ['list-open-issues']);
  const session = await rig.session(agent);
  assert.equal(session.metadata.name, `bot-1-${agent.uid.slice(0, 8)}`);
  assert.deepEqual(
    session.metadata.ownerReferences?.map(({ uid }) => uid),
    [agent.uid],
  );
  assert.equal(session.metadata.finalizers, undefined);
  await until(async () => (await rig.session(agent)).status?.appliedRevision !== undefined, 'the acknowledgement in the status');
  const { status } = await rig.session(agent);
  assert.equal(status?.appliedRevision, bundle?.case === 'bundle' ? bundle.value.revision : '');
  assert.deepEqual(
    status?.contracts?.map(({ name }) => name),
    ['list-open-issues'],
  );
  assert.equal(status?.version, '0.1.0');
  sidecar.leave();
});

test('control: a token for another audience is refused', { skip }, async () => {
  const agent = await rig.pod('triage', 'bot-audience', 'bot');
  const token = await rig.token(agent, 'postern-other');
  assert.equal(await rig.sidecar(replica, { token }).ended, 'TOKEN_REFUSED');
  const forged = `${agent.token.split('.').slice(0, 2).join('.')}.${Buffer.from('x'.repeat(256)).toString('base64url')}`;
  assert.equal(await rig.sidecar(replica, { token: forged }).ended, 'TOKEN_REFUSED');
  assert.equal(await rig.sidecar(replica, { token: 'nothing' }).ended, 'TOKEN_REFUSED');
});

test('control: a token that no pod is bound to is refused', { skip }, async () => {
  const path = '/api/v1/namespaces/triage/serviceaccounts/bot/token';
  const spec = { audiences: ['postern-control'], expirationSeconds: 3600 };
  const { status } = await rig.call<{ status: { token: string } }>('POST', path, { spec });
  assert.equal(await rig.sidecar(replica, { token: status.token }).ended, 'TOKEN_REFUSED');
});

test('control: the token of a pod that is gone is refused, and a new pod of its name does not help it (OPR-10)', { skip }, async () => {
  const gone = await rig.pod('triage', 'bot-gone', 'bot');
  await rig.deletePod(gone);
  await until(async () => (await rig.api.request('GET', '/api/v1/namespaces/triage/pods/bot-gone')).status === 404);
  await rig.pod('triage', 'bot-gone', 'bot');
  assert.match(await rig.sidecar(replica, gone).ended, /^(TOKEN|POD)_REFUSED$/);
});

test('control: a token says which pod it is, so that another pod gets its own session and never this one', { skip }, async () => {
  const one = await rig.pod('triage', 'bot-a', 'bot');
  const other = await rig.pod('triage', 'other-a', 'other');
  const first = rig.sidecar(replica, one);
  const second = rig.sidecar(replica, other);
  await until(() => first.contracts !== undefined && second.contracts !== undefined, 'two bundles');
  assert.deepEqual(first.contracts, ['list-open-issues']);
  assert.deepEqual(second.contracts, [], 'an account that is no caller gets nothing');
});

test('control: a pod without the sidecar, or with one that was changed, is refused', { skip }, async () => {
  const without = await rig.pod('triage', 'bot-without', 'bot', ({ spec }) => {
    spec.initContainers = [];
    spec.volumes = [];
  });
  const altered = await rig.pod('triage', 'bot-altered', 'bot', ({ spec }) => {
    Object.assign(spec.initContainers[0] ?? {}, { image: `registry.example/postern@sha256:${'9'.repeat(64)}` });
  });
  const preloaded = await rig.pod('triage', 'bot-preloaded', 'bot', ({ spec }) => {
    Object.assign(spec.initContainers[0] ?? {}, { env: [{ name: 'NODE_OPTIONS', value: '--import=/tmp/x.mjs' }] });
  });
  const shared = await rig.pod('triage', 'bot-shared', 'bot', ({ spec }) => {
    spec.shareProcessNamespace = true;
  });
  for (const agent of [without, altered, preloaded, shared]) {
    assert.equal(await rig.sidecar(replica, agent).ended, 'POD_REFUSED', agent.name);
    await assert.rejects(rig.session(agent), /has no session/);
  }
});

test('control: a sidecar of another protocol is refused by name, and its session says so (INJ-23)', { skip }, async () => {
  const agent = await rig.pod('triage', 'bot-old', 'bot');
  assert.equal(await rig.sidecar(replica, agent, { protocols: [], version: '0.0.1' }).ended, 'SIDECAR_TOO_OLD');
  const session = await rig.session(agent);
  const connected = session.status?.conditions?.find(({ type }) => type === 'Connected');
  assert.deepEqual([connected?.status, connected?.reason, session.status?.version], ['False', 'SidecarTooOld', '0.0.1']);
  assert.equal(await rig.sidecar(replica, agent, { protocols: [7, 8] }).ended, 'SIDECAR_TOO_NEW');
});

test('control: the same sidecar that comes back takes the place of its older stream, also on another replica', { skip }, async () => {
  await using second = await rig.replica();
  const agent = await rig.pod('triage', 'bot-again', 'bot');
  const one = rig.sidecar(replica, agent);
  await until(() => one.state === State.ACTIVE);
  const two = rig.sidecar(replica, agent);
  assert.equal(await one.ended, 'STREAM_REPLACED');
  await until(() => two.state === State.ACTIVE);
  // Only once it stands in the status does another replica know who holds the session.
  await until(() => [...second.cluster.sessions.by('pod', agent.uid)].some(({ status }) => status?.instance !== undefined));
  const three = rig.sidecar(second, agent);
  assert.equal(await two.ended, 'STREAM_REPLACED');
  await until(() => three.state === State.ACTIVE);
  assert.equal(three.over, false);
});

test('control: a second sidecar of the pod is refused and suspends the session, on the same replica or another', { skip }, async () => {
  await using second = await rig.replica();
  for (const [name, other] of [
    ['bot-twice', replica],
    ['bot-twice-far', second],
  ] as const) {
    const agent = await rig.pod('triage', name, 'bot');
    const own = rig.sidecar(replica, agent, { instance: 'own' });
    await until(() => own.state === State.ACTIVE);
    assert.equal(await rig.sidecar(other, agent, { instance: 'poser' }).ended, 'DUPLICATE_SIDECAR');
    assert.equal(await own.ended, 'DUPLICATE_SIDECAR');
    assert.equal(own.state, State.SUSPENDED, 'it was told before its end');
    const back = rig.sidecar(replica, agent, { instance: 'own' });
    await until(() => back.state === State.SUSPENDED, 'suspended after coming back');
    await rig.patchSession(agent, { admitted: true });
    await until(() => back.state === State.ACTIVE, 'active again after the admission');
    assert.equal(await rig.sidecar(other, agent, { instance: 'poser again' }).ended, 'DUPLICATE_SIDECAR');
    assert.equal(await back.ended, 'DUPLICATE_SIDECAR');
    const last = rig.sidecar(replica, agent, { instance: 'own' });
    await until(() => last.state === State.SUSPENDED, 'an admission does not lift what came after it');
  }
});

test('control: of two sidecars that come to two replicas at once exactly one holds the session', { skip }, async () => {
  await using second = await rig.replica();
  const agent = await rig.pod('triage', 'bot-race', 'bot');
  const rivals = [rig.sidecar(replica, agent, { instance: 'left' }), rig.sidecar(second, agent, { instance: 'right' })];
  const ends = await Promise.all(rivals.map(({ ended }) => ended));
  assert.deepEqual(new Set(ends), new Set(['DUPLICATE_SIDECAR']));
  const session = await rig.session(agent);
  assert.ok(session.status?.instance !== undefined);
  assert.equal(session.status?.conditions?.find(({ type }) => type === 'DuplicateSidecar')?.status, 'True');
});

test('control: a stream ends with its token, and the present token opens the next', { skip }, async () => {
  const skew = { ms: 0 };
  await using late = await rig.replica({ clock: { ...systemClock, wallMs: () => Date.now() + skew.ms }, random: () => 1 });
  const agent = await rig.pod('triage', 'bot-late', 'bot');
  skew.ms = 3_600_000 - 1_500;
  const sidecar = rig.sidecar(late, agent);
  await until(() => sidecar.contracts !== undefined);
  assert.equal(await sidecar.ended, 'TOKEN_EXPIRED');
  assert.equal(await rig.sidecar(late, agent).ended, 'TOKEN_REFUSED', 'it has expired by now');
  skew.ms = 0;
  const next = rig.sidecar(late, { token: await rig.token(agent) });
  await until(() => next.state === State.ACTIVE);
});
