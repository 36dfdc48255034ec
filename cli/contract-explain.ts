/** `postern contract explain`: the merged contract, each line with its origin. */
import { Command } from 'commander';
import { explainContract, renderExplanation } from '#core/contract/explain.ts';
import { nearestName } from '#core/contract/nearest.ts';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { withShippedPresets } from '#core/contract/shipped-presets.ts';
import { ofKind, readContractFiles } from './contract-files.ts';
import type { ContractIo } from './contract-io.ts';
import { renderProblem, sortProblems } from './render-problems.ts';
import { UsageError } from './report-failure.ts';

export function explainCommand(io: ContractIo): Command {
  return new Command('explain')
    .description('Print the whole contract as it runs - file, presets and defaults merged - with the origin of each line.')
    .argument('<file...>', 'contract files, or directories with contract files below them')
    .option('--action <name>', 'only this action')
    .addHelpText('after', EXAMPLES)
    .action((paths: string[], options: { readonly action?: string }) => {
      const read = readContractFiles(paths);
      const contracts = ofKind(read, 'ActionContract');
      const context = {
        bindings: ofKind(read, 'CredentialBinding'),
        presets: withShippedPresets(ofKind(read, 'ContractPreset')),
        contracts,
      };
      const explained = chosen(contracts, options.action, paths).map((contract) =>
        explainContract({ ...context, contract, nowMs: io.clock.wallMs() }),
      );
      io.out(explained.map(renderExplanation).join('\n\n'));
      const problems = sortProblems([...read.problems, ...explained.flatMap((one) => one.problems)]).filter(
        ({ severity }) => severity === 'error',
      );
      for (const problem of problems) io.err(renderProblem(problem));
      io.exit(problems.length > 0 ? 1 : 0);
    });
}

function chosen(contracts: readonly ResourceObject[], action: string | undefined, paths: readonly string[]): readonly ResourceObject[] {
  if (contracts.length === 0)
    throw new UsageError(`No ActionContract is in ${paths.join(', ')}.`, 'Name the files that hold the contracts.');
  if (action === undefined) return contracts;
  const found = contracts.filter(({ name, spec }) => spec.action === action || name === action);
  if (found.length > 0) return found;
  const names = contracts.map(({ name }) => name.replaceAll('-', '_'));
  const nearest = nearestName(action, names);
  throw new UsageError(
    `No contract defines the action ${action}.`,
    nearest === undefined ? `There are ${names.join(', ')}.` : `The nearest is ${nearest}.`,
  );
}

const EXAMPLES = `
Examples:
  postern contract explain contracts/issues.yaml
  postern contract explain contracts/ --action list_open_issues

Each line ends with where it comes from: the contract, a preset with its rule, or a default of Postern's.
Exit codes: 0 all compile, 1 a contract has errors (what could be merged is printed all the same), 2 wrong usage.`;
