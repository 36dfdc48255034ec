/**
 * Objects as files below a folder: each is whole or not there, whatever stops the process or the machine, and never replaced.
 *
 *   aside file (new, O_EXCL) ─▶ bytes ─▶ fsync ─▶ link(2) to its name ─▶ fsync of the folder ─▶ created ─▶ aside file removed
 *                                                  └─ taken: equal bytes are `present`, others `occupied`
 *
 * link(2) and not rename(2): rename replaces what is there. A crash before the link leaves an aside file, which the next one removes; a crash
 * behind it a whole object. Aside files begin with a dot, as no object does.
 *
 * Not trusted: what stands below the folder. A symbolic link in it is never followed.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, opendir, readdir, realpath, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { isObjectName } from '#core/audit/object-name.ts';
import { type Creation, type NewObject, type ObjectStore, StoreFault } from '#core/audit/object-store.ts';

const ASIDE = /^\.[0-9a-f-]{36}\.new$/;
const REFUSALS = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG', 'EINVAL']);
const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_WRONLY, O_NONBLOCK } = constants;

export interface FileObjects extends ObjectStore, AsyncDisposable {
  /** Nothing to warn of: whoever may write in a folder may delete in it, and that is known of a folder. */
  probe(): Promise<readonly []>;
}

/** Folders are made with mode 0700 as they are needed, files with 0600. */
export function createFileObjects(folder: string): FileObjects {
  const root = resolve(folder);
  const ready = new Set<string>();
  return {
    create: (object) => guarded(() => createObject(root, ready, object)),
    read: (name, bytesMax) => guarded(() => readObject(root, name, bytesMax)),
    list: (below) => listObjects(root, below),
    probe: async () => {
      await guarded(() => makeFolders(root, '.'));
      return [];
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

async function createObject(root: string, ready: Set<string>, { name, bytes }: NewObject): Promise<Creation> {
  if (!isObjectName(name) || name.split('/').some((part) => part.startsWith('.')))
    throw new StoreFault('refused', 'An object has no name that can be a file: parts between / that do not begin with a dot.');
  const path = join(root, name);
  const parent = dirname(path);
  await makeFolders(root, dirname(name));
  if (!ready.has(parent)) {
    await settle(root, parent);
    ready.add(parent);
  }
  const aside = join(parent, `.${randomUUID()}.new`);
  try {
    await writeAside(aside, bytes);
    return (await linkNew(aside, path)) ? await keepName(parent, path) : await samePresent(parent, path, bytes);
  } finally {
    await unlink(aside).catch(() => {});
  }
}

/** Durable before it has a name anybody looks for. */
async function writeAside(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW, 0o600);
  try {
    await file.writeFile(bytes);
    // A full disk has been seen to take less and report nothing (AUD-08).
    if ((await file.stat()).size !== bytes.length)
      throw new StoreFault('unavailable', 'The disk of the store took less than it was given.');
    await file.sync();
  } finally {
    await file.close();
  }
}

/** False where the name is taken. */
async function linkNew(aside: string, path: string): Promise<boolean> {
  try {
    await link(aside, path);
    return true;
  } catch (error) {
    switch (codeOf(error)) {
      case 'EEXIST':
        return false;
      case 'EPERM':
      case 'ENOTSUP':
      case 'EOPNOTSUPP':
      case 'ENOSYS':
        throw new StoreFault(
          'unsafe',
          'The file system of the store knows no hard links, without which a file could be replaced; use another.',
          error,
        );
      default:
        throw error;
    }
  }
}

/**
 * A name whose folder could not be synced is taken back: a later sync may succeed without having written it (AUD-10), and then the object
 * would be called present and be gone after a power cut.
 */
async function keepName(parent: string, path: string): Promise<Creation> {
  try {
    await syncFolder(parent);
    return 'created';
  } catch (error) {
    await unlink(path).catch(() => {});
    throw error;
  }
}

/** Somebody else's file may not be durable yet. */
async function samePresent(parent: string, path: string, bytes: Uint8Array): Promise<Creation> {
  await using file = await openObject(path);
  const same = file !== undefined && (await file.stat()).size === bytes.length && (await readWhole(file, bytes.length)).equals(bytes);
  if (!same)
    throw new StoreFault('occupied', 'The store has other bytes under the name of an object; keep both and find out who wrote them.');
  await file.sync();
  await syncFolder(parent);
  return 'present';
}

async function readObject(root: string, name: string, bytesMax: number): Promise<Buffer | undefined> {
  if (!isObjectName(name)) throw new StoreFault('refused', 'That is no name of an object: parts between /, none of them . or .. .');
  const path = join(root, name);
  if (!(await inside(root, dirname(path)))) return undefined;
  await using file = await openObject(path);
  if (file === undefined) return undefined;
  const { size } = await file.stat();
  if (size > bytesMax) throw new StoreFault('too-large', `An object of the store is longer than the ${bytesMax} bytes that are taken.`);
  return readWhole(file, size);
}

/** In the order of the names as bytes, as S3 lists them; one folder at a time in memory. */
async function* listObjects(root: string, below: string): AsyncGenerator<{ readonly name: string; readonly bytes: number }> {
  if (below !== '' && !(below.endsWith('/') && isObjectName(below.slice(0, -1))))
    throw new StoreFault('refused', 'That is no folder of a store: parts between / and one at its end.');
  const folder = resolve(root, below);
  if (!(await guarded(() => inside(root, folder)))) return;
  const entries = await guarded(() => readdir(folder, { withFileTypes: true }));
  const names = entries
    .filter((entry) => (entry.isFile() || entry.isDirectory()) && isObjectName(entry.name) && !entry.name.startsWith('.'))
    .map((entry) => (entry.isDirectory() ? `${entry.name}/` : entry.name));
  for (const name of names.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))) {
    if (name.endsWith('/')) yield* listObjects(root, `${below}${name}`);
    else yield { name: `${below}${name}`, bytes: (await guarded(() => lstat(join(folder, name)))).size };
  }
}

