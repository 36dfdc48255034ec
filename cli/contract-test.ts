/** `postern contract test`: recorded exchanges against contracts, without a network. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Command } from 'commander';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { RuleCoverage } from '#sidecar/contract-test/coverage.ts';
import { junitXml } from '#sidecar/contract-test/junit.ts';
import { reportFailure } from '#sidecar/contract-test/report.ts';
import { type ContractCoverage, coverContracts, runContractTests } from '#sidecar/contract-test/run-contract-test.ts';
import type { TestResult } from '#sidecar/contract-test/run-test.ts';
import { ofKind, readContractFiles } from './contract-files.ts';
import type { ContractIo } from './contract-io.ts';
import { renderProblem, sortProblems } from './render-problems.ts';
import { UsageError } from './report-failure.ts';

interface Options {
  readonly junit?: string;
  readonly coverage?: true;
  readonly requireCoverage?: true;
}

export function testCommand(io: ContractIo): Command {
  return new Command('test')
    .description('Replay recorded exchanges (kind ContractTest) against contracts and compare the outcome. Exits 1 when a test fails.')
    .argument('<file...>', 'files with ContractTest, ActionContract and CredentialBinding objects, or directories')
    .option('--junit <file>', 'also write the results as JUnit XML')
    .option('--coverage', 'tell which rules of each contract its tests depend on')
    .option('--require-coverage', 'as --coverage, and fail when a rule is not needed by any test')
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], options: Options) => io.exit((await runTests(paths, options, io)) ? 0 : 1));
}

/** Whether all is well. */
async function runTests(paths: readonly string[], options: Options, io: ContractIo): Promise<boolean> {
  const read = readContractFiles(paths);
  for (const problem of sortProblems(read.problems)) io.err(renderProblem(problem));
  const tests = ofKind(read, 'ContractTest');
  if (tests.length === 0) {
    throw new UsageError(
      `No ContractTest is in ${paths.join(', ')}.`,
      'Name the files that hold the tests; docs/contract-test.md shows how to write one.',
    );
  }
  const objects = {
    contracts: ofKind(read, 'ActionContract'),
    bindings: ofKind(read, 'CredentialBinding'),
    presets: ofKind(read, 'ContractPreset'),
    tests,
  };
  const results = await runContractTests(objects);
  for (const result of results) renderResult(result, io);
  const failed = results.filter(({ passed }) => !passed).length;
  io.out(`${results.length - failed} passed, ${failed} failed`);
  if (options.junit !== undefined) writeReport(options.junit, junitXml(results));
  const covered = await reportCoverage(objects, options, io);
  return failed === 0 && covered && read.problems.every(({ severity }) => severity === 'warning');
}

/** False when coverage is required and a rule is not needed. */
async function reportCoverage(objects: Parameters<typeof coverContracts>[0], options: Options, io: ContractIo): Promise<boolean> {
  if (options.coverage === undefined && options.requireCoverage === undefined) return true;
  const coverage = await coverContracts(objects);
  for (const one of coverage) renderCoverage(one, io);
  return options.requireCoverage === undefined || coverage.every(({ rules }) => rules.every(({ state }) => state === 'needed'));
}

function renderResult(result: TestResult, io: ContractIo): void {
  const { name, contract, file, passed } = result;
  if (passed) {
    io.out(`ok    ${contract}  ${name}`);
    return;
  }
  io.out(`FAIL  ${visibleText(contract)}  ${name}${file === undefined ? '' : `  (${file})`}`);
  for (const line of reportFailure(result)) io.out(`      ${line}`);
}

function renderCoverage({ contract, rules }: ContractCoverage, io: ContractIo): void {
  const needed = rules.filter(({ state }) => state === 'needed').length;
  io.out(`\ncoverage of ${contract}: ${needed} of ${rules.length} rules are needed by a test`);
  for (const rule of rules) io.out(`  ${WORDS[rule.state].padEnd(8)} ${rule.kind.padEnd(9)} ${visibleText(rule.name)}${because(rule)}`);
}

const WORDS: Readonly<Record<RuleCoverage['state'], string>> = { needed: 'needed', matched: 'MATCHED', unused: 'UNUSED' };

/** Rules that are met or not; the others are asked of every answer. */
const CONDITIONS: ReadonlySet<RuleCoverage['kind']> = new Set(['outcome', 'signal', 'notice']);

function because(rule: RuleCoverage): string {
  if (rule.state === 'needed') return rule.test === undefined ? '' : `  (by ${rule.test})`;
  if (rule.state === 'matched') return '  (a recording meets it, but no test fails without it)';
  return CONDITIONS.has(rule.kind) ? '  (no recording meets it)' : '  (no recording in which it makes a difference)';
}

function writeReport(file: string, text: string): void {
  try {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } catch (fault) {
    throw new UsageError(
      `${file} cannot be written${fault instanceof Error && 'code' in fault ? ` (${String(fault.code)})` : ''}.`,
      'Name a file in a directory you may write to.',
    );
  }
}

const EXAMPLES = `
Examples:
  postern contract test contracts/
  postern contract test contracts/issues.yaml tests/issues.yaml --junit reports/contracts.xml
  postern contract test contracts/ --coverage

Nothing is called: the recording answers, the clock is the test's, the credential is a made-up one.
How to write and record a test: docs/contract-test.md.
Exit codes: 0 all passed, 1 a test failed or could not run, 2 wrong usage or no test found.`;
