/** The sidecar's end of effects: what is said to the operator, when, and what survives a stream or a process that ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import type { CardFacts } from '#core/approval/card-facts.ts';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { ConnectResponseSchema, OperationEnd } from '#proto/postern/control/v1/control_pb.ts';
import type { Change, Intent, Question } from '#sidecar/approval/decider.ts';
import { type Keeper, OperatorDecider } from '#sidecar/control/operator-decider.ts';
import type { ControlMessage, OperatorMessage } from '#sidecar/control/stream.ts';

const ID = 'abcdefghijklmnopqrstuvwxyz';
const OPERATION = `op_${ID}`;
const NAME = `op-${ID}`;
const digest = (letter: string) => `sha256:${letter.repeat(64)}`;

const facts: CardFacts = {
  operationId: OPERATION,
  contract: 'deploy-service',
  namespace: 'release',
  action: 'deploy_service',
  revision: digest('1'),
  args: { version: '1.0' },
  argsDigest: digest('2'),
  planDigest: digest('3'),
  requester: { kind: 'pod', session: 's', serviceAccount: 'bot', pod: 'bot-1', image: 'i', controller: '' },
  askedAtMs: 1,
  expiresAtMs: 2,
  reads: [],
};
const question: Question = { name: NAME, operationId: OPERATION, facts, card: 'Deploy', cardDigest: digest('4'), alternatives: [] };
const { contract, action, revision, argsDigest, planDigest } = facts;
const intent: Intent = {
  operationId: OPERATION,
  contract,
  action,
  revision,
  argsDigest,
  planDigest,
  facts,
  holds: true,
  inDoubt: false,
  approval: NAME,
};

/** What a journal keeps, in memory; knows every operation. */
class Kept implements Keeper {
  readonly values = new Map<string, JsonValue>();

  async keep(name: string, value: JsonValue | null): Promise<void> {
    if (value === null) this.values.delete(name);
    else this.values.set(name, value);
  }

  kept(prefix: string) {
    return [...this.values].filter(([name]) => name.startsWith(prefix));
  }

  get() {
    return { record: { contract, argsDigest } };
  }
}

/** Alarms ring when a test says so. */
function handClock(): Clock & { ring(): void } {
  const waiting = new Set<() => void>();
  return {
    ...systemClock,
    alarm: (_, ring) => {
      waiting.add(ring);
      return () => waiting.delete(ring);
    },
    ring: () => {
      for (const ring of [...waiting]) ring();
    },
  };
}

function rig(keeper = new Kept()) {
  const sent: ControlMessage[] = [];
  const changes: Change[] = [];
  const clock = handClock();
  const decider = new OperatorDecider({ clock, keeper, send: (message) => sent.push(message) });
  decider.onChange((change) => changes.push(change));
  const says = (message: object) =>
    decider.heard(create(ConnectResponseSchema, { message } as MessageInitShape<typeof ConnectResponseSchema>).message as OperatorMessage);
  return { decider, sent, changes, clock, keeper, says };
}

const approved = { case: 'approved', value: { approver: 'ada', cardDigest: digest('4'), reason: 'ok', atMs: 5n } };
const cases = (sent: readonly ControlMessage[]) => sent.map((message) => message.case);

test('operator decider: without a stream, and with an operator that knows no effects, nothing is said', async () => {
  const { decider, sent } = rig();
  await assert.rejects(decider.ask(question), { reason: 'CONTROL_STALE' });
  await assert.rejects(decider.admit(intent), { reason: 'CONTROL_STALE' });
  decider.welcomed(1);
  await assert.rejects(decider.ask(question), { reason: 'CONTRACT_NOT_READY' });
  await assert.rejects(decider.admit(intent), { reason: 'CONTRACT_NOT_READY' });
  assert.throws(() => decider.requester(), { reason: 'CONTRACT_NOT_READY' });
  assert.deepEqual(sent, []);
});

test('operator decider: who asks is what the operator says', () => {
  const { decider, says } = rig();
  decider.welcomed(2);
  assert.throws(() => decider.requester(), { reason: 'CONTROL_STALE' });
  says({ case: 'requester', value: { session: 's', serviceAccount: 'bot', pod: 'bot-1', image: 'i', controller: '' } });
  assert.deepEqual(decider.requester(), facts.requester);
});

test('operator decider: a question is asked once it is kept, and its changes are heard', async () => {
  const { decider, sent, changes, says } = rig();
  decider.welcomed(2);
  const asked = decider.ask(question);
  assert.equal(decider.state(NAME), undefined);
  says({ case: 'approval', value: { name: NAME, state: { case: 'waiting', value: {} } } });
  await asked;
  assert.deepEqual(decider.state(NAME), { kind: 'waiting' });
  says({ case: 'approval', value: { name: NAME, state: approved } });
  const decision = { verdict: 'approved', approver: 'ada', cardDigest: digest('4'), reason: 'ok', atMs: 5 };
  assert.deepEqual(decider.state(NAME), { kind: 'decided', decision });
  await decider.ask(question);
  assert.equal(sent.length, 1, 'the same question is not asked again');
  assert.deepEqual(
    changes.map((change) => change.kind === 'question' && change.state.kind),
    ['waiting', 'decided'],
  );
});

