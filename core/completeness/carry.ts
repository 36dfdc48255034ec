/**
 * What a walk takes along in a cursor, and whether there is anything to go on with.
 */
import { limits } from '#core/bounds/limits.ts';
import { FAILURES } from './failure.ts';
import { countIds, countKept, lastIds } from './identity.ts';
import type { SourceWalk } from './source-walk.ts';
import { shortTrail } from './trail.ts';

/** Whether asking again from where this walk stands is a real way forward. `walks`: all of the call. */
export function isUsable(walk: SourceWalk, walks: readonly SourceWalk[]): boolean {
  if (walk.done) return false;
  // A source not asked yet is one to go on with once another was: else the cursor would stand for nothing.
  if (walk.failure === undefined)
    return hasBegun(walk) || (walk.stop !== undefined && !walk.pending && walks.some((other) => other.done || hasBegun(other)));
  // An answer too large for what was left of this call may fit the next one; one too large for a whole call never does.
  if (walk.failure.kind === 'TooLarge') return hasBegun(walk) && walk.callPages > 0;
  return hasBegun(walk) && FAILURES[walk.failure.kind].passing;
}

function hasBegun(walk: SourceWalk): boolean {
  return walk.pages > 0 || walk.held !== undefined || Object.keys(walk.open).length > 0;
}

/** The walks as they are sealed: what belongs to this call alone is left behind, ids beyond the limit are forgotten and that is remembered. */
export function carried(walks: readonly SourceWalk[]): readonly SourceWalk[] {
  const idsMax = Math.floor(limits.walkIdsMax / Math.max(1, walks.length));
  return walks.map((walk) => {
    const { failure: _failure, stop: _stop, pendingWayOn: _wayOn, ...rest } = walk;
    return {
      ...rest,
      ...(walk.trail === undefined ? {} : { trail: shortTrail(walk.trail, walks.length) }),
      callPages: 0,
      ...(countIds(walk.ids) > idsMax ? forgetIds(walk, idsMax) : {}),
    };
  });
}

/**
 * The oldest ids go first: a page that was cut is read again, and what was returned of it stands at the end. Where even that
 * does not fit, its rows are remembered by number, as those of items without ids.
 */
function forgetIds(walk: SourceWalk, idsMax: number): Partial<SourceWalk> {
  const { ids, held } = walk;
  if (held === undefined || held.ids <= idsMax) return { ids: lastIds(ids, idsMax), idsDropped: true };
  const rows = countKept(lastIds(ids, held.ids));
  // Read again it is counted again.
  return { ids: '', idsDropped: true, distinctItems: walk.distinctItems - held.ids, held: { ...held, rows, ids: 0 } };
}
