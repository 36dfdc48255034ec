/**
 * The images a node of the tests runs: the pause container, Postern as its Dockerfile builds it, and a hostile agent, which is
 * Postern's image with a shell. The base stands in for the public one: the Node of package.json and the libraries it loads.
 */
import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { chmod, copyFile, mkdir, mkdtemp, readdir, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Buildah, cachedImage, type Image, imagesCache, keyOf } from './image-store.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');
const busybox = '/usr/bin/busybox';
const certificates = '/etc/ssl/certs/ca-certificates.crt';
/** Of the build stage; npm does not come with the Node that runs the tests. */
const npm = 'npm@11.19.1';
const settings = ['Dockerfile', '.dockerignore', '.npmrc', 'package.json', 'package-lock.json', 'build.ts', 'tsconfig.json'];
const sources = [...settings, 'core', 'sidecar', 'operator', 'cli', 'proto', 'presets', 'crds'];
const commands = ['sh', 'cat', 'chmod', 'chown', 'cp', 'echo', 'env', 'find', 'grep', 'head', 'id', 'kill', 'ls', 'mkdir', 'mount'];
const moreCommands = ['nc', 'ps', 'rm', 'sleep', 'tail', 'test', 'touch', 'tr', 'true', 'wget'];

export interface Images {
  readonly pause: Image;
  readonly postern: Image;
  readonly agent: Image;
}

/** Every image, from the cache or built. One after the other: a later one stands on an earlier one. */
export async function buildImages(): Promise<Images> {
  const pause = await pauseImage();
  const postern = await posternImage();
  return { pause, postern, agent: await agentImage(postern) };
}

export async function pauseImage(): Promise<Image> {
  return cachedImage('pause', await keyOf(['pause 1'], [busybox]), async (buildah, tag) => {
    const container = await buildah('from', 'scratch');
    await buildah('copy', '--quiet', container, busybox, '/bin/busybox');
    await commit(buildah, container, tag, ['--entrypoint', '["/bin/busybox", "sleep", "2147483647"]']);
  });
}

/** Node and what it loads, nothing else; the image every other one here begins with. */
export async function baseImage(): Promise<Image> {
  const node = join(root, 'node_modules', 'node', 'bin', 'node');
  const { stdout } = await run('ldd', [node]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] as string);
  await using tree = await openTree();
  await tree.copy(node, '/nodejs/bin/node');
  for (const library of libraries) await tree.copy(library, library);
  await tree.copy(certificates, certificates);
  await tree.write('/etc/passwd', 'root:x:0:0::/:/bin/sh\nnonroot:x:65532:65532::/tmp:/bin/sh\n');
  await tree.write('/etc/group', 'root:x:0:\nnonroot:x:65532:\n');
  return await cachedImage('base', await keyOfTree('base 1', tree), async (buildah, tag) => {
    await mkdir(join(tree.folder, 'tmp'));
    await chmod(join(tree.folder, 'tmp'), 0o1777);
    const container = await buildah('from', 'scratch');
    await buildah('copy', '--quiet', container, tree.folder, '/');
    await commit(buildah, container, tag);
  });
}

/** What the build stage of the Dockerfile needs beside Node: a shell and npm. */
async function builderImage(base: Image): Promise<Image> {
  return cachedImage('builder', await keyOf(['builder 1', npm, base.digest], [busybox]), async (buildah, tag) => {
    await using tree = await openTree();
    await addShell(tree);
    const { stdout } = await run('npm', ['pack', '--silent', npm], { cwd: tree.folder });
    const archive = join(tree.folder, stdout.trim());
    await mkdir(join(tree.folder, 'opt'));
    await run('tar', ['-xzf', archive, '-C', join(tree.folder, 'opt')]);
    await rm(archive);
    await mkdir(join(tree.folder, 'usr/local/bin'), { recursive: true });
    await symlink('/nodejs/bin/node', join(tree.folder, 'usr/local/bin/node'));
    await tree.write('/usr/local/bin/npm', '#!/bin/sh\nexec node /opt/package/bin/npm-cli.js "$@"\n');
    await chmod(join(tree.folder, 'usr/local/bin/npm'), 0o755);
    const container = await from(buildah, base);
    await buildah('copy', '--quiet', container, tree.folder, '/');
    await buildah('config', '--env', 'PATH=/usr/local/bin:/bin', '--env', `NODE_EXTRA_CA_CERTS=${certificates}`, container);
    await commit(buildah, container, tag);
  });
}

