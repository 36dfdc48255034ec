/** How the remote says that this is not all: signals, notices, totals, reach, waits, freshness, scope, sources, limits. */

import { limits } from '#core/bounds/limits.ts';
import { ANSWER_VARIABLES } from '#core/completeness/rule.ts';
import { INCOMPLETE_REASONS } from '#core/error/reasons.ts';
import { compileConsistency, compilePaging, locatorsAt } from './compile-paging.ts';
import { nameAt, wayOnAt } from './compile-result.ts';
import type {
  CompletenessRules,
  FreshnessRule,
  JsonValue,
  NoticeRule,
  RateLimitRules,
  ReachRules,
  ReadLimits,
  RequiredRule,
  ScopeRules,
  SignalRule,
  SourceRules,
  TableEntry,
  TimeUnit,
  TotalRelation,
  TotalRule,
  WaitSource,
} from './compiled.ts';
import { parseOrigin } from './destination.ts';
import { type Draft, templateAt } from './draft.ts';
import type { SpecNode } from './spec-node.ts';

const READS = ['EveryPage', 'FirstPage', 'LastPage'] as const;
const RELATIONS = ['Exact', 'LowerBound', 'Estimate', 'Scanned'] as const satisfies readonly TotalRelation[];
const UNITS = [
  'RetryAfter',
  'Seconds',
  'Millis',
  'EpochSeconds',
  'EpochMillis',
  'HTTPDate',
  'RateLimitParameter',
] as const satisfies readonly TimeUnit[];

export function compileCompleteness(draft: Draft, node: SpecNode): CompletenessRules {
  const reach = reachAt(node);
  const job = node.maybe('job');
  const scope = scopeAt(draft, node.maybe('scope'));
  const sources = sourcesAt(draft, node.maybe('sources'));
  return {
    paging: compilePaging(draft, node.at('paging')),
    consistency: compileConsistency(node.at('consistency')),
    required: node.at('required').list().map(requiredAt),
    signals: node.at('signals').list().map(signalAt),
    notices: node.at('notices').list().map(noticeAt),
    totals: node.at('totals').list().map(totalAt),
    ...(reach === undefined ? {} : { reach }),
    cursor: cursorAt(node.at('cursor')),
    ...(job === undefined
      ? {}
      : {
          job: {
            intervalMs: job.at('interval').milliseconds(limits.jobIntervalMsMin),
            rowsWhilePending: job.at('rowsWhilePending').choice(['Return', 'Discard']),
          },
        }),
    rateLimit: rateLimitAt(node.at('rateLimit')),
    freshness: node.at('freshness').list().map(freshnessAt),
    ...(scope === undefined ? {} : { scope }),
    ...(sources === undefined ? {} : { sources }),
    limits: limitsAt(node.at('limits')),
    onIncomplete: node.at('onIncomplete').choice(['Return', 'Fail']),
  };
}

function requiredAt(node: SpecNode): RequiredRule {
  return { name: nameAt(node.at('name')), anyOf: locatorsAt(node.at('anyOf')), read: node.at('read').choice(READS), ...wayOnAt(node) };
}

function signalAt(node: SpecNode): SignalRule {
  const name = nameAt(node.at('name'));
  const table = node.maybe('table');
  if ((table !== undefined) === node.at('when').present) node.problem('exactly-one', 'A signal has exactly one of when and table.');
  if (table !== undefined) {
    return {
      kind: 'table',
      name,
      values: table.at('values').rule(ANSWER_VARIABLES),
      entries: table.at('entries').list().map(tableEntryAt),
      otherwise: table.at('otherwise').choice(INCOMPLETE_REASONS),
    };
  }
  const sources = node.maybe('sources')?.rule(ANSWER_VARIABLES);
  return {
    kind: 'when',
    name,
    when: node.at('when').rule(ANSWER_VARIABLES),
    reason: node.at('reason').choice(INCOMPLETE_REASONS),
    ...wayOnAt(node),
    ...(sources === undefined ? {} : { sources }),
  };
}

