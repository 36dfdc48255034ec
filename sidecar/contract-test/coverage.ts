/**
 * Which rules of a contract its recordings depend on. A rule counts as covered when some passing test fails without it:
 * a recording in which a rule merely matches proves nothing if the outcome is the same either way.
 *
 * Every outcome, next part, end, required, signal (and entry of its table), notice, total, freshness and wait of the merged
 * contract is taken away once, and the tests run again until one fails.
 */

import type { Rule } from '#core/completeness/rule.ts';
import type { CompiledContract, CompletenessRules } from '#core/contract/compiled.ts';

export interface RuleCoverage {
  readonly kind: 'outcome' | 'next' | 'end' | 'required' | 'signal' | 'entry' | 'notice' | 'total' | 'freshness' | 'wait';
  /** The rule's name in the contract; for an end, a wait or a table entry what it says. */
  readonly name: string;
  /** `needed`: a test fails without it. `matched`: a recording meets it, and no test minds. `unused`: no recording meets it. */
  readonly state: 'needed' | 'matched' | 'unused';
  /** The test that fails without it. */
  readonly test?: string;
}

/** Whether one test passes against this form of the contract; never throws. */
export type TestRun = { readonly name: string; passes(contract: CompiledContract): Promise<boolean> };

/** `tests` are those that pass against the whole contract: a test that fails anyway cannot tell. */
export async function contractCoverage(contract: CompiledContract, tests: readonly TestRun[]): Promise<readonly RuleCoverage[]> {
  const matched = await matchedRules(contract, tests);
  const rules: RuleCoverage[] = [];
  for (const { kind, name, without } of withoutEach(contract)) {
    const test = await firstFailing(tests, without);
    const state = test !== undefined ? 'needed' : matched.has(`${kind} ${name}`) ? 'matched' : 'unused';
    rules.push({ kind, name, state, ...(test === undefined ? {} : { test }) });
  }
  return rules;
}

async function firstFailing(tests: readonly TestRun[], contract: CompiledContract): Promise<string | undefined> {
  for (const test of tests) {
    if (!(await test.passes(contract))) return test.name;
  }
  return undefined;
}

interface Variant {
  readonly kind: RuleCoverage['kind'];
  readonly name: string;
  readonly without: CompiledContract;
}

function withoutEach(contract: CompiledContract): readonly Variant[] {
  const { result, completeness } = contract;
  const { paging, rateLimit } = completeness;
  const change = (changes: Partial<CompletenessRules>): CompiledContract => ({
    ...contract,
    completeness: { ...completeness, ...changes },
  });
  const named = <Key extends 'required' | 'notices' | 'freshness'>(kind: Variant['kind'], key: Key): readonly Variant[] =>
    completeness[key].map(({ name }, index) => ({ kind, name, without: change({ [key]: completeness[key].toSpliced(index, 1) }) }));
  return [
    ...result.outcomes.map(
      ({ name }, index): Variant => ({
        kind: 'outcome',
        name,
        without: { ...contract, result: { ...result, outcomes: result.outcomes.toSpliced(index, 1) } },
      }),
    ),
    ...paging.next.map(
      ({ name }, index): Variant => ({
        kind: 'next',
        name,
        without: change({ paging: { ...paging, next: paging.next.toSpliced(index, 1) } }),
      }),
    ),
    ...endsWithoutEach(paging.end).map(
      ({ name, end }): Variant => ({ kind: 'end', name, without: change({ paging: { ...paging, end } }) }),
    ),
    ...named('required', 'required'),
    ...signalsWithoutEach(completeness.signals).map(({ kind, name, signals }): Variant => ({ kind, name, without: change({ signals }) })),
    ...named('notice', 'notices'),
    ...completeness.totals.map(
      ({ name }, index): Variant => ({
        kind: 'total',
        name,
        without: change({ totals: completeness.totals.toSpliced(index, 1), paging: { ...paging, end: withoutTotal(paging.end, name) } }),
      }),
    ),
    ...named('freshness', 'freshness'),
    ...rateLimit.waits.map(
      (wait, index): Variant => ({
        kind: 'wait',
        name: wait.kind === 'fixed' ? `fixed ${wait.ms}ms` : wait.kind === 'cel' ? wait.cel.text : placeOf(wait.from),
        without: change({ rateLimit: { ...rateLimit, waits: rateLimit.waits.toSpliced(index, 1) } }),
      }),
    ),
  ];
}

