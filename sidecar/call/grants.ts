/**
 * Yeses that cover a range of calls (approval mode Session): which one covers a call, and whether it still does. Kept in the journal, which
 * counts a use as the call is begun; so neither a restart nor the end of the operation gives one back.
 */
import { type Grant, type GrantedPlan, judgeGrant } from '#core/approval/grant.ts';
import type { Clock } from '#core/bounds/clock.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Decider } from '#sidecar/approval/decider.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import type { EffectPlan, Plan } from './plan.ts';

const PREFIX = 'grant/';

type Range = NonNullable<Grant['range']>;

/** What is kept of a question that asks for a range. */
interface Kept {
  readonly cardDigest: string;
  readonly operationId: string;
  readonly contract: string;
  readonly revision: string;
  readonly planDigest: string;
  readonly args: Grant['args'];
  readonly expiresAtMs: number;
  readonly range: Range;
}

export interface GrantMeans {
  readonly journal: Journal;
  readonly decider: Decider;
  readonly clock: Clock;
}

export class Grants {
  readonly #means: GrantMeans;

  constructor(means: GrantMeans) {
    this.#means = means;
  }

  /** Before its question is asked. Nothing where the question asks for one call only. */
  async offer({ facts, needs, cardDigest, planDigest, operationId, served, args, expiresAtMs }: EffectPlan): Promise<void> {
    if (facts.grant === undefined || needs.kind !== 'person') return;
    const { name: contract, revision } = served.contract;
    const kept: Kept = { cardDigest, operationId, contract, revision, planDigest, args, expiresAtMs, range: facts.grant };
    await this.#forgetOld();
    await this.#means.journal.keep(PREFIX + needs.question, kept as unknown as JsonValue);
  }

  /** Name of the question whose yes covers this call, now and once more. */
  covering(plan: Plan): string | undefined {
    for (const [name, value] of this.#means.journal.kept(PREFIX)) {
      const question = name.slice(PREFIX.length);
      const used = this.#means.journal.uses(question);
      if (this.#refusal(question, keptOf(value), used, grantedOf(plan, '')) === undefined) return question;
    }
    return undefined;
  }

  /**
   * Whether the yes covers this operation, which was begun with it. Nothing for a plan whose yes is for itself alone. Throws APPROVAL_EXPIRED
   * where it is used up, or over, by now: of two calls that saw the last use free, the journal counted one first.
   */
  demand(plan: EffectPlan): void {
    if (plan.needs.kind !== 'person') return;
    const { question } = plan.needs;
    const value = this.#means.journal.kept(PREFIX + question).find(([name]) => name === PREFIX + question)?.[1];
    if (value === undefined) return;
    const { use, steps = [] } = this.#means.journal.get(plan.operationId) ?? {};
    // Sent before: whether it may be again is the decider's to say.
    if (steps.length > 0) return;
    // Without a number nobody knows how many there were.
    const before = use?.approval === question ? use.nth - 1 : keptOf(value).range.calls;
    const refusal = this.#refusal(question, keptOf(value), before, grantedOf(plan, plan.planDigest));
    if (refusal !== undefined) throw refusal;
  }

  /** `callsUsed`: before this one. */
  #refusal(question: string, kept: Kept, callsUsed: number, plan: GrantedPlan): PosternError | undefined {
    const state = this.#means.decider.state(question);
    if (state?.kind !== 'decided')
      return new PosternError('APPROVAL_EXPIRED', 'The yes that covered this call is over; call again for a new card.');
    const grant: Grant = {
      ...kept,
      session: '',
      callsUsed,
      decision: { cardDigest: kept.cardDigest, ...state.decision },
    };
    const verdict = judgeGrant(grant, plan, this.#means.clock.wallMs());
    return verdict.kind === 'covered' ? undefined : verdict.error;
  }

  /** So that the journal's names are not used up by yeses that cover nothing any more. */
  async #forgetOld(): Promise<void> {
    const { journal, clock } = this.#means;
    for (const [name, value] of journal.kept(PREFIX)) {
      if (keptOf(value).expiresAtMs <= clock.wallMs()) await journal.keep(name, null);
    }
  }
}

function grantedOf({ operationId, served, args }: Plan, planDigest: string): GrantedPlan {
  return { operationId, session: '', contract: served.contract, planDigest, args };
}

function keptOf(value: JsonValue): Kept {
  return value as unknown as Kept;
}
