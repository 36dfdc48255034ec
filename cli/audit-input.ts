/** Files a person names on the command line of `postern audit`: bounded, and every failure with its cure. */
import { open } from 'node:fs/promises';
import { visibleText } from '#core/encoding/visible-text.ts';
import { UsageError } from './report-failure.ts';

/** Whole, up to `bytesMax`. Throws UsageError. */
export async function readShortFile(path: string, bytesMax: number): Promise<Buffer> {
  const bytes = await readBounded(path, bytesMax);
  if (bytes === undefined) throw new UsageError(`${visibleText(path)} is longer than ${bytesMax} bytes.`, 'Name the file that was meant.');
  return bytes;
}

/** Undefined for a longer one, of which no more than that is read. Throws UsageError. */
export async function readBounded(path: string, bytesMax: number): Promise<Buffer | undefined> {
  try {
    const file = await open(path, 'r');
    try {
      const size = Math.min((await file.stat()).size, bytesMax);
      // One byte more than it should have: so that one that grows, or is no file, is met as well.
      const bytes = Buffer.allocUnsafe(size + 1);
      let length = 0;
      for (let got = -1; got !== 0 && length < bytes.length; length += got)
        got = (await file.read(bytes, length, bytes.length - length, length)).bytesRead;
      return length > size ? undefined : bytes.subarray(0, length);
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

export function unreadable(path: string, cause: unknown): UsageError {
  const { code } = cause as { readonly code?: unknown };
  if (code === 'ENOENT') return new UsageError(`There is no ${visibleText(path)}.`, 'Name a file or folder that is there.');
  if (code === 'EACCES' || code === 'EPERM') return new UsageError(`${visibleText(path)} may not be read.`, 'Ask its owner for the right.');
  return new UsageError(
    `${visibleText(path)} cannot be read${typeof code === 'string' ? ` (${code})` : ''}.`,
    'Name a file that can be read.',
  );
}