function tableEntryAt(node: SpecNode): TableEntry {
  const match = node.maybeText('match');
  const prefix = node.maybeText('prefix');
  const gives = (['reason', 'warning', 'ignore'] as const).filter((name) => node.at(name).present);
  if ((match === undefined) === (prefix === undefined) || gives.length !== 1) {
    node.problem('table-entry', 'An entry has exactly one of match and prefix, and exactly one of reason, warning and ignore.');
  }
  const test = match === undefined ? ({ kind: 'prefix', text: prefix ?? '' } as const) : ({ kind: 'match', text: match } as const);
  if (gives[0] === 'warning') return { test, gives: { kind: 'warning', warning: node.at('warning').text() } };
  if (gives[0] === 'reason') return { test, gives: { kind: 'reason', reason: node.at('reason').choice(INCOMPLETE_REASONS) } };
  return { test, gives: { kind: 'ignore' } };
}

function noticeAt(node: SpecNode): NoticeRule {
  const when = node.maybe('when')?.rule(ANSWER_VARIABLES);
  return {
    name: nameAt(node.at('name')),
    ...(when === undefined ? {} : { when }),
    warning: node.at('warning').text(),
    fields: node
      .at('fields')
      .list()
      .map((field) => field.text()),
  };
}

function totalAt(node: SpecNode): TotalRule {
  const relationFrom = node.maybe('relationFrom')?.locator();
  const when = node.maybe('when')?.rule(ANSWER_VARIABLES);
  const relations: Record<string, TotalRelation> = Object.create(null);
  for (const [text, relation] of node.at('relations').entries()) relations[text] = relation.choice(RELATIONS);
  return {
    name: nameAt(node.at('name')),
    from: node.at('from').locator(),
    relation: node.at('relation').choice(RELATIONS),
    ...(relationFrom === undefined ? {} : { relationFrom }),
    relations,
    counts: node.at('counts').choice(['Items', 'RawItems']),
    read: node.at('read').choice(READS),
    constant: node.at('constant').choice(['Required', 'Ignored']),
    ...(when === undefined ? {} : { when }),
    onFewer: node.at('onFewer').choice(INCOMPLETE_REASONS),
    onMore: node.at('onMore').choice(INCOMPLETE_REASONS),
    ...wayOnAt(node),
  };
}

function reachAt(completeness: SpecNode): ReachRules | undefined {
  const node = completeness.maybe('reach');
  if (node === undefined) return undefined;
  const bounds: { -readonly [K in 'total' | 'offset' | 'pageSize' | 'items']?: number } = {};
  for (const name of ['total', 'offset', 'pageSize', 'items'] as const) {
    const bound = node.maybe(name)?.count(1);
    if (bound !== undefined) bounds[name] = bound;
  }
  const probe = node.maybe('probe');
  if (bounds.offset !== undefined && !completeness.at('paging').at('counter').present)
    node
      .at('offset')
      .problem('paging-conflict', 'offset bounds a counter, and paging has none.', { cure: 'Write paging.counter, or drop offset.' });
  if (probe !== undefined && bounds.items === undefined)
    node.at('items').problem('missing-field', 'A probe compares with items, and items is not there.');
  const narrowBy = node
    .at('narrowBy')
    .list()
    .map((name) => name.text());
  if (Object.keys(bounds).length === 0 && narrowBy.length === 0) node.problem('reach-empty', 'reach says nothing.');
  return {
    ...bounds,
    fullPage: node.at('fullPage').choice(['Limit', 'Ignore']),
    ...(probe === undefined
      ? {}
      : { probe: { extra: probe.at('extra').count(1, 1000), drop: probe.at('drop').choice(['First', 'Last']) } }),
    narrowBy,
  };
}

function cursorAt(node: SpecNode): CompletenessRules['cursor'] {
  const resumeFrom = node.maybe('resumeFrom')?.locator();
  return {
    ttlMs: node.at('ttl').milliseconds(),
    onExpiry: node.at('onExpiry').choice(['Fail', 'ContinueInconsistent']),
    ...(resumeFrom === undefined ? {} : { resumeFrom }),
    afterMutation: node.at('afterMutation').choice(['Keep', 'Invalidate']),
  };
}

function rateLimitAt(node: SpecNode): RateLimitRules {
  return {
    wait: node.at('wait').choice(['Never', 'WithinBudget']),
    waits: node.at('waits').list().map(waitAt),
    floorMs: node.at('floor').milliseconds(limits.rateLimitFloorMsMin),
    ceilingMs: node.at('ceiling').milliseconds(),
  };
}

