/**
 * What a walk takes along in a cursor, and whether there is anything to go on with.
 */
import { limits } from '#core/bounds/limits.ts';
import { FAILURES } from './failure.ts';
import { countIds } from './identity.ts';
import type { SourceWalk } from './source-walk.ts';

/** Whether asking again from where this walk stands is a real way forward. */
export function isUsable(walk: SourceWalk): boolean {
  if (walk.done) return false;
  const begun = walk.pages > 0 || walk.held !== undefined || Object.keys(walk.open).length > 0;
  if (walk.failure === undefined) return begun || (walk.stop !== undefined && !walk.pending);
  // An answer too large for what was left of this call may fit the next one; one too large for a whole call never does.
  if (walk.failure.kind === 'TooLarge') return begun && walk.callPages > 0;
  return begun && FAILURES[walk.failure.kind].passing;
}

/** The walks as they are sealed: what belongs to this call alone is left behind, ids beyond the limit are forgotten and that is remembered. */
export function carried(walks: readonly SourceWalk[]): readonly SourceWalk[] {
  const idsMax = Math.floor(limits.walkIdsMax / Math.max(1, walks.length));
  return walks.map((walk) => {
    const { failure: _failure, stop: _stop, pendingWayOn: _wayOn, ...rest } = walk;
    const forget = countIds(walk.ids) > idsMax;
    return { ...rest, callPages: 0, ...(forget ? { ids: '', idsDropped: true } : {}) };
  });
}
