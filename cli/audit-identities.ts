/** Key files of whoever reads: lines `AGE-SECRET-KEY-1...` with comments, as age-keygen writes them. Their text is never printed. */
import { stat } from 'node:fs/promises';
import { createFrameOpener, type FrameOpener, IdentityUnusable, identitiesOf } from '#core/audit/open.ts';
import { limits } from '#core/bounds/limits.ts';
import { visibleText } from '#core/encoding/visible-text.ts';
import { readShortFile } from './audit-input.ts';
import { UsageError } from './report-failure.ts';

/** Warns on standard error of a file that others may read. Throws UsageError. */
export async function openerOf(files: readonly string[]): Promise<FrameOpener> {
  const identities: string[] = [];
  for (const file of files) {
    const found = identitiesOf((await readShortFile(file, limits.auditIdentityFileBytesMax)).toString('latin1'));
    if (found.length === 0)
      throw new UsageError(`${visibleText(file)} holds no identity.`, 'Name the file that age-keygen wrote: a line AGE-SECRET-KEY-1...');
    identities.push(...found);
    await warnOfReaders(file);
  }
  if (identities.length > limits.auditIdentitiesMax)
    throw new UsageError(`More than ${limits.auditIdentitiesMax} identities.`, 'Name only those of the recipients of this chain.');
  try {
    return createFrameOpener(identities);
  } catch (thrown) {
    if (thrown instanceof IdentityUnusable) throw new UsageError(thrown.message, 'Nothing else stands in a key file but comments.');
    throw thrown;
  }
}

async function warnOfReaders(file: string): Promise<void> {
  const { mode } = await stat(file);
  if ((mode & 0o077) !== 0 && process.platform !== 'win32')
    process.stderr.write(`warning: others may read the key file ${visibleText(file)}; chmod 600 keeps it to you\n`);
}
