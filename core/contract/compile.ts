/**
 * From an ActionContract as written to a CompiledContract that is proved to be safe to run, or to every problem that keeps it from being
 * so. Pure: no clock, no files, no network; the same objects give the same result and the same revision, whatever the order of their keys.
 *
 * A contract whose binding, or whose read behind evidence, is not there yet is not refused but `notReady`: objects may be applied in any order.
 */
import { digestOf } from '#core/encoding/canonical.ts';
import { bestOf } from './best.ts';
import { checkDashes } from './check-command.ts';
import { checkEffect } from './check-effect.ts';
import { checkGrants, type Grants } from './check-grants.ts';
import { checkNames, compileWarnings } from './check-names.ts';
import { checkPath } from './check-path.ts';
import { checkPreset } from './check-preset.ts';
import { checkReferences } from './check-references.ts';
import { checkResolve } from './check-resolve.ts';
import { checkSlots } from './check-slots.ts';
import { checkStructure } from './check-structure.ts';
import { compileCompleteness } from './compile-completeness.ts';
import { compileEffects } from './compile-effects.ts';
import { withKey } from './compile-idempotency.ts';
import { checkConsistency, checkPaging } from './compile-paging.ts';
import { compileResult } from './compile-result.ts';
import { compileArgumentsSchema } from './compile-schema.ts';
import { compileTarget, requestsOf } from './compile-target.ts';
import type { CompiledContract, JsonValue, Revision } from './compiled.ts';
import { fillDefaults } from './defaults.ts';
import { type Draft, templateAt } from './draft.ts';
import { deepFreeze } from './freeze.ts';
import { type Merged, mergePresets } from './preset.ts';
import type { Problem } from './problem.ts';
import { Report } from './report.ts';
import type { ResourceObject } from './resource-object.ts';
import type { Declared } from './slot-kind.ts';
import { SpecNode } from './spec-node.ts';

export interface CompileInput {
  readonly contract: ResourceObject;
  readonly bindings: readonly ResourceObject[];
  readonly presets: readonly ResourceObject[];
  /** For the reads behind evidence, recheck, settle and prepare; the contract itself may be among them. */
  readonly contracts: readonly ResourceObject[];
  /** Milliseconds since 1970: warnings that expired or expire too late are measured against it. */
  readonly nowMs: number;
}

export type CompileResult =
  /** Problems are warnings only. */
  | { readonly contract: CompiledContract; readonly problems: readonly Problem[] }
  | { readonly contract?: undefined; readonly problems: readonly Problem[] };

export function compileContract(input: CompileInput): CompileResult {
  const merged = mergePresets(input.contract, input.presets);
  const draft = draftOf(input.contract, merged);
  const parts = compileParts(draft, input.nowMs);
  const declared = declaredBy(draft, parts);
  const grants = checkParts(draft, parts, declared, input);
  const references = checkReferences(draft, declared, parts.effects, input);
  checkStructure('ActionContract', input.contract.spec, draft.report);
  const best = bestOf(parts);
  if (best === 'Partial') draft.spec.problem('best-partial', 'A rule that is always true makes every answer incomplete.');
  checkJob(draft, parts);
  const problems = [
    ...merged.report.problems,
    ...merged.layers.flatMap((preset) => checkPreset(preset, input.presets)),
    ...draft.report.problems,
  ];
  if (problems.some((problem) => problem.severity === 'error')) return { problems };
  const notReady = [...grants.notReady, ...references];
  const contract: CompiledContract = {
    ...parts,
    presets: merged.presets,
    best,
    revision: revisionOf(input.contract, draft, merged, grants),
    ...(notReady.length === 0 ? {} : { notReady: notReady.join(' ') }),
  };
  return { contract: deepFreeze(contract), problems };
}

/** The merged spec with defaults; a problem in a preset's line is reported where the preset says it. */
function draftOf(object: ResourceObject, merged: Merged): Draft {
  const report = new Report((path) => merged.written(path));
  const { spec } = fillDefaults(merged.spec);
  return { object, spec: new SpecNode(spec, ['spec'], report), report, uses: [] };
}

type Parts = Omit<CompiledContract, 'presets' | 'best' | 'revision' | 'notReady'>;

