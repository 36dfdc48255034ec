import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { digestOfBytes } from '#core/encoding/canonical.ts';
import { CredentialState, State } from '#proto/postern/control/v1/control_pb.ts';
import { fastClock } from '#test/operator/kube/fast-clock.ts';
import { unavailable } from '#test/servers/build.ts';
import { type Agent, ControlRig, type Replica } from './control-rig.ts';
import { type TestSidecar, until } from './test-sidecar.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let rig: ControlRig;
let near: Replica;
let far: Replica;
let told: readonly string[];
before(
  async () => {
    if (skip !== false) return;
    rig = await ControlRig.start();
    near = await rig.replica();
    far = await rig.replica();
    told = rig.lead(near).told;
  },
  { timeout: 120_000 },
);
after(() => rig?.[Symbol.asyncDispose]());

/** A namespace of its own with an account, a contract of that account, and its sidecar on each of two replicas. */
async function stage(namespace: string, labels?: Readonly<Record<string, string>>) {
  await rig.namespace(namespace, labels);
  await rig.account(namespace, 'bot');
  await rig.contract(namespace, 'list-open-issues', ['bot']);
  const agents: [Agent, Agent] = [await rig.pod(namespace, 'bot-1', 'bot'), await rig.pod(namespace, 'bot-2', 'bot')];
  for (const { cluster } of [near, far]) {
    await until(() => cluster.namespaces.get(namespace) !== undefined);
    await until(() => cluster.contracts.by('caller', `${namespace}/bot`).some(({ status }) => status?.observedGeneration !== undefined));
  }
  const sidecars: [TestSidecar, TestSidecar] = [rig.sidecar(near, agents[0]), rig.sidecar(far, agents[1])];
  await until(() => sidecars.every(({ contracts }) => contracts?.length === 1), 'two bundles');
  return { agents, sidecars };
}

async function active({ sidecars }: { readonly sidecars: readonly TestSidecar[] }): Promise<void> {
  await until(() => sidecars.every(({ state }) => state === State.ACTIVE), 'all active');
}

test('control: a revocation reaches the stream of another replica without the leader (OPR-24)', { skip }, async () => {
  const staged = await stage('revoke');
  await active(staged);
  const startedMs = performance.now();
  await rig.patchSession(staged.agents[1], { revoked: true });
  await until(() => staged.sidecars[1].state === State.REVOKED, 'revoked');
  console.log(`revocation to stream: ${Math.round(performance.now() - startedMs)} ms`);
  assert.equal(staged.sidecars[1].over, false, 'the stream stands: the agent is told why');
  assert.equal(staged.sidecars[0].state, State.ACTIVE, 'replicas of one account that ran before go on');
  const back = rig.sidecar(near, staged.agents[1]);
  await until(() => back.state === State.REVOKED, 'still revoked on a new stream');
});

test('control: a session of the account that follows a revoked one begins suspended, and keeps that after the revoked pod is gone', {
  skip,
}, async () => {
  const { agents } = await stage('follow');
  await rig.patchSession(agents[0], { revoked: true });
  await until(async () => (await rig.session(agents[0])).status?.state === 'Revoked');
  assert.equal((await rig.session(agents[0])).metadata.ownerReferences, undefined, 'the record outlives its pod');
  await rig.deletePod(agents[0]);
  await until(async () => (await rig.session(agents[0])).status?.state === 'Ended', 'ended');
  const next = await rig.pod('follow', 'bot-3', 'bot');
  const sidecar = rig.sidecar(far, next);
  await until(() => sidecar.state === State.SUSPENDED, 'suspended');
  await until(async () => (await rig.session(next)).status?.state === 'Suspended');
  await rig.patchSession(next, { admitted: true });
  await until(() => sidecar.state === State.ACTIVE, 'admitted');
});

test('control: where the namespace asks for it a session waits for its admission', { skip }, async () => {
  const { agents, sidecars } = await stage('approval', { 'postern.dev/session-approval': 'required' });
  await until(async () => (await rig.session(agents[0])).status?.appliedRevision !== undefined, 'acknowledged');
  assert.deepEqual(
    sidecars.map(({ state }) => state),
    [State.PENDING, State.PENDING],
  );
  await rig.patchSession(agents[0], { admitted: true });
  await until(() => sidecars[0].state === State.ACTIVE, 'admitted');
  assert.equal(sidecars[1].state, State.PENDING);
});

test('control: a suspended contract is pushed, and an account that is no caller any more loses the contract', { skip }, async () => {
  const { sidecars } = await stage('change');
  await rig.contract('change', 'list-open-issues', ['bot'], { suspended: { because: 'wrong totals' } });
  await until(() => sidecars.every((sidecar) => specOf(sidecar).includes('wrong totals')), 'suspension pushed');
  await rig.account('change', 'other');
  await rig.contract('change', 'list-open-issues', ['other']);
  await until(() => sidecars.every(({ contracts }) => contracts?.length === 0), 'contract gone');
});

