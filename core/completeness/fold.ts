/**
 * All walks of a call, and our own limits, into one envelope.
 *
 * Invariant, property-tested: complete <=> no reasons <=> status `ok`; and no reasons only if every walk ended
 * where the remote said it ends.
 */
import type { JsonValue } from '#core/contract/compiled.ts';
import type { IncompleteCode } from '#core/error/reasons.ts';
import { combineAggregates } from './aggregate.ts';
import { carried } from './carry.ts';
import { consistencyOf, snapshotOf } from './consistency.ts';
import { requestedSize } from './counter.ts';
import type { Completeness, Continuation, IncompleteReason, OmittedField, RaisedWarning, SourceState } from './envelope.ts';
import { FAILURES } from './failure.ts';
import { reasonsOf } from './reasons-of.ts';
import type { Folded, Row, RunFacts, SourceWalk, WalkContext } from './source-walk.ts';
import { wayOn } from './way-on.ts';

/** `rows`: by source, of this call only. */
export function foldWalks(
  context: WalkContext,
  walks: readonly SourceWalk[],
  rows: ReadonlyMap<string, readonly Row[]>,
  facts: RunFacts,
): Folded {
  const { contract } = context;
  const reasons = allReasons(context, walks);
  const failed = walks.every(({ callPages }) => callPages === 0)
    ? walks.find((walk) => !walk.done && (walk.failure !== undefined || walk.stop !== undefined))
    : undefined;
  const refused = contract.completeness.onIncomplete === 'Fail' && reasons.length > 0;
  const continuation =
    reasons.length === 0 ? ({ kind: 'none' } as const) : continueFrom(context, walks, facts, failed !== undefined || !refused);
  const completeness = describe(context, { walks, rows, facts, reasons, continuation });
  if (failed !== undefined) return errorOf(failed, completeness);
  if (refused) {
    return {
      kind: 'error',
      reason: 'RESULT_INCOMPLETE',
      message: 'this action demands a complete answer, and the answer is not complete',
      completeness,
      ...waitOf(continuation),
    };
  }
  return {
    kind: 'envelope',
    envelope: {
      status: reasons.length === 0 ? 'ok' : 'partial',
      completeness,
      warnings: allWarnings(context, walks),
      omitted_fields: distinct(walks.flatMap(({ omitted }): readonly OmittedField[] => omitted)),
      data: dataOf(context, walks, rows),
    },
  };
}

function allReasons(context: WalkContext, walks: readonly SourceWalk[]): readonly IncompleteReason[] {
  const { completeness: rules } = context.contract;
  const reasons: IncompleteReason[] = [];
  for (const walk of walks) {
    for (const reason of reasonsOf(rules, walk))
      add(reasons, rules.sources === undefined ? reason : { ...reason, sources: [walk.source, ...(reason.sources ?? [])] });
  }
  if (walks.length === 0) reasons.push(own('COMPLETENESS_UNPROVEN', 'sources', 'no source was asked'));
  const floor = rules.scope?.floor;
  const kept = walks.reduce((sum, { keptItems }) => sum + keptItems, 0);
  if (floor !== undefined && kept < floor && walks.every(({ done }) => done)) {
    reasons.push(own('COMPLETENESS_UNPROVEN', 'scope.floor', 'fewer items came than there can be'));
  }
  return reasons;
}

function own(code: IncompleteCode, rule: string, message: string): IncompleteReason {
  return { code, origin: 'sidecar', rule, message };
}

/** The same reason of several sources is one reason that names them all. */
function add(reasons: IncompleteReason[], reason: IncompleteReason): void {
  const key = reasonKey(reason);
  const at = reasons.findIndex((known) => reasonKey(known) === key);
  const known = reasons[at];
  if (known === undefined) reasons.push(reason);
  else if (reason.sources !== undefined) reasons[at] = { ...known, sources: [...new Set([...(known.sources ?? []), ...reason.sources])] };
}

function reasonKey({ code, origin, message, rule, limit }: IncompleteReason): string {
  return JSON.stringify([code, origin, message, rule, limit]);
}

function continueFrom(context: WalkContext, walks: readonly SourceWalk[], facts: RunFacts, cursorAllowed: boolean): Continuation {
  const { completeness: rules } = context.contract;
  let sealed: { cursor: string; expiresAt?: string } | undefined;
  return wayOn({
    context,
    walks,
    incomplete: walks.filter((walk) => reasonsOf(rules, walk).length > 0),
    facts,
    cursorAllowed,
    sealed: () => {
      sealed ??= facts.seal(carried(walks));
      return sealed;
    },
  });
}

interface Described {
  readonly walks: readonly SourceWalk[];
  readonly rows: ReadonlyMap<string, readonly Row[]>;
  readonly facts: RunFacts;
  readonly reasons: readonly IncompleteReason[];
  readonly continuation: Continuation;
}

