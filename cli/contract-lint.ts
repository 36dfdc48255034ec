/** `postern contract lint`: every problem of the files at once, and what becomes of each contract. */
import { Command, Option } from 'commander';
import type { CompiledContract } from '#core/contract/compiled.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { type CompiledFiles, compileFiles } from './compile-files.ts';
import { readContractFiles } from './contract-files.ts';
import type { ContractIo } from './contract-io.ts';
import { countProblems, plural, renderProblem, sortProblems } from './render-problems.ts';

const DAY_MS = 86_400_000;
const EXPIRY_DAYS = 30;

export function lintCommand(io: ContractIo): Command {
  return new Command('lint')
    .description('Print every problem of contract files: file:line, path, code, cure. Exits 1 on an error.')
    .argument('<file...>', 'contract files, or directories with contract files below them')
    .addOption(new Option('-o, --output <form>', 'text or json').choices(['text', 'json']).default('text'))
    .option('--strict', 'exit 1 on warnings too')
    .addHelpText('after', EXAMPLES)
    .action((paths: string[], options: { output: 'text' | 'json'; strict?: true }) => {
      const compiled = compileFiles(readContractFiles(paths), io.clock.wallMs());
      const problems = sortProblems(compiled.problems);
      const report: LintReport = { problems, contracts: compiled.contracts.map(verdict), expiring: expiring(compiled, io.clock.wallMs()) };
      io.out(options.output === 'json' ? JSON.stringify(report, null, 2) : renderText(report, compiled));
      const failed = options.strict ? problems.length > 0 : problems.some(({ severity }) => severity === 'error');
      io.exit(failed ? 1 : 0);
    });
}

/** The form of `-o json`. */
interface LintReport {
  readonly problems: CompiledFiles['problems'];
  readonly contracts: readonly ContractVerdict[];
  readonly expiring: readonly ExpiringWarning[];
}

interface ContractVerdict {
  readonly name: string;
  readonly action: string;
  readonly best: CompiledContract['best'];
  readonly ready: boolean;
  /** Why a call answers CONTRACT_NOT_READY or SESSION_SUSPENDED. */
  readonly not_ready?: string;
  readonly revision: string;
  readonly presets: readonly string[];
}

interface ExpiringWarning {
  readonly contract: string;
  readonly warning: string;
  readonly owner: string;
  readonly expires: string;
}

function verdict(contract: CompiledContract): ContractVerdict {
  const why = contract.suspended !== undefined ? `suspended: ${contract.suspended.because}` : contract.notReady;
  return {
    name: contract.name,
    action: contract.action,
    best: contract.best,
    ready: why === undefined,
    ...(why === undefined ? {} : { not_ready: why }),
    revision: contract.revision,
    presets: contract.presets.map(({ name }) => name),
  };
}

/** Warnings that expire in the next 30 days, and those that have expired. */
function expiring({ contracts }: CompiledFiles, nowMs: number): readonly ExpiringWarning[] {
  const all = contracts.flatMap((contract) =>
    Object.values(contract.warnings).map(({ name, owner, expires }) => ({ contract: contract.name, warning: name, owner, expires })),
  );
  return all
    .filter(({ expires }) => Date.parse(expires) < nowMs + EXPIRY_DAYS * DAY_MS)
    .sort((a, b) => (a.expires < b.expires ? -1 : Number(a.expires > b.expires)));
}

function renderText({ problems, contracts, expiring: soon }: LintReport, { read }: CompiledFiles): string {
  const verdicts = contracts.map(
    ({ name, best, not_ready }) =>
      `${name}: best: ${BEST[best]}${not_ready === undefined ? '' : `; CONTRACT_NOT_READY: ${visibleText(not_ready)}`}`,
  );
  const expires = soon.map(
    ({ contract, warning, owner, expires: day }) => `  ${day}  ${contract}: warning ${visibleText(warning)} (owner ${visibleText(owner)})`,
  );
  const counts = `${plural(read.files.length, 'file')}, ${plural(contracts.length, 'contract')} compiled; ${countProblems(problems)}`;
  const sections = [
    problems.map(renderProblem),
    verdicts,
    soon.length === 0 ? [] : [`Expires within ${EXPIRY_DAYS} days:`, ...expires],
    [counts],
  ];
  return sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n');
}

const EXAMPLES = `
Examples:
  postern contract lint contracts/
  postern contract lint contracts/issues.yaml bindings.yaml --strict
  postern contract lint contracts/ -o json | jq '.problems[].code'

Each finding is one line, with the nearest existing name and the cure below it:
  contracts/issues.yaml:14: spec.http.query.since: slot-unknown-name: $(args.sinse) names nothing; there are: repository, since.
      nearest: since
      cure: ...

best: the most complete an answer of the contract can be: Complete, SinglePage (only if it fits one page) or Partial (never provable).
Exit codes: 0 no errors, 1 errors (with --strict also warnings), 2 wrong usage.`;

/** What would make it better, where something would. */
const BEST: Readonly<Record<CompiledContract['best'], string>> = {
  Complete: 'Complete',
  SinglePage: 'SinglePage (several pages have no common basis; state completeness.consistency)',
  Partial: 'Partial (a rule makes every answer incomplete)',
};
