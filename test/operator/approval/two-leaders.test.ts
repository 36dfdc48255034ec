/** Leaders that overlap, change or are away while effects go on: they write what people read, and never what an effect is admitted by. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { OperationEnd } from '#proto/postern/control/v1/control_pb.ts';
import { until } from '#test/operator/control/test-sidecar.ts';
import { unavailable } from '#test/servers/build.ts';
import { EffectRig } from './effect-rig.ts';
import { codeOf } from './effect-sidecar.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let effects: EffectRig;
before(
  async () => {
    if (skip === false) effects = await EffectRig.start();
  },
  { timeout: 120_000 },
);
after(() => effects?.[Symbol.asyncDispose]());

const args = (version: number) => ({ version: `${version}.0.0`, reason: 'the fix of the checkout' });
const COUNT = 8;

test('two leaders: both at once take no state back, and every yes is used once', { skip }, async () => {
  const leaders = [effects.lead(effects.near), effects.lead(effects.far)];
  const stage = await effects.stage('split');
  const history = new Map<string, string[]>();
  const stop = effects.near.cluster.approvals.onChange((change) => {
    if (change.kind === 'deleted' || change.now.spec.purpose !== 'Call') return;
    const seen = history.get(change.now.name) ?? [];
    history.set(change.now.name, seen);
    const state = change.now.status?.state ?? '';
    if (seen.at(-1) !== state) seen.push(state);
  });
  const run = async (version: number) => {
    const sidecar = version % 2 === 0 ? stage.own : stage.twin;
    const plan = sidecar.plan(args(version));
    assert.equal((await sidecar.ask(plan)).case, 'waiting');
    await stage.decide(plan.name, { verdict: 'Approved' });
    assert.equal((await sidecar.intend(plan)).case, 'admitted');
    await sidecar.settle(plan, OperationEnd.DONE);
    await until(async () => (await stage.get(plan.name)).status?.conditions?.[0]?.reason === 'Used', 'the last word of a leader');
    return plan;
  };
  const plans = await Promise.all(Array.from({ length: COUNT }, (_, index) => run(index + 1)));
  for (const plan of plans) {
    const { status } = await stage.get(plan.name);
    assert.deepEqual([status?.state, status?.callsUsed, status?.usedBy], ['Used', 1, plan.facts.operationId]);
    assert.equal(codeOf(await stage.own.intend(plan)) === 'admitted', false);
    const seen = history.get(plan.name) ?? [];
    assert.ok(!seen.slice(seen.indexOf('Used')).some((state) => state !== 'Used'), seen.join(' -> '));
  }
  stop();
  for (const leader of leaders) await leader.stop();
  assert.equal((await stage.list()).filter(({ spec }) => spec.purpose === 'Resolve').length, 0);
});

test('two leaders: a leader that is gone between hold and use is missed by nobody, and the next one says what became of it', {
  skip,
}, async () => {
  const stage = await effects.stage('change');
  const { own } = stage;
  const first = effects.lead(effects.near);
  const plan = own.plan(args(1));
  await own.ask(plan);
  await stage.decide(plan.name, { verdict: 'Approved' });
  await until(async () => (await stage.get(plan.name)).status?.state === 'Approved', 'the leader to see it');
  await first.stop();
  assert.equal((await own.intend(plan)).case, 'admitted');
  const { status } = await stage.get(plan.name);
  assert.deepEqual([status?.state, status?.conditions?.[0]?.reason], ['Used', 'Approved'], 'nobody has said it to people yet');
  const next = effects.lead(effects.far);
  await until(async () => (await stage.get(plan.name)).status?.conditions?.[0]?.reason === 'Used', 'the next leader to say it');
  assert.equal(codeOf(await stage.twin.intend(stage.twin.plan(args(1)), plan.name)), 'IDEMPOTENCY_BUSY');
  await own.settle(plan, OperationEnd.DONE);
  await next.stop();
});

test('two leaders: one whose clock is a day ahead voids nothing for a replica, and forgets no hold that is under way (APR-11)', {
  skip,
}, async () => {
  const stage = await effects.stage('ahead');
  const { own } = stage;
  const plan = own.plan(args(1));
  await own.ask(plan);
  await stage.decide(plan.name, { verdict: 'Approved' });
  assert.equal((await own.intend(plan)).case, 'admitted');
  const ahead = effects.lead(effects.far, { aheadMs: 86_400_000 });
  await until(async () => (await stage.get(stage.hold(plan))).status?.state === 'Waiting', 'a question: too early, never too late');
  assert.equal(codeOf(await own.intend(own.plan(args(1)), plan.name)), 'OUTCOME_UNKNOWN', 'held all the same');
  await own.settle(plan, OperationEnd.DONE);
  assert.equal(await stage.exists(stage.hold(plan)), false, 'and its own end is heard');
  await ahead.stop();
});

test('two leaders: an approval that is being deleted admits nothing, whatever keeps it there', { skip }, async () => {
  const stage = await effects.stage('finalizer');
  const { own } = stage;
  const plan = own.plan(args(1));
  await own.ask(plan);
  await stage.decide(plan.name, { verdict: 'Approved' });
  const path = `${stage.approvals}/${plan.name}`;
  await effects.rig.call('PATCH', path, { metadata: { finalizers: ['example.com/kept'] } });
  await effects.rig.call('DELETE', path);
  assert.equal(await stage.exists(plan.name), true);
  assert.equal(codeOf(await own.intend(plan)), 'APPROVAL_EXPIRED');
  assert.equal(await stage.exists(stage.hold(plan)), false);
  await effects.rig.call('PATCH', path, { metadata: { finalizers: null } });
});