/** Undefined where there is none. A link, a folder or a device is none that may be read. */
async function openObject(path: string): Promise<FileHandle | undefined> {
  try {
    // Without O_NONBLOCK a named pipe would hold this process until somebody writes to it.
    const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if ((await file.stat()).isFile()) return file;
    await file.close();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (codeOf(error) !== 'ELOOP') throw error;
  }
  throw new StoreFault('refused', 'A name in the store is no plain file; links are not followed.');
}

async function readWhole(file: FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const { bytesRead } = await file.read(bytes, at, size - at, at);
    if (bytesRead === 0) throw new StoreFault('unavailable', 'A file of the store became shorter while it was read.');
    at += bytesRead;
  }
  return bytes;
}

/** False where it is not there. Throws where a link leads elsewhere. */
async function inside(root: string, folder: string): Promise<boolean> {
  try {
    const [realRoot, real] = [await realpath(root), await realpath(folder)];
    if (real === join(realRoot, folder.slice(root.length))) return true;
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return false;
    throw error;
  }
  throw new StoreFault('refused', 'A folder in the store is a link; links are not followed.');
}

/** Made one by one, so that nothing is made behind a link. */
async function makeFolders(root: string, below: string): Promise<void> {
  await mkdir(root, { recursive: true, mode: 0o700 });
  let folder = root;
  for (const part of below === '.' ? [] : below.split('/')) {
    folder = join(folder, part);
    try {
      await mkdir(folder, 0o700);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      if (!(await lstat(folder)).isDirectory())
        throw new StoreFault('refused', 'A folder in the store is a link or a file; links are not followed.');
    }
  }
}

/**
 * Once a folder and process: what a crash left aside is removed, and the folders above are durable before anything in it is called so
 * (AUD-13): who made them may have been stopped before it synced them.
 */
async function settle(root: string, folder: string): Promise<void> {
  for await (const { name } of await opendir(folder)) {
    // One that another process is writing goes, too: its link then fails, and it tries again.
    if (ASIDE.test(name)) await unlink(join(folder, name)).catch(() => {});
  }
  for (let above = folder; above !== root; above = dirname(above)) await syncFolder(dirname(above));
  for (let above = root; above !== dirname(above); above = dirname(above)) {
    await syncFolder(dirname(above)).catch((error: unknown) => {
      // Folders of somebody else may not be ours to open; they were there before.
      if (codeOf(error) !== 'EACCES') throw error;
    });
  }
}

async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, O_RDONLY);
  await handle.sync();
}

async function guarded<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof StoreFault) throw error;
    const code = codeOf(error);
    if (code === undefined) throw error;
    if (REFUSALS.has(code))
      throw new StoreFault(
        'refused',
        `The folder of the store cannot be used (${code}): check that it is a folder this process may write in.`,
        error,
      );
    throw new StoreFault('unavailable', `The folder of the store does not work at the moment (${code}).`, error);
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
