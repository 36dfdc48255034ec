/**
 * A sidecar that was taken over: it speaks the real protocol with the token of its pod, and says whatever it likes. It may do to its own
 * calls what it could do anyhow, and nothing to those of others, to what people read, or to the operator (P2, P3).
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { AlternativeName } from '#core/approval/card-facts.ts';
import { encodeCardFacts } from '#core/approval/decode-card-facts.ts';
import { limits } from '#core/bounds/limits.ts';
import { OperationEnd } from '#proto/postern/control/v1/control_pb.ts';
import { until } from '#test/operator/control/test-sidecar.ts';
import { unavailable } from '#test/servers/build.ts';
import { EffectRig, type Stage } from './effect-rig.ts';
import { codeOf, type EffectSidecar, type Plan } from './effect-sidecar.ts';

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
const NOBODY = { approval: { mode: 'None', because: 'the test decides nothing' } };

/** A message as it is, with parts of others. */
function ask(
  sidecar: EffectSidecar,
  name: string,
  plan: Plan,
  change: { readonly operationId?: string; readonly cardDigest?: string },
): void {
  sidecar.stream.send({ case: 'approval', value: { name, plan: { ...planned(plan), ...change }, alternatives: [] } });
}

/** Fifty times at once; the different answers. */
async function replay({ stream }: EffectSidecar, plan: Plan): Promise<readonly (string | undefined)[]> {
  const from = stream.messages.length;
  const value = { plan: { ...planned(plan), cardDigest: '' }, holds: true, approval: plan.name };
  for (let times = 0; times < 50; times += 1) stream.send({ case: 'intent', value });
  const verdicts = () =>
    stream.messages.slice(from).flatMap((message) => (message.case === 'verdict' ? [codeOf(message.value.verdict)] : []));
  await until(() => verdicts().length === 50, 'every verdict');
  return [...new Set(verdicts())];
}

function planned({ facts, card }: Plan) {
  return { operationId: facts.operationId, factsJson: encodeCardFacts(facts), cardDigest: card.digest };
}

/** Admits something of its own: whatever was sent before is handled. */
async function settled(stage: Stage, sidecar: EffectSidecar): Promise<void> {
  const plan = sidecar.plan({ ...ARGS, version: '99.0.0' });
  await sidecar.intend(plan, '');
  await sidecar.settle(plan, OperationEnd.NOT_DONE);
  await until(async () => !(await stage.exists(stage.hold(plan))));
}

test('hijacked sidecar: a question under the name of another operation, a hold or a path is stopped by the name being made from the operation', {
  skip,
}, async () => {
  const stage = await effects.stage('names');
  const { own } = stage;
  const plan = own.plan(ARGS);
  const other = own.plan(ARGS);
  for (const [name, change] of [
    [other.name, {}],
    [stage.hold(plan), {}],
    ['../../secrets/postern-deploy', {}],
    ['', {}],
    [plan.name, { operationId: other.facts.operationId }],
    [other.name, { operationId: other.facts.operationId }],
    [plan.name, { cardDigest: '' }],
  ] as const) {
    const from = own.stream.messages.length;
    ask(own, name, plan, change);
    await until(() => own.stream.messages.slice(from).some(({ case: kind }) => kind === 'approval'), `an answer to ${name}`);
    const told = own.stream.messages.slice(from).find((message) => message.case === 'approval')?.value;
    assert.equal(told?.state.case === 'refused' && told.state.value.code, 'INVALID_ARGUMENT', `${name} ${JSON.stringify(change)}`);
  }
  assert.deepEqual(await stage.list(), []);
});

