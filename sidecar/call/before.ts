/**
 * What the target is before it is changed: read for the card, and read again when the plan is confirmed. A target that is another one by
 * then is not what a person agreed to.
 */
import type { CardFacts } from '#core/approval/card-facts.ts';
import { before } from '#core/completeness/recheck.ts';
import { composedText } from '#core/contract/template-text.ts';
import { canonicalJson } from '#core/encoding/canonical.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { slotValues } from '#sidecar/execute/effect.ts';
import type { ReadMeans } from './answer-read.ts';
import type { Bundle } from './bundle.ts';
import { makeOwnRead } from './own-reads.ts';
import type { EffectPlan, Plan } from './plan.ts';

export interface Before {
  readonly fields: NonNullable<CardFacts['before']>;
}

interface BeforeInput {
  readonly bundle: Bundle;
  readonly signal: AbortSignal;
}

/** Undefined where the contract reads nothing. Throws EVIDENCE_INCOMPLETE where the target could not be read whole. */
export async function readBefore(plan: Plan, { bundle, signal }: BeforeInput, means: ReadMeans): Promise<Before | undefined> {
  const { contract } = plan.served;
  const rules = contract.effects.prepare;
  if (rules === undefined) return undefined;
  const { answer } = await makeOwnRead(
    {
      requestId: plan.requestId,
      bundle,
      read: rules,
      values: slotValues({ contract, args: plan.args, operationId: plan.operationId }, contract.completeness.limits.timeMs),
      signal,
      ...(plan.deadlineMs === undefined ? {} : { deadlineMs: plan.deadlineMs }),
    },
    means,
  );
  const verdict = before(answer, rules.fields, { nowMs: means.clock.wallMs() });
  if (verdict.kind === 'cannotTell')
    throw new PosternError('EVIDENCE_INCOMPLETE', verdict.because, { details: { contract: rules.contract } });
  const values = slotValues({ contract, args: plan.args, operationId: plan.operationId }, contract.completeness.limits.timeMs);
  return {
    fields: verdict.before.map((field, index) => {
      const after = rules.fields[index]?.after;
      const text = after === undefined ? undefined : composedText(after, values);
      return { ...field, ...(text === undefined ? {} : { after: text }) };
    }),
  };
}

/** Throws APPROVAL_EXPIRED when the target is no longer what the card showed. */
export async function checkBefore(plan: EffectPlan, input: BeforeInput, means: ReadMeans): Promise<void> {
  const shown = plan.facts.before;
  if (shown === undefined) return;
  const now = await readBefore(plan, input, means);
  if (now !== undefined && canonicalJson(values(now.fields)) === canonicalJson(values(shown))) return;
  throw new PosternError(
    'APPROVAL_EXPIRED',
    'The target was changed after its card was made; nothing was sent. Call again for a new card.',
    {
      details: { because: 'changed' },
    },
  );
}

function values(fields: Before['fields']) {
  return fields.map(({ name, before: value }) => [name, value] as const).map(([name, value]) => ({ name, value }));
}
