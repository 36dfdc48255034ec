/**
 * The one way forward of an incomplete answer (contract language 2.5): what a rule says (`then`), else the first
 * match of the table. A way that cannot be gone, such as a cursor that no longer exists, is never offered.
 */
import type { CompiledContract, WayOn } from '#core/contract/compiled.ts';
import type { IncompleteCode } from '#core/error/reasons.ts';
import { isUsable } from './carry.ts';
import type { Continuation } from './envelope.ts';
import type { RunFacts, SourceWalk, WalkContext } from './source-walk.ts';

export interface WayInput {
  readonly context: WalkContext;
  readonly walks: readonly SourceWalk[];
  /** Each with at least one reason. */
  readonly incomplete: readonly SourceWalk[];
  readonly facts: RunFacts;
  /** False where the rows before the cursor are not given out. */
  readonly cursorAllowed: boolean;
  sealed(): { readonly cursor: string; readonly expiresAt?: string };
}

/** From the best way to none: with several sources, one that can go on is worth more than one that cannot. */
const RANK: readonly WayOn[] = ['RetryAfter', 'NextCursor', 'NarrowQuery', 'RetryWithDeadline', 'Restart', 'None'];

export function wayOn(input: WayInput): Continuation {
  const ways = new Set(input.incomplete.map((walk) => wayOfWalk(input, walk)));
  const way = RANK.find((rank) => ways.has(rank)) ?? 'None';
  return continuation(input, way);
}

function wayOfWalk({ context, walks, cursorAllowed }: WayInput, walk: SourceWalk): WayOn {
  const usable = cursorAllowed && isUsable(walk, walks);
  const said =
    walk.failure?.wayOn ??
    (walk.pending ? walk.pendingWayOn : undefined) ??
    walk.reasons.find((finding) => finding.wayOn !== undefined)?.wayOn;
  if (said !== undefined && (said !== 'NextCursor' || usable)) return said;
  return byTable(context.contract, walk, usable);
}

const HOPELESS = new Set(['Denied', 'Credential', 'Protocol', 'Redirect', 'EgressDenied', 'Untrusted']);

type Codes = ReadonlySet<IncompleteCode>;

function byTable(contract: CompiledContract, walk: SourceWalk, usable: boolean): WayOn {
  const { failure } = walk;
  const codes: Codes = new Set(walk.reasons.map(({ code }) => code));
  if (failure !== undefined && HOPELESS.has(failure.kind)) return 'None';
  if (asksToWait(contract, walk, codes)) return 'RetryAfter';
  if (usable) return 'NextCursor';
  if (failure?.kind === 'CapReached' || (isLimited(walk, codes) && narrowBy(contract).length > 0)) return 'NarrowQuery';
  if (isSlow(walk, codes)) return 'RetryWithDeadline';
  return failure?.kind === 'CursorExpired' || codes.has('CURSOR_EXPIRED') || codes.has('SNAPSHOT_CHANGED') ? 'Restart' : 'None';
}

function asksToWait(contract: CompiledContract, { failure, done }: SourceWalk, codes: Codes): boolean {
  if (failure?.retryAfterMs !== undefined || codes.has('REMOTE_RATE_LIMITED')) return true;
  return contract.completeness.paging.remainder === 'Leftovers' && !done && failure === undefined;
}

function isLimited({ failure, done, stop }: SourceWalk, codes: Codes): boolean {
  if (codes.has('RESULT_LIMIT_REACHED') || failure?.kind === 'TooLarge') return true;
  return !done && stop !== undefined && 'value' in stop && stop.limit !== 'time_ms';
}

function isSlow({ failure, done, stop, pending }: SourceWalk, codes: Codes): boolean {
  if (pending || (!done && stop?.limit === 'time_ms')) return true;
  if (failure?.kind === 'TimedOut' || failure?.kind === 'Unavailable') return true;
  return codes.has('TIME_BUDGET_EXCEEDED') || codes.has('SOURCE_UNAVAILABLE');
}

function narrowBy(contract: CompiledContract): readonly string[] {
  return contract.completeness.reach?.narrowBy ?? [];
}

function continuation(input: WayInput, way: WayOn): Continuation {
  const { contract } = input.context;
  switch (way) {
    case 'RetryAfter':
      return retryAfter(input);
    case 'NextCursor':
      return nextCursor(input);
    case 'NarrowQuery':
      return { kind: 'narrow_query', arguments: narrowBy(contract) };
    case 'RetryWithDeadline':
      // Never beyond the contract's own limit: a longer deadline would not be honoured.
      return { kind: 'retry_with_deadline', deadline_ms: contract.completeness.limits.timeMs };
    case 'Restart':
      return { kind: 'restart' };
    case 'None':
      return { kind: 'none' };
    default:
      return way satisfies never;
  }
}

function retryAfter(input: WayInput): Continuation {
  const { context, incomplete, cursorAllowed, walks } = input;
  const { rateLimit } = context.contract.completeness;
  const stated = incomplete.map(({ failure }) => failure?.retryAfterMs).filter((ms) => ms !== undefined);
  const fixed = rateLimit.waits.find((wait) => wait.kind === 'fixed');
  const ms =
    stated.length > 0
      ? Math.max(...stated)
      : Math.min(rateLimit.ceilingMs, Math.max(rateLimit.floorMs, fixed?.kind === 'fixed' ? fixed.ms : 0));
  const sealed = cursorAllowed && walks.some((walk) => isUsable(walk, walks)) ? input.sealed() : undefined;
  return {
    kind: 'retry_after',
    retry_after_ms: ms,
    retry_at: new Date(context.nowMs + ms).toISOString(),
    ...(sealed === undefined ? {} : { cursor: sealed.cursor }),
    ...(sealed?.expiresAt === undefined ? {} : { expires_at: sealed.expiresAt }),
  };
}

function nextCursor(input: WayInput): Continuation {
  const { consistency, cursor } = input.context.contract.completeness;
  const sealed = input.sealed();
  return {
    kind: 'next_cursor',
    cursor: sealed.cursor,
    snapshot: consistency.mode === 'SnapshotKey' || consistency.mode === 'SnapshotHandle' ? 'frozen' : 'moving',
    invalidated_by: ['arguments', 'revision', 'session', ...(cursor.afterMutation === 'Invalidate' ? ['mutation'] : [])],
    ...(sealed.expiresAt === undefined ? {} : { expires_at: sealed.expiresAt }),
  };
}
