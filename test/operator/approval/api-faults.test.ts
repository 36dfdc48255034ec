/**
 * A real API server that fails at each write of an effect, before it has written or after: no yes is used twice, none admits twice, and what is
 * left is either as it was or a question to a person (P2). A real one cannot be made to fail so, hence the client that does.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { encodeCardFacts } from '#core/approval/decode-card-facts.ts';
import type { ApprovalRegister, RegisterMeans } from '#operator/approval/register.ts';
import { KubeError } from '#operator/kube/kube-error.ts';
import { until } from '#test/operator/control/test-sidecar.ts';
import { unavailable } from '#test/servers/build.ts';
import { EffectRig, type Stage } from './effect-rig.ts';
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

type Kube = RegisterMeans['kube'];
type Write = 'create' | 'patch' | 'delete';

interface Fault {
  readonly what: string;
  /** Whether the write happens before it fails. */
  readonly written: boolean;
  readonly error: KubeError;
  /** How often in a row. */
  readonly times: number;
}

const error = (status: number, reason: string) => new KubeError(`The API server answered ${status}`, { status, reason });
const FAULTS: readonly Fault[] = [
  { what: 'a 500 before it is written', written: false, error: error(500, 'InternalError'), times: 1 },
  { what: 'a 500 after it is written', written: true, error: error(500, 'InternalError'), times: 1 },
  { what: 'no answer, and not written', written: false, error: error(0, 'TimedOut'), times: 1 },
  { what: 'no answer, and written', written: true, error: error(0, 'TimedOut'), times: 1 },
  { what: 'a conflict', written: false, error: error(409, 'Conflict'), times: 1 },
  { what: 'a 500 for ever', written: false, error: error(500, 'InternalError'), times: 1_000 },
  { what: 'no answer for ever, though written', written: true, error: error(0, 'TimedOut'), times: 1_000 },
  { what: 'a conflict for ever', written: false, error: error(409, 'Conflict'), times: 1_000 },
];

/** A register whose API server fails so at that write. */
function failing(write: Write, { written, error: thrown, times }: Fault): ApprovalRegister {
  const client = effects.rig.connection.client as unknown as Record<Write, (...parameters: readonly unknown[]) => Promise<unknown>>;
  let left = times;
  const faulty = async (...parameters: readonly unknown[]) => {
    if (left <= 0) return client[write](...parameters);
    left -= 1;
    if (written) await client[write](...parameters).catch(() => undefined);
    throw thrown;
  };
  return effects.registerOf(effects.near, { [write]: faulty } as Partial<Kube>);
}

async function asker(stage: Stage, sidecar: EffectSidecar) {
  return stage.askerOf(await effects.rig.session(sidecar.agent), sidecar);
}

const questionOf = ({ name, facts, card }: Plan) => ({
  name,
  plan: { operationId: facts.operationId, factsJson: encodeCardFacts(facts), cardDigest: card.digest },
  alternatives: [],
});
const intentOf = ({ name, facts }: Plan, approval = name) => ({
  plan: { operationId: facts.operationId, factsJson: encodeCardFacts(facts), cardDigest: '' },
  holds: true,
  approval,
});
const admitted = (answer: unknown) => answer === 'admitted';

for (const fault of FAULTS) {
  test(`API server fails: the question is kept or told not to be, with ${fault.what}`, { skip }, async () => {
    const stage = await effects.stage(`ask-${FAULTS.indexOf(fault)}`);
    const who = await asker(stage, stage.own);
    const plan = stage.own.plan(ARGS);
    const answer = await failing('create', fault).ask(who, questionOf(plan));
    if (answer.kind === 'refused') assert.equal(answer.code, 'CONTROL_STALE');
    else assert.equal(answer.kind, 'waiting');
    assert.equal(await stage.exists(plan.name), answer.kind === 'waiting', 'no person is asked what nobody waits for');
    assert.equal(
      (await effects.registerOf(effects.near).ask(who, questionOf(plan))).kind,
      'waiting',
      'asked again it is the same question',
    );
    assert.equal((await stage.list()).length, 1);
  });

  for (const write of ['create', 'patch'] as const) {
    test(`API server fails: one yes admits one operation, when the ${write === 'create' ? 'hold' : 'use'} meets ${fault.what}`, {
      skip,
    }, async () => {
      const stage = await effects.stage(`${write}-${FAULTS.indexOf(fault)}`);
      const who = await asker(stage, stage.own);
      const plan = stage.own.plan(ARGS);
      const sound = effects.registerOf(effects.near);
      await sound.ask(who, questionOf(plan));
      await stage.decide(plan.name, { verdict: 'Approved' });
      const answers = [await failing(write, fault).admit(who, intentOf(plan), () => undefined)];
      if (!admitted(answers[0])) {
        // The sidecar sends nothing and says so; what was written is taken back.
        const { contract, argsDigest, operationId } = plan.facts;
        await sound.settle(who, { operationId, contract, argsDigest, end: 'notDone' });
        assert.equal(await stage.exists(stage.hold(plan)), false, 'an equal call waits for nobody');
        answers.push(await sound.admit(who, intentOf(plan), () => undefined));
      }
      const { status } = await stage.get(plan.name);
      assert.ok(answers.filter(admitted).length <= 1, 'at most once');
      assert.equal(status?.callsUsed, 1, 'the yes is used');
      if (fault.times === 1) assert.equal(answers.filter(admitted).length, 1, 'a fault that passes costs no yes');
      const other = stage.twin.plan(ARGS);
      const late = await sound.admit(await asker(stage, stage.twin), intentOf(other, plan.name), () => undefined);
      assert.equal(admitted(late), false, 'another operation never');
    });
  }

  test(`API server fails: an end is told until it is written, with ${fault.what}`, { skip }, async () => {
    const stage = await effects.stage(`end-${FAULTS.indexOf(fault)}`, { approval: { mode: 'None', because: 'the test decides nothing' } });
    const who = await asker(stage, stage.own);
    const plan = stage.own.plan(ARGS);
    const sound = effects.registerOf(effects.near);
    assert.equal(await sound.admit(who, intentOf(plan, ''), () => undefined), 'admitted');
    const { contract, argsDigest, operationId } = plan.facts;
    const done = { operationId, contract, argsDigest, end: 'done' } as const;
    await assert.rejects(failing('delete', fault).settle(who, done), KubeError);
    await sound.settle(who, done);
    await until(async () => !(await stage.exists(stage.hold(plan))), 'the hold to go');
    const unknown = stage.own.plan({ ...ARGS, version: '3.0.0' });
    assert.equal(await sound.admit(who, intentOf(unknown, ''), () => undefined), 'admitted');
    const lost = { operationId: unknown.facts.operationId, contract, argsDigest: unknown.facts.argsDigest, end: 'unknown' } as const;
    await failing('patch', fault)
      .settle(who, lost)
      .catch(() => undefined);
    await sound.settle(who, lost);
    assert.equal((await stage.get(stage.hold(unknown))).status?.state, 'Waiting');
  });
}