function describe(context: WalkContext, { walks, rows, facts, reasons, continuation }: Described): Completeness {
  const { completeness: rules, result } = context.contract;
  const [only, ...others] = walks;
  const snapshot = only !== undefined && others.length === 0 ? snapshotOf(only) : undefined;
  const size = requestedSize(rules);
  return {
    complete: reasons.length === 0,
    truncated: reasons.some(({ code }) => code === 'MORE_PAGES_AVAILABLE' || code === 'RESULT_LIMIT_REACHED'),
    incomplete_reasons: reasons,
    continuation,
    scope: {
      resource: facts.summaryResource,
      visibility: rules.scope?.visibility ?? 'what the credential may read',
      exclusions: rules.scope?.exclusions ?? [],
      absence: rules.scope?.absence === 'Provable' ? 'provable' : 'never',
      consistency: consistencyOf(rules, walks),
      ...(snapshot === undefined ? {} : { snapshot }),
    },
    page: {
      returned: returnedOf(walks, rows),
      walk: { returned: sum(walks, 'keptItems'), calls: facts.calls, pages: sum(walks, 'pages') },
      ...(size === undefined ? {} : { requested_size: size }),
      ...(result.order === undefined ? {} : { ordering: `${result.order.by.text.slice(1)} ${result.order.direction.toLowerCase()}` }),
      ...counts(walks),
    },
    sources: rules.sources === undefined ? [] : walks.map((walk) => sourceState(context, walk, rows)),
    budget: { deadline_ms: facts.deadlineMs, spent_ms: facts.spentMs, waited_ms: facts.waitedMs },
  };
}

function returnedOf(walks: readonly SourceWalk[], rows: ReadonlyMap<string, readonly Row[]>): number {
  return walks.reduce((count, { source }) => count + (rows.get(source)?.length ?? 0), 0);
}

function sum(walks: readonly SourceWalk[], member: 'keptItems' | 'pages'): number {
  return walks.reduce((count, walk) => count + walk[member], 0);
}

/** `at_least N of about M`, where every source tells it. */
function counts(walks: readonly SourceWalk[]): { readonly at_least?: number; readonly about?: number } {
  const least = walks.map(({ totals }) => highest(totals, ['Exact', 'LowerBound']));
  const about = walks.map(({ totals }) => highest(totals, ['Exact', 'Estimate']));
  return {
    ...(least.length > 0 && !least.includes(undefined) ? { at_least: least.reduce<number>((left, right) => left + (right ?? 0), 0) } : {}),
    ...(about.length > 0 && !about.includes(undefined) ? { about: about.reduce<number>((left, right) => left + (right ?? 0), 0) } : {}),
  };
}

function highest(totals: SourceWalk['totals'], relations: readonly string[]): number | undefined {
  const values = Object.values(totals)
    .filter(({ relation }) => relations.includes(relation))
    .map(({ value }) => value);
  return values.length === 0 ? undefined : Math.max(...values);
}

function sourceState(context: WalkContext, walk: SourceWalk, rows: ReadonlyMap<string, readonly Row[]>): SourceState {
  const snapshot = snapshotOf(walk);
  return {
    name: walk.source,
    state: stateOf(context, walk),
    returned: rows.get(walk.source)?.length ?? 0,
    ...(snapshot === undefined ? {} : { snapshot }),
  };
}

function stateOf(context: WalkContext, walk: SourceWalk): SourceState['state'] {
  if (reasonsOf(context.contract.completeness, walk).length === 0) return 'complete';
  if (walk.failure !== undefined && !walk.done) return FAILURES[walk.failure.kind].state;
  return walk.pages === 0 && walk.held === undefined && !walk.pending ? 'not_asked' : 'partial';
}

function allWarnings(context: WalkContext, walks: readonly SourceWalk[]): readonly RaisedWarning[] {
  const named = context.contract.completeness.sources !== undefined;
  return distinct(walks.flatMap(({ source, warnings }) => warnings.map((warning) => (named ? { ...warning, source } : warning))));
}

function distinct<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}

function dataOf(
  { contract }: WalkContext,
  walks: readonly SourceWalk[],
  rows: ReadonlyMap<string, readonly Row[]>,
): Readonly<Record<string, JsonValue>> {
  const { result } = contract;
  if (result.aggregate !== undefined)
    return {
      [result.as]: combineAggregates(
        result.aggregate,
        walks.map(({ aggregates }) => aggregates),
      ),
    };
  const all = walks.flatMap(({ source }) => rows.get(source) ?? []);
  if (result.shape.kind === 'items' || walks.length > 1) return { [result.as]: all };
  return { [result.as]: all[0] ?? null };
}

function errorOf(walk: SourceWalk, completeness: Completeness): Folded {
  const wait = waitOf(completeness.continuation);
  if (walk.failure !== undefined) {
    const { error, message } = FAILURES[walk.failure.kind];
    return { kind: 'error', reason: error, message: sentence(walk.failure.message ?? message), completeness, ...wait };
  }
  if (walk.stop?.limit === 'time_ms' || walk.stop?.limit === 'cancelled') {
    return {
      kind: 'error',
      reason: 'DEADLINE_EXCEEDED',
      message: 'The time of this call was used up before anything came.',
      completeness,
      ...wait,
    };
  }
  return {
    kind: 'error',
    reason: 'LIMIT_EXCEEDED',
    message: 'A limit of this contract ended the call before anything came.',
    completeness,
    ...wait,
  };
}

function sentence(message: string): string {
  return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
}

function waitOf(continuation: Continuation): { readonly retryAfterMs?: number } {
  return continuation.kind === 'retry_after' ? { retryAfterMs: continuation.retry_after_ms } : {};
}
