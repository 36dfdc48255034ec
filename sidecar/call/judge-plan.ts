/** Whether a plan that was kept may begin now: ordered pure checks, the first that fails says why. */
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Decision, QuestionState } from '#sidecar/approval/decider.ts';
import { type EffectPlan, questionName } from './plan.ts';

export type PlanVerdict =
  | { readonly kind: 'go' }
  /** A person has not decided; the same call may come again. */
  | { readonly kind: 'wait' }
  /** Nobody was asked yet, as far as the decider knows. */
  | { readonly kind: 'ask' }
  /** It never works again. */
  | { readonly kind: 'over'; readonly error: PosternError };

export interface PlanFacts {
  readonly nowMs: number;
  /** Of the contract and of the reads it rests on, as they are served now; undefined where one is not. */
  revision(contract: string): string | undefined;
  /** Of the question whose yes it needs. */
  readonly question: QuestionState | undefined;
  /** Why its evidence does not stand any more; see acted-on.ts. */
  readonly actedOn?: PosternError | undefined;
}

/** Whether contract or reads are other ones than those it was made with (failure case APR-02). */
export function isChanged({ facts, rests }: Pick<EffectPlan, 'facts' | 'rests'>, revision: PlanFacts['revision']): boolean {
  return [[facts.contract, facts.revision] as const, ...Object.entries(rests)].some(([name, made]) => (revision(name) ?? '') !== made);
}

/** Why nothing of this plan may be sent any more, whoever agreed to it: asked before it begins, and before each of its requests. */
export function staleness(plan: EffectPlan, { nowMs, revision }: Pick<PlanFacts, 'nowMs' | 'revision'>): PosternError | undefined {
  if (isChanged(plan, revision)) return changedError();
  if (plan.evidenceUntilMs === undefined || nowMs <= plan.evidenceUntilMs) return undefined;
  return new PosternError('EVIDENCE_EXPIRED', 'The evidence of this plan is too old by now. Read again and call again.');
}

export function judgePlan(plan: EffectPlan, { nowMs, revision, question, actedOn }: PlanFacts): PlanVerdict {
  if (isChanged(plan, revision)) return over(changedError());
  const denied = question?.kind === 'decided' ? refusalOf(plan, question.decision) : undefined;
  if (denied !== undefined) return over(denied);
  // A clock that was set back would make everything of the plan young again (failure case APR-11).
  if (nowMs >= plan.expiresAtMs || nowMs < plan.plannedAtMs - limits.clockSkewMsMax) return over(expiredError());
  const stale = staleness(plan, { nowMs, revision }) ?? actedOn;
  if (stale !== undefined) return over(stale);
  if (plan.needs.kind === 'nobody') return { kind: 'go' };
  return judgeQuestion(plan, question);
}

function judgeQuestion(plan: EffectPlan, question: QuestionState | undefined): PlanVerdict {
  switch (question?.kind) {
    case undefined:
      return plan.needs.kind === 'person' && plan.needs.question === questionName(plan.operationId)
        ? { kind: 'ask' }
        : over(expiredError());
    case 'waiting':
      return { kind: 'wait' };
    case 'decided':
      return { kind: 'go' };
    case 'expired':
      return over(expiredError());
    case 'void':
      return over(new PosternError('APPROVAL_EXPIRED', question.because, { details: { because: 'changed' } }));
  }
}

/** Undefined: the yes is for this very plan, or for a range it is in. What the decider says at the end wins over this. */
function refusalOf(plan: EffectPlan, decision: Decision): PosternError | undefined {
  if (decision.verdict === 'denied') return deniedError(decision);
  if (plan.needs.kind !== 'person') return undefined;
  const { alternative, question } = plan.needs;
  if (decision.alternative !== alternative) return otherChosen(plan, decision.alternative);
  const isOwn = alternative !== undefined || question === questionName(plan.operationId);
  if (isOwn && decision.cardDigest !== plan.cardDigest) return changedError();
  return undefined;
}

function otherChosen({ alternatives }: EffectPlan, name: string | undefined): PosternError {
  const chosen = alternatives.find((each) => each.name === name);
  return new PosternError(
    'APPROVAL_DENIED',
    'The person chose another plan than this one. Confirm that one.',
    chosen === undefined ? {} : { details: { chosen_plan_id: chosen.operationId } },
  );
}

/** The reason is a person's own words: cleaned, cut, and worth reading. */
function deniedError({ reason }: Decision): PosternError {
  const because = visibleText(reason, { chars: limits.becauseCharsMax });
  return new PosternError('APPROVAL_DENIED', 'A person denied this call.', { details: because === '' ? {} : { because } });
}

export function changedError(): PosternError {
  return new PosternError(
    'APPROVAL_EXPIRED',
    'The contract, or something it rests on, was changed after this was planned. Call again for a new card.',
    {
      details: { because: 'changed' },
    },
  );
}

function expiredError(): PosternError {
  return new PosternError('APPROVAL_EXPIRED', 'The plan was not begun in its time. Call again for a new one.');
}

function over(error: PosternError): PlanVerdict {
  return { kind: 'over', error };
}
