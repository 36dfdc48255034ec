/** What `postern audit verify` does with what it is given. */
import type { VerifyOptions } from './audit-verify.ts';

export async function verifyPaths(_paths: readonly string[], _options: VerifyOptions): Promise<void> {
  await Promise.resolve();
  throw new Error('not built yet');
}
