/** Names inside of one contract that must lead somewhere: warnings, totals, fields, arguments, sources; and names that must be unique. */
import { DAY_MS, endOfDay, parseDay } from '#core/bounds/calendar-day.ts';
import { limits } from '#core/bounds/limits.ts';
import { WARNING_CODES } from '#core/error/reasons.ts';
import type { CompletenessRules, DeclaredWarning, ResultRules } from './compiled.ts';
import type { Draft } from './draft.ts';
import { nearestName } from './nearest.ts';
import type { ArgumentsSchema } from './schema.ts';
import type { SpecNode } from './spec-node.ts';

/** `spec.warnings` by name. Each has an owner and an expiry, so that somebody looks at it again. */
export function compileWarnings(draft: Draft, nowMs: number): Readonly<Record<string, DeclaredWarning>> {
  const warnings: Record<string, DeclaredWarning> = Object.create(null);
  for (const node of draft.spec.at('warnings').list()) {
    const expires = node.at('expires');
    const day = expires.text();
    const dayMs = parseDay(day);
    if (day !== '' && dayMs === undefined) expires.problem('bad-date', `${JSON.stringify(day)} is no day of the calendar.`);
    if ((endOfDay(day) ?? nowMs + 1) <= nowMs) expires.problem('warning-expired', `The warning expired on ${day}.`);
    if (dayMs !== undefined && dayMs > nowMs + limits.warningDaysMax * DAY_MS)
      expires.problem('warning-expiry', `${day} is more than a year away.`);
    const name = node.at('name').text();
    warnings[name] = {
      name,
      code: node.at('code').choice(WARNING_CODES),
      owner: node.at('owner').text(),
      expires: day,
      message: node.at('message').text(),
    };
  }
  return warnings;
}

interface Parts {
  readonly completeness: CompletenessRules;
  readonly result: ResultRules;
  readonly arguments: ArgumentsSchema;
  readonly warnings: Readonly<Record<string, DeclaredWarning>>;
}

export function checkNames(draft: Draft, parts: Parts): void {
  checkUnique(draft);
  checkWarningNames(draft, parts);
  const completeness = draft.spec.at('completeness');
  const total = completeness.at('paging').at('end').at('total');
  lookUp(
    total,
    parts.completeness.totals.map(({ name }) => name),
    'total-unknown',
    'total',
  );
  for (const name of completeness.at('reach').at('narrowBy').list()) {
    lookUp(name, Object.keys(parts.arguments.properties), 'argument-unknown', 'argument');
  }
  for (const notice of completeness.at('notices').list()) {
    const { fields } = parts.result;
    if (fields === 'All') continue;
    for (const field of notice.at('fields').list())
      lookUp(
        field,
        fields.map(({ name }) => name),
        'field-unknown',
        'field',
      );
  }
  checkSources(draft, parts);
}

function lookUp(
  node: SpecNode,
  known: readonly string[],
  code: 'total-unknown' | 'argument-unknown' | 'field-unknown' | 'warning-unknown',
  what: string,
): void {
  if (!node.present || (typeof node.value === 'string' && known.includes(node.value))) return;
  const name = node.text();
  node.problem(code, `There is no ${what} ${JSON.stringify(name)}.`, { nearest: nearestName(name, known) });
}

const NAMED_LISTS = [
  'warnings',
  'result.outcomes',
  'result.fields',
  'result.aggregate',
  'completeness.required',
  'completeness.signals',
  'completeness.notices',
  'completeness.totals',
  'completeness.freshness',
  'completeness.paging.next',
  'completeness.sources.list',
] as const;

function checkUnique(draft: Draft): void {
  for (const path of NAMED_LISTS) {
    const list = path.split('.').reduce((node, name) => node.at(name), draft.spec);
    const seen = new Set<unknown>();
    for (const entry of list.list()) {
      const { value } = entry.at('name');
      if (value !== undefined && seen.has(value))
        entry.at('name').problem('duplicate-name', `${JSON.stringify(value)} stands twice in this list.`);
      seen.add(value);
    }
  }
}

function checkWarningNames(draft: Draft, parts: Parts): void {
  const completeness = draft.spec.at('completeness');
  const raised = [
    ...completeness
      .at('notices')
      .list()
      .map((notice) => notice.at('warning')),
    ...completeness
      .at('freshness')
      .list()
      .map((rule) => rule.at('warning')),
    ...completeness
      .at('signals')
      .list()
      .flatMap((signal) =>
        signal
          .at('table')
          .at('entries')
          .list()
          .map((entry) => entry.at('warning')),
      ),
  ];
  const known = Object.keys(parts.warnings);
  for (const node of raised) lookUp(node, known, 'warning-unknown', 'warning');
  for (const node of draft.spec.at('warnings').list()) {
    const { value } = node.at('name');
    if (!raised.some((each) => each.value === value)) node.problem('warning-unused', `No rule raises ${JSON.stringify(value)}.`);
  }
}

function checkSources(draft: Draft, parts: Parts): void {
  const { sources } = parts.completeness;
  if (sources === undefined) return;
  const node = draft.spec.at('completeness').at('sources');
  const members = new Set(sources.list.flatMap(({ values }) => Object.keys(values)));
  for (const [index, source] of sources.list.entries()) {
    const missing = [...members].filter((name) => !Object.hasOwn(source.values, name));
    if (missing.length > 0)
      node
        .at('list')
        .list()
        [index]?.problem('source-values', `The source ${source.name} lacks ${missing.join(', ')}, which others have.`);
  }
  if (sources.select === undefined) return;
  const schema = Object.hasOwn(parts.arguments.properties, sources.select) ? parts.arguments.properties[sources.select] : undefined;
  const labels = schema?.type === 'array' && schema.items.type === 'string' ? schema.items.enum : undefined;
  const names = sources.list.map(({ name }) => name);
  if (labels === undefined || labels.some((label) => !names.includes(label))) {
    node.at('select').problem('source-select', `${sources.select} is no list of labels that are all names of sources.`);
  }
}
