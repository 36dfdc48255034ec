/**
 * The status of a contract, from everything that is known of it. Pure: the same facts give the same status, so that a second look at an
 * unchanged contract writes nothing.
 */

import { endOfDay } from '#core/bounds/calendar-day.ts';
import { limits } from '#core/bounds/limits.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { nameList } from '#core/contract/name-list.ts';
import type { Problem } from '#core/contract/problem.ts';
import { problemList, sortedProblems } from '#core/contract/problem-text.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { CallerFacts } from './callers.ts';
import type { SessionFacts } from './session-facts.ts';

/** How the contract compiled. */
export type Compiled =
  | { readonly kind: 'compiled'; readonly contract: CompiledContract; readonly problems: readonly Problem[] }
  /** Wrong by itself. */
  | { readonly kind: 'problems'; readonly problems: readonly Problem[] }
  /** Right by itself, wrong beside the bindings and contracts there are. */
  | { readonly kind: 'misfit'; readonly problems: readonly Problem[] }
  /** The compiler failed on it; a fault of ours, and no reason to stop for the other contracts (failure case OPR-11). */
  | { readonly kind: 'fault' };

export interface ContractFacts {
  readonly name: string;
  readonly generation: number;
  readonly compiled: Compiled;
  readonly defaults: Readonly<Record<string, JsonValue>>;
  readonly callers: readonly CallerFacts[];
  readonly sessions: SessionFacts;
  /** Bindings it lists that their owners have suspended. */
  readonly suspendedBindings: readonly string[];
  /** `spec.suspended.because`. */
  readonly suspended: string | undefined;
  readonly nowMs: number;
}

/** Without `lastTransitionTime`, which depends on the status before. */
export interface ContractCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

export interface ContractStatus {
  readonly observedGeneration: number;
  readonly revision?: string;
  readonly best?: CompiledContract['best'];
  readonly defaults?: Readonly<Record<string, JsonValue>>;
  readonly callers: CallerFacts['shown'][];
  readonly warnings: SessionFacts['warnings'];
  readonly sessions: { readonly current: number; readonly behind: number };
  readonly conditions: readonly ContractCondition[];
}

export function contractStatus(facts: ContractFacts): ContractStatus {
  const { compiled } = facts;
  const contract = compiled.kind === 'compiled' ? compiled.contract : undefined;
  return {
    observedGeneration: facts.generation,
    ...(contract === undefined ? {} : { revision: contract.revision, best: contract.best }),
    ...(Object.keys(facts.defaults).length === 0 ? {} : { defaults: facts.defaults }),
    callers: facts.callers.map(({ shown }) => shown),
    warnings: facts.sessions.warnings,
    sessions: { current: facts.sessions.current, behind: facts.sessions.behind },
    conditions: conditionsOf(facts, contract),
  };
}

/** Accepted and Ready always; the others, which are bad news, only while they hold. */
function conditionsOf(facts: ContractFacts, contract: CompiledContract | undefined): readonly ContractCondition[] {
  const accepted = acceptedCondition(facts);
  const news = [suspended(facts), allFieldsPass(contract), presetWeakened(facts), sharedAccount(facts), callersRefused(facts)];
  const found = [...news, warningExpiring(facts, contract)].filter((condition) => condition !== undefined);
  return [accepted, readyCondition(facts, contract), ...found];
}

function acceptedCondition({ name, compiled }: ContractFacts): ContractCondition {
  const no = (reason: string, message: string): ContractCondition => ({ type: 'Accepted', status: 'False', reason, message });
  const list = (problems: readonly Problem[]) => problemList(sortedProblems(problems).errors, name, limits.conditionMessageCharsMax, ' ');
  switch (compiled.kind) {
    case 'compiled':
      return { type: 'Accepted', status: 'True', reason: 'Compiled', message: warningsOf(name, compiled.problems) };
    case 'problems':
      return no('HasProblems', list(compiled.problems));
    case 'misfit':
      return no('DoesNotFit', list(compiled.problems));
    case 'fault':
      return no(
        'CompilerFault',
        'The compiler of this release fails on this contract; change it, or report it with the log of the operator.',
      );
  }
}

