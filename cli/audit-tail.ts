/** `postern audit tail`: new records of a chain as they come. */
import { Command, Option } from 'commander';

export interface TailOptions {
  readonly identity: readonly string[];
  readonly output: 'json' | 'table';
}

export function auditTailCommand(): Command {
  const collect = (value: string, before: readonly string[]) => [...before, value];
  return new Command('tail')
    .description('Follow a chain: print the records that come from now on, checked as they come, until Ctrl-C.')
    .argument('<folder>', 'the audit folder of a sidecar that runs, or the folder of one chain in an archive')
    .requiredOption('--identity <file>', 'key file of a recipient, as age-keygen writes it (repeatable)', collect, [])
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['json', 'table']).default('json'))
    .addHelpText(
      'after',
      '\nExamples:\n  postern audit tail --identity auditor.key state/audit\n\nExit codes: 0 ended by Ctrl-C, 1 the chain is broken, 2 wrong usage.',
    )
    .action(async (folder: string, options: TailOptions) => {
      const { followFolder } = await import('./audit-tail-folder.ts');
      await followFolder(folder, options);
    });
}