test('operator decider: a refusal is the refusal of the call, and the question may be asked again', async () => {
  const { decider, sent, says } = rig();
  decider.welcomed(2);
  const asked = decider.ask(question);
  says({ case: 'approval', value: { name: NAME, state: { case: 'refused', value: { code: 'LIMIT_EXCEEDED', message: 'Too many.' } } } });
  await assert.rejects(asked, { reason: 'LIMIT_EXCEEDED', message: 'Too many.' });
  assert.equal(decider.state(NAME), undefined);
  void decider.ask(question).catch(() => undefined);
  assert.equal(sent.length, 2);
});

test('operator decider: what waits for an answer is said again on the next stream, under its name', async () => {
  const { decider, sent, says } = rig();
  decider.welcomed(2);
  const asked = decider.ask(question);
  decider.ended();
  decider.welcomed(2);
  assert.deepEqual(cases(sent), ['approval', 'approval']);
  says({ case: 'approval', value: { name: NAME, state: approved } });
  await asked;
  const admitted = decider.admit(intent);
  decider.ended();
  decider.welcomed(2);
  // The question too: a decision may have been withdrawn meanwhile.
  assert.deepEqual(cases(sent).slice(2), ['intent', 'approval', 'intent']);
  says({ case: 'verdict', value: { operationId: OPERATION, verdict: { case: 'admitted', value: {} } } });
  await admitted;
  assert.equal(decider.state(NAME), undefined, 'a yes for one call is used (APR-03)');
});

test('operator decider: a question outlives the process, and is asked again under its name', async () => {
  const first = rig();
  first.decider.welcomed(2);
  const asked = first.decider.ask(question);
  first.says({ case: 'approval', value: { name: NAME, state: { case: 'waiting', value: {} } } });
  await asked;
  const second = rig(first.keeper);
  assert.deepEqual(second.decider.state(NAME), { kind: 'waiting' });
  second.decider.welcomed(2);
  assert.deepEqual(cases(second.sent), ['approval']);
  second.says({ case: 'approval', value: { name: NAME, state: { case: 'expired', value: {} } } });
  assert.deepEqual(second.decider.state(NAME), { kind: 'expired' });
  assert.equal(first.keeper.values.size, 0, 'over is not kept');
});

test('operator decider: without a verdict in time nothing may be sent, and the operator is told that', async () => {
  const { decider, sent, clock, keeper, says } = rig();
  decider.welcomed(2);
  const admitted = decider.admit(intent);
  clock.ring();
  await assert.rejects(admitted, { reason: 'CONTROL_STALE' });
  assert.deepEqual(cases(sent), ['intent', 'settled']);
  assert.equal(sent[1]?.case === 'settled' && sent[1].value.end, OperationEnd.NOT_DONE);
  // A verdict that comes late admits nobody.
  says({ case: 'verdict', value: { operationId: OPERATION, verdict: { case: 'admitted', value: {} } } });
  assert.equal(keeper.values.size, 1);
  says({ case: 'kept', value: { operationId: OPERATION } });
  assert.equal(keeper.values.size, 0);
});

test('operator decider: what is not admitted again stays in doubt for the operator', async () => {
  const { decider, sent, clock } = rig();
  decider.welcomed(2);
  const admitted = decider.admit({ ...intent, inDoubt: true });
  clock.ring();
  await assert.rejects(admitted, { reason: 'CONTROL_STALE' });
  assert.equal(sent[1]?.case === 'settled' && sent[1].value.end, OperationEnd.UNKNOWN);
});

test('operator decider: a refused intent names what is in the way', async () => {
  const { decider, says } = rig();
  decider.welcomed(2);
  const admitted = decider.admit(intent);
  const value = { code: 'OUTCOME_UNKNOWN', message: 'Held.', operationId: 'op_other' };
  says({ case: 'verdict', value: { operationId: OPERATION, verdict: { case: 'refused', value } } });
  await assert.rejects(admitted, { reason: 'OUTCOME_UNKNOWN', details: { operation_id: 'op_other' } });
  assert.equal(decider.untold, 0, 'what was not admitted has no outcome');
});

test('operator decider: an outcome is told until the operator has it, over streams and processes', async () => {
  const first = rig();
  await first.decider.settled(OPERATION, 'unknown');
  assert.deepEqual(first.sent, []);
  const second = rig(first.keeper);
  second.decider.welcomed(2);
  second.decider.ended();
  second.decider.welcomed(2);
  assert.deepEqual(cases(second.sent), ['settled', 'settled']);
  const [told] = second.sent;
  assert.ok(told?.case === 'settled');
  assert.deepEqual([told.value.contract, told.value.argumentsDigest, told.value.end], [contract, argsDigest, OperationEnd.UNKNOWN]);
  second.says({ case: 'kept', value: { operationId: OPERATION } });
  second.decider.welcomed(2);
  assert.equal(second.sent.length, 2);
});

test('operator decider: what a person found out is heard', () => {
  const { decider, changes, says } = rig();
  decider.welcomed(2);
  says({ case: 'resolved', value: { operationId: OPERATION, end: OperationEnd.NOT_DONE, by: 'ada' } });
  says({ case: 'resolved', value: { operationId: OPERATION, end: OperationEnd.UNKNOWN, by: 'ada' } });
  assert.deepEqual(changes, [{ kind: 'resolved', operationId: OPERATION, verdict: 'notDone', by: 'ada' }]);
});

test('operator decider: facts the operator would not read are refused before anything is said', async () => {
  const { decider, sent } = rig();
  decider.welcomed(2);
  const large = { ...facts, args: { text: 'x'.repeat(limits.cardFactsBytesMax) } };
  await assert.rejects(decider.ask({ ...question, facts: large }), { reason: 'LIMIT_EXCEEDED' });
  assert.deepEqual(sent, []);
});
