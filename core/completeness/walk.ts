/**
 * The pure state machine of a walk over one source: exchanges in, rows and the next step out.
 *
 *   startWalk -> takePage* -> (the remote's end | a failure | stopWalk) -> foldWalks
 *                   ^ seal and resume: `complete` speaks for the walk from its first page
 */
import type { CompiledContract, JsonValue, WayOn } from '#core/contract/compiled.ts';
import { answerOf } from './answer.ts';
import type { Exchange, Reply } from './exchange.ts';
import { project } from './fields.ts';
import { FindingSet } from './finding-set.ts';
import { countIds, firstKept } from './identity.ts';
import { readItems } from './items.ts';
import { readLocator } from './locator.ts';
import { classify, failureOf } from './outcome.ts';
import { takeAnswer } from './page.ts';
import { retryAfter, waitMs } from './rate-limit.ts';
import type { Failure, OwnStop, PageTaken, Row, SourceWalk, WalkContext } from './source-walk.ts';

export type { Finding, Folded, OwnStop, PageTaken, Row, RunFacts, SourceWalk, Step, WalkContext } from './source-walk.ts';

/** `next`: the initial values of the parts that state one; a counter starts at its start. */
export function startWalk(
  contract: CompiledContract,
  source: string,
  open: Readonly<Record<string, JsonValue>>,
  next: Readonly<Record<string, JsonValue>>,
): SourceWalk {
  const { counter } = contract.completeness.paging;
  return {
    version: 1,
    source,
    next: counter === undefined ? next : { [counter.name]: counter.start, ...next },
    open,
    pages: 0,
    done: false,
    callPages: 0,
    rawItems: 0,
    distinctItems: 0,
    keptItems: 0,
    ids: '',
    idsDropped: false,
    reasons: [],
    warnings: [],
    omitted: [],
    totals: {},
    basis: { broken: false },
    aggregates: {},
    pending: false,
  };
}

/** Judges one exchange. Never throws for anything a remote can send. */
export function takePage(context: WalkContext, walk: SourceWalk, exchange: Exchange): PageTaken {
  const { reply } = exchange;
  if (reply.kind === 'noReply') return fail(walk, failureOf(reply));
  const { input } = answerOf(context, walk, exchange, reply, []);
  const outcome = classify(reply, context.contract.result.outcomes, input);
  if (outcome.kind === 'failed') return takeFailure(context, walk, exchange, reply, outcome.failure);
  if (outcome.kind === 'Pending') return takePending(context, walk, reply, outcome.rule.then);
  return takeAnswer(context, walk, exchange, reply, outcome.kind === 'Empty') ?? fail(walk, { kind: 'Protocol' });
}

/** A limit of ours, or the caller's wish, ends this call before the remote's end. A walk that is done stays done. */
export function stopWalk(context: WalkContext, walk: SourceWalk, stop: OwnStop): SourceWalk {
  if (walk.done) return walk;
  // A row larger than a whole answer may be would give cursors without end that bring nothing.
  const never = stop.limit === 'message_bytes' && walk.held?.stuck === true && context.contract.completeness.sources === undefined;
  return never ? { ...walk, stop, failure: { kind: 'TooLarge' }, callPages: 0 } : { ...walk, stop };
}

/**
 * Only the first `rows` rows of the page just taken fit a limit: the walk stands before that page again. What was
 * returned of it is remembered by id, or, where items have none, by number. What the page said stays said.
 */
