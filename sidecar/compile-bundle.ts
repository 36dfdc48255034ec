/**
 * From objects as written to the bundle that is served: every contract compiled, every binding with its credential. Two ways, by who is
 * there to read the problems: files have an author at the terminal and are served whole or not at all; an operator's bundle is served as
 * far as this release understands it, and the rest is refused contract by contract (failure case INJ-23).
 */
import { setImmediate } from 'node:timers/promises';
import { compileBinding } from '#core/contract/binding.ts';
import { type CompileInput, type CompileResult, compileContract } from '#core/contract/compile.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import type { Problem } from '#core/contract/problem.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { duplicateProblems } from '#core/contract/resource-set.ts';
import { withShippedPresets } from '#core/contract/shipped-presets.ts';
import { Bundle, type ServedAction } from '#sidecar/call/bundle.ts';
import { Remotes, type RemotesMeans } from '#sidecar/execute/open-remotes.ts';

export type CompiledBundle =
  /** Problems are warnings only. */
  | { readonly bundle: Bundle; readonly bindings: readonly CompiledBinding[]; readonly problems: readonly Problem[] }
  | { readonly bundle?: undefined; readonly bindings?: undefined; readonly problems: readonly Problem[] };

/** All problems at once; a bundle with any is not served. */
export function compileBundle(objects: readonly ResourceObject[], means: RemotesMeans): CompiledBundle {
  const { bindingObjects, contracts, presets } = sorted(objects);
  // Tests may share a name, and nobody serves them.
  const configuring = objects.filter(({ kind }) => kind !== 'ContractTest');
  const problems: Problem[] = [...duplicateProblems(configuring, ['ActionContract', 'ContractPreset'])];
  const bindings: CompiledBinding[] = [];
  for (const object of bindingObjects) {
    const result = compileBinding(object);
    problems.push(...result.problems);
    if (result.binding !== undefined) bindings.push(result.binding);
  }
  const remotes = new Remotes(bindings, means);
  const masked = (text: string) => remotes.masked(text);
  const served: ServedAction[] = [];
  for (const contract of contracts) {
    const result = compileContract({ contract, bindings: bindingObjects, presets, contracts, nowMs: means.clock.wallMs() });
    problems.push(...result.problems);
    if (result.contract !== undefined)
      served.push({ contract: result.contract, remote: remotes.of(result.contract, result.contract.target), masked });
  }
  if (problems.some(({ severity }) => severity === 'error')) return { problems };
  return { bundle: new Bundle(withEachUse(served, bindings), suspendedAmong(bindings)), bindings, problems };
}

export interface ServedBundle {
  readonly bundle: Bundle;
  readonly bindings: readonly CompiledBinding[];
  readonly remotes: Remotes;
  /** One for each contract given. */
  readonly outcomes: readonly ContractOutcome[];
}

export type ContractOutcome =
  | { readonly contract: string; readonly revision: string }
  /** The code of the first problem. */
  | { readonly contract: string; readonly refused: string };

/**
 * Serves what compiles. Gives way to calls after each contract: a bundle of hundreds would hold them up for a second. `before`: the
 * remotes of the bundle that is served now, whose tokens go on where a binding is the same.
 */
export async function compileServed(objects: readonly ResourceObject[], means: RemotesMeans, before?: Remotes): Promise<ServedBundle> {
  const { bindingObjects, contracts, presets } = sorted(objects);
  const bindings = new Map<string, CompiledBinding>();
  const refusedBindings = new Map<string, string>();
  for (const object of bindingObjects) {
    const { binding, problems } = compiledBinding(object);
    if (binding === undefined) refusedBindings.set(object.name, codeOf(problems) || COMPILE_FAILED);
    else bindings.set(object.name, binding);
  }
  const remotes = new Remotes([...bindings.values()], means, before);
  const masked = (text: string) => remotes.masked(text);
  const served: ServedAction[] = [];
  const outcomes: ContractOutcome[] = [];
  const names = new Set<string>();
  for (const contract of contracts) {
    const { name } = contract;
    await setImmediate();
    const input = { contract, bindings: bindingObjects, presets, contracts, nowMs: means.clock.wallMs() };
    const result = names.has(name) ? DUPLICATE : compiled(input, refusedBindings);
    names.add(name);
    if (typeof result === 'string') {
      outcomes.push({ contract: name, refused: result });
      continue;
    }
    outcomes.push({ contract: name, revision: result.revision });
    served.push({ contract: result, remote: remotes.of(result, result.target), masked });
  }
  return {
    bundle: new Bundle(withEachUse(served, [...bindings.values()]), suspendedAmong([...bindings.values()])),
    bindings: [...bindings.values()],
    remotes,
    outcomes,
  };
}

const DUPLICATE = 'object-duplicate';
const COMPILE_FAILED = 'compile-failed';

/** As `compiled` for contracts: one that the compiler fails on is refused, with the contracts that list it. */
function compiledBinding(object: ResourceObject): ReturnType<typeof compileBinding> {
  try {
    return compileBinding(object);
  } catch {
    return { problems: [] };
  }
}

/** The contract, or the code of what is wrong with it or with a binding it lists. */
function compiled(input: CompileInput, refusedBindings: ReadonlyMap<string, string>): NonNullable<CompileResult['contract']> | string {
  let result: CompileResult;
  try {
    result = compileContract(input);
  } catch {
    // A newer operator may send what this compiler was never meant to see; the other contracts are served all the same.
    return COMPILE_FAILED;
  }
  if (result.contract === undefined) return codeOf(result.problems);
  const binding = result.contract.credentials.find((name) => refusedBindings.has(name));
  return binding === undefined ? result.contract : (refusedBindings.get(binding) ?? '');
}

function codeOf(problems: readonly Problem[]): string {
  return problems.find(({ severity }) => severity === 'error')?.code ?? '';
}

function sorted(objects: readonly ResourceObject[]) {
  const ofKind = (kind: ResourceObject['kind']) => objects.filter((object) => object.kind === kind);
  return {
    bindingObjects: ofKind('CredentialBinding'),
    contracts: ofKind('ActionContract'),
    presets: withShippedPresets(ofKind('ContractPreset')),
  };
}

function suspendedAmong(bindings: readonly CompiledBinding[]): ReadonlySet<string> {
  return new Set(bindings.flatMap(({ name, spec }) => (spec.suspended === undefined ? [] : [name])));
}

/** Names of bindings are enough: a contract and its bindings share a namespace. */
function withEachUse(actions: readonly ServedAction[], bindings: readonly CompiledBinding[]): readonly ServedAction[] {
  const eachUse = new Set(bindings.flatMap(({ name, spec }) => (spec.approval === 'EachUse' ? [name] : [])));
  return eachUse.size === 0 ? actions : actions.map((served) => ({ ...served, eachUse }));
}
