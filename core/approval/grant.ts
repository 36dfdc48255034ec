/**
 * Does a person's yes cover this plan, now, and once more? Ordered pure checks; the first that fails says why (APR-01, APR-02, APR-03, APR-13).
 *
 * A yes is about one card. It covers the plan of that card and no other; where the card said so (mode Session), it covers so many calls of
 * the same action in which only the arguments named on the card differ. What is found here is a judgement, not a right: whoever acts on it
 * counts the use durably first.
 */
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { ArgumentPath } from '#core/contract/effect-rules.ts';
import { canonicalJson } from '#core/encoding/canonical.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { argumentPath, argumentsWithout } from './arguments-without.ts';
import { decidingArguments } from './deciding-arguments.ts';

/** What a person said yes to. Kept by the decider; the agent gives none of it. */
export interface Grant {
  /** Of the card that was shown. */
  readonly cardDigest: string;
  readonly operationId: string;
  readonly session: string;
  readonly contract: string;
  readonly revision: string;
  readonly planDigest: string;
  readonly args: Readonly<Record<string, JsonValue>>;
  /** Wall clock of the decider, not of the machine the agent may reach (APR-11). */
  readonly expiresAtMs: number;
  /** Set where the card said that the yes covers more than one call: how many, and the paths of arguments that may differ. */
  readonly range?: { readonly calls: number; readonly vary: readonly string[] };
  readonly callsUsed: number;
  readonly decision: { readonly verdict: 'approved' | 'denied'; readonly cardDigest: string };
}

/** The plan that is about to be sent. */
export interface GrantedPlan {
  readonly operationId: string;
  readonly session: string;
  readonly contract: CompiledContract;
  readonly planDigest: string;
  readonly args: Readonly<Record<string, JsonValue>>;
}

export type GrantVerdict =
  /** `left`: calls after this one. */
  | { readonly kind: 'covered'; readonly left: number }
  | { readonly kind: 'refused'; readonly because: Refusal; readonly error: PosternError };

/** In the order of the checks. */
export type Refusal = 'denied' | 'card' | 'session' | 'contract' | 'plan' | 'changed' | 'expired' | 'used';

/** Never throws. A refusal of `card`, `session`, `contract` or `plan` leaves the yes as it is: it is about another call. */
export function judgeGrant(grant: Grant, plan: GrantedPlan, nowMs: number): GrantVerdict {
  for (const [because, holds] of CHECKS) {
    if (!holds(grant, plan, nowMs)) return { kind: 'refused', because, error: REFUSALS[because]() };
  }
  return { kind: 'covered', left: callsOf(grant) - grant.callsUsed - 1 };
}

type Check = (grant: Grant, plan: GrantedPlan, nowMs: number) => boolean;

const CHECKS: readonly (readonly [Refusal, Check])[] = [
  ['denied', ({ decision }) => decision.verdict === 'approved'],
  ['card', ({ decision, cardDigest }) => decision.cardDigest === cardDigest],
  ['session', (grant, plan) => grant.session === plan.session],
  ['contract', (grant, plan) => grant.contract === plan.contract.name],
  ['plan', isSamePlan],
  ['changed', (grant, plan) => grant.revision === plan.contract.revision],
  ['expired', ({ expiresAtMs }, _plan, nowMs) => nowMs < expiresAtMs],
  ['used', (grant) => grant.callsUsed < callsOf(grant)],
];

function callsOf({ range }: Grant): number {
  return range?.calls ?? 1;
}

/** One call: the very plan. Several: every argument but those that may differ; the digests of such plans differ by their operations. */
function isSamePlan(grant: Grant, plan: GrantedPlan): boolean {
  if (grant.range === undefined) return grant.operationId === plan.operationId && grant.planDigest === plan.planDigest;
  const free = freeArguments(plan.contract, grant.range.vary);
  return canonicalJson(argumentsWithout(grant.args, free)) === canonicalJson(argumentsWithout(plan.args, free));
}

/** Never what decides where the effect lands, whatever the card said: another target is another question. */
function freeArguments(contract: CompiledContract, vary: readonly string[]): readonly ArgumentPath[] {
  const deciding = decidingArguments(contract);
  return vary.map(argumentPath).filter(([name]) => name !== undefined && !deciding.has(name));
}

const REFUSALS: Readonly<Record<Refusal, () => PosternError>> = {
  denied: () => refusal('APPROVAL_DENIED', 'A person denied this call; change it, or ask that person.', 'denied'),
  card: () => refusal('APPROVAL_REQUIRED', 'The yes is about another card than the one of this call; ask for this one.', 'card'),
  session: () => refusal('APPROVAL_REQUIRED', 'The yes was given to another session; this one has to ask for itself.', 'session'),
  contract: () => refusal('APPROVAL_REQUIRED', 'The yes is about another action; ask for this one.', 'contract'),
  plan: () => refusal('APPROVAL_REQUIRED', 'The yes is about a call with other arguments; ask for this one.', 'plan'),
  changed: () => refusal('APPROVAL_EXPIRED', 'The contract or its credential changed after the yes; call again for a new card.', 'changed'),
  expired: () => refusal('APPROVAL_EXPIRED', 'The yes came too late or was not used in time; call again for a new card.', 'expired'),
  used: () => refusal('APPROVAL_EXPIRED', 'The yes has been used; call again for a new card.', 'used'),
};

function refusal(reason: 'APPROVAL_DENIED' | 'APPROVAL_REQUIRED' | 'APPROVAL_EXPIRED', message: string, because: Refusal): PosternError {
  return new PosternError(reason, message, { details: { because } });
}

interface ShownCard {
  readonly operationId: string;
  readonly cardDigest: string;
}

/**
 * The card a decision is about: that of the question, or of the alternative it names. Undefined where the digest is of neither: a
 * decision about a card nobody asked with (APR-02).
 */
export function chosenCard<Card extends ShownCard, Other extends ShownCard & { readonly name: string }>(
  question: Card & { readonly alternatives: readonly Other[] },
  decision: { readonly cardDigest: string; readonly alternative?: string },
): Card | Other | undefined {
  const card = decision.alternative === undefined ? question : question.alternatives.find(({ name }) => name === decision.alternative);
  return card?.cardDigest === decision.cardDigest ? card : undefined;
}