/** The real Dockerfile on the base above. The registry that npm is set up for here is the one it uses there. */
export async function posternImage(): Promise<Image> {
  const base = await baseImage();
  const builder = await builderImage(base);
  // A copy, so that what is built is what the key covers, also while somebody edits.
  await using context = await openTree();
  for (const file of await sourceFiles()) await context.copy(join(root, file), file);
  const key = await keyOfTree(`postern 1 ${base.digest} ${builder.digest}`, context);
  return await cachedImage('postern', key, async (buildah, tag) => {
    await load(buildah, base);
    await load(buildah, builder);
    const bases = [`--build-arg=BASE_IMAGE=${base.tag}`, `--build-arg=BUILD_IMAGE=${builder.tag}`];
    await buildah('build', '--layers', '--pull-never', '--quiet', ...bases, ...(await npmSettings()), '--tag', tag, context.folder);
  });
}

async function sourceFiles(): Promise<readonly string[]> {
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard', '--', ...sources], { cwd: root });
  const files = stdout.split('\n').filter((file) => statSync(join(root, file), { throwIfNoEntry: false })?.isFile());
  return files.filter((file) => file !== '');
}

/** Postern's image with a shell and its command line tool: what an agent that has been taken over would wish for. */
export async function agentImage(postern: Image): Promise<Image> {
  return cachedImage('agent', await keyOf(['agent 1', postern.digest], [busybox]), async (buildah, tag) => {
    await using tree = await openTree();
    await addShell(tree);
    const container = await from(buildah, postern);
    await buildah('copy', '--quiet', container, tree.folder, '/');
    await buildah('config', '--env', 'PATH=/bin:/nodejs/bin', '--entrypoint', '[]', '--cmd', 'sleep 2147483647', container);
    await commit(buildah, container, tag);
  });
}

interface Tree extends AsyncDisposable {
  readonly folder: string;
  copy(from: string, to: string): Promise<void>;
  write(path: string, text: string): Promise<void>;
}

async function openTree(): Promise<Tree> {
  const folder = await mkdtemp(join(tmpdir(), 'postern-image-'));
  await chmod(folder, 0o755);
  const place = async (path: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    return join(folder, path);
  };
  return {
    folder,
    copy: async (source, path) => copyFile(await realpath(source), await place(path)),
    write: async (path, text) => writeFile(await place(path), text),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

async function keyOfTree(label: string, { folder }: Tree): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
  return keyOf([label], files.sort(), folder);
}

async function addShell(tree: Tree): Promise<void> {
  await tree.copy(busybox, '/bin/busybox');
  for (const command of [...commands, ...moreCommands]) await symlink('busybox', join(tree.folder, 'bin', command));
}

async function npmSettings(): Promise<readonly string[]> {
  const { stdout } = await run('npm', ['config', 'get', 'userconfig'], { cwd: root });
  const path = stdout.trim();
  const found = await realpath(path).catch(() => undefined);
  return found === undefined ? [] : ['--volume', `${found}:/.npmrc:ro`, '--volume', `${found}:/root/.npmrc:ro`];
}

async function from(buildah: Buildah, image: Image): Promise<string> {
  await load(buildah, image);
  return buildah('from', '--pull-never', image.tag);
}

/** The archive may be older than the store of layers, or the store may have been emptied. */
async function load(buildah: Buildah, image: Image): Promise<void> {
  await buildah('pull', '--quiet', `oci-archive:${image.archive}`);
}

async function commit(buildah: Buildah, container: string, tag: string, config: readonly string[] = []): Promise<void> {
  if (config.length > 0) await buildah('config', ...config, container);
  await buildah('commit', '--quiet', '--rm', container, tag);
}

if (import.meta.main) {
  for (const [name, image] of Object.entries(await buildImages())) console.log(name, basename(imagesCache()), image.reference);
}
