/**
 * Builds the server programs of `programs.ts` from Go modules, each once, into a cache outside the
 * tree: `<cache>/<name>-<digest>/<name>`, where the digest covers go.mod, go.sum and the flags, so a
 * changed version is a new folder and an old one is never wrong.
 *
 * - `KUBEBUILDER_ASSETS` (the envtest convention) comes first: what is there is not built.
 * - `POSTERN_SERVERS_CACHE` moves the cache; its default is `~/.cache/postern/servers`.
 * - Several processes may ask at once: one builds under a lock, and a finished folder appears by
 *   rename, so nobody ever sees half a program.
 *
 * By hand: `node test/servers/build.ts [name...]` (all without a name).
 */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { acquireLock } from './lock.ts';
import { isProgramName, type ProgramName, programNames, programs } from './programs.ts';

const minimumGo = 21; // From Go 1.21 on, `go` fetches the toolchain a go.mod asks for by itself.
const progressEveryMs = 30_000;
const moduleRoot = join(import.meta.dirname, 'go');

/** Why a program cannot be had here, with the cure. */
export class ServerUnavailable extends Error {
  override readonly name = 'ServerUnavailable';
}

/** Absolute path of a program, built first when it is not there. @throws {ServerUnavailable} */
export async function programPath(name: ProgramName): Promise<string> {
  const asset = await findAsset(name);
  if (asset !== undefined) return asset;
  const folder = join(cacheRoot(), `${name}-${await digestOf(name)}`);
  const path = join(folder, name);
  if (await exists(path)) return path;
  await requireGo(name);
  await mkdir(cacheRoot(), { recursive: true });
  // One lock a family: its programs share most packages, which two builds at once would compile twice.
  const family = programs[name].family;
  await using _lock = await acquireLock(join(cacheRoot(), `${family}.lock`), () =>
    progress(`waiting for another process that builds ${family}`),
  );
  if (!(await exists(path))) await build(name, folder);
  return path;
}

/**
 * For `{ skip: await unavailable(...) }`: builds what is missing, and says why when that fails.
 * With `CI` set it always answers false, so that there the test fails instead of vanishing.
 */
export async function unavailable(...names: readonly ProgramName[]): Promise<string | false> {
  if (process.env.CI) return false;
  for (const name of names) {
    try {
      await programPath(name);
    } catch (error) {
      if (error instanceof ServerUnavailable) return error.message;
      throw error;
    }
  }
  return false;
}

async function findAsset(name: ProgramName): Promise<string | undefined> {
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (!assets || !programs[name].asset) return undefined;
  const path = join(assets, name);
  return (await exists(path)) ? path : undefined;
}

function cacheRoot(): string {
  const own = process.env.POSTERN_SERVERS_CACHE;
  if (own) return own;
  return join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'postern', 'servers');
}

async function digestOf(name: ProgramName): Promise<string> {
  const { family, package: pkg, ldflags } = programs[name];
  const hash = createHash('sha256').update(`${pkg}\n${ldflags}\n`);
  for (const file of ['go.mod', 'go.sum']) hash.update(await readFile(join(moduleRoot, family, file)));
  return hash.digest('hex').slice(0, 16);
}

async function requireGo(name: ProgramName): Promise<void> {
  const cure =
    'Put Go 1.26 on the PATH (any Go from 1.21 on fetches it by itself)' +
    (programs[name].asset ? ', or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver.' : '.');
  let version: string;
  try {
    // `local` asks this very program, before any switch of toolchain.
    const answer = await promisify(execFile)('go', ['version'], {
      env: { ...process.env, GOTOOLCHAIN: 'local' },
    });
    version = answer.stdout;
  } catch (cause) {
    throw new ServerUnavailable(`${name} cannot be built: no working \`go\` command. ${cure}`, { cause });
  }
  const minor = Number(/go1\.(\d+)/.exec(version)?.[1] ?? 0);
  if (minor < minimumGo) {
    throw new ServerUnavailable(`${name} cannot be built with ${version.trim()}. ${cure}`);
  }
}

async function build(name: ProgramName, folder: string): Promise<void> {
  const { family, package: pkg, ldflags, coldBuildSeconds } = programs[name];
  const started = performance.now();
  const elapsed = () => `${Math.round((performance.now() - started) / 1000)} s`;
  progress(`building ${name} (once; about ${coldBuildSeconds} s on two cores)`);
  const timer = setInterval(() => progress(`still building ${name}, ${elapsed()}`), progressEveryMs);
  const scratch = `${folder}.${process.pid}`;
  try {
    await sweep(folder);
    await mkdir(scratch, { recursive: true });
    const flags = ['-trimpath', '-mod=readonly', '-buildvcs=false', '-ldflags', `-s -w ${ldflags}`.trim()];
    await runGo(name, ['build', ...flags, '-o', join(scratch, name), pkg], join(moduleRoot, family));
    await publish(scratch, folder);
  } finally {
    clearInterval(timer);
    await rm(scratch, { recursive: true, force: true });
  }
  const megabytes = Math.round((await stat(join(folder, name))).size / 1e6);
  progress(`built ${name} in ${elapsed()} (${megabytes} MB)`);
}

// What a killed build left; whoever holds the lock is alone here.
async function sweep(folder: string): Promise<void> {
  for (const entry of await readdir(dirname(folder))) {
    if (!entry.startsWith(`${basename(folder)}.`)) continue;
    await rm(join(dirname(folder), entry), { recursive: true, force: true });
  }
}

async function publish(scratch: string, folder: string): Promise<void> {
  try {
    await rename(scratch, folder);
  } catch (error) {
    // Another process was first (see lock.ts): its program is as good, and may already be running.
    const code = (error as NodeJS.ErrnoException).code;
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

function runGo(name: ProgramName, args: readonly string[], cwd: string): Promise<void> {
  // `auto` lets an older Go fetch the one the go.mod names; CGO off, so that no C compiler is needed.
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOTOOLCHAIN: 'auto' };
  return new Promise((resolve, reject) => {
    const child = spawn('go', args, { cwd, env, stdio: ['ignore', 'ignore', 'pipe'] });
    let tail = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      tail = (tail + text).slice(-4000);
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new ServerUnavailable(`${name} cannot be built: \`go build\` failed.\n${tail}`));
    });
  });
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function progress(text: string): void {
  process.stderr.write(`servers: ${text}\n`);
}

async function main(): Promise<void> {
  const named = process.argv.slice(2);
  const wanted = named.length > 0 ? named : programNames;
  for (const name of wanted) {
    if (!isProgramName(name)) {
      throw new ServerUnavailable(`No program "${name}"; there are ${programNames.join(', ')}.`);
    }
    process.stdout.write(`${name} ${await programPath(name)}\n`);
  }
}

if (import.meta.main) {
  main().catch((error: unknown) => {
    process.stderr.write(`${error instanceof ServerUnavailable ? error.message : String(error)}\n`);
    process.exitCode = 1;
  });
}
