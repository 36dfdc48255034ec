/** One scripted sidecar that speaks of effects: it makes plans, asks, intends and settles, and hears what becomes of them. */
import { type Card, renderCard } from '#core/approval/card.ts';
import type { CardFacts, Requester } from '#core/approval/card-facts.ts';
import { encodeCardFacts } from '#core/approval/decode-card-facts.ts';
import { digestOf } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { randomText } from '#core/encoding/random.ts';
import type { ApprovalState, IntentVerdict, OperationEnd } from '#proto/postern/control/v1/control_pb.ts';
import type { Agent, Replica } from '#test/operator/control/control-rig.ts';
import { type TestSidecar, until } from '#test/operator/control/test-sidecar.ts';
import type { Stage } from './effect-rig.ts';

/** One plan, as a sidecar makes it. */
export interface Plan {
  readonly name: string;
  readonly facts: CardFacts;
  readonly card: Card;
}

export class EffectSidecar {
  readonly stage: Stage;
  readonly agent: Agent;
  readonly stream: TestSidecar;
  readonly replica: Replica;

  constructor(stage: Stage, agent: Agent, stream: TestSidecar, replica: Replica) {
    this.stage = stage;
    this.agent = agent;
    this.stream = stream;
    this.replica = replica;
  }

  requester(): Requester {
    const told = this.stream.messages.findLast((message) => message.case === 'requester')?.value;
    if (told === undefined) throw new TypeError('the requester was told');
    const { session, serviceAccount, pod, image, controller } = told;
    return { kind: 'pod', session, serviceAccount, pod, image, controller };
  }

  plan(args: Readonly<Record<string, JsonValue>>, change: Partial<CardFacts> = {}): Plan {
    const contract = this.stage.effects.compiled(this.stage.namespace);
    const id = randomText('abcdefghijklmnopqrstuvwxyz0123456789', 26);
    const argsDigest = digestOf('arguments', args);
    const askedAtMs = Date.now();
    const facts: CardFacts = {
      operationId: `op_${id}`,
      contract: 'deploy-service',
      namespace: this.stage.namespace,
      action: 'deploy_service',
      revision: contract.revision,
      args,
      argsDigest,
      planDigest: digestOf('plan', [contract.revision, argsDigest, id]),
      requester: this.requester(),
      askedAtMs,
      expiresAtMs: askedAtMs + 600_000,
      reads: [],
      ...change,
    };
    return { name: `op-${id}`, facts, card: renderCard(contract, facts) };
  }

  async ask(plan: Plan, cardDigest: string = plan.card.digest, choices: readonly Plan[] = []): Promise<ApprovalState['state']> {
    const from = this.stream.messages.length;
    const operationId = plan.facts.operationId;
    const factsJson = encodeCardFacts(plan.facts);
    const alternatives = choices.map(({ facts, card }) => ({
      name: facts.alternative?.name ?? '',
      plan: { operationId: facts.operationId, factsJson: encodeCardFacts(facts), cardDigest: card.digest },
    }));
    this.stream.send({ case: 'approval', value: { name: plan.name, plan: { operationId, factsJson, cardDigest }, alternatives } });
    return this.#answer('approval', from, ({ name }) => name === plan.name).then(({ state }) => state);
  }

  async intend(plan: Plan, approval: string = plan.name, holds = true): Promise<IntentVerdict['verdict']> {
    const from = this.stream.messages.length;
    const { operationId } = plan.facts;
    const value = { plan: { operationId, factsJson: encodeCardFacts(plan.facts), cardDigest: '' }, holds, approval };
    this.stream.send({ case: 'intent', value });
    return this.#answer('verdict', from, (verdict) => verdict.operationId === operationId).then(({ verdict }) => verdict);
  }

  async settle({ facts }: Plan, end: OperationEnd): Promise<void> {
    const from = this.stream.messages.length;
    const { operationId, contract, argsDigest } = facts;
    this.stream.send({ case: 'settled', value: { operationId, contract, argumentsDigest: argsDigest, end } });
    await this.#answer('kept', from, (kept) => kept.operationId === operationId);
  }

  /** The state it was told last. */
  stateOf({ name }: Plan): ApprovalState['state']['case'] {
    return this.stream.messages
      .flatMap((message) => (message.case === 'approval' && message.value.name === name ? [message.value.state.case] : []))
      .at(-1);
  }

  resolved({ facts }: Plan): OperationEnd | undefined {
    return this.stream.messages.flatMap((message) =>
      message.case === 'resolved' && message.value.operationId === facts.operationId ? [message.value.end] : [],
    )[0];
  }

  /** Its cache has this approval decided. */
  async knows(plan: Plan): Promise<void> {
    await until(
      () => this.replica.cluster.approvals.get(`${this.stage.namespace}/${plan.name}`)?.status?.decision !== undefined,
      'the decision',
    );
  }

  async #answer<Case extends 'approval' | 'verdict' | 'kept'>(
    kind: Case,
    from: number,
    fits: (value: Extract<TestSidecar['messages'][number], { case: Case }>['value']) => boolean,
  ): Promise<Extract<TestSidecar['messages'][number], { case: Case }>['value']> {
    let found: TestSidecar['messages'][number] | undefined;
    await until(() => {
      found = this.stream.messages.slice(from).find((message) => message.case === kind && fits(message.value as never));
      return found !== undefined;
    }, `an answer ${kind}`);
    return found?.value as never;
  }
}

export const codeOf = (verdict: IntentVerdict['verdict'] | ApprovalState['state']): string | undefined =>
  verdict.case === 'refused' ? verdict.value.code : verdict.case;
