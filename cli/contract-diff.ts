/** `postern contract diff`: what an agent can newly reach, and which approvals, cursors and evidence a change voids. */
import { Command, Option } from 'commander';
import { type ContractSet, diffContracts, renderDiff } from '#core/contract/diff.ts';
import { withShippedPresets } from '#core/contract/shipped-presets.ts';
import { type ContractFiles, ofKind, readContractFiles } from './contract-files.ts';
import type { ContractIo } from './contract-io.ts';
import { renderProblem, sortProblems } from './render-problems.ts';

export function diffCommand(io: ContractIo): Command {
  return new Command('diff')
    .description('Compare two states of contract files and name every authority that widened. Exits 1 when one did.')
    .argument('<old>', 'a contract file or directory: what is in force')
    .argument('<new>', 'a contract file or directory: what would be')
    .addOption(new Option('-o, --output <form>', 'text or json').choices(['text', 'json']).default('text'))
    .addHelpText('after', EXAMPLES)
    .action((before: string, after: string, options: { readonly output: 'text' | 'json' }) => {
      const [old, next] = [readContractFiles([before]), readContractFiles([after])];
      const diff = diffContracts(setOf(old), setOf(next), io.clock.wallMs());
      io.out(options.output === 'json' ? JSON.stringify(diff, null, 2) : renderDiff(diff));
      const broken = sortProblems([...old.problems, ...next.problems, ...diff.problems]).filter(({ severity }) => severity === 'error');
      for (const problem of broken) io.err(renderProblem(problem));
      io.exit(broken.length > 0 || diff.changes.some(({ direction }) => direction === 'widened') ? 1 : 0);
    });
}

function setOf(read: ContractFiles): ContractSet {
  return {
    contracts: ofKind(read, 'ActionContract'),
    bindings: ofKind(read, 'CredentialBinding'),
    presets: withShippedPresets(ofKind(read, 'ContractPreset')),
  };
}

const EXAMPLES = `
Examples:
  postern contract diff main/contracts contracts
  postern contract diff old.yaml new.yaml -o json | jq '.changes[] | select(.direction == "widened")'

widened: an agent, a credential or a caller gets what it did not have. narrowed: the reverse. changed: neither can be told; read it.
Exit codes: 0 nothing widened, 1 something did or a file has errors, 2 wrong usage.`;