test('hijacked sidecar: settling the operation of another pod, or one of its own under another name, is stopped by session and operation', {
  skip,
}, async () => {
  const stage = await effects.stage('settles', NOBODY);
  const { own, twin } = stage;
  const held = twin.plan(ARGS);
  assert.equal((await twin.intend(held, '')).case, 'admitted');
  const mine = own.plan({ ...ARGS, version: '1.0.0' });
  for (const end of [OperationEnd.DONE, OperationEnd.NOT_DONE, OperationEnd.UNKNOWN]) {
    await own.settle(held, end);
    // Its own operation id over the arguments of the other.
    await own.settle({ ...held, facts: { ...held.facts, operationId: mine.facts.operationId } }, end);
  }
  assert.equal((await stage.get(stage.hold(held))).status?.state, undefined, 'neither gone nor a question');
  assert.equal(codeOf(await own.intend(own.plan(ARGS), '')), 'IDEMPOTENCY_BUSY');
  await twin.settle(held, OperationEnd.UNKNOWN);
  await own.settle(held, OperationEnd.NOT_DONE);
  assert.equal(codeOf(await own.intend(own.plan(ARGS), '')), 'OUTCOME_UNKNOWN', 'a person finds out, and nobody else');
});

test('hijacked sidecar: a card whose choices are swapped, doubled or of another contract is stopped by each being rendered anew', {
  skip,
}, async () => {
  const stage = await effects.stage('choices');
  const { own } = stage;
  const main = own.plan(ARGS);
  const choice = (version: string, name: AlternativeName, of = main.name): Plan =>
    own.plan({ ...ARGS, version }, { alternative: { name, of } });
  const [one, two] = [choice('1.0.0', 'listed-only'), choice('2.0.0', 'retry-longer')];
  const swapped = [
    { ...one, card: two.card },
    { ...two, card: one.card },
  ];
  const forged: Readonly<Record<string, readonly Plan[]>> = {
    swapped,
    'under one name': [one, one],
    'too many': Array.from({ length: limits.approvalAlternativesMax + 1 }, () => one),
    'without a digest': [{ ...one, card: { ...one.card, digest: '' as Plan['card']['digest'] } }],
    'of another question': [choice('1.0.0', 'listed-only', own.plan(ARGS).name)],
  };
  for (const [what, choices] of Object.entries(forged))
    assert.match(codeOf(await own.ask(main, main.card.digest, choices)) ?? '', /CONTRACT_NOT_READY|INVALID_ARGUMENT/, what);
  // Called `abandon` beside the card, and a deployment on it.
  own.stream.send({
    case: 'approval',
    value: {
      name: main.name,
      plan: planned(main),
      alternatives: [{ name: 'abandon', plan: planned(one) }],
    },
  });
  await until(() => own.stream.messages.filter(({ case: kind }) => kind === 'approval').length === Object.keys(forged).length + 1);
  assert.equal(own.stateOf(main), 'refused');
  assert.deepEqual(await stage.list(), []);
});

test('hijacked sidecar: a yes to a choice used for the first plan, or the reverse, is stopped by the card the person saw', {
  skip,
}, async () => {
  const stage = await effects.stage('chosen');
  const { own } = stage;
  const main = own.plan(ARGS, { choices: ['listed-only'] });
  const choice = own.plan({ ...ARGS, version: '1.0.0' }, { alternative: { name: 'listed-only', of: main.name } });
  assert.equal((await own.ask(main, main.card.digest, [choice])).case, 'waiting');
  await stage.decide(main.name, { verdict: 'Approved' });
  assert.equal(codeOf(await own.intend(choice, main.name)), 'APPROVAL_REQUIRED');
  const forged = { ...choice, facts: { ...choice.facts, operationId: main.facts.operationId, planDigest: main.facts.planDigest } };
  assert.equal(codeOf(await own.intend(forged, main.name)), 'APPROVAL_REQUIRED', 'under the id and the digest of the approved one');
  assert.equal((await own.intend(main)).case, 'admitted');
});

