/**
 * Signals: the answer is usable, but the remote says that it is not all (primitive 9). Every signal is sticky.
 * In a table an unknown code counts as incomplete, or a new word of the remote would become silence.
 */
import type { JsonValue, SignalRule, TableEntry } from '#core/contract/compiled.ts';
import { type Answer, judge, unevaluated, unproven } from './answer.ts';
import { isList, scalarText } from './path.ts';
import type { Rule } from './rule.ts';
import type { Finding } from './source-walk.ts';

/** A declared warning to raise, with the text of the remote that called for it. */
export interface WarningCall {
  readonly warning: string;
  readonly fields?: readonly string[];
  readonly detail?: string;
}

export interface Signalled {
  readonly findings: readonly Finding[];
  readonly warnings: readonly WarningCall[];
}

export function readSignals(rules: readonly SignalRule[], answer: Answer): Signalled {
  const findings: Finding[] = [];
  const warnings: WarningCall[] = [];
  for (const rule of rules) {
    if (rule.kind === 'when') findings.push(...whenSignal(rule, answer));
    else readTable(rule, answer, findings, warnings);
  }
  return { findings, warnings };
}

function whenSignal(rule: SignalRule & { readonly kind: 'when' }, answer: Answer): readonly Finding[] {
  const verdict = judge(rule.when, rule.name, answer.input);
  if (verdict.kind === 'error') return unevaluated(answer, verdict.finding);
  if (verdict.kind === 'no') return [];
  const parts = rule.sources === undefined ? [] : partsOf(rule.sources, answer);
  return [
    {
      code: rule.reason,
      origin: 'upstream',
      rule: rule.name,
      message: 'the remote says that this answer is not all',
      ...(rule.then === undefined ? {} : { wayOn: rule.then }),
      ...(parts.length === 0 ? {} : { parts }),
    },
  ];
}

const PARTS_MAX = 20;

/** Names the remote gives its parts. They are its text: what is not a plain name is left out of the reason. */
function partsOf(rule: Rule, answer: Answer): readonly string[] {
  const result = rule.evaluate(answer.input);
  if (!result.ok) return [];
  const values = isList(result.value) ? result.value : [result.value];
  const names = values
    .map(scalarText)
    .filter((name): name is string => name !== undefined && /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,63}$/.test(name));
  return names.slice(0, PARTS_MAX);
}

function readTable(rule: SignalRule & { readonly kind: 'table' }, answer: Answer, findings: Finding[], warnings: WarningCall[]): void {
  const result = rule.values.evaluate(answer.input);
  if (!result.ok) {
    findings.push(...unevaluated(answer, unproven(rule.name, `the rule could not be evaluated: ${result.error}`)));
    return;
  }
  for (const value of valuesOf(result.value)) {
    const text = scalarText(value);
    const entry = text === undefined ? undefined : rule.entries.find(({ test }) => matches(test, text));
    if (entry?.gives.kind === 'ignore') continue;
    if (entry?.gives.kind === 'warning') {
      warnings.push(text === undefined ? { warning: entry.gives.warning } : { warning: entry.gives.warning, detail: text });
      continue;
    }
    const code = entry?.gives.reason ?? rule.otherwise;
    findings.push({
      code,
      origin: 'upstream',
      rule: rule.name,
      message: 'the remote reports something that makes this answer less than all',
    });
  }
}

function valuesOf(value: JsonValue): readonly JsonValue[] {
  if (value === null) return [];
  return isList(value) ? value : [value];
}

function matches(test: TableEntry['test'], text: string): boolean {
  return test.kind === 'match' ? text === test.text : text.startsWith(test.text);
}
