/**
 * From objects as written to the bundle that is served: every contract compiled, every binding with its credential.
 * All problems at once; a bundle with any is not served.
 */
import { compileBinding } from '#core/contract/binding.ts';
import { compileContract } from '#core/contract/compile.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import type { Problem } from '#core/contract/problem.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { duplicateProblems } from '#core/contract/resource-set.ts';
import { withShippedPresets } from '#core/contract/shipped-presets.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { Bundle, type ServedAction } from '#sidecar/call/bundle.ts';
import { Remotes, type RemotesMeans } from '#sidecar/execute/open-remotes.ts';

export type CompiledBundle =
  /** Problems are warnings only. */
  | { readonly bundle: Bundle; readonly bindings: readonly CompiledBinding[]; readonly problems: readonly Problem[] }
  | { readonly bundle?: undefined; readonly bindings?: undefined; readonly problems: readonly Problem[] };

export function compileBundle(objects: readonly ResourceObject[], means: RemotesMeans): CompiledBundle {
  const ofKind = (kind: ResourceObject['kind']) => objects.filter((object) => object.kind === kind);
  const bindingObjects = ofKind('CredentialBinding');
  const contracts = ofKind('ActionContract');
  const presets = withShippedPresets(ofKind('ContractPreset'));
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
  const served: ServedAction[] = [];
  for (const contract of contracts) {
    const result = compileContract({ contract, bindings: bindingObjects, presets, contracts, nowMs: means.clock.wallMs() });
    problems.push(...result.problems);
    if (result.contract !== undefined) served.push({ contract: result.contract, remote: remoteOf(remotes, result.contract) });
  }
  return problems.some(({ severity }) => severity === 'error') ? { problems } : { bundle: new Bundle(served), bindings, problems };
}

/** SSH contracts are listed and never asked: the gate refuses them before. */
function remoteOf(remotes: Remotes, contract: ServedAction['contract']): ServedAction['remote'] {
  if (contract.target.kind === 'http') return remotes.of(contract, contract.target);
  return () => {
    throw new PosternError('CONTRACT_NOT_READY', 'This release executes HTTP reads only.');
  };
}
