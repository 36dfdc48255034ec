/** `postern audit key`: the public half of a key file, for whoever checks a chain. The private half is never printed. */
import { Command } from 'commander';
import { parseSigner, verifierText } from '#core/audit/signed-note.ts';
import { limits } from '#core/bounds/limits.ts';
import { readShortFile } from './audit-input.ts';
import { UsageError } from './report-failure.ts';

export function auditKeyCommand(): Command {
  return new Command('key')
    .description('Print the verifier key of a key file.')
    .argument('<file>', 'a key file, as the sidecar makes it (audit-key)')
    .addHelpText('after', EXAMPLES)
    .action(printKey);
}

async function printKey(file: string): Promise<void> {
  const bytes = await readShortFile(file, limits.auditNoteBytesMax);
  const key = parseSigner(bytes.toString('latin1'));
  if (key === undefined)
    throw new UsageError(
      'This is no key file of an audit chain.',
      'It holds one line, PRIVATE+KEY+name+id+key; the sidecar makes it at its first start (--audit-key).',
    );
  process.stdout.write(`${verifierText(key)}\n`);
}

const EXAMPLES = `
Examples:
  postern audit key state/audit-key > audit.pub

Exit codes: 0 printed, 1 an error, 2 wrong usage.`;
