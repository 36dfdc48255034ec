/**
 * Offsets, indexes and page numbers (primitive 6). The stride is what came, unless the contract says otherwise:
 * servers clamp page sizes, and striding by what was asked skips what they held back.
 */
import type { CompletenessRules, JsonValue } from '#core/contract/compiled.ts';
import type { Answer } from './answer.ts';
import { readLocator } from './locator.ts';
import { countOf } from './total.ts';

export type Advanced = { readonly kind: 'value'; readonly value: number } | { readonly kind: 'stuck' };

/** The counter's value after this page; undefined without a counter. */
export function advance(rules: CompletenessRules, sent: Readonly<Record<string, JsonValue>>, answer: Answer): Advanced | undefined {
  const { counter } = rules.paging;
  if (counter === undefined) return undefined;
  const current = currentOf(rules, sent);
  if (counter.unit === 'Page') return { kind: 'value', value: current + 1 };
  const stride =
    counter.stride === 'Returned' ? answer.items.length : counter.stride === 'Requested' ? requestedSize(rules) : echoed(rules, answer);
  return stride === undefined || stride <= 0 ? { kind: 'stuck' } : { kind: 'value', value: current + stride };
}

/** What was sent for the page just read. */
export function currentOf(rules: CompletenessRules, sent: Readonly<Record<string, JsonValue>>): number {
  const { counter } = rules.paging;
  const value = counter === undefined ? undefined : sent[counter.name];
  return typeof value === 'number' ? value : (counter?.start ?? 0);
}

/** Items asked for on one page, as the remote will take it; undefined where the contract does not say. */
export function requestedSize(rules: CompletenessRules): number | undefined {
  const sizes = [rules.limits.pageSize, rules.reach?.pageSize].filter((size) => size !== undefined);
  return sizes.length === 0 ? undefined : Math.min(...sizes);
}

/** The size the remote says it used, else the one asked for. */
export function effectiveSize(rules: CompletenessRules, answer: Answer): number | undefined {
  return echoed(rules, answer) ?? requestedSize(rules);
}

function echoed(rules: CompletenessRules, answer: Answer): number | undefined {
  const echo = rules.paging.counter?.echo;
  const reading = echo === undefined ? undefined : readLocator(echo, answer.exchange, answer.lastItem);
  return reading?.kind === 'value' ? countOf(reading.value) : undefined;
}
