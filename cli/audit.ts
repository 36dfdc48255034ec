/** `postern audit`: what a person does with a chain of records - check it, read it, and show whose key answers for it. It asks no sidecar. */
import { Command } from 'commander';
import { auditKeyCommand } from './audit-key.ts';
import { auditReadCommand } from './audit-read.ts';
import { auditTailCommand } from './audit-tail.ts';
import { auditVerifyCommand } from './audit-verify.ts';

export function auditCommand(): Command {
  const command = new Command('audit').description('Check and read the audit chain: files, folders, a bucket. Nothing is changed.');
  for (const subcommand of [auditVerifyCommand(), auditReadCommand(), auditTailCommand(), auditKeyCommand()])
    command.addCommand(subcommand);
  return command.addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Examples:
  postern audit key state/audit-key > audit.pub
  postern audit verify state/audit-archive
  postern audit verify --key audit.pub --head receipt.note s3://audit/prod/triage
  postern audit read --identity auditor.key --view activity state/audit-archive
  postern audit tail --identity auditor.key state/audit`;