/** Reads every block; each reports its own problems. */
function compileParts(draft: Draft, nowMs: number): Parts {
  const { spec, object } = draft;
  const suspended = spec.maybe('suspended');
  const args = compileArgumentsSchema(spec.at('arguments'));
  return {
    name: object.name,
    namespace: object.namespace,
    action: actionAt(draft),
    summary: templateAt(draft, spec.at('summary'), 'words', 'words'),
    owner: spec.at('owner').text(),
    effect: spec.at('effect').choice(['Read', 'Write', 'Destructive']),
    callers: callersAt(spec.at('callers')),
    credentials: spec
      .at('credentials')
      .list()
      .map((name) => name.text()),
    ...(suspended === undefined ? {} : { suspended: { because: suspended.at('because').text() } }),
    arguments: args,
    resolve: tablesAt(spec.at('resolve')),
    constants: Object.assign(Object.create(null), spec.at('constants').object()),
    target: withKey(draft, compileTarget(draft)),
    result: compileResult(spec.at('result')),
    completeness: compileCompleteness(draft, spec.at('completeness')),
    warnings: compileWarnings(draft, nowMs),
    effects: compileEffects(draft, args),
  };
}

/** The checks that look at several blocks, in the order the language states them. */
function checkParts(draft: Draft, parts: Parts, declared: Declared, input: CompileInput): Grants {
  const { target, completeness, result } = parts;
  const http = target.kind === 'http' ? target : undefined;
  checkResolve(draft, parts.arguments);
  checkSlots(draft, declared);
  if (target.kind === 'ssh') checkDashes(draft, target, declared);
  for (const [path, request] of http === undefined ? [] : requestsOf(http)) checkPath(draft, path, request, declared);
  checkNames(draft, parts);
  checkPaging(draft, completeness.paging, parts.effect === 'Read' && result.shape.kind === 'items');
  checkConsistency(draft, completeness.consistency, { hasOpen: http?.open !== undefined, hasOrder: result.order !== undefined });
  checkEffect(draft, parts);
  return checkGrants(draft, { target, sources: completeness.sources, arguments: parts.arguments }, input.bindings);
}

/** Polling and what is polled for belong together. */
function checkJob(draft: Draft, { completeness, result }: Parts): void {
  const pending = result.outcomes.some((outcome) => outcome.is === 'Pending');
  if (pending === (completeness.job !== undefined)) return;
  const what = pending ? 'An outcome is Pending, and without job nothing asks again.' : 'No outcome is Pending, so job never polls.';
  draft.spec.at('completeness').at('job').problem('job-pending', what);
}

function declaredBy(draft: Draft, parts: Parts): Declared {
  const { paging } = parts.completeness;
  const open = parts.target.kind === 'http' ? parts.target.open : undefined;
  return {
    spec: draft.spec,
    arguments: parts.arguments,
    next: paging.next.map(({ name }) => name),
    nextLater: paging.next.filter((part) => part.presence === 'Required').map(({ name }) => name),
    nextAlways: paging.next.filter((part) => part.presence === 'Required' && part.initial !== undefined).map(({ name }) => name),
    ...(paging.counter === undefined ? {} : { counter: paging.counter.name }),
    open: open?.values.map(({ name }) => name) ?? [],
  };
}

function actionAt(draft: Draft): string {
  const node = draft.spec.at('action');
  const action = node.text();
  const wanted = draft.object.name.replaceAll('-', '_');
  if (node.present && action !== wanted)
    node.problem('action-name', `The action is ${JSON.stringify(action)}, and the name asks for ${wanted}.`, { cure: `Write ${wanted}.` });
  return action;
}

function callersAt(node: SpecNode): readonly string[] {
  const callers = node.list().map((caller) => caller.at('serviceAccount').text());
  if (callers.length === 0) node.problem('callers-empty', 'No caller is listed.');
  return callers;
}

function tablesAt(node: SpecNode): CompiledContract['resolve'] {
  const tables: Record<string, Record<string, Record<string, JsonValue>>> = Object.create(null);
  for (const [argument, labels] of node.entries()) {
    const table: Record<string, Record<string, JsonValue>> = Object.create(null);
    for (const [label, members] of labels.entries()) table[label] = Object.assign(Object.create(null), members.object());
    tables[argument] = table;
  }
  return tables;
}

/**
 * The spec with presets merged and defaults filled is the whole of what a contract means, so its canonical bytes stand for the compiled
 * form; presets and bindings are in it by their own digests, so that a change of any part voids approvals, cursors and evidence.
 */
function revisionOf(object: ResourceObject, draft: Draft, merged: Merged, grants: Grants): Revision {
  return digestOf('revision', {
    name: object.name,
    namespace: object.namespace,
    spec: draft.spec.object(),
    presets: merged.presets.map(({ name, digest }) => ({ name, digest })),
    bindings: { ...grants.digests },
  });
}
