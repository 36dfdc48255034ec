/**
 * From the raw items of a page to its rows: duplicates out, `where` applied, fields taken. What an expression or
 * an id leaves open keeps the item and leaves the answer unproven: showing more is never wrong, hiding may be.
 */
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import { aggregate } from './aggregate.ts';
import { type Answer, judge, unproven } from './answer.ts';
import type { OmittedField, RaisedWarning } from './envelope.ts';
import { project } from './fields.ts';
import { idOf, markId, pageDigest, splitIds } from './identity.ts';
import { raiseOwn } from './notice.ts';
import type { Finding, Row, SourceWalk } from './source-walk.ts';
import { Twice } from './twice.ts';

export interface Collected {
  readonly rows: readonly Row[];
  /** Of all items seen, this page's included. */
  readonly ids: string;
  readonly distinct: number;
  readonly kept: number;
  readonly digest: string;
  readonly aggregates: Readonly<Record<string, number>>;
  readonly reasons: readonly Finding[];
  readonly warnings: readonly RaisedWarning[];
  readonly omitted: readonly OmittedField[];
}

export function collect(contract: CompiledContract, walk: SourceWalk, answer: Answer): Collected {
  const { result } = contract;
  const reasons: Finding[] = [];
  const known = distinctOf(contract, walk, answer, reasons);
  const keeps = known.items.map((item) => isKept(contract, answer, item, reasons));
  const kept = result.where === undefined ? known.items : known.items.filter((_, index) => keeps[index]);
  const rows: Row[] = [];
  const missing = new Set<string>();
  const omitted: OmittedField[] = [];
  for (const item of kept) {
    const projected = project(result.fields, item);
    rows.push(projected.row);
    for (const name of projected.missing) missing.add(name);
    for (const field of projected.omitted) omitted.push(field);
  }
  const computed = result.aggregate === undefined ? undefined : aggregate(result.aggregate, walk.aggregates, kept);
  return {
    // Aggregates stand for the rows they were computed from.
    rows: computed === undefined ? rows : [],
    ids: walk.ids + known.ids.map((id, index) => (id === undefined ? '' : markId(id, keeps[index] === true))).join(''),
    distinct: known.items.length,
    kept: kept.length,
    digest: known.digest,
    aggregates: computed?.aggregates ?? walk.aggregates,
    reasons: [...reasons, ...(computed?.findings ?? [])],
    warnings:
      missing.size === 0
        ? []
        : [raiseOwn(contract, 'PARTIAL_FIELD_SET', 'some items lack fields that every item should have', [...missing])],
    omitted,
  };
}

interface Distinct {
  readonly items: readonly JsonValue[];
  /** Beside the items; empty when the contract names no id. */
  readonly ids: readonly (string | undefined)[];
  readonly digest: string;
}

function distinctOf(contract: CompiledContract, walk: SourceWalk, answer: Answer, reasons: Finding[]): Distinct {
  const { id: paths } = contract.result;
  const { items } = answer;
  const ids = paths.length === 0 ? [] : items.map((item) => idOf(walk.source, paths, item));
  const digest = pageDigest(items, ids);
  if (ids.length === 0) return { items, ids, digest };
  const seen = splitIds(walk.ids);
  const twice = new Twice(items, ids);
  const kept: { readonly item: JsonValue; readonly id: string | undefined }[] = [];
  for (const [index, item] of items.entries()) {
    const id = ids[index];
    if (id === undefined) reasons.push(unproven('id', 'an item has no identity, so that duplicates cannot be told from others'));
    if (id === undefined || !seen.has(id)) kept.push({ item, id });
    else if (!twice.isSame(id, item)) {
      reasons.push(unproven('id', 'two items have one identity, and are not the same'));
      kept.push({ item, id: undefined });
    }
    if (id !== undefined) seen.add(id);
  }
  return { items: kept.map(({ item }) => item), ids: kept.map(({ id }) => id), digest };
}

function isKept(contract: CompiledContract, answer: Answer, item: JsonValue, reasons: Finding[]): boolean {
  if (contract.result.where === undefined) return true;
  const verdict = judge(contract.result.where, 'where', { ...answer.input, item });
  if (verdict.kind === 'error') reasons.push(verdict.finding);
  return verdict.kind !== 'no';
}