export function holdBack(before: SourceWalk, after: SourceWalk, rows: number): SourceWalk {
  const { failure: _failure, stop: _stop, ...start } = before;
  const fresh = after.ids.slice(before.ids.length);
  const kept = (before.held?.rows ?? 0) + rows;
  // Where items lack an id the page is remembered by number: an id cannot stand for a row that has none.
  const byId = fresh !== '' && countIds(fresh) === after.distinctItems - before.distinctItems;
  const returned = byId ? firstKept(fresh, kept) : '';
  return {
    ...start,
    reasons: after.reasons.filter(({ atEnd }) => atEnd !== true),
    warnings: after.warnings,
    omitted: after.omitted,
    callPages: after.callPages,
    ids: before.ids + returned,
    distinctItems: before.distinctItems + countIds(returned),
    keptItems: before.keptItems + rows,
    // The second reading must come from the same state as the first, and what was broken there stays broken.
    basis: { ...before.basis, broken: after.basis.broken, ...(after.basis.keys === undefined ? {} : { keys: after.basis.keys }) },
    totals: after.totals,
    ...(after.sinceMs === undefined ? {} : { sinceMs: after.sinceMs }),
    ...(after.lastPage === undefined ? {} : { lastPage: after.lastPage }),
    held: {
      rows: byId ? 0 : kept,
      ids: (before.held?.ids ?? 0) + countIds(returned),
      digest: after.pageDigest ?? '',
      ...(rows === 0 && before.callPages === 0 ? { stuck: true } : {}),
    },
  };
}

function fail(walk: SourceWalk, failure: Failure): PageTaken {
  return { walk: { ...walk, failure, pending: false }, rows: [], step: { kind: 'stop' } };
}

function takeFailure(context: WalkContext, walk: SourceWalk, exchange: Exchange, reply: Reply, failure: Failure): PageTaken {
  const { completeness: rules } = context.contract;
  const answer = answerOf(context, walk, exchange, reply, []);
  if (failure.kind === 'RateLimited') {
    const afterMs = waitMs(rules.rateLimit, answer);
    const limited = fail(walk, { ...failure, retryAfterMs: afterMs });
    return rules.rateLimit.wait === 'WithinBudget' ? { ...limited, step: { kind: 'wait', afterMs } } : limited;
  }
  if (failure.kind === 'CursorExpired' && walk.pages > 0) {
    const resumed = resumeInconsistent(context, walk, exchange);
    if (resumed !== undefined) return { walk: resumed, rows: [], step: { kind: 'page' } };
  }
  const afterMs = retryAfter(rules.rateLimit, answer);
  return fail(walk, afterMs === undefined ? failure : { ...failure, retryAfterMs: afterMs });
}

/** The remote offers to go on from another state of the list. Where the contract takes that, the answer says so. */
function resumeInconsistent(context: WalkContext, walk: SourceWalk, exchange: Exchange): SourceWalk | undefined {
  const { cursor, paging } = context.contract.completeness;
  const [part] = paging.next;
  if (cursor.onExpiry !== 'ContinueInconsistent' || cursor.resumeFrom === undefined || part === undefined) return undefined;
  const reading = readLocator(cursor.resumeFrom, exchange, undefined);
  if (reading.kind !== 'value' || reading.value === null || reading.value === '') return undefined;
  const findings = new FindingSet(walk);
  findings.reasons([
    { code: 'SNAPSHOT_CHANGED', origin: 'upstream', message: 'the snapshot of this walk expired, and it went on from a later one' },
  ]);
  return { ...walk, ...findings.found(), next: { ...walk.next, [part.name]: reading.value }, callPages: walk.callPages + 1 };
}

/** Not finished yet. The rows of a running job are kept apart: the next answer replaces them. */
function takePending(context: WalkContext, walk: SourceWalk, reply: Reply, wayOn: WayOn | undefined): PageTaken {
  const { result, completeness } = context.contract;
  const pending: SourceWalk = {
    ...walk,
    pending: true,
    callPages: walk.callPages + 1,
    ...(wayOn === undefined ? {} : { pendingWayOn: wayOn }),
  };
  if (completeness.job === undefined) return { walk: pending, rows: [], step: { kind: 'stop' } };
  const read = completeness.job.rowsWhilePending === 'Return' ? readItems(result, reply.body) : undefined;
  const rows: readonly Row[] = read?.kind === 'items' ? read.items.map((item) => project(result.fields, item).row) : [];
  return { walk: pending, rows: [], step: { kind: 'poll', afterMs: completeness.job.intervalMs, rows } };
}
