/** What a run needs before anything is measured: Go programs, bundles, the Python environment, the files of the sidecar. */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { buildBundle, warmCache } from '#build.ts';

const run = promisify(execFile);
const HERE = import.meta.dirname;
const FASTMCP = '4.2.3';

export interface Prepared {
  readonly scratch: string;
  readonly upstream: string;
  readonly loadgen: string;
  /** The sidecar as it is shipped, and the compile cache beside it. */
  readonly postern: string;
  readonly cache: string;
  /** Bundled as the sidecar is, so that no peer pays for reading many files. */
  readonly peer: (name: 'grpc' | 'mcp-sdk' | 'direct' | 'write') => string;
  readonly python: string;
}

export async function prepare(scratch: string, withPython: boolean): Promise<Prepared> {
  const programs = join(scratch, 'bin');
  mkdirSync(programs, { recursive: true });
  const go = run('go', ['build', '-o', programs, './...'], { cwd: join(HERE, 'go') });
  const peers = build({
    entryPoints: ['grpc', 'mcp-sdk', 'direct', 'write'].map((name) => join(HERE, 'peers', `${name}.ts`)),
    outdir: join(scratch, 'peers'),
    outExtension: { '.js': '.cjs' },
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minifyWhitespace: true,
    minifySyntax: true,
    logLevel: 'error',
  });
  const postern = await buildBundle(join(scratch, 'postern'));
  const cache = join(scratch, 'postern', 'compile-cache');
  await Promise.all([go, peers, warmCache(postern, cache)]);
  return {
    scratch,
    upstream: join(programs, 'upstream'),
    loadgen: join(programs, 'loadgen'),
    postern,
    cache,
    peer: (name) => join(scratch, 'peers', `${name}.cjs`),
    python: withPython ? await pythonEnvironment() : '',
  };
}

/** Contract and credential of the sidecar. Returns its arguments. */
export function sidecarFiles(scratch: string, upstreamPort: number, token: string): readonly string[] {
  const contracts = join(scratch, 'contract.yaml');
  const secret = join(scratch, 'credentials', 'postern-bench');
  mkdirSync(secret, { recursive: true });
  writeFileSync(join(secret, 'token'), token, { mode: 0o600 });
  writeFileSync(contracts, readFileSync(join(HERE, 'contract.yaml'), 'utf8').replaceAll('18080', String(upstreamPort)));
  return ['--contracts', contracts, '--credentials', join(scratch, 'credentials'), '--allow-loopback'];
}

/** Made once, outside the tree. */
async function pythonEnvironment(): Promise<string> {
  const home = join(homedir(), '.cache', 'postern', 'bench', `fastmcp-${FASTMCP}`);
  const python = join(home, 'bin', 'python');
  const complete = join(home, 'complete');
  if (existsSync(complete)) return python;
  await run('python3', ['-m', 'venv', '--clear', home]);
  await run(python, ['-m', 'pip', 'install', '--quiet', `fastmcp==${FASTMCP}`]);
  writeFileSync(complete, '');
  return python;
}
