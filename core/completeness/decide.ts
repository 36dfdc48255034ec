/**
 * What may be done with an answer: one pure function, used by the gate before an effect and exported to clients,
 * so that both decide alike.
 */
import type { Envelope, RaisedWarning } from './envelope.ts';

export type Decision = 'proceed' | 'continue_search' | 'refuse_or_request_review';

/**
 * `report`: tell what was found. `mutate`: act on what was listed. `act_on_absence`: act on what was not listed.
 * `proof: declared` accepts pages that only their owner says belong together.
 */
export type Intent =
  | { readonly kind: 'report' }
  | { readonly kind: 'mutate'; readonly proof?: 'checked' | 'declared' }
  | { readonly kind: 'act_on_absence'; readonly proof?: 'checked' | 'declared' };

/** `nowMs` tells which warnings are past their expiry. */
export function decide(envelope: Pick<Envelope, 'completeness' | 'warnings'>, intent: Intent, nowMs: number): Decision {
  const { completeness, warnings } = envelope;
  // Two members that must agree: an envelope that went through other hands may say both.
  const complete = completeness.complete && completeness.incomplete_reasons.length === 0;
  if (intent.kind === 'report') {
    if (complete) return 'proceed';
    return completeness.continuation.kind === 'none' ? 'refuse_or_request_review' : 'continue_search';
  }
  if (!complete || warnings.some((warning) => forbidsEvidence(warning, nowMs))) return 'refuse_or_request_review';
  const { consistency, absence } = completeness.scope;
  if (consistency === 'unproven' || (consistency === 'declared' && intent.proof !== 'declared')) return 'refuse_or_request_review';
  return intent.kind === 'act_on_absence' && absence !== 'provable' ? 'refuse_or_request_review' : 'proceed';
}

/** Stale data always; any warning once nobody has renewed it by its day (UTC, the day itself still counts). */
export function forbidsEvidence(warning: RaisedWarning, nowMs: number): boolean {
  if (warning.code === 'STALE_INDEX') return true;
  if (warning.expires_at === undefined) return false;
  const expires = Date.parse(warning.expires_at.length === 10 ? `${warning.expires_at}T23:59:59.999Z` : warning.expires_at);
  // A day that cannot be read has no claim to be in the future.
  return !(expires >= nowMs);
}
