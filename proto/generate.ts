/**
 * Writes proto/gen from our own .proto files and from those of google.rpc, gRPC health and gRPC reflection, which
 * are read out of pinned npm packages and not copied into this repository.
 *
 *     node proto/generate.ts           lints, then writes
 *     node proto/generate.ts --check   lints, writes nothing; exits 1 when a file differs
 */
import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const GENERATED = join(ROOT, 'proto/gen');
const BIN = join(ROOT, 'node_modules/.bin');

/** Root of the import paths, and the files taken from it; none named means all. */
const SOURCES: readonly { readonly root: string; readonly files: readonly string[] }[] = [
  { root: 'proto', files: [] },
  { root: 'node_modules/google-proto-files', files: ['google/rpc/status.proto', 'google/rpc/error_details.proto'] },
  { root: 'node_modules/grpc-health-check/proto', files: ['health/v1/health.proto'] },
  {
    root: 'node_modules/@grpc/reflection/build/proto',
    files: ['grpc/reflection/v1/reflection.proto'],
  },
];

async function main(check: boolean): Promise<void> {
  buf(['lint', 'proto']);
  const fresh = await mkdtemp(join(tmpdir(), 'postern-proto-'));
  try {
    for (const { root, files } of SOURCES) {
      buf([
        'generate',
        root,
        '--template',
        'proto/buf.gen.yaml',
        '--output',
        fresh,
        ...files.flatMap((file) => ['--path', join(root, file)]),
      ]);
    }
    if (check) await compare(fresh);
    else {
      await rm(GENERATED, { recursive: true, force: true });
      await cp(fresh, GENERATED, { recursive: true });
    }
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

function buf(args: readonly string[]): void {
  const path = `${BIN}${delimiter}${process.env.PATH ?? ''}`;
  const { status, error } = spawnSync(join(BIN, 'buf'), args, {
    cwd: ROOT,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: path },
  });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
}

async function compare(fresh: string): Promise<void> {
  const stale: string[] = [];
  const [expected, found] = await Promise.all([filesIn(fresh), filesIn(GENERATED)]);
  for (const name of new Set([...expected, ...found])) {
    const same =
      expected.includes(name) &&
      found.includes(name) &&
      (await readFile(join(fresh, name), 'utf8')) === (await readFile(join(GENERATED, name), 'utf8'));
    if (!same) stale.push(name);
  }
  for (const name of stale) console.error(`proto/gen/${name} is not what the .proto files give: run \`npm run generate\``);
  if (stale.length > 0) process.exitCode = 1;
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

await main(process.argv.includes('--check'));