test('hijacked sidecar: one yes replayed a hundred times, while it runs and after its end, is stopped by the approval being used', {
  skip,
}, async () => {
  const stage = await effects.stage('replays');
  const { own } = stage;
  const plan = own.plan(ARGS);
  await own.ask(plan);
  await stage.decide(plan.name, { verdict: 'Approved' });
  await replay(own, plan);
  assert.equal((await stage.list()).length, 2, 'one question and one hold');
  assert.equal((await stage.get(plan.name)).status?.callsUsed, 1);
  assert.equal(codeOf(await own.intend(own.plan(ARGS), plan.name)), 'IDEMPOTENCY_BUSY', 'as another operation');
  await own.settle(plan, OperationEnd.DONE);
  assert.deepEqual(await replay(own, plan), ['APPROVAL_EXPIRED']);
  assert.equal(codeOf(await own.intend(own.plan(ARGS), plan.name)), 'APPROVAL_REQUIRED');
  assert.equal((await stage.list()).length, 1);
});

test('hijacked sidecar: facts too large for a card are stopped by the limit on them, and the stream stands', { skip }, async () => {
  const stage = await effects.stage('huge');
  const { own } = stage;
  const plan = own.plan(ARGS);
  const factsJson = Buffer.concat([encodeCardFacts(plan.facts), Buffer.alloc(limits.cardFactsBytesMax, ' ')]);
  for (let times = 0; times < 5; times += 1) {
    const from = own.stream.messages.length;
    own.stream.send({
      case: 'intent',
      value: { plan: { operationId: plan.facts.operationId, factsJson, cardDigest: '' }, holds: true, approval: '' },
    });
    await until(() => own.stream.messages.slice(from).some(({ case: kind }) => kind === 'verdict'), 'a verdict');
  }
  const verdicts = own.stream.messages.flatMap((message) => (message.case === 'verdict' ? [codeOf(message.value.verdict)] : []));
  assert.deepEqual([...new Set(verdicts)], ['INVALID_ARGUMENT']);
  assert.deepEqual(await stage.list(), []);
});

test('hijacked sidecar: a flood of intents is stopped by the end of its own stream, before it holds more than a few megabytes', {
  skip,
}, async () => {
  const stage = await effects.stage('flood', NOBODY);
  const { own, twin } = stage;
  const plan = own.plan(ARGS);
  const factsJson = Buffer.concat([encodeCardFacts(plan.facts), Buffer.alloc(limits.cardFactsBytesMax - 4096, ' ')]);
  const message = { plan: { operationId: plan.facts.operationId, factsJson, cardDigest: '' }, holds: true, approval: '' };
  for (let times = 0; times < limits.effectMessagesBurst / 2; times += 1) own.stream.send({ case: 'intent', value: message });
  assert.equal(await own.stream.ended, 'TOO_MANY', 'by their bytes: of small ones so many may wait');
  await settled(stage, twin);
  const small = await stage.connect(effects.near, own.agent);
  for (let times = 0; times < limits.effectMessagesBurst * 2; times += 1)
    small.stream.send({ case: 'intent', value: { ...message, plan: { ...message.plan, factsJson: Buffer.from('{}') } } });
  assert.equal(await small.stream.ended, 'TOO_MANY', 'by their number');
  await settled(stage, twin);
});

test('hijacked sidecar: messages of effects before Hello, a second Hello, and effects in the older protocol are stopped by the protocol', {
  skip,
}, async () => {
  const stage = await effects.stage('order', NOBODY);
  const { own } = stage;
  const { rig, near } = effects;
  const plan = own.plan(ARGS);
  const intent = {
    case: 'intent',
    value: {
      plan: { operationId: plan.facts.operationId, factsJson: encodeCardFacts(plan.facts), cardDigest: '' },
      holds: true,
      approval: '',
    },
  } as const;
  const early = rig.sidecar(near, own.agent, { first: intent, protocols: [1, 2], instance: own.agent.uid });
  assert.equal(await early.ended, 'PROTOCOL_BROKEN');
  const older = rig.sidecar(near, own.agent, { protocols: [1], instance: own.agent.uid });
  await until(() => older.contracts?.length === 1, 'a bundle: reads go on');
  assert.equal(
    older.messages.some(({ case: kind }) => kind === 'requester'),
    false,
    'it is told nothing it does not know',
  );
  older.send(intent);
  assert.equal(await older.ended, 'PROTOCOL_BROKEN');
  const twice = await stage.connect(near, own.agent);
  twice.stream.send({
    case: 'hello',
    value: { version: '0.1.0', protocols: [1, 2], instance: `sha256:${'0'.repeat(64)}`, bundleRevision: '' },
  });
  assert.equal(await twice.stream.ended, 'PROTOCOL_BROKEN');
  assert.deepEqual(await stage.list(), []);
});