test('control: a caller the leader refuses gets nothing of the contract (LEAK-24)', { skip }, async () => {
  const { sidecars } = await stage('refused');
  await rig.accept('refused', 'list-open-issues', ['bot'], { bot: 'it may create pods' });
  await until(() => sidecars.every(({ contracts }) => contracts?.length === 0), 'contract gone');
});

test('control: a contract that was changed and not judged does not come and go', { skip }, async () => {
  const { sidecars } = await stage('settle');
  await rig.contract('settle', 'list-open-issues', ['bot'], { summary: 'Another sentence' });
  await until(() => sidecars.every((sidecar) => specOf(sidecar).includes('Another sentence')), 'the change');
  for (const sidecar of sidecars) {
    const counts = sidecar.messages.flatMap((message) => (message.case === 'bundle' ? [message.value.objects.length] : []));
    assert.ok(!counts.includes(0), `bundles of ${counts.join(', ')} objects`);
  }
});

test('control: a contract nobody judges is taken away rather than served by an old judgement', { skip }, async () => {
  const { sidecars } = await stage('unjudged');
  await rig.call('PATCH', '/apis/postern.dev/v1alpha1/namespaces/unjudged/actioncontracts/list-open-issues', {
    spec: { summary: 'Unjudged' },
  });
  await until(() => sidecars.every(({ contracts }) => contracts?.length === 0), 'taken away');
});

test('control: bundles that a sidecar does not acknowledge are not heaped up; it gets the newest', { skip }, async () => {
  const { agents } = await stage('slow');
  const slow = rig.sidecar(near, agents[0], { acknowledges: false });
  await until(() => slow.bundles === 1);
  for (const word of ['one', 'two', 'three', 'four', 'five']) await rig.contract('slow', 'list-open-issues', ['bot'], { summary: word });
  await until(() => specOfCache('slow').includes('five'));
  assert.equal(slow.bundles, 1, 'one is on its way');
  const first = slow.messages.find((message) => message.case === 'bundle')?.value;
  slow.acknowledge(first?.revision ?? '', ['list-open-issues']);
  await until(() => slow.bundles === 2);
  // The last change may still be gathered when the second bundle goes; then it waits for the second acknowledgement.
  const second = slow.messages.findLast((message) => message.case === 'bundle')?.value;
  slow.acknowledge(second?.revision ?? '', ['list-open-issues']);
  await until(() => specOf(slow).includes('five'), 'the newest');
  assert.ok(slow.bundles <= 3, `${slow.bundles} bundles for six texts`);
});

test('control: a pod that is deleted ends its stream with the end of its session', { skip }, async () => {
  const { agents, sidecars } = await stage('ended');
  // The leader must have seen it start, or there is no start to keep.
  await until(async () => (await rig.session(agents[0])).status?.startedAt !== undefined, 'started');
  await rig.deletePod(agents[0]);
  assert.match(await sidecars[0].ended, /^SESSION_ENDED$/);
  assert.equal(sidecars[0].state, State.ENDED);
  await until(async () => (await rig.session(agents[0])).status?.state === 'Ended');
  const { metadata, status } = await rig.session(agents[0]);
  assert.ok(status?.endedAt !== undefined && status.startedAt !== undefined);
  await until(() => told.includes(`Ended ${metadata.name}`));
  const later = rig.lead(far, { ...systemClock, wallMs: () => Date.now() + limits.sessionKeptMs + 60_000 });
  await until(
    async () => (await rig.api.request('GET', `/apis/postern.dev/v1alpha1/namespaces/ended/agentsessions/${metadata.name}`)).status === 404,
    'deleted',
  );
  await later.stop();
});

test('control: a session that does not run what is applied says so in a condition, until it does', { skip }, async () => {
  const { agents } = await stage('behind');
  const revised = (revision: string) =>
    rig.call('PATCH', '/apis/postern.dev/v1alpha1/namespaces/behind/actioncontracts/list-open-issues/status', { status: { revision } });
  const condition = async () => (await rig.session(agents[0])).status?.conditions?.find(({ type }) => type === 'OnOldRevision');
  await until(async () => (await rig.session(agents[0])).status?.state === 'Active', 'active');
  await revised(`sha256:${'f'.repeat(64)}`);
  await until(async () => (await condition())?.status === 'True', 'the condition');
  assert.match((await condition())?.message ?? '', /present revision of list-open-issues\./);
  await revised(digestOfBytes('revision', 'list-open-issues'));
  await until(async () => (await condition()) === undefined, 'no condition');
});

