/** A plan as the journal keeps it, so that a restart makes the same plan again, and no other. */
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import { deepFreeze } from '#core/contract/freeze.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Entry, OperationRecord } from '#sidecar/journal/entry.ts';
import type { ServedAction } from './bundle.ts';
import type { EffectPlan } from './plan.ts';

/** What the record does not say itself. The arguments stand in the facts. */
type KeptPlan = Pick<
  EffectPlan,
  | 'summary'
  | 'facts'
  | 'card'
  | 'cardDigest'
  | 'needs'
  | 'rests'
  | 'each'
  | 'alternatives'
  | 'onePage'
  | 'resume'
  | 'evidenceUntilMs'
  | 'readAgain'
>;

/** Throws LIMIT_EXCEEDED for one that is larger than limits.journalPlanBytesMax. */
export function recordOf(plan: EffectPlan): OperationRecord {
  const { contract } = plan.served;
  const { summary, facts, card, cardDigest, needs, rests, each, alternatives, onePage, resume, evidenceUntilMs, readAgain } = plan;
  const kept: KeptPlan = {
    summary,
    facts,
    card,
    cardDigest,
    needs,
    rests,
    alternatives,
    onePage,
    ...(each === undefined ? {} : { each }),
    ...(resume === undefined ? {} : { resume }),
    ...(evidenceUntilMs === undefined ? {} : { evidenceUntilMs }),
    ...(readAgain === undefined ? {} : { readAgain }),
  };
  const text = JSON.stringify(kept);
  if (Buffer.byteLength(text) > limits.journalPlanBytesMax) {
    throw new PosternError('LIMIT_EXCEEDED', 'This call is too large to be kept as a plan; use shorter arguments or fewer targets.', {
      details: { limit: 'journal_plan_bytes', value: String(limits.journalPlanBytesMax) },
    });
  }
  return {
    operationId: plan.operationId,
    requestId: plan.requestId,
    action: contract.action,
    contract: contract.name,
    revision: contract.revision,
    argsDigest: plan.argsDigest,
    planDigest: plan.planDigest,
    effect: contract.effect,
    idempotency: contract.effects.idempotency.mode,
    plannedAtMs: plan.plannedAtMs,
    expiresAtMs: plan.expiresAtMs,
    plan: JSON.parse(text),
  };
}

/** `served` MUST be of the record's revision; what was kept is ours, and authenticated by the journal's own checksum alone. */
export function planOf({ record }: Entry, served: ServedAction): EffectPlan {
  const kept = keptOf(record.plan);
  return {
    served,
    args: deepFreeze(kept.facts.args),
    argsDigest: record.argsDigest,
    requestId: record.requestId,
    operationId: record.operationId,
    planDigest: record.planDigest,
    plannedAtMs: record.plannedAtMs,
    expiresAtMs: record.expiresAtMs,
    ...kept,
  };
}

/** What of a kept plan can be shown without its contract. */
export function shownPlan({
  record,
}: Entry): Pick<KeptPlan, 'summary' | 'facts' | 'card' | 'cardDigest' | 'needs' | 'each' | 'alternatives' | 'rests'> {
  return keptOf(record.plan);
}

function keptOf(plan: JsonValue): KeptPlan {
  if (typeof plan === 'object' && plan !== null && 'facts' in plan && 'needs' in plan) return plan as unknown as KeptPlan;
  throw new TypeError('the journal holds a plan that is none of ours');
}
