/**
 * Why one walk is not all: what its pages said, why it stopped, and whether more pages are known. Nothing here can
 * be empty for a walk that is not done.
 */
import type { CompletenessRules } from '#core/contract/compiled.ts';
import type { IncompleteReason } from './envelope.ts';
import { FAILURES } from './failure.ts';
import type { OwnStop, SourceWalk } from './source-walk.ts';

export function reasonsOf(rules: CompletenessRules, walk: SourceWalk): readonly IncompleteReason[] {
  const reasons: IncompleteReason[] = walk.reasons.map(({ code, origin, message, rule, parts }) => ({
    code,
    origin,
    message,
    ...(rule === undefined ? {} : { rule }),
    ...(parts === undefined ? {} : { sources: parts }),
  }));
  if (walk.done) return reasons;
  if (walk.failure !== undefined) reasons.push(failureReason(rules, walk.failure, walk.stop));
  if (walk.pending) reasons.push(pendingReason(walk));
  else if (walk.failure === undefined) reasons.push(...stopReasons(rules, walk.stop));
  if (hasMore(rules, walk))
    reasons.push({ code: 'MORE_PAGES_AVAILABLE', origin: 'upstream', message: 'the list goes on where this answer ends' });
  return reasons;
}

function failureReason(rules: CompletenessRules, failure: NonNullable<SourceWalk['failure']>, stop: OwnStop | undefined): IncompleteReason {
  const { reason, message } = FAILURES[failure.kind];
  if (failure.kind === 'TooLarge') {
    const limit = stop !== undefined && 'value' in stop ? { [stop.limit]: stop.value } : { bytes: rules.limits.bytes };
    return { code: reason, origin: 'sidecar', message, limit };
  }
  return {
    code: reason,
    origin: 'upstream',
    message: failure.message ?? message,
    ...(failure.rule === undefined ? {} : { rule: failure.rule }),
  };
}

function pendingReason({ stop }: SourceWalk): IncompleteReason {
  const limit = stop !== undefined && 'value' in stop ? { limit: { [stop.limit]: stop.value } } : {};
  return {
    code: 'TIME_BUDGET_EXCEEDED',
    origin: stop === undefined ? 'upstream' : 'sidecar',
    message: 'the remote was still working on it',
    ...limit,
  };
}

function stopReasons(rules: CompletenessRules, stop: OwnStop | undefined): readonly IncompleteReason[] {
  if (stop === undefined) return [];
  // What a batch left over was not refused by us: the remote had no capacity for it.
  if (rules.paging.remainder === 'Leftovers')
    return [{ code: 'REMOTE_RATE_LIMITED', origin: 'upstream', message: 'the remote left part of the batch undone' }];
  if (stop.limit === 'one_page') return [];
  if (stop.limit === 'cancelled') return [{ code: 'TIME_BUDGET_EXCEEDED', origin: 'sidecar', message: 'the caller ended the call' }];
  const limit = { [stop.limit]: stop.value };
  if (stop.limit === 'time_ms')
    return [{ code: 'TIME_BUDGET_EXCEEDED', origin: 'sidecar', message: 'the time of this call was used up', limit }];
  return [{ code: 'RESULT_LIMIT_REACHED', origin: 'sidecar', message: 'a limit of this contract ended the walk', limit }];
}

/** A walk that is not at its end has more, unless there is no further page to speak of. */
function hasMore(rules: CompletenessRules, walk: SourceWalk): boolean {
  if (walk.pending || (rules.paging.remainder === 'Leftovers' && walk.failure === undefined && walk.stop !== undefined)) return false;
  if (walk.failure === undefined) return true;
  if (walk.failure.kind === 'CursorExpired' || walk.failure.kind === 'CapReached') return false;
  return walk.pages > 0 || walk.held !== undefined;
}
