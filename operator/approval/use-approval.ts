/**
 * Marks an approval used, on top of exactly the version that was judged. Read from the API server and not from the cache: a decision that was
 * withdrawn a moment ago must not be a yes.
 */
import type { CardFacts } from '#core/approval/card-facts.ts';
import { limits } from '#core/bounds/limits.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import { KINDS, type ObjectRef } from '#operator/kube/resource-kind.ts';
import type { Asker } from './judge-plan.ts';
import type { Refusal } from './refusal.ts';
import type { RegisterMeans, Stored } from './register.ts';
import { useOf } from './use.ts';

/** Undefined once it is used. `again`: the same operation may be admitted once more. Throws KubeError. */
export async function useApproval(
  means: Pick<RegisterMeans, 'kube' | 'serverNowMs'>,
  asker: Asker,
  name: string,
  facts: CardFacts,
  again: boolean,
): Promise<Refusal | undefined> {
  const ref = { namespace: asker.namespace, name };
  let unanswered = false;
  for (let tries = 1; ; tries += 1) {
    const approval = await standing(means.kube, ref);
    // It was a yes to this operation, and nobody else writes this operation into it.
    if (unanswered && approval?.status?.usedBy === facts.operationId) return undefined;
    const use = useOf(approval, asker, facts, again, means.serverNowMs());
    if (use.kind === 'refused') return use;
    if (use.kind === 'again' || approval === null) return undefined;
    const { uid, resourceVersion } = approval.metadata;
    try {
      await means.kube.patch(KINDS.approvals, ref, { metadata: { uid, resourceVersion }, status: use.status }, { subresource: 'status' });
      return undefined;
    } catch (error) {
      if (!maySucceed(error) || tries >= limits.approvalUseTriesMax) throw error;
      unanswered ||= !isKubeError(error, 409);
    }
  }
}

/** One that is being deleted - with its session, or by a person - is over, whatever finalizer keeps it there. */
async function standing(kube: Pick<RegisterMeans['kube'], 'get'>, ref: ObjectRef): Promise<Stored | null> {
  const found = await kube.get<Stored>(KINDS.approvals, ref);
  return found?.metadata.deletionTimestamp === undefined ? found : null;
}

/** Somebody wrote in between, or nobody knows whether this was written. */
export function maySucceed(error: unknown): boolean {
  return isKubeError(error) && (error.status === 409 || error.transient);
}
