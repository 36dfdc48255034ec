/** `postern audit verify`: whether a chain is whole, as far as it can be known without a key to its contents and without a network. */
import { Command } from 'commander';

export interface VerifyOptions {
  readonly head: readonly string[];
  readonly key: readonly string[];
  readonly json?: boolean;
}

export function auditVerifyCommand(): Command {
  const collect = (value: string, before: readonly string[]) => [...before, value];
  return new Command('verify')
    .description(
      'Check a chain: nothing changed, taken out or put in; with --key who answers for it; with --head whether its end is there.',
    )
    .argument('<path...>', 'segment files, folders, s3://bucket/prefix')
    .option(
      '--head <note>',
      'a head from elsewhere: checkpoint, receipt or object of heads/; a file, or the note itself (repeatable)',
      collect,
      [],
    )
    .option('--key <key>', 'verifier key of the authority; a file, or the key itself (repeatable)', collect, [])
    .option('--json', 'the verdict as JSON')
    .action(async (paths: string[], options: VerifyOptions) => {
      const { verifyPaths } = await import('./audit-verify-paths.ts');
      await verifyPaths(paths, options);
    });
}
