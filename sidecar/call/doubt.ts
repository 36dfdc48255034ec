/**
 * What may be done about an operation that nobody knows the outcome of: the same request once more, or nothing until somebody finds out.
 *
 * Only a remote that knows a repetition is asked again: always where twice is once (Natural), else for as long as it keeps the key. What a
 * person agreed to is repeated no longer than the yes was good for, and what rests on evidence no longer than that: a repetition a day later
 * would be an effect that nobody decided on (failure case APR-11).
 */
import { limits } from '#core/bounds/limits.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import type { EffectPlan } from './plan.ts';

/** `plan`: under the contract as it is served now; undefined where that is another one, so that the request would be another one too. */
export function mayRepeat({ record, phase, resolution }: Entry, plan: EffectPlan | undefined, nowMs: number): plan is EffectPlan {
  if (phase !== 'unknown' || resolution !== undefined || plan === undefined || record.effect === 'Read') return false;
  // A clock that was put back would make a key, a yes and evidence young again.
  if (nowMs < record.plannedAtMs - limits.clockSkewMsMax) return false;
  if (plan.needs.kind === 'person' && nowMs >= record.expiresAtMs) return false;
  if (plan.evidenceUntilMs !== undefined && nowMs > plan.evidenceUntilMs) return false;
  return record.idempotency === 'Natural' || (record.idempotency === 'Key' && nowMs < keptUntilMs(plan));
}

/** What an equal call is while an operation is in doubt. */
export type EqualCall =
  /** The same operation, with the same key: under another one it would be another effect. */
  | 'same'
  /** A call of its own: nothing of it can be done twice. */
  | 'free'
  /** Refused until somebody finds out. */
  | 'held';

export function equalCall(entry: Entry, plan: EffectPlan | undefined, nowMs: number): EqualCall {
  const { effect, idempotency } = entry.record;
  if (effect === 'Read' || idempotency === 'Natural') return 'free';
  return idempotency === 'Key' && mayRepeat(entry, plan, nowMs) ? 'same' : 'held';
}

/**
 * Counted from the plan, before which nothing was sent: a key that was sent again is no younger for it. A request may leave as late as the
 * whole time of the call after it was begun.
 */
function keptUntilMs({ served, plannedAtMs }: EffectPlan): number {
  const { effects, completeness } = served.contract;
  return plannedAtMs + (effects.idempotency.ttlMs ?? 0) - completeness.limits.timeMs;
}
