/** Questions, intents and outcomes of sidecars on a real API server, with two replicas that share nothing but it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeCardFacts } from '#core/approval/decode-card-facts.ts';
import { limits } from '#core/bounds/limits.ts';
import { OperationEnd } from '#proto/postern/control/v1/control_pb.ts';
import { until } from '#test/operator/control/test-sidecar.ts';
import { unavailable } from '#test/servers/build.ts';
import { bindingSpec, deploySpec, EffectRig } from './effect-rig.ts';
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

const ARGS = { version: '2.14.3', reason: 'the fix of the checkout' };

test('effects: a question becomes an object that says all, a yes admits its call once, and the outcome takes the hold away', {
  skip,
}, async () => {
  const stage = await effects.stage('happy');
  const { own } = stage;
  const plan = own.plan(ARGS);
  assert.equal((await own.ask(plan)).case, 'waiting');
  const { spec, metadata } = await stage.get(plan.name);
  assert.equal(spec.card, plan.card.text, 'the card of the sidecar, byte for byte (APR-02)');
  assert.equal(metadata.ownerReferences?.[0]?.kind, 'AgentSession', 'nothing of it outlives the session (APR-13)');
  assert.deepEqual([spec.purpose, spec.serviceAccount, spec.operationId], ['Call', 'bot', plan.facts.operationId]);
  assert.equal(codeOf(await own.intend(plan)), 'APPROVAL_REQUIRED');
  assert.equal((await stage.list()).length, 1, 'a refused intent leaves no hold');
  await stage.decide(plan.name, { verdict: 'Approved', reason: 'ok' });
  await until(() => own.stateOf(plan) === 'approved', 'the yes comes down');
  assert.equal((await own.intend(plan)).case, 'admitted');
  assert.equal((await stage.get(plan.name)).status?.state, 'Used');
  assert.equal((await stage.get(stage.hold(plan))).spec.purpose, 'Resolve');
  assert.equal((await own.intend(plan)).case, 'admitted', 'the same operation, still under way, is the same admission');
  await own.settle(plan, OperationEnd.DONE);
  assert.equal(await stage.exists(stage.hold(plan)), false);
  assert.equal(codeOf(await own.intend(plan)), 'APPROVAL_EXPIRED', 'a used approval never works again (APR-03)');
  assert.equal((await own.ask(plan)).case, 'expired');
  assert.equal((await stage.list()).length, 1);
});

test('effects: what a sidecar forges never becomes an object (APR-02, APR-06)', { skip }, async () => {
  const stage = await effects.stage('forged');
  const { own, twin } = stage;
  const plan = own.plan(ARGS);
  const forged = [
    ['another card', await own.ask(plan, own.plan({ ...ARGS, version: '1.0.0' }).card.digest), 'CONTRACT_NOT_READY'],
    ['the requester of another pod', await own.ask(own.plan(ARGS, { requester: twin.requester() })), 'CONTROL_STALE'],
    ['another revision', await own.ask(own.plan(ARGS, { revision: `sha256:${'0'.repeat(64)}` })), 'CONTRACT_NOT_READY'],
    ['a digest of other arguments', await own.ask(own.plan(ARGS, { argsDigest: `sha256:${'0'.repeat(64)}` })), 'INVALID_ARGUMENT'],
    ['arguments the schema refuses', await own.ask(own.plan({ ...ARGS, version: 'rm -rf' })), 'INVALID_ARGUMENT'],
    ['another namespace', await own.ask(own.plan(ARGS, { namespace: 'happy' })), 'INVALID_ARGUMENT'],
    ['a yes for many calls', await own.ask(own.plan(ARGS, { grant: { calls: 9, vary: ['/reason'] } })), 'INVALID_ARGUMENT'],
    ['a life of a week (APR-11)', await own.ask(own.plan(ARGS, { expiresAtMs: Date.now() + 7 * 86_400_000 })), 'CONTRACT_NOT_READY'],
  ] as const;
  for (const [what, state, code] of forged) assert.equal(codeOf(state), code, what);
  assert.equal(codeOf(await own.intend(plan, '')), 'APPROVAL_REQUIRED', 'without any approval');
  assert.equal(codeOf(await own.intend(plan, plan.name, false)), 'INVALID_ARGUMENT', 'without a hold');
  assert.deepEqual(await stage.list(), []);
});

test('effects: an approval is good for its own session and call alone (APR-01, APR-13)', { skip }, async () => {
  const stage = await effects.stage('foreign');
  const { own, twin } = stage;
  const plan = own.plan(ARGS);
  await own.ask(plan);
  await stage.decide(plan.name, { verdict: 'Approved' });
  const other = own.plan({ ...ARGS, version: '3.0.0' });
  assert.equal(codeOf(await own.intend(other, plan.name)), 'APPROVAL_REQUIRED', 'other arguments');
  const same = twin.plan(ARGS);
  assert.equal(codeOf(await twin.intend(same, plan.name)), 'APPROVAL_REQUIRED', 'the pod beside it');
  await effects.rig.deletePod(own.agent);
  const again = await stage.connect(effects.far, await effects.rig.pod('foreign', 'bot-1', 'bot'));
  assert.equal(codeOf(await again.intend(again.plan(ARGS), plan.name)), 'APPROVAL_REQUIRED', 'a new pod of the old name');
  assert.equal((await stage.get(plan.name)).status?.state, undefined, 'not used by any of them');
});

test('effects: a contract or binding changed after the yes makes it worth nothing (APR-02)', { skip }, async () => {
  for (const what of ['contract', 'binding'] as const) {
    const stage = await effects.stage(`edited-${what}`);
    const { own } = stage;
    const plan = own.plan(ARGS);
    await own.ask(plan);
    await stage.decide(plan.name, { verdict: 'Approved' });
    const root = `/apis/postern.dev/v1alpha1/namespaces/edited-${what}`;
    if (what === 'contract')
      await effects.rig.contract(`edited-${what}`, 'deploy-service', ['bot', 'other'], deploySpec({ owner: 'somebody-else' }));
    else await effects.rig.call('PATCH', `${root}/credentialbindings/deploy`, { spec: bindingSpec({ owner: 'somebody-else' }) });
    await stage.settle();
    assert.equal(codeOf(await own.intend(plan)), 'CONTRACT_NOT_READY', 'the facts of before');
    const now = own.plan(ARGS, { operationId: plan.facts.operationId, planDigest: plan.facts.planDigest });
    assert.equal(codeOf(await own.intend({ ...now, name: plan.name })), 'APPROVAL_EXPIRED', 'the facts of now');
    assert.equal((await stage.list()).length, 1, 'no hold is left');
  }
});

test('effects: of equal calls of two pods on two replicas exactly one is admitted', { skip }, async () => {
  const stage = await effects.stage('equal', { approval: { mode: 'None', because: 'the test decides nothing' } });
  const { own, twin } = stage;
  for (let round = 0; round < 10; round += 1) {
    const args = { ...ARGS, version: `${round}.0.0` };
    const plans = [own.plan(args), twin.plan(args)] as const;
    const verdicts = await Promise.all([own.intend(plans[0], ''), twin.intend(plans[1], '')]);
    assert.deepEqual(verdicts.map(codeOf).sort(), ['IDEMPOTENCY_BUSY', 'admitted']);
    const winner = verdicts[0].case === 'admitted' ? 0 : 1;
    const refused = verdicts[1 - winner];
    assert.equal(refused?.case === 'refused' && refused.value.operationId, plans[winner]?.facts.operationId, 'it is named');
    await (winner === 0 ? twin : own).settle(plans[1 - winner] ?? plans[0], OperationEnd.DONE);
    assert.equal(await stage.exists(stage.hold(plans[0])), true, 'the loser cannot settle for the winner');
    await (winner === 0 ? own : twin).settle(plans[winner] ?? plans[0], OperationEnd.NOT_DONE);
    assert.equal(await stage.exists(stage.hold(plans[0])), false);
  }
});

test('effects: an unknown outcome holds every equal call of the account until a person says what became of it', { skip }, async () => {
  const stage = await effects.stage('unknown', { approval: { mode: 'None', because: 'the test decides nothing' } });
  const { own, twin } = stage;
  const plan = own.plan(ARGS);
  assert.equal((await own.intend(plan, '')).case, 'admitted');
  const name = stage.hold(plan);
  await assert.rejects(stage.decide(name, { verdict: 'NotDone' }), /still under way/, 'nobody can say while it runs');
  await own.settle(plan, OperationEnd.UNKNOWN);
  assert.equal((await stage.get(name)).status?.state, 'Waiting');
  assert.equal((await stage.get(name)).metadata.ownerReferences, undefined, 'it outlives its pod (APR-15)');
  for (const sidecar of [own, twin]) assert.equal(codeOf(await sidecar.intend(sidecar.plan(ARGS), '')), 'OUTCOME_UNKNOWN');
  await effects.rig.deletePod(own.agent);
  assert.equal(codeOf(await twin.intend(twin.plan(ARGS), '')), 'OUTCOME_UNKNOWN');
  await stage.decide(name, { verdict: 'NotDone', reason: 'the log shows nothing' });
  await until(() => twin.resolved(plan) === OperationEnd.NOT_DONE, 'it is told to every stream of the account');
  assert.equal((await twin.intend(twin.plan(ARGS), '')).case, 'admitted');
});

test('effects: with a key the operation in doubt goes on by itself, and an equal call of another pod waits for its outcome', {
  skip,
}, async () => {
  const stage = await effects.stage('keyed', {
    approval: { mode: 'None', because: 'the test decides nothing' },
    idempotency: { mode: 'Key', header: 'idempotency-key', ttl: '24h' },
  });
  const { own, twin } = stage;
  const plan = own.plan(ARGS);
  const name = stage.hold(plan);
  assert.equal((await own.intend(plan, '')).case, 'admitted');
  await own.settle(plan, OperationEnd.UNKNOWN);
  assert.equal(codeOf(await twin.intend(twin.plan(ARGS), '')), 'OUTCOME_UNKNOWN', 'its key would be another one');
  assert.equal((await own.intend(plan, '')).case, 'admitted', 'the same operation is sent again under the same key');
  assert.equal((await stage.get(name)).status?.state, 'UnderWay');
  await assert.rejects(stage.decide(name, { verdict: 'NotDone' }), /still under way/, 'nobody can say while it runs');
  assert.equal(codeOf(await twin.intend(twin.plan(ARGS), '')), 'IDEMPOTENCY_BUSY');
  await own.settle(plan, OperationEnd.UNKNOWN);
  assert.equal((await stage.get(name)).status?.state, 'Waiting', 'still nobody knows');
  assert.equal((await own.intend(plan, '')).case, 'admitted');
  await own.settle(plan, OperationEnd.DONE);
  assert.equal(await stage.exists(name), false);
});

test('effects: open questions are capped over all pods of an account, and a denied call is not asked again at once (APR-10)', {
  skip,
}, async () => {
  const stage = await effects.stage('flood');
  const { own, twin } = stage;
  const plans = Array.from({ length: limits.approvalsOpenMax }, (_, index) =>
    [own, twin][index % 2]?.plan({ ...ARGS, version: `${index}.0` }),
  );
  for (const [index, plan] of plans.entries()) {
    if (plan === undefined) continue;
    assert.equal((await [own, twin][index % 2]?.ask(plan))?.case, 'waiting');
    const known = () => [effects.near, effects.far].every(({ cluster }) => cluster.approvals.get(`flood/${plan.name}`) !== undefined);
    await until(known, 'both replicas know it');
  }
  assert.equal(codeOf(await own.ask(own.plan({ ...ARGS, version: '99.0' }))), 'LIMIT_EXCEEDED');
  const first = plans[0];
  assert.ok(first !== undefined);
  await stage.decide(first.name, { verdict: 'Denied', reason: 'no' });
  await until(() => own.stateOf(first) === 'denied', 'the no comes down');
  await own.knows(first);
  assert.equal(codeOf(await own.intend(first)), 'APPROVAL_DENIED');
  assert.equal(codeOf(await own.ask(own.plan(first.facts.args))), 'APPROVAL_DENIED');
});

test('effects: a sidecar asks again after its stream broke, on another replica, and it is the same question', { skip }, async () => {
  const stage = await effects.stage('again');
  const { own } = stage;
  const plan = own.plan(ARGS);
  await own.ask(plan);
  own.stream.leave();
  await stage.decide(plan.name, { verdict: 'Approved' });
  const back = await stage.connect(effects.far, own.agent);
  await back.knows(plan);
  assert.equal((await back.ask(plan)).case, 'approved');
  assert.equal((await back.intend(plan)).case, 'admitted');
});

test('effects: a suspended session is admitted nothing, also with a yes (APR-12)', { skip }, async () => {
  const stage = await effects.stage('suspended');
  const { own } = stage;
  const plan = own.plan(ARGS);
  await own.ask(plan);
  await stage.decide(plan.name, { verdict: 'Approved' });
  await effects.rig.patchSession(own.agent, { revoked: true });
  await until(() => own.stream.state !== 2, 'it is told');
  assert.equal(codeOf(await own.intend(plan)), 'SESSION_REVOKED');
  assert.equal((await stage.get(plan.name)).status?.state, undefined);
});

test('effects: 20 intents of one approval, side by side on both replicas, are one admission (APR-03)', { skip }, async () => {
  const stage = await effects.stage('race');
  const { own } = stage;
  const plan = own.plan(ARGS);
  await own.ask(plan);
  await stage.decide(plan.name, { verdict: 'Approved' });
  // The register of each replica, as two streams of one session would use them: a sidecar that moved is on both for a moment.
  const registers = [effects.near, effects.far].map((replica) => effects.registerOf(replica));
  const session = await effects.rig.session(own.agent);
  const asker = stage.askerOf(session, own);
  const { operationId } = plan.facts;
  const factsJson = encodeCardFacts(plan.facts);
  const intent = { plan: { operationId, factsJson, cardDigest: '' }, holds: true, approval: plan.name };
  const verdicts = await Promise.all(Array.from({ length: 20 }, (_, index) => registers[index % 2]?.admit(asker, intent, () => undefined)));
  // The same operation may be told twice that it is under way; it was used once, and there is one hold.
  assert.ok(verdicts.includes('admitted'));
  const { status } = await stage.get(plan.name);
  assert.deepEqual([status?.state, status?.callsUsed, status?.usedBy], ['Used', 1, operationId]);
  assert.equal((await stage.list()).filter(({ spec }) => spec.purpose === 'Resolve').length, 1);
});

test('effects: an operator that dies between hold and verdict leaves a hold, and the same operation goes on from there (APR-15)', {
  skip,
}, async () => {
  const stage = await effects.stage('killed');
  const { own, twin } = stage;
  const plan = own.plan(ARGS);
  await own.ask(plan);
  await stage.decide(plan.name, { verdict: 'Approved' });
  // The replica writes the hold and never comes to read the approval.
  const dead = effects.registerOf(effects.near, { get: () => new Promise(() => {}) });
  const session = await effects.rig.session(own.agent);
  const { operationId } = plan.facts;
  const intent = { plan: { operationId, factsJson: encodeCardFacts(plan.facts), cardDigest: '' }, holds: true, approval: plan.name };
  void dead.admit(stage.askerOf(session, own), intent, () => undefined);
  await until(() => stage.exists(stage.hold(plan)), 'the hold');
  assert.equal(codeOf(await twin.intend(twin.plan(ARGS), plan.name)), 'IDEMPOTENCY_BUSY', 'an equal call waits');
  assert.equal((await own.intend(plan)).case, 'admitted');
  assert.equal((await stage.get(plan.name)).status?.callsUsed, 1);
  await own.settle(plan, OperationEnd.DONE);
  assert.equal(await stage.exists(stage.hold(plan)), false);
});

test('effects: what a person decides while the operator is down counts once when it is back', { skip }, async () => {
  const stage = await effects.stage('down');
  const agent = await effects.rig.pod('down', 'bot-3', 'bot');
  const before = await effects.rig.replica();
  const first = await stage.connect(before, agent);
  const plan = first.plan(ARGS);
  await first.ask(plan);
  await before.stop();
  await stage.decide(plan.name, { verdict: 'Approved' });
  const now = await effects.rig.replica();
  const back = await stage.connect(now, agent);
  assert.equal((await back.ask(plan)).case, 'approved');
  assert.equal((await back.intend(plan)).case, 'admitted');
  await back.settle(plan, OperationEnd.DONE);
  assert.equal(codeOf(await back.intend(plan)), 'APPROVAL_EXPIRED');
  assert.equal((await stage.get(plan.name)).status?.callsUsed, 1);
  await now.stop();
});

test('effects: one yes of mode Session covers so many calls, in which only what the card names may differ', { skip }, async () => {
  const stage = await effects.stage('grant', {
    approval: { mode: 'Session', expiresAfter: '15m', calls: 2, vary: ['/reason'] },
    idempotency: { mode: 'Natural' },
  });
  const { own } = stage;
  const grant = { calls: 2, vary: ['/reason'] };
  const plan = own.plan(ARGS, { grant });
  assert.equal((await own.ask(plan)).case, 'waiting');
  await stage.decide(plan.name, { verdict: 'Approved' });
  const use = (args: Record<string, string>) => own.intend(own.plan(args, { grant }), plan.name, false);
  assert.equal((await use(ARGS)).case, 'admitted');
  assert.equal(codeOf(await use({ ...ARGS, version: '0.0.1' })), 'APPROVAL_REQUIRED', 'the version is fixed');
  assert.equal((await use({ ...ARGS, reason: 'another one' })).case, 'admitted');
  const { status } = await stage.get(plan.name);
  assert.deepEqual([status?.state, status?.callsUsed], ['Used', 2]);
  assert.equal(codeOf(await use(ARGS)), 'APPROVAL_EXPIRED');
  assert.equal((await stage.list()).length, 1, 'what may happen twice is not held');
});

test('effects: a yes to an alternative admits that operation and not the first (APR-01)', { skip }, async () => {
  const stage = await effects.stage('choice');
  const { own } = stage;
  const plan = own.plan(ARGS, { choices: ['listed-only'] });
  const other = own.plan({ ...ARGS, version: '1.0.0' }, { alternative: { name: 'listed-only', of: plan.name } });
  assert.equal((await own.ask(plan, plan.card.digest, [other])).case, 'waiting');
  const { spec } = await stage.get(plan.name);
  assert.deepEqual(
    spec.alternatives?.map(({ name, operationId, card }) => [name, operationId, card]),
    [['listed-only', other.facts.operationId, other.card.text]],
  );
  await stage.decide(plan.name, { verdict: 'Approved', alternative: 'listed-only', cardDigest: other.card.digest });
  assert.equal(codeOf(await own.intend(plan)), 'APPROVAL_REQUIRED');
  assert.equal((await own.intend(other, plan.name)).case, 'admitted');
});
