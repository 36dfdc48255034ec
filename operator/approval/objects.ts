/** The two kinds of ActionApproval as they are made: a question before a call, and the hold of an admitted operation. */
import { limits } from '#core/bounds/limits.ts';
import type { ActionApproval } from '#core/resource/gen/action-approval.ts';
import { API_VERSION } from '#core/resource/names.ts';
import { secondTime } from '#operator/kube/micro-time.ts';
import { fixedDigest } from './fixed-arguments.ts';
import type { Asker, JudgedPlan } from './judge-plan.ts';
import { holdName } from './names.ts';

type Spec = ActionApproval['spec'];

/**
 * Owned by the session, so that nothing of it is left for the pod that comes after (APR-13). Whole at once: a question without its
 * alternatives could be decided before they are there.
 */
export function questionObject(
  name: string,
  asker: Asker,
  { facts, card }: JudgedPlan,
  alternatives: readonly (JudgedPlan & { readonly name: string })[],
): ActionApproval {
  const { session } = asker;
  return {
    apiVersion: API_VERSION,
    kind: 'ActionApproval',
    metadata: {
      name,
      namespace: asker.namespace,
      ownerReferences: [{ apiVersion: API_VERSION, kind: 'AgentSession', name: session.name, uid: session.uid }],
    },
    spec: {
      purpose: 'Call',
      ...subject(asker, facts),
      card: card.text,
      cardDigest: card.digest,
      ...(facts.grant === undefined
        ? {}
        : { grant: { calls: facts.grant.calls, vary: [...facts.grant.vary], fixedDigest: fixedDigest(facts.args, facts.grant.vary) } }),
      ...(alternatives.length === 0 ? {} : { alternatives: alternatives.map(alternativeOf) as NonNullable<Spec['alternatives']> }),
      expiresAt: secondTime(facts.expiresAtMs),
    },
  } as ActionApproval;
}

function alternativeOf({ name, facts, card }: JudgedPlan & { readonly name: string }) {
  const { operationId, planDigest, argsDigest: argumentsDigest } = facts;
  return { name, card: card.text, cardDigest: card.digest, planDigest, argumentsDigest, operationId };
}

/** Owned by nobody: whether something happened is a question that outlives the pod that did it. */
export function holdObject(asker: Asker, { facts, card }: JudgedPlan, nowMs: number): ActionApproval {
  const { serviceAccount, namespace } = asker;
  return {
    apiVersion: API_VERSION,
    kind: 'ActionApproval',
    metadata: { name: holdName({ serviceAccount, contract: facts.contract, argsDigest: facts.argsDigest }), namespace },
    spec: {
      purpose: 'Resolve',
      ...subject(asker, facts),
      card: card.text,
      cardDigest: card.digest,
      expiresAt: secondTime(nowMs + limits.holdKeptMs),
    },
  } as ActionApproval;
}

function subject({ session, serviceAccount }: Asker, facts: JudgedPlan['facts']) {
  const { contract, action, revision, argsDigest, planDigest, operationId } = facts;
  return { session, serviceAccount, contract, action, revision, argumentsDigest: argsDigest, planDigest, operationId };
}
