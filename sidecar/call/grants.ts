/**
 * Yeses that cover a range of calls (approval mode Session): which one covers a call, and how often it was used. Kept in the journal, and
 * a use is on disk before the call it is for begins to send; so a restart gives back no use, and a crash may cost one.
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
  /** Operations that used it; the same one uses it once. */
  readonly uses: readonly string[];
}

export interface GrantMeans {
  readonly journal: Journal;
  readonly decider: Decider;
  readonly clock: Clock;
}

export class Grants {
  readonly #means: GrantMeans;
  /** The last use of each on its way to the disk: two calls never count from the same number. */
  readonly #turns = new Map<string, Promise<void>>();

  constructor(means: GrantMeans) {
    this.#means = means;
  }

  /** Before its question is asked. Nothing where the question asks for one call only. */
  async offer({ facts, needs, cardDigest, planDigest, operationId, served, args, expiresAtMs }: EffectPlan): Promise<void> {
    if (facts.grant === undefined || needs.kind !== 'person') return;
    const { name: contract, revision } = served.contract;
    const kept: Kept = { cardDigest, operationId, contract, revision, planDigest, args, expiresAtMs, range: facts.grant, uses: [] };
    await this.#forgetOld();
    await this.#means.journal.keep(PREFIX + needs.question, kept as unknown as JsonValue);
  }

  /** Name of the question whose yes covers this call, now and once more. */
  covering(plan: Plan): string | undefined {
    for (const [name, value] of this.#means.journal.kept(PREFIX)) {
      const question = name.slice(PREFIX.length);
      if (this.#refusal(question, keptOf(value), grantedOf(plan, '')) === undefined) return question;
    }
    return undefined;
  }

  /**
   * Counts this operation's use, durably. Nothing for a plan whose yes is for itself alone. Throws APPROVAL_EXPIRED when the yes is used up, or
   * over, by now.
   */
  use(plan: EffectPlan): Promise<void> {
    if (plan.needs.kind !== 'person') return Promise.resolve();
    const { question } = plan.needs;
    const turn = (this.#turns.get(question) ?? Promise.resolve()).catch(() => {}).then(() => this.#use(plan, question));
    this.#turns.set(question, turn);
    return turn;
  }

  async #use(plan: EffectPlan, question: string): Promise<void> {
    const value = this.#means.journal.kept(PREFIX + question).find(([name]) => name === PREFIX + question)?.[1];
    if (value === undefined) return;
    const kept = keptOf(value);
    if (kept.uses.includes(plan.operationId)) return;
    const refusal = this.#refusal(question, kept, grantedOf(plan, plan.planDigest));
    if (refusal !== undefined) throw refusal;
    const used: Kept = { ...kept, uses: [...kept.uses, plan.operationId] };
    await this.#means.journal.keep(PREFIX + question, used as unknown as JsonValue);
  }

  #refusal(question: string, kept: Kept, plan: GrantedPlan): PosternError | undefined {
    const state = this.#means.decider.state(question);
    if (state?.kind !== 'decided')
      return new PosternError('APPROVAL_EXPIRED', 'The yes that covered this call is over; call again for a new card.');
    const grant: Grant = {
      ...kept,
      session: '',
      callsUsed: kept.uses.length,
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
