/** The longer search of a plan that a person chose: the read behind its evidence, made anew right before the effect. */
import { PosternError } from '#core/error/postern-error.ts';
import { slotValues } from '#sidecar/execute/effect.ts';
import type { ReadMeans } from './answer-read.ts';
import type { Bundle } from './bundle.ts';
import { judgeEvidence } from './judge-evidence.ts';
import { makeOwnRead } from './own-reads.ts';
import type { EffectPlan } from './plan.ts';

/** Nothing for any other plan. Throws EVIDENCE_INCOMPLETE where the longer search is not enough either: nobody agreed to less. */
export async function readAgain(
  plan: EffectPlan,
  { bundle, signal }: { readonly bundle: Bundle; readonly signal: AbortSignal },
  means: ReadMeans,
): Promise<void> {
  const { contract } = plan.served;
  const rules = contract.effects.evidence;
  if (plan.readAgain === undefined || rules === undefined) return;
  const asked = Object.entries(plan.readAgain).map(([name, value]) => [name, { kind: 'literal', value }] as const);
  const values = slotValues({ contract, args: plan.args, operationId: plan.operationId }, contract.completeness.limits.timeMs);
  const read = await makeOwnRead(
    { requestId: plan.requestId, bundle, read: { contract: rules.from, arguments: asked }, values, signal },
    means,
  );
  const evidence = read.evidence === undefined ? [] : [read.evidence];
  const judged = judgeEvidence(plan, { bundle, evidence }, means);
  if (judged?.review !== true) return;
  throw new PosternError(
    'EVIDENCE_INCOMPLETE',
    `It was read again with more time, and that was not enough. ${judged.facts.lacks.join(' ')}`,
    {
      details: { action: contract.action },
    },
  );
}
