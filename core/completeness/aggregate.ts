/**
 * Counts and sums over all kept items of the walk. They are as complete as the walk is: a value that could not
 * be counted leaves the answer unproven rather than a little smaller.
 */
import type { AggregateRule, JsonValue } from '#core/contract/compiled.ts';
import { unproven } from './answer.ts';
import { readPath, scalarText } from './path.ts';
import type { Finding } from './source-walk.ts';

export interface Aggregated {
  readonly aggregates: Readonly<Record<string, number>>;
  readonly findings: readonly Finding[];
}

export function aggregate(
  rules: readonly AggregateRule[],
  before: Readonly<Record<string, number>>,
  items: readonly JsonValue[],
): Aggregated {
  const aggregates: Record<string, number> = { ...before };
  const findings: Finding[] = [];
  for (const rule of rules) {
    for (const item of items) {
      const value = numberOf(rule, item);
      if (value === undefined) findings.push(unproven(rule.name, 'an item has no number where the aggregate reads one'));
      else aggregates[rule.name] = combine(rule.op, aggregates[rule.name], value);
    }
    if (rule.op === 'Count' || rule.op === 'Sum') aggregates[rule.name] ??= 0;
    const total = aggregates[rule.name];
    if (total !== undefined && !isExact(total)) {
      // JSON has no other way to carry what is no number any more.
      aggregates[rule.name] = Math.min(Math.max(total, -Number.MAX_VALUE), Number.MAX_VALUE);
      findings.push(unproven(rule.name, 'the aggregate is larger than a double holds exactly'));
    }
  }
  return { aggregates, findings };
}

/** Counts of several sources add up; so do sums. */
export function combineAggregates(
  rules: readonly AggregateRule[],
  parts: readonly Readonly<Record<string, number>>[],
): Record<string, JsonValue> {
  const combined: Record<string, JsonValue> = Object.create(null);
  for (const rule of rules) {
    const values = parts.map((part) => part[rule.name]).filter((value) => value !== undefined);
    const [first, ...rest] = values;
    combined[rule.name] = first === undefined ? null : rest.reduce((left, right) => combine(rule.op, left, right), first);
  }
  return combined;
}

function numberOf(rule: AggregateRule, item: JsonValue): number | undefined {
  if (rule.op === 'Count' && rule.path === undefined) return 1;
  if (rule.path === undefined) return undefined;
  const reading = readPath(item, rule.path);
  if (rule.op === 'Count') return reading.kind === 'value' && reading.value !== null ? 1 : 0;
  const text = reading.kind === 'value' ? scalarText(reading.value) : undefined;
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return isExact(value) ? value : undefined;
}

/** Whole numbers beyond 2^53 stand for their neighbours too. */
function isExact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

function combine(op: AggregateRule['op'], left: number | undefined, right: number): number {
  if (left === undefined) return right;
  if (op === 'Min') return Math.min(left, right);
  return op === 'Max' ? Math.max(left, right) : left + right;
}
