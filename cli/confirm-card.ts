/** Asking a person whether the card above may run. The yes is about that card, by its digest. */
import { createInterface } from 'node:readline/promises';
import { UsageError } from './report-failure.ts';

export interface ConfirmOptions {
  readonly yes?: boolean;
  readonly cardDigest?: string;
}

/** Throws UsageError where nobody can be asked. */
export async function confirmCard(cardDigest: string, { yes, cardDigest: seen }: ConfirmOptions): Promise<boolean> {
  if (seen !== undefined && seen !== cardDigest)
    throw new UsageError('the card is another one than --card-digest says', 'Read it again: it is printed above.');
  if (yes === true || seen !== undefined) return true;
  if (!process.stdin.isTTY)
    throw new UsageError(
      'standard input is no terminal, so nobody can be asked',
      'Read the card above, then give --card-digest with its digest; --yes approves whatever it says.',
    );
  const line = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await line.question('\nLet exactly this run? [y/N] ')).trim());
  } finally {
    line.close();
  }
}
