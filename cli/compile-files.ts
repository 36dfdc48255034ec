/** Compiles everything contract files hold, and gathers the problems of all of it. */
import { compileBinding } from '#core/contract/binding.ts';
import { compileContract } from '#core/contract/compile.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import type { Problem } from '#core/contract/problem.ts';
import { withShippedPresets } from '#core/contract/shipped-presets.ts';
import { readContractTest } from '#sidecar/contract-test/read-test.ts';
import { type ContractFiles, ofKind } from './contract-files.ts';

export interface CompiledFiles {
  readonly read: ContractFiles;
  /** Those without errors, in the order of the files. */
  readonly contracts: readonly CompiledContract[];
  readonly bindings: readonly CompiledBinding[];
  /** Of the files, the bindings, the contracts and the form of the tests; each place and code once. */
  readonly problems: readonly Problem[];
}

/** `nowMs`: what expiry of warnings is measured against. */
export function compileFiles(read: ContractFiles, nowMs: number): CompiledFiles {
  const presets = withShippedPresets(ofKind(read, 'ContractPreset'));
  const contracts = ofKind(read, 'ActionContract');
  const bindings = ofKind(read, 'CredentialBinding');
  const compiledBindings = bindings.map(compileBinding);
  const compiled = contracts.map((contract) => compileContract({ contract, bindings, presets, contracts, nowMs }));
  const tests = ofKind(read, 'ContractTest').map(readContractTest);
  return {
    read,
    contracts: compiled.flatMap(({ contract }) => contract ?? []),
    bindings: compiledBindings.flatMap(({ binding }) => binding ?? []),
    problems: onceEach([...read.problems, ...[...compiledBindings, ...compiled, ...tests].flatMap(({ problems }) => problems)]),
  };
}

/** A preset's own fault comes back from every contract that uses it. */
function onceEach(problems: readonly Problem[]): readonly Problem[] {
  const seen = new Map(problems.map((problem) => [JSON.stringify([problem.object, problem.path, problem.code, problem.message]), problem]));
  return [...seen.values()];
}
