/**
 * A target read again right before its effect. What the contract expects of it must still be true, over a whole and fresh answer.
 *
 * Where that read was one GET of the very resource that the effect is sent to, and the remote gave it a strong entity tag, the effect
 * carries it as If-Match: then the remote itself refuses when somebody changed the resource in between (RFC 9110, section 13.1.1).
 */

import { limits } from '#core/bounds/limits.ts';
import type { Exchange } from '#core/completeness/exchange.ts';
import { recheck } from '#core/completeness/recheck.ts';
import { assemble } from '#core/contract/assemble.ts';
import type { RequestTemplate } from '#core/contract/compiled.ts';
import type { SlotValues } from '#core/contract/slot-value.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { slotValues } from '#sidecar/execute/effect.ts';
import { isCommand, type Question } from '#sidecar/execute/remote.ts';
import type { ReadMeans } from './answer-read.ts';
import type { Bundle } from './bundle.ts';
import { makeOwnRead, type OwnRead } from './own-reads.ts';
import type { EffectPlan, Target } from './plan.ts';

export type Rechecked =
  /** `ifMatch`: an entity tag as the remote wrote it, quotes and all. */
  { readonly kind: 'holds'; readonly ifMatch?: string } | { readonly kind: 'refused'; readonly error: PosternError };

/** Throws PosternError where the read could not be made at all. */
export async function recheckTarget(
  plan: EffectPlan,
  { element }: Target,
  { bundle, signal }: { readonly bundle: Bundle; readonly signal: AbortSignal },
  means: ReadMeans,
): Promise<Rechecked> {
  const { contract } = plan.served;
  const rules = contract.effects.recheck;
  if (rules === undefined) return { kind: 'holds' };
  const values = slotValues(
    { contract, args: plan.args, operationId: plan.operationId, ...(element === undefined ? {} : { element }) },
    contract.completeness.limits.timeMs,
  );
  const read = await makeOwnRead({ requestId: plan.requestId, bundle, read: rules, values, signal }, means);
  const verdict = recheck(read.answer, rules.expect, { args: plan.args, nowMs: means.clock.wallMs() });
  if (verdict.kind !== 'holds') {
    return {
      kind: 'refused',
      error: new PosternError('EVIDENCE_INCOMPLETE', `${verdict.because} It was not sent.`, { details: { contract: rules.contract } }),
    };
  }
  const tag = contract.target.kind === 'http' ? tagOf(read, contract.target.request, values) : undefined;
  return tag === undefined ? { kind: 'holds' } : { kind: 'holds', ifMatch: tag };
}

/** RFC 9110, section 8.8.3: a strong tag, without `W/`. The bytes are the remote's, so only the plain ones are sent back. */
const STRONG_TAG = /^"[\x21\x23-\x7e]*"$/;

function tagOf({ only }: OwnRead, effect: RequestTemplate, values: SlotValues): string | undefined {
  if (only === undefined || only.exchange.reply.kind !== 'reply') return undefined;
  const tag = only.exchange.reply.headers.etag;
  if (tag === undefined || tag.length > limits.ifMatchCharsMax || !STRONG_TAG.test(tag)) return undefined;
  if (effect.headers.some(([name]) => name === 'if-match')) return undefined;
  return isSameResource(only.question, only.exchange, effect, values) ? tag : undefined;
}

/** One origin, path and query: a tag says nothing about any other resource, and nothing about the answer of a POST. */
function isSameResource(read: Question, { sent }: Exchange, effect: RequestTemplate, values: SlotValues): boolean {
  if (isCommand(read) || sent.method !== 'GET' || read.origin !== effect.origin) return false;
  const { sent: toSend } = assemble(effect, values);
  return toSend.path === sent.path && JSON.stringify(toSend.query) === JSON.stringify(sent.query);
}
