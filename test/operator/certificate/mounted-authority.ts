/** Stands in for the kubelet: files of the CA in a folder, all swapped at once through `..data`, as a mounted Secret. */
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface MountedAuthority extends AsyncDisposable {
  readonly folder: string;
  mount(files: Readonly<Record<string, string>>): Promise<void>;
}

export async function mountedAuthority(files: Readonly<Record<string, string>> = {}): Promise<MountedAuthority> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-authority-'));
  const mount = async (contents: Readonly<Record<string, string>>) => {
    const generation = `..${randomBytes(4).toString('hex')}`;
    await mkdir(join(folder, generation));
    for (const [name, text] of Object.entries(contents)) await writeFile(join(folder, generation, name), text);
    await symlink(generation, join(folder, '..next'));
    await rename(join(folder, '..next'), join(folder, '..data'));
  };
  await mount(files);
  return { folder, mount, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}
