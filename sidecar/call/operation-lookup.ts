/**
 * Which operation a call means: the one it names, an equal one that runs or waits, or a new plan. The same call twice is never two questions
 * to a person, and an equal of one that nobody knows the outcome of is no call at all.
 */
import type { CardFacts } from '#core/approval/card-facts.ts';
import { digestButReason } from '#core/approval/digest-but-reason.ts';
import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { Decision } from '#sidecar/approval/decider.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import { actedOnError } from './acted-on.ts';
import type { PrepareCall } from './calls.ts';
import { equalCall } from './doubt.ts';
import { busyError, heldError, otherCallError, unknownOperationError } from './effect-errors.ts';
import { EqualPlans } from './equal-plans.ts';
import type { EffectMeans } from './execute.ts';
import type { Grants } from './grants.ts';
import { recordOf, shownPlan } from './kept-plan.ts';
import type { EffectPlan, Plan } from './plan.ts';
import { prepareEffect } from './prepare.ts';
import type { Settlements } from './settlements.ts';

export class OperationLookup {
  readonly #means: EffectMeans;
  readonly #grants: Grants;
  readonly #settlements: Settlements;
  /** The plan of an operation under the contract as it is served now; undefined when that is another one. */
  readonly #planOf: (entry: Entry) => EffectPlan | undefined;
  readonly #equal: EqualPlans;
  /** By contract and arguments, but for the reason: when such a call was denied, for the next card. */
  readonly #denied = new Map<string, NonNullable<CardFacts['denied']>>();

  constructor(means: EffectMeans, grants: Grants, settlements: Settlements, planOf: (entry: Entry) => EffectPlan | undefined) {
    this.#means = means;
    this.#grants = grants;
    this.#settlements = settlements;
    this.#planOf = planOf;
    this.#equal = new EqualPlans(means.journal);
  }

  /** Which operation a call means. Throws PosternError. */
  async operationOf(plan: Plan, call: PrepareCall, signal: AbortSignal): Promise<Entry> {
    const { journal } = this.#means;
    if (call.operationId !== undefined) {
      const entry = journal.get(call.operationId);
      if (entry === undefined) throw unknownOperationError();
      if (entry.record.contract !== plan.served.contract.name || entry.record.argsDigest !== plan.argsDigest)
        throw otherCallError(call.operationId);
      return entry;
    }
    // The next part of a walk is a call of its own.
    if (plan.resume !== undefined) return this.#plan(plan, call, signal);
    const held = await this.#held(plan);
    if (held === undefined) this.refuseBeside(plan);
    return held ?? this.#equal.find(plan, this.#means.clock.wallMs()) ?? this.#equal.once(plan, () => this.#plan(plan, call, signal));
  }

  /** An equal call that runs, was found to be done, or is to be repeated; throws OUTCOME_UNKNOWN where nobody may. */
  async #held(plan: Plan): Promise<Entry | undefined> {
    const { journal } = this.#means;
    const { name } = plan.served.contract;
    const held = journal.held(name, plan.argsDigest);
    if (held === undefined || held.phase === 'running') return held;
    const { operationId } = held.record;
    await this.#settlements.now(operationId);
    const now = journal.get(operationId);
    // The caller could not know: what it asks for took effect, or part of it did. It is told so, and not once more done.
    if (now === undefined || (now.phase === 'failed' && now.steps.every(({ state }) => state !== 'done'))) return undefined;
    if (now.phase !== 'unknown') return now;
    const meant = equalCall(now, this.#planOf(now), this.#means.clock.wallMs());
    if (meant === 'held') throw heldError(operationId);
    return meant === 'same' ? now : undefined;
  }

  /**
   * Another reason in the agent's own words makes no other call: one that runs, or that nobody knows the outcome of, holds it back. Throws
   * IDEMPOTENCY_BUSY, OUTCOME_UNKNOWN.
   */
  refuseBeside(plan: Plan): void {
    const { contract } = plan.served;
    if (contract.effects.approval.reason === undefined || contract.effect === 'Read') return;
    const asked = digestButReason(contract, plan.args);
    for (const entry of this.#means.journal.list()) {
      const { record, phase } = entry;
      if (record.contract !== contract.name || record.operationId === plan.operationId || (phase !== 'running' && phase !== 'unknown'))
        continue;
      if (digestButReason(contract, shownPlan(entry).facts.args) !== asked) continue;
      if (phase === 'running') throw busyError(record.operationId);
      if (equalCall(entry, this.#planOf(entry), this.#means.clock.wallMs()) !== 'free') throw heldError(record.operationId);
    }
  }

  async #plan(plan: Plan, call: PrepareCall, signal: AbortSignal): Promise<Entry> {
    const { journal, decider } = this.#means;
    const denied = this.#denied.get(keyOf(plan.served.contract, plan.args));
    const made = await prepareEffect(
      plan,
      {
        bundle: this.#means.bundle(),
        evidence: call.evidence ?? [],
        requester: decider.requester(),
        granted: plan.served.contract.effects.approval.mode === 'Session' ? this.#grants.covering(plan) : undefined,
        signal,
        ...(denied === undefined ? {} : { denied }),
      },
      this.#means,
    );
    for (const each of [made.plan, ...made.choices]) {
      const stale = actedOnError(each, journal);
      if (stale !== undefined) throw stale;
    }
    // The choices first: a card that names them must not outlive them in a crash.
    for (const choice of made.choices) await journal.plan(recordOf(choice));
    const entry = await journal.plan(recordOf(made.plan));
    this.#equal.planned(entry);
    return entry;
  }

  /** A person said no; the next card of an equal call says so. */
  denied(entry: Entry, { approver, atMs }: Decision): void {
    const plan = this.#planOf(entry);
    if (plan === undefined) return;
    this.#denied.set(keyOf(plan.served.contract, plan.args), { atMs, approver });
    const [oldest] = this.#denied.keys();
    if (this.#denied.size > limits.approvalsOpenMax * DENIED_KEPT && oldest !== undefined) this.#denied.delete(oldest);
  }
}

/** Denials remembered for one open question that there may be. */
const DENIED_KEPT = 10;

function keyOf(contract: CompiledContract, args: Plan['args']): string {
  return `${contract.name} ${digestButReason(contract, args)}`;
}
