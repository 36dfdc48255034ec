/** `postern contract escape`: hostile arguments against contracts, judged by the bytes that really leave. */
import { Command, InvalidArgumentError } from 'commander';
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import { nearestName } from '#core/contract/nearest.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { type EscapeFinding, type EscapeReport, escapeContract } from '#sidecar/contract-test/escape.ts';
import { type CompiledFiles, compileFiles } from './compile-files.ts';
import { ofKind, readContractFiles } from './contract-files.ts';
import type { ContractIo } from './contract-io.ts';
import { plural, renderProblem, sortProblems } from './render-problems.ts';
import { UsageError } from './report-failure.ts';

interface Options {
  readonly runs: number;
  readonly seed: number;
  readonly action?: string;
}

/** `fire`: production's, unless a test wants to see what is printed of a bad encoder. */
export function escapeCommand(io: ContractIo, fire: typeof escapeContract = escapeContract): Command {
  return new Command('escape')
    .description('Fire hostile inputs at every argument slot through the real client and inspect the request. Exits 1 when one escapes.')
    .argument('<file...>', 'contract files, or directories with contract files below them')
    .option('--runs <n>', 'random inputs for each contract, besides the fixed ones', wholeNumber, 200)
    .option('--seed <n>', 'repeat a run: equal seeds fire equal inputs', wholeNumber, 1)
    .option('--action <name>', 'only this action')
    .addHelpText('after', EXAMPLES)
    .action(async (paths: string[], options: Options) => {
      const compiled = compileFiles(readContractFiles(paths), io.clock.wallMs());
      const errors = sortProblems(compiled.problems).filter(({ severity }) => severity === 'error');
      for (const problem of errors) io.err(renderProblem(problem));
      let bad = errors.length > 0;
      for (const contract of chosen(compiled, options.action, paths)) {
        if (contract.target.kind !== 'http') {
          io.out(`${contract.name}: skipped, it is not reached over HTTP`);
          continue;
        }
        const base = knownArguments(compiled, contract);
        const report = await fire({
          contract,
          bindings: compiled.bindings,
          runs: options.runs,
          seed: options.seed,
          ...(base === undefined ? {} : { base }),
        });
        bad = renderReport(report, io) || bad;
      }
      io.exit(bad ? 1 : 0);
    });
}

function chosen({ contracts }: CompiledFiles, action: string | undefined, paths: readonly string[]): readonly CompiledContract[] {
  if (contracts.length === 0)
    throw new UsageError(`No contract in ${paths.join(', ')} compiles.`, 'Run postern contract lint and mend what it names.');
  if (action === undefined) return contracts;
  const found = contracts.filter((contract) => contract.action === action || contract.name === action);
  if (found.length > 0) return found;
  const names = contracts.map((contract) => contract.action);
  const nearest = nearestName(action, names);
  throw new UsageError(
    `No contract defines the action ${action}.`,
    nearest === undefined ? `There are ${names.join(', ')}.` : `The nearest is ${nearest}.`,
  );
}

/** Arguments of a recorded test of the contract: good by somebody's word, which beats what a generator makes up. */
function knownArguments({ read }: CompiledFiles, contract: CompiledContract): JsonValue | undefined {
  return ofKind(read, 'ContractTest').find(({ spec }) => spec.contract === contract.name && spec.arguments !== undefined)?.spec.arguments;
}

/** Whether something is wrong. */
function renderReport(report: EscapeReport, io: ContractIo): boolean {
  const refused = Object.values(report.refused).reduce((sum, count) => sum + count, 0);
  io.out(
    `${report.contract}: ${plural(report.slots.length, 'slot')}, ${report.fired} fired, ${report.contained} stayed in their slot, ${refused} refused, ${report.escaped} escaped`,
  );
  const rules = Object.entries(report.refused).sort(([, a], [, b]) => b - a);
  if (rules.length > 0) io.out(`  refused by: ${rules.map(([rule, count]) => `${rule} ${count}`).join(', ')}`);
  for (const template of report.unreached) {
    io.out(
      `  NOT REACHED: no input reached ${template}, so nothing is proved about it; add a ContractTest with good arguments to the files`,
    );
  }
  for (const finding of report.findings) renderFinding(finding, io);
  if (report.escaped > report.findings.length) io.out(`  ... and ${report.escaped - report.findings.length} more like these`);
  return report.escaped > 0 || report.unreached.length > 0;
}

function renderFinding({ template, slot, aim, value, escapes, seen }: EscapeFinding, io: ContractIo): void {
  io.out(`  ESCAPED from ${slot} of ${template} (${aim}): ${visibleText(JSON.stringify(value), { chars: 200 })}`);
  for (const { where, what } of escapes) io.out(`    ${visibleText(where)}: ${visibleText(what)}`);
  if (seen !== '') io.out(`    the server saw: ${visibleText(seen, { chars: 400 })}`);
}

function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('Write a whole number from 0 to 9999999.');
  return Number(text);
}

const EXAMPLES = `
Examples:
  postern contract escape contracts/
  postern contract escape contracts/issues.yaml --action list_open_issues --runs 1000 --seed 7

The requests go to a loopback server that stands in for the contract's origin, over a plain connection, with a made-up credential.
What is looked at, and what is not: docs/contract-test.md.
Exit codes: 0 nothing escaped, 1 something did or a request could not be reached, 2 wrong usage.`;
