/**
 * Whether an approval, as the API server has it now, is a yes to what is about to be sent, and what is written into it before that. Pure,
 * in order; the first thing that is wrong is told.
 */
import type { CardFacts } from '#core/approval/card-facts.ts';
import type { ActionApproval } from '#core/resource/gen/action-approval.ts';
import { fixedDigest } from './fixed-arguments.ts';
import type { Asker } from './judge-plan.ts';
import { type Refusal, refusal } from './refusal.ts';

type Status = NonNullable<ActionApproval['status']>;

export type Use =
  /** `status` is to be written on top of exactly this version. */
  | { readonly kind: 'use'; readonly status: Pick<Status, 'state' | 'callsUsed' | 'usedBy'> }
  /** The same operation used it before and is still under way, or may be sent again without harm. */
  | { readonly kind: 'again' }
  | Refusal;

/** `again`: the same operation may be admitted once more. `nowMs`: of the API server. */
export function useOf(approval: ActionApproval | null, asker: Asker, facts: CardFacts, again: boolean, nowMs: number): Use {
  if (approval === null) return refusal('APPROVAL_EXPIRED', 'expired', 'The approval is not there any more; call again for a new one.');
  const { spec, status } = approval;
  const wrong = strangeness(spec, asker, facts) ?? undecided(status) ?? over(spec, status, nowMs);
  if (wrong !== undefined) return wrong;
  if (spec.revision !== facts.revision)
    return refusal('APPROVAL_EXPIRED', 'revision', 'The contract was changed after the approval; call again for a new one.');
  const seen =
    status?.decision?.alternative === undefined ? spec : spec.alternatives?.find(({ name }) => name === status.decision?.alternative);
  if (seen === undefined || seen.cardDigest !== status?.decision?.cardDigest)
    return refusal('APPROVAL_EXPIRED', 'card', 'The decision names another card than this question has; call again for a new one.');
  if (spec.grant !== undefined && seen === spec) return oneOfMany(spec.grant, status, facts);
  const same = seen.operationId === facts.operationId && seen.planDigest === facts.planDigest && seen.argumentsDigest === facts.argsDigest;
  if (!same) return refusal('APPROVAL_REQUIRED', 'other_call', 'The approval is for another call than this one.');
  if (status?.state !== 'Used') return { kind: 'use', status: { state: 'Used', callsUsed: 1, usedBy: facts.operationId } };
  return again && status.usedBy === facts.operationId ? { kind: 'again' } : usedUp();
}

function strangeness({ purpose, session, serviceAccount, contract, action }: ActionApproval['spec'], asker: Asker, facts: CardFacts) {
  const own =
    purpose === 'Call' &&
    session?.uid === asker.session.uid &&
    serviceAccount === asker.serviceAccount &&
    contract === facts.contract &&
    action === facts.action;
  return own ? undefined : refusal('APPROVAL_REQUIRED', 'other_call', 'The approval is not one of this session and action.');
}

function undecided(status: Status | undefined): Refusal | undefined {
  const verdict = status?.decision?.verdict;
  if (status?.state === 'Denied' || verdict === 'Denied') return refusal('APPROVAL_DENIED', 'denied', 'A person denied this call.');
  if (verdict === undefined) return refusal('APPROVAL_REQUIRED', 'no_approval', 'Nobody has decided on this call yet.');
  return verdict === 'Approved' ? undefined : refusal('APPROVAL_REQUIRED', 'other_call', 'The decision is no answer to this question.');
}

function over({ expiresAt }: ActionApproval['spec'], status: Status | undefined, nowMs: number): Refusal | undefined {
  if (status?.state === 'Voided')
    return refusal('APPROVAL_EXPIRED', 'revision', 'What was approved is not so any more; call again for a new card.');
  if (status?.state !== 'Expired' && Date.parse(expiresAt) > nowMs) return undefined;
  return refusal('APPROVAL_EXPIRED', 'expired', 'The approval was not used in time; call again for a new one.');
}

function oneOfMany(
  { calls = 1, vary = [], fixedDigest: fixed }: NonNullable<ActionApproval['spec']['grant']>,
  status: Status | undefined,
  facts: CardFacts,
): Use {
  if (fixedDigest(facts.args, vary) !== fixed)
    return refusal('APPROVAL_REQUIRED', 'other_call', 'The approval fixes arguments that this call changes.');
  const callsUsed = (status?.callsUsed ?? 0) + 1;
  if (status?.state === 'Used' || callsUsed > calls) return usedUp();
  return { kind: 'use', status: { state: callsUsed === calls ? 'Used' : 'Approved', callsUsed, usedBy: facts.operationId } };
}

function usedUp(): Refusal {
  return refusal('APPROVAL_EXPIRED', 'used', 'The approval was used already; call again for a new one.');
}
