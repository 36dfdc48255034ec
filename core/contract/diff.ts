/**
 * `contract diff`: what one set of objects allows that another did not, and what the change voids. Both sets are looked at merged, with
 * presets and defaults, so that a preset's change is a change of every contract on it.
 */
import type { JsonObject } from '#core/completeness/path.ts';
import { compileContract } from './compile.ts';
import type { CompiledContract, JsonValue } from './compiled.ts';
import { type Direction, judgeBindingChange, judgeContractChange } from './diff-rules.ts';
import { mergedSpec } from './merged-spec.ts';
import type { Problem } from './problem.ts';
import type { ResourceObject } from './resource-object.ts';
import { type SpecChange, specChanges } from './spec-changes.ts';
import { showPath } from './spec-path.ts';

export interface ContractSet {
  readonly contracts: readonly ResourceObject[];
  readonly bindings: readonly ResourceObject[];
  readonly presets: readonly ResourceObject[];
}

export interface Change {
  readonly object: { readonly kind: string; readonly name: string };
  /** Entries of named lists stand by their names: `spec.completeness.signals.partial`. */
  readonly path: string;
  readonly direction: Direction;
  /** What the place decides: `who may call`. */
  readonly says: string;
  readonly before?: JsonValue;
  readonly after?: JsonValue;
}

/** An action whose revision changed: its approvals, cursors, plans and evidence no longer hold. */
export interface Voided {
  readonly action: string;
  readonly before?: string;
  readonly after?: string;
}

export interface ContractDiff {
  /** Widened first. */
  readonly changes: readonly Change[];
  readonly voided: readonly Voided[];
  /** Of both sets; a contract that does not compile has no revision. */
  readonly problems: readonly Problem[];
}

export function diffContracts(before: ContractSet, after: ContractSet, nowMs: number): ContractDiff {
  const contracts = pairs(before.contracts, after.contracts).flatMap(([old, now]) =>
    changesOf(old, now, {
      spec: (object) => mergedSpec(object, object === old ? before.presets : after.presets).spec,
      judge: judgeContractChange,
      whole: 'an action',
    }),
  );
  const bindings = pairs(before.bindings, after.bindings).flatMap(([old, now]) =>
    changesOf(old, now, { spec: (object) => object.spec, judge: judgeBindingChange, whole: 'a credential' }),
  );
  const compiledBefore = compileAll(before, nowMs);
  const compiledAfter = compileAll(after, nowMs);
  return {
    changes: [...contracts, ...bindings].toSorted((a, b) => RANK[a.direction] - RANK[b.direction]),
    voided: voidedBy(compiledBefore.contracts, compiledAfter.contracts),
    problems: [...compiledBefore.problems, ...compiledAfter.problems],
  };
}

const RANK: Readonly<Record<Direction, number>> = { widened: 0, changed: 1, narrowed: 2 };

type Pair = readonly [ResourceObject | undefined, ResourceObject | undefined];

function pairs(before: readonly ResourceObject[], after: readonly ResourceObject[]): readonly Pair[] {
  const keyOf = (object: ResourceObject) => `${object.namespace}/${object.name}`;
  const old = new Map(before.map((object) => [keyOf(object), object] as const));
  const now = new Map(after.map((object) => [keyOf(object), object] as const));
  return [...new Set([...old.keys(), ...now.keys()])].map((key) => [old.get(key), now.get(key)] as const);
}

interface Manner {
  spec(object: ResourceObject): JsonObject;
  judge(change: SpecChange): { readonly direction: Direction; readonly says: string };
  readonly whole: string;
}

function changesOf(before: ResourceObject | undefined, after: ResourceObject | undefined, manner: Manner): readonly Change[] {
  const object = after ?? before;
  if (object === undefined) return [];
  const named = { kind: object.kind, name: object.name };
  if (before === undefined) return [{ object: named, path: 'spec', direction: 'widened', says: `${manner.whole} is new` }];
  if (after === undefined) return [{ object: named, path: 'spec', direction: 'narrowed', says: `${manner.whole} is gone` }];
  return specChanges(manner.spec(before), manner.spec(after)).map((change) => ({
    object: named,
    path: showPath(['spec', ...change.path]),
    ...manner.judge(change),
    ...(change.before === undefined ? {} : { before: change.before }),
    ...(change.after === undefined ? {} : { after: change.after }),
  }));
}

function compileAll(set: ContractSet, nowMs: number): { contracts: readonly CompiledContract[]; problems: readonly Problem[] } {
  const results = set.contracts.map((contract) => compileContract({ contract, ...set, nowMs }));
  return {
    contracts: results.flatMap(({ contract }) => (contract === undefined ? [] : [contract])),
    problems: results.flatMap(({ problems }) => problems.filter(({ severity }) => severity === 'error')),
  };
}

function voidedBy(before: readonly CompiledContract[], after: readonly CompiledContract[]): readonly Voided[] {
  return before.flatMap(({ action, name, namespace, revision }) => {
    const now = after.find((contract) => contract.name === name && contract.namespace === namespace);
    if (now?.revision === revision) return [];
    return [{ action, before: revision, ...(now === undefined ? {} : { after: now.revision }) }];
  });
}

const MARKS: Readonly<Record<Direction, string>> = { widened: 'WIDENED ', changed: 'changed ', narrowed: 'narrowed' };
const SHOWN_CHARS = 120;

/** One line a change, widened ones first; then what is void. */
export function renderDiff({ changes, voided }: ContractDiff): string {
  if (changes.length === 0) return 'No difference in what the contracts allow.';
  const lines = changes.map(
    (change) =>
      `${MARKS[change.direction]}  ${change.object.kind}/${change.object.name}  ${change.path}: ${change.says}${valuesOf(change)}`,
  );
  const voids = voided.map(
    ({ action, before, after }) =>
      `void      ${action}: approvals, plans, cursors and evidence of ${short(before)}${after === undefined ? '; the action is gone or has errors' : ` (now ${short(after)})`}`,
  );
  return [...lines, ...voids].join('\n');
}

function valuesOf({ before, after }: Change): string {
  if (before === undefined && after === undefined) return '';
  if (before === undefined) return `; added ${text(after)}`;
  return after === undefined ? `; removed ${text(before)}` : `; ${text(before)} -> ${text(after)}`;
}

function text(value: JsonValue | undefined): string {
  const written = JSON.stringify(value) ?? '';
  return written.length > SHOWN_CHARS ? `${written.slice(0, SHOWN_CHARS)}…` : written;
}

function short(revision: string | undefined): string {
  return revision?.slice(0, 'sha256:'.length + 12) ?? 'none';
}