function waitAt(node: SpecNode): WaitSource {
  const kinds = (['from', 'cel', 'fixed'] as const).filter((kind) => node.at(kind).present);
  if (kinds.length !== 1) node.problem('exactly-one', 'A wait has exactly one of from, cel and fixed.');
  if (kinds[0] === 'from') return { kind: 'from', from: node.at('from').locator(), unit: node.at('unit').choice(UNITS) };
  if (kinds[0] === 'cel') return { kind: 'cel', cel: node.at('cel').rule(ANSWER_VARIABLES), unit: node.at('unit').choice(UNITS) };
  return { kind: 'fixed', ms: kinds[0] === undefined ? 0 : node.at('fixed').milliseconds() };
}

function freshnessAt(node: SpecNode): FreshnessRule {
  return {
    name: nameAt(node.at('name')),
    from: node.at('from').locator(),
    unit: node.at('unit').choice(UNITS),
    maxAgeMs: node.at('maxAge').milliseconds(),
    warning: node.at('warning').text(),
  };
}

function scopeAt(draft: Draft, node: SpecNode | undefined): ScopeRules | undefined {
  if (node === undefined) return undefined;
  const resource = node.maybe('resource');
  const floor = node.maybe('floor')?.count(0);
  return {
    resource: resource === undefined ? [] : templateAt(draft, resource, 'words', 'words'),
    visibility: node.maybeText('visibility') ?? '',
    exclusions: node
      .at('exclusions')
      .list()
      .map((each) => each.text()),
    absence: node.at('absence').choice(['Provable', 'Never']),
    ...(floor === undefined ? {} : { floor }),
  };
}

function sourcesAt(draft: Draft, node: SpecNode | undefined): CompletenessRules['sources'] {
  if (node === undefined) return undefined;
  const select = node.maybe('select');
  const template = select === undefined ? [] : templateAt(draft, select, 'select', 'main');
  const [slot] = template;
  if (select !== undefined && (template.length !== 1 || typeof slot !== 'object' || slot.root !== 'args' || slot.path.length !== 1)) {
    select.problem('slot-type', 'select is one slot of a list argument.', { cure: 'Write $(args.name).' });
  }
  const name = typeof slot === 'object' ? slot.path[0] : undefined;
  return { ...(name === undefined ? {} : { select: name }), list: node.at('list').list().map(sourceAt) };
}

function sourceAt(node: SpecNode): SourceRules {
  const origin = node.maybe('origin');
  const credential = node.maybeText('credential');
  const values: Record<string, JsonValue> = Object.create(null);
  for (const [name, held] of node.at('values').entries()) values[name] = held.value ?? null;
  const parsed = origin === undefined ? undefined : parseOrigin(origin.text());
  if (origin !== undefined && parsed?.origin === undefined)
    origin.problem('source-origin', parsed?.faults[0]?.message ?? 'The origin is not canonical.');
  return {
    name: nameAt(node.at('name')),
    values,
    ...(credential === undefined ? {} : { credential }),
    ...(parsed?.origin === undefined ? {} : { origin: parsed.origin.text }),
  };
}

function limitsAt(node: SpecNode): ReadLimits {
  const pageSize = node.maybe('pageSize')?.count(1);
  return {
    pages: below(node.at('pages'), node.at('pages').count(1), limits.walkPagesMax),
    items: below(node.at('items'), node.at('items').count(1), limits.walkItemsMax),
    bytes: below(node.at('bytes'), node.at('bytes').bytes(), limits.walkBytesMax),
    timeMs: below(node.at('time'), node.at('time').milliseconds(1), limits.walkTimeMsMax),
    ...(pageSize === undefined ? {} : { pageSize: below(node.at('pageSize'), pageSize, limits.walkPageSizeMax) }),
    parallel: below(node.at('parallel'), node.at('parallel').count(1), limits.walkParallelMax),
  };
}

function below(node: SpecNode, value: number, ceiling: number): number {
  if (value > ceiling) node.problem('limit-ceiling', `${JSON.stringify(node.value)} is beyond the ceiling of ${ceiling}.`);
  return value;
}
