/**
 * Container images made on the spot, because a test must not depend on a registry: buildah writes OCI archives into
 * `~/.cache/postern/images/<name>-<key>/`, where the key covers everything an image is made of. A second run finds them.
 * `POSTERN_IMAGES_CACHE` moves the cache.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { acquireLock } from './lock.ts';

const run = promisify(execFile);
const outputMax = 64 * 1024 * 1024;
/** Older archives of one image are removed beyond this many. */
const kept = 3;
/** The store of layers is begun anew beyond this many, some gigabytes. */
const layersMax = 80;

export interface Image {
  /** `postern.test/<name>:current`. */
  readonly tag: string;
  /** `postern.test/<name>@sha256:...`, as a pod names it. */
  readonly reference: string;
  readonly digest: string;
  /** Path of the OCI archive. */
  readonly archive: string;
}

/** Runs buildah and returns what it printed, trimmed. */
export type Buildah = (...args: readonly string[]) => Promise<string>;

export function imagesCache(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  return process.env.POSTERN_IMAGES_CACHE || join(cache, 'postern', 'images');
}

/** Digest over the parts, and over names and contents of the files, which may be below a folder that does not count. */
export async function keyOf(parts: readonly string[], files: readonly string[] = [], folder = '/'): Promise<string> {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part}\0`);
  for (const file of files)
    hash
      .update(`${file}\0`)
      .update(await readFile(join(folder, file)))
      .update('\0');
  return hash.digest('hex').slice(0, 16);
}

/** The image of that name and key. `build` makes it in buildah's store, tagged as it is told, when the cache has none. */
export async function cachedImage(name: string, key: string, build: (buildah: Buildah, tag: string) => Promise<void>): Promise<Image> {
  const folder = join(imagesCache(), `${name}-${key}`);
  const tag = `postern.test/${name}:current`;
  const found = await readImage(folder, name, tag);
  if (found !== undefined) return found;
  await mkdir(imagesCache(), { recursive: true });
  await using _lock = await acquireLock(join(imagesCache(), 'lock'), () =>
    process.stderr.write('images: waiting for another process that builds images\n'),
  );
  const meanwhile = await readImage(folder, name, tag);
  if (meanwhile !== undefined) return meanwhile;
  const started = performance.now();
  await using place = await openStore();
  await build(place.buildah, tag);
  const scratch = `${folder}.${process.pid}`;
  try {
    await mkdir(scratch, { recursive: true });
    const digest = ['--digestfile', join(scratch, 'digest')];
    await place.buildah('push', '--quiet', '--disable-compression', ...digest, tag, `oci-archive:${join(scratch, 'image.tar')}:${tag}`);
    await removeOld(name);
    await rename(scratch, folder);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
  process.stderr.write(`images: built ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s\n`);
  return (await readImage(folder, name, tag)) as Image;
}

async function readImage(folder: string, name: string, tag: string): Promise<Image | undefined> {
  const digest = await readFile(join(folder, 'digest'), 'utf8').catch(() => undefined);
  if (digest === undefined) return undefined;
  return { tag, reference: `postern.test/${name}@${digest.trim()}`, digest: digest.trim(), archive: join(folder, 'image.tar') };
}

async function removeOld(name: string): Promise<void> {
  const folders = (await readdir(imagesCache())).filter((entry) => new RegExp(`^${name}-[0-9a-f]{16}$`).test(entry));
  for (const folder of folders.slice(0, Math.max(0, folders.length - kept))) {
    await rm(join(imagesCache(), folder), { recursive: true, force: true });
  }
}

/** Layers stay in the cache, so that a step whose inputs are the same is not run again; mounts and locks are of this build alone. */
async function openStore(): Promise<AsyncDisposable & { readonly buildah: Buildah }> {
  const runtime = await mkdtemp(join(tmpdir(), 'postern-buildah-'));
  const layers = join(imagesCache(), 'layers');
  const count = (await readdir(join(layers, 'overlay')).catch(() => [])).length;
  if (count > layersMax) await rm(layers, { recursive: true, force: true });
  const env = { ...process.env, BUILDAH_ISOLATION: 'chroot', STORAGE_DRIVER: 'overlay' };
  const store = ['--root', layers, '--runroot', runtime];
  const buildah = async (...args: readonly string[]) => {
    try {
      return (await run('buildah', [...store, ...args], { env, maxBuffer: outputMax })).stdout.trim();
    } catch (error) {
      const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
      throw new Error(`buildah ${args[0]} failed: ${`${stdout}\n${stderr}`.slice(-4000)}`, { cause: error });
    }
  };
  await buildah('rm', '--all'); // What a build that failed has left; the lock says that nobody uses it.
  return { buildah, [Symbol.asyncDispose]: () => rm(runtime, { recursive: true, force: true }) };
}
