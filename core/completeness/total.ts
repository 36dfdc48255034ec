/**
 * What the remote says how many there are, compared with what came (primitive 11). A total is exact, a lower
 * bound, an estimate, or the number of things looked at; only the first two can contradict a walk.
 */
import type { JsonValue, TotalRelation, TotalRule } from '#core/contract/compiled.ts';
import { type Answer, judge, unproven } from './answer.ts';
import { readLocator } from './locator.ts';
import { scalarText } from './path.ts';
import type { Finding, SeenTotal, SourceWalk } from './source-walk.ts';

export interface TotalsRead {
  readonly totals: Readonly<Record<string, SeenTotal>>;
  readonly findings: readonly Finding[];
}

/** `isLast`: this page ends the walk. Absent totals say nothing; `required` is how a contract demands one. */
export function readTotals(
  rules: readonly TotalRule[],
  before: Readonly<Record<string, SeenTotal>>,
  answer: Answer,
  isLast: boolean,
): TotalsRead {
  const totals: Record<string, SeenTotal> = { ...before };
  const findings: Finding[] = [];
  for (const rule of rules) {
    const read = readTotal(rule, answer, isLast);
    if (read === undefined) continue;
    if ('code' in read) {
      findings.push(read);
      continue;
    }
    const seen = before[rule.name];
    if (rule.constant === 'Required' && seen !== undefined && seen.value !== read.value) {
      findings.push({
        code: 'SNAPSHOT_CHANGED',
        origin: 'upstream',
        rule: rule.name,
        message: 'the total changed between two pages of this walk',
      });
    }
    totals[rule.name] = together(read, seen);
  }
  return { totals, findings };
}

/** What an answer once counted holds, whatever a later one calls an estimate. */
function together(read: SeenTotal, seen: SeenTotal | undefined): SeenTotal {
  const bounds = [seen?.atLeast, isBound(read.relation) ? read.value : undefined].filter((bound) => bound !== undefined);
  return {
    ...read,
    highest: Math.max(read.value, seen?.highest ?? 0),
    ...(bounds.length === 0 ? {} : { atLeast: Math.max(...bounds) }),
  };
}

function isBound(relation: TotalRelation): boolean {
  return relation === 'Exact' || relation === 'LowerBound';
}

function readTotal(rule: TotalRule, answer: Answer, isLast: boolean): SeenTotal | Finding | undefined {
  if (rule.read === 'FirstPage' && answer.index > 0) return undefined;
  if (rule.read === 'LastPage' && !isLast) return undefined;
  if (rule.when !== undefined) {
    const verdict = judge(rule.when, rule.name, answer.input);
    if (verdict.kind === 'error') return verdict.finding;
    if (verdict.kind === 'no') return undefined;
  }
  const reading = readLocator(rule.from, answer.exchange, answer.lastItem);
  if (reading.kind === 'absent' || (reading.kind === 'value' && reading.value === null)) return undefined;
  const value = reading.kind === 'value' ? countOf(reading.value) : undefined;
  if (value === undefined) return unproven(rule.name, 'the total is not a count');
  const relation = relationOf(rule, answer);
  return relation === undefined
    ? unproven(rule.name, 'the relation of the total is none the contract knows')
    : { value, highest: value, relation };
}

/** A count as a number or as its text; anything else is none. */
export function countOf(value: JsonValue): number | undefined {
  const text = scalarText(value);
  if (text === undefined || !/^\d{1,15}(\.0+)?$/.test(text)) return undefined;
  return Number(text);
}

function relationOf(rule: TotalRule, answer: Answer): TotalRelation | undefined {
  if (rule.relationFrom === undefined) return rule.relation;
  const reading = readLocator(rule.relationFrom, answer.exchange, answer.lastItem);
  const text = reading.kind === 'value' ? scalarText(reading.value) : undefined;
  return text !== undefined && Object.hasOwn(rule.relations, text) ? rule.relations[text] : undefined;
}

/** At the end of a walk. `reachTotal`: more than this the remote never gives, which explains a shortfall by itself. */
export function reconcile(rules: readonly TotalRule[], walk: SourceWalk, reachTotal: number | undefined): readonly Finding[] {
  const findings: Finding[] = [];
  for (const rule of rules) {
    const seen = walk.totals[rule.name];
    if (seen?.atLeast === undefined) continue;
    const came = rule.counts === 'Items' ? walk.keptItems : walk.distinctItems;
    const explained = reachTotal !== undefined && seen.atLeast > reachTotal && walk.rawItems >= reachTotal;
    if (came < seen.atLeast && !explained) findings.push(mismatch(rule, rule.onFewer, 'fewer items came than the remote counts'));
    if (came > seen.atLeast && seen.relation === 'Exact')
      findings.push(mismatch(rule, rule.onMore, 'more items came than the remote counts'));
  }
  return findings;
}

function mismatch(rule: TotalRule, code: Finding['code'], message: string): Finding {
  const finding: Finding = { code, origin: 'upstream', rule: rule.name, message };
  return rule.then === undefined ? finding : { ...finding, wayOn: rule.then };
}
