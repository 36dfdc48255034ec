/** Whether a yes covers what is about to be sent, judged again right before the first byte (APR-01, APR-03). */
import { chosenCard, judgeGrant } from '#core/approval/grant.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Decision, Intent, Question } from './decider.ts';

/** All calls at one sidecar are of one session. */
const SESSION = 'alone';

export interface Asked {
  readonly question: Question;
  readonly decision: Decision & { readonly verdict: 'approved' };
  /** Operations that were begun with it before this one. */
  readonly callsUsed: number;
  /** As it is served now. */
  readonly contract: CompiledContract;
}

/** Undefined: covered. Otherwise why not. */
export function whyNotCovered({ question, decision, callsUsed, contract }: Asked, intent: Intent, nowMs: number): PosternError | undefined {
  const chosen = chosenCard(question, decision);
  if (chosen === undefined)
    return new PosternError('APPROVAL_REQUIRED', 'The yes is about a card that is not here; call again for a new one.');
  const { facts, operationId, cardDigest } = chosen;
  const verdict = judgeGrant(
    {
      cardDigest,
      operationId,
      session: SESSION,
      contract: facts.contract,
      revision: facts.revision,
      planDigest: facts.planDigest,
      args: facts.args,
      expiresAtMs: facts.expiresAtMs,
      ...(facts.grant === undefined ? {} : { range: facts.grant }),
      callsUsed,
      decision,
    },
    { operationId: intent.operationId, session: SESSION, contract, planDigest: intent.planDigest, args: intent.facts.args },
    nowMs,
  );
  if (verdict.kind === 'refused') return verdict.error;
  // The same plan cannot come with another digest of its arguments, unless somebody mixed two up.
  if (facts.grant === undefined && facts.argsDigest !== intent.argsDigest)
    return new PosternError('INTERNAL', 'The digest of the arguments is not that of the approved plan.');
  return intent.contract === contract.name && intent.revision === contract.revision
    ? undefined
    : new PosternError('APPROVAL_EXPIRED', 'The contract or its credential changed after the yes; call again for a new card.');
}
