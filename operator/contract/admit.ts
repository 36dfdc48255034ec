/**
 * The verdict about a contract that somebody writes. Refused is only what can never be right: the contract is compiled without any
 * binding or other contract, so the order in which objects are applied cannot matter. What does not fit the objects that are there now
 * is a warning here and a condition later.
 */
import { limits } from '#core/bounds/limits.ts';
import { compileContract } from '#core/contract/compile.ts';
import { problemText, sortedProblems } from '#core/contract/problem-text.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { ALLOWED, refused, type Verdict, verdictOf } from '#core/contract/verdict.ts';
import { canonicalJson } from '#core/encoding/canonical.ts';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { contractRecord, type KubeObject } from '#operator/kube/records.ts';
import { asWritten, PRESETS, surroundings } from './written.ts';

type Written = ActionContract & KubeObject;

/**
 * `oldObject`: null for CREATE. An update that leaves the spec as it is always passes: a new release that knows a rule more must not
 * hold labels, finalizers or a deletion back.
 */
export function admitContract(object: Written, oldObject: Written | null, cluster: Cluster, nowMs: number): Verdict {
  if (oldObject !== null && canonicalJson(oldObject.spec as never) === canonicalJson(object.spec as never)) return ALLOWED;
  const record = contractRecord(object);
  const bytes = Buffer.byteLength(record.specJson);
  if (bytes > limits.specBytesMax)
    return refused(
      `spec: it has ${bytes} bytes of JSON, and ${limits.specBytesMax} are allowed. Split the contract, or shorten its texts.`,
    );
  const { object: contract, report } = asWritten('ActionContract', record);
  if (contract === undefined) return verdictOf(record.name, report.problems);
  const alone = compileContract({ contract, bindings: [], presets: PRESETS, contracts: [], nowMs });
  const verdict = verdictOf(record.name, alone.problems);
  if (!verdict.allowed) return verdict;
  return verdictOf(record.name, alone.problems, misfits(contract, surroundings(record, cluster), nowMs));
}

/** What is wrong only beside the bindings and contracts of today, and what is not there yet. */
function misfits(contract: ResourceObject, beside: ReturnType<typeof surroundings>, nowMs: number): readonly string[] {
  const result = compileContract({ contract, ...beside, presets: PRESETS, nowMs });
  if (result.contract?.notReady !== undefined) return [`Not ready yet: ${result.contract.notReady}`];
  return sortedProblems(result.problems).errors.map((problem) => `Not ready yet: ${problemText(problem, contract.name)}`);
}
