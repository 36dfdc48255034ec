/** The sidecar's decider against the operator's register, over a real stream and a real API server: the two ends mean the same. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import type { Change, Intent, Question } from '#sidecar/approval/decider.ts';
import { type Keeper, OperatorDecider } from '#sidecar/control/operator-decider.ts';
import type { OperatorMessage } from '#sidecar/control/stream.ts';
import { until } from '#test/operator/control/test-sidecar.ts';
import { unavailable } from '#test/servers/build.ts';
import { EffectRig } from './effect-rig.ts';
import type { EffectSidecar, Plan } from './effect-sidecar.ts';

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

/** What a journal is to a decider. */
class Memory implements Keeper {
  readonly values = new Map<string, JsonValue>();
  readonly records = new Map<string, { readonly contract: string; readonly argsDigest: string }>();

  async keep(name: string, value: JsonValue | null): Promise<void> {
    if (value === null) this.values.delete(name);
    else this.values.set(name, value);
  }

  kept(prefix: string) {
    return [...this.values].filter(([name]) => name.startsWith(prefix));
  }

  get(operationId: string) {
    const record = this.records.get(operationId);
    return record === undefined ? undefined : { record };
  }
}

function deciderOn({ stream }: EffectSidecar, keeper = new Memory()) {
  const decider = new OperatorDecider({ clock: systemClock, keeper, send: (message) => stream.send(message) });
  const changes: Change[] = [];
  decider.onChange((change) => changes.push(change));
  let heard = 0;
  const pump = setInterval(() => {
    for (; heard < stream.messages.length; heard += 1) {
      const message = stream.messages[heard];
      if (message?.case === 'welcome') decider.welcomed(message.value.protocol);
      else if (message?.case !== undefined) decider.heard(message as OperatorMessage);
    }
  }, 5);
  return {
    decider,
    keeper,
    changes,
    ready: () =>
      until(() => {
        try {
          return decider.requester().kind === 'pod';
        } catch {
          return false;
        }
      }, 'the requester'),
    [Symbol.dispose]: () => clearInterval(pump),
  };
}

const questionOf = ({ name, facts, card }: Plan): Question => ({
  name,
  operationId: facts.operationId,
  facts,
  card: card.text,
  cardDigest: card.digest,
  alternatives: [],
});
const intentOf = ({ facts, name }: Plan, approval?: string): Intent => ({
  operationId: facts.operationId,
  contract: facts.contract,
  action: facts.action,
  revision: facts.revision,
  argsDigest: facts.argsDigest,
  planDigest: facts.planDigest,
  facts,
  holds: true,
  inDoubt: false,
  approval: approval ?? name,
});

test('both ends: asked, approved, admitted, told: one object is left, and it is used', { skip }, async () => {
  const stage = await effects.stage('ends');
  using own = deciderOn(stage.own);
  await own.ready();
  const { decider, keeper } = own;
  const plan = stage.own.plan(ARGS, { requester: decider.requester() });
  keeper.records.set(plan.facts.operationId, plan.facts);
  await decider.ask(questionOf(plan));
  assert.deepEqual(decider.state(plan.name), { kind: 'waiting' });
  await assert.rejects(decider.admit(intentOf(plan)), { reason: 'APPROVAL_REQUIRED' });
  await stage.decide(plan.name, { verdict: 'Approved', reason: 'go' });
  await until(() => decider.state(plan.name)?.kind === 'decided', 'the decision');
  const state = decider.state(plan.name);
  assert.ok(state?.kind === 'decided' && state.decision.verdict === 'approved');
  assert.deepEqual([state.decision.approver, state.decision.cardDigest, state.decision.reason], ['ada', plan.card.digest, 'go']);
  await decider.admit(intentOf(plan));
  await decider.settled(plan.facts.operationId, 'done');
  await until(() => decider.untold === 0, 'kept by the operator');
  assert.equal(keeper.values.size, 0, 'nothing is left to say');
  const left = await stage.list();
  assert.deepEqual(
    left.map(({ spec, status }) => [spec.purpose, status?.state]),
    [['Call', 'Used']],
  );
});

test('both ends: an approval that is deleted before its use admits nothing', { skip }, async () => {
  const stage = await effects.stage('deleted');
  using own = deciderOn(stage.own);
  await own.ready();
  const plan = stage.own.plan(ARGS);
  await own.decider.ask(questionOf(plan));
  await stage.decide(plan.name, { verdict: 'Approved' });
  await effects.rig.call('DELETE', `${stage.approvals}/${plan.name}`);
  await assert.rejects(own.decider.admit(intentOf(plan)), { reason: 'APPROVAL_EXPIRED' });
  await until(() => own.decider.state(plan.name)?.kind === 'void', 'void');
  assert.deepEqual(await stage.list(), [], 'and no hold is left');
});

test('both ends: an unknown outcome survives the process, holds the pod beside it, and is resolved for both', { skip }, async () => {
  const stage = await effects.stage('unknown', { approval: { mode: 'None', because: 'the test decides nothing' } });
  using own = deciderOn(stage.own);
  using twin = deciderOn(stage.twin);
  await own.ready();
  await twin.ready();
  const plan = stage.own.plan(ARGS);
  own.keeper.records.set(plan.facts.operationId, plan.facts);
  await own.decider.admit(intentOf(plan, ''));
  // The process ends with its stream; the next one finds the intent in its journal and tells what it knows: nothing.
  stage.own.stream.leave();
  const again = await stage.connect(effects.far, stage.own.agent);
  using next = deciderOn(again, own.keeper);
  await next.ready();
  await next.decider.settled(plan.facts.operationId, 'unknown');
  await until(() => next.decider.untold === 0, 'kept by the operator');
  const equal = stage.twin.plan(ARGS);
  await assert.rejects(twin.decider.admit(intentOf(equal, '')), {
    reason: 'OUTCOME_UNKNOWN',
    details: { operation_id: plan.facts.operationId },
  });
  await stage.decide(stage.hold(plan), { verdict: 'Done' });
  const resolved = { kind: 'resolved', operationId: plan.facts.operationId, verdict: 'done', by: 'ada' };
  await until(() => [next, twin].every(({ changes }) => changes.some((change) => change.kind === 'resolved')), 'both hear of it');
  assert.deepEqual(
    next.changes.find(({ kind }) => kind === 'resolved'),
    resolved,
  );
  await twin.decider.admit(intentOf(equal, ''));
});
