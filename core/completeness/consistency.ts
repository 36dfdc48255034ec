/**
 * Why the pages of a walk belong together (contract language 2.5, `consistency`). A walk of one page needs no
 * basis; a longer one without a basis, or whose basis did not hold on every page, is unproven.
 *
 * Keyset is checked on the rows, not believed: unsorted or ranked lists fail. It cannot see a row that was
 * skipped, hence `when` about what was really sent.
 */
import type { CompletenessRules, ConsistencyRules, JsonValue, OrderRule, ResultRules } from '#core/contract/compiled.ts';
import { type Answer, judge, unproven } from './answer.ts';
import type { Scope } from './envelope.ts';
import { readLocator } from './locator.ts';
import { isEmptyValue, readPath, scalarText } from './path.ts';
import type { Finding, SeenBasis, SourceWalk } from './source-walk.ts';

export interface BasisRead {
  readonly basis: SeenBasis;
  readonly findings: readonly Finding[];
}

export function readBasis(rules: ConsistencyRules, result: ResultRules, before: SeenBasis, answer: Answer): BasisRead {
  const findings: Finding[] = [];
  const keys = rules.equal.length === 0 ? undefined : keysOf(rules, answer);
  const first = before.keys ?? keys;
  if (keys !== undefined && first !== undefined && keys.some((key, index) => key !== first[index])) {
    findings.push({
      code: 'SNAPSHOT_CHANGED',
      origin: 'upstream',
      message: 'two pages of this walk come from different states of the list',
    });
  }
  const sorted = rules.mode === 'Keyset' ? checkOrder(result, before.lastKey, answer.items) : { ok: true };
  const held = rules.when === undefined || judge(rules.when, 'consistency', answer.input).kind === 'yes';
  const broken = before.broken || !held || !sorted.ok || (rules.equal.length > 0 && keys === undefined);
  return {
    basis: {
      broken,
      ...(first === undefined ? {} : { keys: first }),
      ...(sorted.lastKey === undefined ? {} : { lastKey: sorted.lastKey }),
    },
    findings,
  };
}

/** Undefined when one of the keys is not there. */
function keysOf(rules: ConsistencyRules, answer: Answer): readonly string[] | undefined {
  const keys: string[] = [];
  for (const locator of rules.equal) {
    const reading = readLocator(locator, answer.exchange, answer.lastItem);
    // What is empty on every page is equal, and names no state of the list.
    if (reading.kind !== 'value' || isEmptyValue(reading.value)) return undefined;
    keys.push(scalarText(reading.value) ?? JSON.stringify(reading.value));
  }
  return keys;
}

interface Sorted {
  readonly ok: boolean;
  readonly lastKey?: string | number;
}

function checkOrder(result: ResultRules, lastKey: string | number | undefined, items: readonly JsonValue[]): Sorted {
  const { order } = result;
  if (order === undefined) return { ok: false };
  const strict = keysetIsIdentity(result);
  let last = lastKey;
  for (const item of items) {
    const key = orderKey(order, item);
    if (key === undefined || (last !== undefined && !follows(order, last, key, strict)))
      return last === undefined ? { ok: false } : { ok: false, lastKey: last };
    last = key;
  }
  return last === undefined ? { ok: true } : { ok: true, lastKey: last };
}

/** Sorted strictly by the id itself. */
function keysetIsIdentity(result: ResultRules): boolean {
  const [id, ...more] = result.id;
  return id !== undefined && more.length === 0 && result.order?.by.text === id.text;
}

/** No item can come twice: the snapshot, or the strict order, says so; ids need not be remembered. */
export function isUniqueByBasis(rules: CompletenessRules, result: ResultRules): boolean {
  const { mode } = rules.consistency;
  return mode === 'SnapshotKey' || mode === 'SnapshotHandle' || (mode === 'Keyset' && keysetIsIdentity(result));
}

function orderKey(order: OrderRule, item: JsonValue): string | number | undefined {
  const reading = readPath(item, order.by);
  const text = reading.kind === 'value' ? scalarText(reading.value) : undefined;
  if (text === undefined) return undefined;
  if (order.compare === 'Text') return text;
  const number = order.compare === 'Number' ? numberOf(text) : Date.parse(text);
  return Number.isFinite(number) ? number : undefined;
}

function numberOf(text: string): number {
  return text.trim() === '' ? Number.NaN : Number(text);
}

function follows(order: OrderRule, last: string | number, key: string | number, strict: boolean): boolean {
  if (typeof last !== typeof key) return false;
  if (last === key) return !strict;
  return order.direction === 'Ascending' ? last < key : last > key;
}

/** Something that is checked, and held so far, says that all readings of this walk are of one list. */
export function isHeldTogether({ consistency }: CompletenessRules, { basis, open }: SourceWalk): boolean {
  if (basis.broken) return false;
  return consistency.mode === 'SnapshotHandle'
    ? Object.keys(open).length > 0
    : consistency.mode === 'SnapshotKey' || consistency.mode === 'Keyset';
}

/** The finding of a walk that ended, where its pages are not proven to belong together. */
export function basisFindings(rules: CompletenessRules, walk: SourceWalk): readonly Finding[] {
  if (walk.pages <= 1) return [];
  if (rules.consistency.mode === 'SinglePage')
    return [unproven('consistency', 'several pages came and the contract states no basis for reading them as one list')];
  if (rules.consistency.mode === 'SnapshotHandle' && Object.keys(walk.open).length === 0) {
    return [unproven('consistency', 'several pages came without the handle that should hold them together')];
  }
  return walk.basis.broken
    ? [unproven('consistency', 'the stated basis for reading these pages as one list did not hold on every page')]
    : [];
}

/** What the envelope says the answer stands on; the weakest of all sources. */
export function consistencyOf(rules: CompletenessRules, walks: readonly SourceWalk[]): Scope['consistency'] {
  if (walks.some((walk) => basisFindings(rules, walk).length > 0 || walk.reasons.some(({ code }) => code === 'SNAPSHOT_CHANGED')))
    return 'unproven';
  const { mode } = rules.consistency;
  const snapshot = (mode === 'SnapshotKey' || mode === 'SnapshotHandle') && walks.every(({ basis }) => !basis.broken);
  if (walks.every((walk) => walk.pages <= 1) && !snapshot) return 'single_page';
  return mode === 'Declared' ? 'declared' : 'checked';
}

/** The snapshot as short tokens: the remote's own where they are plain, nothing otherwise. Words with spaces between could be a sentence. */
export function snapshotOf(walk: SourceWalk): string | undefined {
  const keys = walk.basis.keys ?? [];
  return keys.length > 0 && keys.every((key) => /^[A-Za-z0-9._:+/=-]{1,128}$/.test(key)) ? keys.join(' ') : undefined;
}
