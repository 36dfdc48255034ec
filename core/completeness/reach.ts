/**
 * What the remote can ever give (primitive 12). A walk stops before it asks beyond that, and says so: services end
 * such walks as if they were whole.
 */
import type { CompletenessRules, JsonValue, ReachRules } from '#core/contract/compiled.ts';
import { requestedSize } from './counter.ts';
import type { Finding, SourceWalk } from './source-walk.ts';

const LIMITED: Finding = {
  code: 'RESULT_LIMIT_REACHED',
  origin: 'upstream',
  rule: 'reach',
  message: 'the remote gives no more than this of any one question',
};

export interface Probed {
  readonly items: readonly JsonValue[];
  readonly findings: readonly Finding[];
}

/** One item more than is kept was asked for: if it came, there are more. */
export function dropProbe(reach: ReachRules | undefined, items: readonly JsonValue[]): Probed {
  if (reach?.probe === undefined || reach.items === undefined || items.length <= reach.items) return { items, findings: [] };
  const kept = reach.probe.drop === 'First' ? items.slice(items.length - reach.items) : items.slice(0, reach.items);
  return { items: kept, findings: [LIMITED] };
}

/** Whether the next request would lie beyond the reach. `counter`: its value in that request. */
export function beyondReach(rules: CompletenessRules, walk: SourceWalk, counter: number | undefined): Finding | undefined {
  const { reach, paging } = rules;
  if (reach === undefined) return undefined;
  if (reach.total !== undefined && walk.rawItems >= reach.total) return LIMITED;
  if (reach.offset === undefined || counter === undefined || paging.counter === undefined) return undefined;
  const pages = counter - paging.counter.start;
  const offset = paging.counter.unit === 'Item' ? pages : pages * (requestedSize(rules) ?? 1);
  return offset > reach.offset ? LIMITED : undefined;
}

/** At an end the remote declared. `lastPage`: raw items of the last page. */
export function reachFindings(rules: CompletenessRules, walk: SourceWalk, lastPage: number): readonly Finding[] {
  const { reach } = rules;
  if (reach === undefined) return [];
  const totals = Object.values(walk.totals).filter(({ relation }) => relation !== 'Scanned');
  const more = reach.total !== undefined && totals.some(({ highest }) => highest > (reach.total ?? 0));
  const proven = totals.some(({ highest, relation }) => relation === 'Exact' && highest === walk.distinctItems);
  const atCap = reach.total !== undefined && walk.rawItems >= reach.total && !proven;
  return more || atCap || (fullPage(rules, reach, lastPage) && !proven) ? [LIMITED] : [];
}

function fullPage(rules: CompletenessRules, reach: ReachRules, lastPage: number): boolean {
  if (reach.fullPage === 'Ignore' || reach.probe !== undefined) return false;
  const size = reach.items ?? requestedSize(rules);
  return size !== undefined && lastPage >= size;
}
