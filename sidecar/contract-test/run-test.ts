/**
 * Runs one recorded test against a compiled contract and says whether it passed.
 *
 * The credential is a canary nobody owns. It must not be in anything a test returns: a recording that echoes it shows
 * the mask, and a canary that gets through fails the test.
 */
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { Problem } from '#core/contract/problem.ts';
import { CANARY_SECRET } from './canary-credential.ts';
import type { ContractTest } from './contract-test.ts';
import type { Difference } from './match-request.ts';
import type { Outcome } from './outcome.ts';
import { type CallResult, type RemotesMaker, replayCalls } from './replay-call.ts';

export interface TestResult {
  readonly name: string;
  /** metadata.name of the contract. */
  readonly contract: string;
  readonly file?: string;
  readonly passed: boolean;
  /** What kept the test from running: its own form, or the contract it names. */
  readonly problems: readonly Problem[];
  readonly calls: readonly CallResult[];
  readonly callsExpected: number;
  /** Of all calls, in order. */
  readonly differences: readonly Difference[];
  /** Of the last call; absent when nothing ran. */
  readonly outcome?: Outcome;
}

export async function runCompiledTest(contract: CompiledContract, test: ContractTest, remotes: RemotesMaker): Promise<TestResult> {
  const calls = (await replayCalls(contract, test, remotes)).map(withoutCanary);
  const missing: readonly Difference[] =
    calls.length < test.calls.length ? [{ at: `call ${calls.length + 1}`, expected: 'a cursor to go on with', got: undefined }] : [];
  const differences = [...calls.flatMap((call) => call.differences), ...missing];
  const outcome = calls.at(-1)?.outcome;
  return {
    name: test.name,
    contract: contract.name,
    ...(test.file === undefined ? {} : { file: test.file }),
    passed:
      differences.length === 0 &&
      calls.every(({ unmatched, leftOver, leftOverAllowed }) => unmatched.length === 0 && leftOver.length <= leftOverAllowed),
    problems: [],
    calls,
    callsExpected: test.calls.length,
    differences,
    ...(outcome === undefined ? {} : { outcome }),
  };
}

/** A test that could not run, as a result: it failed, and its problems say why. */
export function unrunTest(
  test: { readonly name: string; readonly contract: string; readonly file?: string },
  problems: readonly Problem[],
): TestResult {
  return { ...test, passed: false, problems, calls: [], callsExpected: 0, differences: [] };
}

/** The call, failed and emptied when the canary is anywhere in it: a report must not carry it on. */
function withoutCanary(call: CallResult): CallResult {
  if (!JSON.stringify(call).includes(CANARY_SECRET)) return call;
  const leak: Difference = { at: 'credential', expected: 'in no output', got: 'in the outcome or a request outside its header' };
  return { ...call, outcome: { status: call.outcome.status, warnings: [], omitted: [] }, unmatched: [], differences: [leak] };
}