test('control: reports of a sidecar stand in its session, without what is no name', { skip }, async () => {
  const { agents, sidecars } = await stage('reports');
  const since = BigInt(Date.parse('2026-11-30T10:00:00Z'));
  const file = { binding: 'github-triage', key: 'token', state: CredentialState.PRESENT, digest: '0123abcd', sinceMs: since };
  sidecars[0].send({
    case: 'credentials',
    value: {
      files: [file, file, { ...file, binding: '../x' }, { ...file, key: 'ca.crt', state: CredentialState.UNUSABLE, digest: 'secret!!' }],
    },
  });
  const warning = {
    action: 'list_open_issues',
    code: 'STALE_INDEX',
    owner: 'search\u202eteam',
    firstSeenMs: since,
    lastSeenMs: since,
    expiresMs: 0n,
  };
  sidecars[0].send({ case: 'warnings', value: { warnings: [warning] } });
  await until(async () => (await rig.session(agents[0])).status?.warnings !== undefined);
  const { status } = await rig.session(agents[0]);
  assert.deepEqual(status?.credentials, [
    { binding: 'github-triage', key: 'token', state: 'Present', digest: '0123abcd', since: '2026-11-30T10:00:00Z' },
    { binding: 'github-triage', key: 'ca.crt', state: 'Unusable', since: '2026-11-30T10:00:00Z' },
  ]);
  assert.deepEqual(status?.warnings, [
    {
      action: 'list_open_issues',
      code: 'STALE_INDEX',
      owner: 'search<U+202E>team',
      firstSeen: '2026-11-30T10:00:00Z',
      lastSeen: '2026-11-30T10:00:00Z',
    },
  ]);
});

test('control: a sidecar that floods, or says hello twice, is cut off', { skip }, async () => {
  const { sidecars } = await stage('flood');
  for (let count = 0; count < limits.controlMessagesBurst + 10; count += 1) sidecars[0].send({ case: 'warnings', value: { warnings: [] } });
  assert.equal(await sidecars[0].ended, 'TOO_MANY');
  sidecars[1].send({ case: 'hello', value: { version: '0.1.0', protocols: [1], instance: '', bundleRevision: '' } });
  assert.equal(await sidecars[1].ended, 'PROTOCOL_BROKEN');
});

test('control: contracts beyond the largest bundle are left out by name, the others are served', { skip }, async () => {
  const { agents, sidecars } = await stage('large');
  const big = { constants: { filler: 'x'.repeat(200_000) } };
  const count = Math.ceil(limits.controlBundleBytesMax / 200_000) + 1;
  for (let index = 0; index < count; index += 1) await rig.contract('large', `wide-${String(index).padStart(2, '0')}`, ['bot'], big);
  const leftOut = async () => (await rig.session(agents[0])).status?.conditions?.find(({ type }) => type === 'BundleTooLarge');
  await until(async () => (await leftOut())?.message.includes(`wide-${count - 1}`) === true, 'the condition');
  assert.equal((await leftOut())?.status, 'True');
  await until(() => (sidecars[0].contracts?.length ?? 0) === count - 1, 'all that fit');
});

test('control: while caches are stale streams stand, and their lease runs out from the last word of the API server', { skip }, async () => {
  const age = { ms: 0 };
  await using replica = await rig.replica({ clock: fastClock(100), cacheAgeMs: () => age.ms, leaseMs: 600_000 });
  const { agents } = await stage('stale');
  const sidecar = rig.sidecar(replica, agents[0]);
  const leases = () => sidecar.messages.flatMap((message) => (message.case === 'renewal' ? [Number(message.value.leaseMs)] : []));
  await until(() => leases().length > 0);
  assert.equal(leases().at(-1), 600_000);
  age.ms = 400_000;
  await until(() => leases().at(-1) === 200_000, 'a shorter lease');
  age.ms = 900_000;
  await until(() => leases().at(-1) === 0, 'no lease');
  assert.equal(sidecar.over, false);
  assert.equal(await rig.sidecar(replica, agents[1]).ended, 'NOT_READY', 'and no new stream begins');
  age.ms = 0;
  await until(() => leases().at(-1) === 600_000, 'the whole lease again');
});

function specOf(sidecar: TestSidecar): string {
  const bundle = sidecar.messages.findLast((message) => message.case === 'bundle')?.value;
  return Buffer.concat(bundle?.objects.map(({ specJson }) => specJson) ?? []).toString();
}

function specOfCache(namespace: string): string {
  return (
    near.cluster.contracts.by('caller', `${namespace}/bot`).filter(({ generation, status }) => status?.observedGeneration === generation)[0]
      ?.specJson ?? ''
  );
}
