/** The mounted CA, read whole: the kubelet swaps all files at once, and half of the old beside half of the new would be no pair. */
import { open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { limits } from '#core/bounds/limits.ts';
import { AUTHORITY_SLOTS, AuthorityError } from './authority.ts';

/** Contents by file name; files that are not there are left out. Throws AuthorityError. */
export async function readAuthorityFolder(folder: string): Promise<Readonly<Record<string, string>>> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const generation = await generationOf(folder);
    const files = await readFiles(generation === undefined ? folder : join(folder, generation));
    if (generation === (await generationOf(folder))) return files;
  }
  throw new AuthorityError('The folder of the CA changes while it is read: see whether something rewrites the Secret.');
}

const ATTEMPTS = 5;

/** The kubelet's `..data` points at a folder whose files never change; other folders have none. */
async function generationOf(folder: string): Promise<string | undefined> {
  return readlink(join(folder, '..data')).catch(() => undefined);
}

async function readFiles(folder: string): Promise<Record<string, string>> {
  const files: Record<string, string> = {};
  for (const name of AUTHORITY_SLOTS.flatMap((slot) => [`${slot}.crt`, `${slot}.key`])) {
    const text = await readSmall(join(folder, name), name);
    if (text !== undefined) files[name] = text;
  }
  return files;
}

async function readSmall(path: string, name: string): Promise<string | undefined> {
  let file: Awaited<ReturnType<typeof open>>;
  try {
    file = await open(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new AuthorityError(`${name} cannot be opened: mount the Secret so that the operator may read it.`);
  }
  try {
    const buffer = Buffer.alloc(limits.authorityFileBytesMax + 1);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    if (bytesRead > limits.authorityFileBytesMax) throw new AuthorityError(`${name} is longer than any certificate: restore the Secret.`);
    return buffer.toString('utf8', 0, bytesRead);
  } catch (error) {
    if (error instanceof AuthorityError) throw error;
    // A folder of that name, a disk that fails: what was read before goes on being served, and the next look tries again.
    throw new AuthorityError(`${name} cannot be read: mount the Secret so that the operator may read it.`);
  } finally {
    await file.close();
  }
}