type Ends = CompletenessRules['paging']['end'];

function endsWithoutEach(end: Ends): readonly { readonly name: string; readonly end: Ends }[] {
  const { flag, lastPage, marker, total, ...lists } = end;
  const optional = {
    ...(flag && { flag }),
    ...(lastPage && { lastPage }),
    ...(marker && { marker }),
    ...(total !== undefined && { total }),
  };
  return [
    ...end.nextIs.map((is, index) => ({ name: `nextIs ${is}`, end: { ...end, nextIs: end.nextIs.toSpliced(index, 1) } })),
    ...Object.keys(optional).map((name) => ({
      name,
      end: { ...lists, ...Object.fromEntries(Object.entries(optional).filter(([key]) => key !== name)) },
    })),
    ...end.pageIs.map((is, index) => ({ name: `pageIs ${is}`, end: { ...end, pageIs: end.pageIs.toSpliced(index, 1) } })),
  ];
}

/** An end by a total that is gone would name nothing. */
function withoutTotal(end: Ends, name: string): Ends {
  if (end.total !== name) return end;
  const { total: _, ...rest } = end;
  return rest;
}

type Signals = CompletenessRules['signals'];

function signalsWithoutEach(
  signals: Signals,
): readonly { readonly kind: 'signal' | 'entry'; readonly name: string; readonly signals: Signals }[] {
  return signals.flatMap((signal, index) => {
    const whole = { kind: 'signal' as const, name: signal.name, signals: signals.toSpliced(index, 1) };
    if (signal.kind !== 'table') return [whole];
    const entries = signal.entries.map(({ test }, at) => ({
      kind: 'entry' as const,
      name: `${signal.name}: ${test.kind} ${test.text}`,
      signals: signals.with(index, { ...signal, entries: signal.entries.toSpliced(at, 1) }),
    }));
    return [whole, ...entries];
  });
}

function placeOf(locator: { readonly kind: string }): string {
  if ('name' in locator) return `${locator.kind} ${locator.name}`;
  if ('rel' in locator) return `${locator.kind} ${locator.rel}`;
  return 'path' in locator ? `${locator.kind} ${(locator.path as { text: string }).text}` : locator.kind;
}

/** `kind name` of every rule with an expression that was true in some recording. */
async function matchedRules(contract: CompiledContract, tests: readonly TestRun[]): Promise<ReadonlySet<string>> {
  const matched = new Set<string>();
  const watch = <Named extends { readonly name: string; readonly when?: Rule }>(kind: Variant['kind'], rule: Named): Named =>
    rule.when === undefined ? rule : { ...rule, when: watched(rule.when, () => matched.add(`${kind} ${rule.name}`)) };
  const { result, completeness } = contract;
  const observed: CompiledContract = {
    ...contract,
    result: { ...result, outcomes: result.outcomes.map((rule) => watch('outcome', rule)) },
    completeness: {
      ...completeness,
      signals: completeness.signals.map((rule) => (rule.kind === 'when' ? watch('signal', rule) : rule)),
      notices: completeness.notices.map((rule) => watch('notice', rule)),
      totals: completeness.totals.map((rule) => watch('total', rule)),
    },
  };
  for (const test of tests) await test.passes(observed);
  return matched;
}

function watched(rule: Rule, onTrue: () => void): Rule {
  return {
    text: rule.text,
    evaluate: (input) => {
      const result = rule.evaluate(input);
      if (result.ok && result.value === true) onTrue();
      return result;
    },
  };
}