test('hijacked sidecar: questions that expire at once, asked without end, are stopped by the number of an account that is kept (APR-10)', {
  skip,
}, async () => {
  const stage = await effects.stage('short');
  const { own } = stage;
  await old(stage, limits.approvalsKeptMax - 2);
  const shortLived = () => own.plan({ ...ARGS, version: '1.0.0' }, { expiresAtMs: Date.now() + 1 });
  const states = [];
  for (let times = 0; times < 4; times += 1) states.push(codeOf(await own.ask(shortLived())));
  assert.equal(states.at(-1), 'LIMIT_EXCEEDED');
  assert.ok((await stage.list()).length <= limits.approvalsKeptMax);
});

test('hijacked sidecar: intents without ends are stopped by the number of holds of an account, and the one it has goes on', {
  skip,
}, async () => {
  const stage = await effects.stage('holds', NOBODY);
  const { own } = stage;
  await old(stage, limits.holdsOpenMax - 1, 'Resolve');
  const last = own.plan({ ...ARGS, version: '1.0.0' });
  assert.equal((await own.intend(last, '')).case, 'admitted');
  await until(() => own.replica.cluster.approvals.get(`holds/${stage.hold(last)}`) !== undefined, 'its hold in the cache');
  assert.equal(codeOf(await own.intend(own.plan({ ...ARGS, version: '2.0.0' }), '')), 'LIMIT_EXCEEDED');
  assert.equal((await own.intend(last, '')).case, 'admitted', 'the same operation again');
  await own.settle(last, OperationEnd.DONE);
  await until(() => own.replica.cluster.approvals.get(`holds/${stage.hold(last)}`) === undefined, 'and it is gone');
  assert.equal((await own.intend(own.plan({ ...ARGS, version: '2.0.0' }), '')).case, 'admitted');
});

/** Objects of earlier days, of the same account; resolves when both replicas know them. */
async function old(stage: Stage, count: number, purpose: 'Call' | 'Resolve' = 'Call'): Promise<void> {
  const { rig, near, far } = effects;
  const digest = `sha256:${'0'.repeat(64)}`;
  const make = async (index: number) => {
    const id = String(index).padStart(26, '0');
    const head = {
      apiVersion: 'postern.dev/v1alpha1',
      kind: 'ActionApproval',
      metadata: { name: `old-${id}`, namespace: stage.namespace },
    };
    const session = { name: 'an-older-session', uid: '00000000-0000-0000-0000-000000000000' };
    const subject = {
      purpose,
      session,
      serviceAccount: 'bot',
      contract: 'deploy-service',
      action: 'deploy_service',
      operationId: `op_${id}`,
    };
    const digests = { revision: digest, argumentsDigest: digest, planDigest: digest, cardDigest: digest };
    const expiresAt = purpose === 'Call' ? '2026-01-01T00:00:00Z' : '2100-01-01T00:00:00Z';
    await rig.call('POST', stage.approvals, { ...head, spec: { ...subject, ...digests, card: 'Deploy', expiresAt } });
  };
  for (let index = 0; index < count; index += 20)
    await Promise.all(Array.from({ length: Math.min(20, count - index) }, (_, each) => make(index + each)));
  for (const { cluster } of [near, far])
    await until(() => cluster.approvals.by('account', `${stage.namespace}/bot`).length >= count, 'the cache of a replica');
}
