/**
 * Contract tests from objects as they are read from files: compile the contract, replay the recording, compare.
 * Presets that come with Postern are known; one given under the same name takes its place.
 */
import { compileBinding } from '#core/contract/binding.ts';
import { compileContract } from '#core/contract/compile.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { nearestName } from '#core/contract/nearest.ts';
import type { Problem } from '#core/contract/problem.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { withShippedPresets } from '#core/contract/shipped-presets.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { Remotes } from '#sidecar/execute/open-remotes.ts';
import { CanaryStore, replayedBinding } from './canary-credential.ts';
import type { ContractTest } from './contract-test.ts';
import { contractCoverage, type RuleCoverage, type TestRun } from './coverage.ts';
import { readContractTest } from './read-test.ts';
import type { RemotesMaker } from './replay-call.ts';
import { ReplayDestinations } from './replay-destinations.ts';
import { runCompiledTest, type TestResult, unrunTest } from './run-test.ts';

export interface ContractObjects {
  readonly contracts: readonly ResourceObject[];
  readonly bindings: readonly ResourceObject[];
  readonly presets: readonly ResourceObject[];
}

export interface ContractCoverage {
  readonly contract: string;
  readonly rules: readonly RuleCoverage[];
}

/**
 * All tests, in their order; each contract is compiled once. A contract that does not compile, and a test that cannot be read, are a failed
 * result with problems.
 */
export async function runContractTests(
  input: ContractObjects & { readonly tests: readonly ResourceObject[] },
): Promise<readonly TestResult[]> {
  const bench = new Bench(input);
  const results: TestResult[] = [];
  for (const object of input.tests) results.push(await bench.run(object));
  return results;
}

/** Which rules of each contract its passing tests depend on; contracts without a test are listed with all rules unused. */
export async function coverContracts(
  input: ContractObjects & { readonly tests: readonly ResourceObject[] },
): Promise<readonly ContractCoverage[]> {
  const bench = new Bench(input);
  const coverage: ContractCoverage[] = [];
  for (const object of input.contracts) {
    const ready = bench.contract(object.name, object);
    if ('problems' in ready || ready.contract.target.kind !== 'http') continue;
    const tests: TestRun[] = [];
    for (const candidate of input.tests) {
      const { test } = readContractTest(candidate);
      if (test?.contract === object.name && (await bench.passes(ready.contract, test))) {
        tests.push({ name: test.name, passes: (variant) => bench.passes(variant, test) });
      }
    }
    coverage.push({ contract: object.name, rules: await contractCoverage(ready.contract, tests) });
  }
  return coverage;
}

type Ready = { readonly contract: CompiledContract } | { readonly problems: readonly Problem[] };

class Bench {
  readonly #objects: ContractObjects;
  readonly #compiled = new Map<ResourceObject, Ready>();
  readonly #bindings: readonly CompiledBinding[];

  constructor(objects: ContractObjects) {
    this.#objects = { ...objects, presets: withShippedPresets(objects.presets) };
    this.#bindings = objects.bindings.flatMap((object) => compileBinding(object).binding ?? []).map(replayedBinding);
  }

  async run(object: ResourceObject): Promise<TestResult> {
    const { test, problems } = readContractTest(object);
    const named = {
      name: object.name,
      contract: test?.contract ?? '',
      ...(object.source === undefined ? {} : { file: object.source.file }),
    };
    if (test === undefined) return unrunTest(named, problems);
    const ready = this.contract(test.contract, object);
    if ('problems' in ready) return unrunTest(named, ready.problems);
    try {
      return await runCompiledTest(ready.contract, test, this.#remotes(ready.contract));
    } catch (fault) {
      // One test that finds a bug of ours must not hide the results of all the others.
      return unrunTest(named, [faultOf(object, fault)]);
    }
  }

  /** False also for a fault: a contract with a rule taken out may do what no compiled contract does. */
  async passes(contract: CompiledContract, test: ContractTest): Promise<boolean> {
    try {
      return (await runCompiledTest(contract, test, this.#remotes(contract))).passed;
    } catch {
      // The whole contract runs without faults, so this one is the missing rule's doing.
      return false;
    }
  }

  contract(name: string, askedBy?: ResourceObject): Ready {
    const named = this.#objects.contracts.filter((candidate) => candidate.name === name);
    // A test that names no namespace may stand beside a contract that does.
    const object = named.find((candidate) => candidate.namespace === askedBy?.namespace) ?? named[0];
    if (object === undefined) return { problems: [this.#unknown(name, askedBy)] };
    const known = this.#compiled.get(object);
    if (known !== undefined) return known;
    const { contracts, bindings, presets } = this.#objects;
    // Expiry of warnings is lint's business; a recording must not rot.
    const { contract, problems } = compileContract({ contract: object, bindings, presets, contracts, nowMs: 0 });
    const ready: Ready = contract === undefined ? { problems: problems.filter(({ severity }) => severity === 'error') } : { contract };
    this.#compiled.set(object, ready);
    return ready;
  }

  #unknown(name: string, askedBy: ResourceObject | undefined): Problem {
    const nearest = nearestName(
      name,
      this.#objects.contracts.map((object) => object.name),
    );
    const source = askedBy?.source;
    return {
      object: {
        kind: 'ContractTest',
        name: askedBy?.name ?? '',
        ...(source === undefined ? {} : { file: source.file, line: source.lineAt(['spec', 'contract']) }),
      },
      path: 'spec.contract',
      code: 'contract-unknown',
      severity: 'error',
      message: `No ActionContract named ${JSON.stringify(name)} is among the files.`,
      cure: nearest === undefined ? 'Name its file on the command line too.' : `Write ${nearest}, or name its file too.`,
      ...(nearest === undefined ? {} : { nearest }),
    };
  }

  #remotes(contract: CompiledContract): RemotesMaker {
    const { target } = contract;
    if (target.kind !== 'http') return () => notServed;
    return ({ transport, clock }) => {
      const means = {
        store: new CanaryStore(clock),
        destinations: new ReplayDestinations(transport, this.#bindings),
        clock,
        onAnomaly: () => {},
      };
      return new Remotes(this.#bindings, means).of(contract, target);
    };
  }
}

function faultOf({ kind, name, source }: ResourceObject, fault: unknown): Problem {
  const cause = fault instanceof PosternError ? (fault.cause ?? fault) : fault;
  return {
    object: { kind, name, ...(source === undefined ? {} : { file: source.file, line: source.lineAt(['spec']) }) },
    path: 'spec',
    code: 'internal-fault',
    severity: 'error',
    message: `Postern met a fault of its own while replaying: ${firstLines(cause)}`,
    cure: 'Report it together with this test and its contract.',
  };
}

function firstLines(cause: unknown): string {
  const text = cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
  const lines = text.split('\n').slice(0, 3);
  return lines.map((line) => line.trim()).join(' ');
}

function notServed(): never {
  throw new PosternError('CONTRACT_NOT_READY', 'Only HTTP contracts can be replayed.');
}