function warningsOf(name: string, problems: readonly Problem[]): string {
  const { warnings } = sortedProblems(problems);
  return warnings.length === 0 ? '' : problemList(warnings, name, limits.conditionMessageCharsMax, ' ');
}

function readyCondition(facts: ContractFacts, contract: CompiledContract | undefined): ContractCondition {
  const no = (reason: string, message: string): ContractCondition => ({ type: 'Ready', status: 'False', reason, message: shown(message) });
  if (contract === undefined) return no('NotAccepted', 'It is not accepted; the condition Accepted says why.');
  if (facts.suspended !== undefined || facts.suspendedBindings.length > 0)
    return no('Suspended', 'It is suspended; the condition Suspended says why.');
  if (contract.notReady !== undefined) return no('NotReady', contract.notReady);
  if (facts.callers.length > 0 && facts.callers.every(({ shown: { refused } }) => refused !== undefined))
    return no('CallersRefused', 'Every caller is refused; the condition CallersRefused says why.');
  return { type: 'Ready', status: 'True', reason: 'Ready', message: '' };
}

function suspended({ suspended: because, suspendedBindings }: ContractFacts): ContractCondition | undefined {
  if (because !== undefined) return yes('Suspended', 'Suspended', because);
  if (suspendedBindings.length === 0) return undefined;
  return yes('Suspended', 'BindingSuspended', `Suspended by their owners: ${nameList(suspendedBindings)}.`);
}

function allFieldsPass(contract: CompiledContract | undefined): ContractCondition | undefined {
  if (contract?.result.fields !== 'All') return undefined;
  return yes('AllFieldsPass', 'AllFields', 'result.allFields is set: everything the remote sends passes to the agent.');
}

function presetWeakened({ name, compiled }: ContractFacts): ContractCondition | undefined {
  const problems = compiled.kind === 'compiled' ? compiled.problems.filter(({ code }) => code === 'preset-weakened') : [];
  if (problems.length === 0) return undefined;
  return yes('PresetWeakened', 'RuleDropped', problemList(problems, name, limits.conditionMessageCharsMax, ' '));
}

function sharedAccount({ callers }: ContractFacts): ContractCondition | undefined {
  const shared = callers.filter(({ workloads }) => workloads > 1);
  if (shared.length === 0) return undefined;
  const each = shared.map(({ shown: { serviceAccount }, workloads }) => `${serviceAccount} (${workloads} workloads)`);
  return yes('SharedServiceAccount', 'SeveralWorkloads', `All workloads of an account have its rights: ${nameList(each)}.`);
}

function callersRefused({ callers }: ContractFacts): ContractCondition | undefined {
  const refused = callers.flatMap(({ shown: { serviceAccount, refused } }) =>
    refused === undefined ? [] : [`${serviceAccount}: ${refused}`],
  );
  if (refused.length === 0) return undefined;
  return yes('CallersRefused', 'UnsafeCaller', `Pods of these accounts do not get it: ${nameList(refused, '; ')}.`);
}

function warningExpiring({ nowMs }: ContractFacts, contract: CompiledContract | undefined): ContractCondition | undefined {
  const soon = Object.values(contract?.warnings ?? {}).filter(({ expires }) => overMs(expires) - nowMs < limits.warningAheadMs);
  if (soon.length === 0) return undefined;
  const expired = soon.some(({ expires }) => overMs(expires) <= nowMs);
  const each = soon.map(
    ({ name, owner, expires }) => `${name} (${owner}) ${overMs(expires) <= nowMs ? 'expired after' : 'expires after'} ${expires}`,
  );
  return yes('WarningExpiring', expired ? 'Expired' : 'ExpiresSoon', `${nameList(each)}. Renew or remove them.`);
}

/** Infinite for a day that cannot be read, which is a problem of its own. */
function overMs(day: string): number {
  return endOfDay(day) ?? Number.POSITIVE_INFINITY;
}

function yes(type: string, reason: string, message: string): ContractCondition {
  return { type, status: 'True', reason, message: shown(message) };
}

function shown(message: string): string {
  return visibleText(message, { chars: limits.conditionMessageCharsMax });
}
