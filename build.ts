/**
 * `node build.ts [--out DIR] [--warm DIR]`: the whole program in one CommonJS file, `dist/postern.cjs`.
 *
 * One file starts twice as fast as the sources and needs no node_modules. Modules that are imported dynamically stay
 * functions in it and run when they are asked for, so a sidecar does not pay for the contract tools. White space goes,
 * because V8 reads all of it at every start; names stay, so that a stack can be read without the map.
 *
 * `--warm DIR` also runs the bundle once with NODE_COMPILE_CACHE=DIR, a folder below that of the bundle (a sidecar takes no
 * other, because compiled code is code). The cache holds for this Node, these flags, this
 * user id and this path of the bundle; anything else makes a start slower and never wrong.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import { connect } from '#core/runtime/grpc-client.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';

const ROOT = import.meta.dirname;
const ENTRY = "import { runCli } from '#cli/main.ts';\nvoid runCli(process.argv);\n";

/** Flags of the image (Dockerfile): small heaps keep memory low, and no signal opens the inspector. */
export const NODE_FLAGS = ['--disable-sigusr1', '--max-semi-space-size=4', '--max-old-space-size=96'] as const;

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { out: { type: 'string' }, warm: { type: 'string' } } });
  const bundle = await buildBundle(values.out ?? join(ROOT, 'dist'));
  console.log(`${bundle}: ${(statSync(bundle).size / 1e6).toFixed(1)} MB`);
  if (values.warm !== undefined) await warmCache(bundle, values.warm);
}

/** Writes the bundle, its source map and the licences of what is in it. Returns the path of the bundle. */
export async function buildBundle(directory: string): Promise<string> {
  const outfile = join(directory, 'postern.cjs');
  await build({
    stdin: { contents: ENTRY, resolveDir: ROOT, sourcefile: 'postern.ts', loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minifyWhitespace: true,
    minifySyntax: true,
    sourcemap: 'linked',
    legalComments: 'linked',
    // Compiled parts that ssh2 does without: they are not installed, and no image has a compiler.
    external: ['cpu-features', '*.node'],
    logLevel: 'warning',
  });
  return outfile;
}

/** Serves one read from the bundle, so that the cache holds the functions a sidecar runs. */
export async function warmCache(bundle: string, directory: string): Promise<void> {
  const token = 'of-no-meaning';
  const upstream = createServer((_request, response) => response.setHeader('content-type', 'application/json').end('{"items":[{"id":1}]}'));
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve));
  const address = upstream.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const scratch = mkdtempSync(join(tmpdir(), 'postern-warm-'));
  try {
    mkdirSync(join(scratch, 'credentials', 'postern-warm'), { recursive: true });
    writeFileSync(join(scratch, 'credentials', 'postern-warm', 'token'), token);
    writeFileSync(join(scratch, 'contracts.yaml'), contracts(port));
    await serveOnce(bundle, scratch, directory);
  } finally {
    upstream.close();
    rmSync(scratch, { recursive: true });
  }
}

async function serveOnce(bundle: string, scratch: string, cache: string): Promise<void> {
  const flags = ['--contracts', join(scratch, 'contracts.yaml'), '--credentials', join(scratch, 'credentials'), '--allow-loopback'];
  const ports = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, [...NODE_FLAGS, bundle, 'sidecar', ...flags, ...ports], {
    env: { NODE_COMPILE_CACHE: cache },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  try {
    const connection = connect(await servingAddress(child.stderr));
    for await (const _ of connection.client(ActionService).execute({ action: 'warm_up' })) {
      // The answer itself does not matter: what ran is what the cache keeps.
    }
    connection.close();
  } finally {
    // Not a kill: the cache is written at the end of the process.
    child.kill('SIGTERM');
    await ended;
  }
}

async function servingAddress(log: NodeJS.ReadableStream): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: log })) {
    lines.push(line);
    if (line.includes('"message":"serving"')) return (JSON.parse(line) as { address: string }).address;
  }
  throw new Error(`the bundle does not serve:\n${lines.join('\n')}`);
}

const contracts = (port: number) => `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: warm, namespace: build}
spec:
  owner: build
  secret: {name: postern-warm}
  contracts: [warm-up]
  destinations: [{origin: "http://127.0.0.1:${port}", transport: Plaintext, addresses: [127.0.0.1/32]}]
  use: {bearer: {key: token}}
---
apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: warm-up, namespace: build}
spec:
  action: warm_up
  summary: Read the items of the upstream that fills the cache
  owner: build
  effect: Read
  callers: [{serviceAccount: build}]
  credentials: [warm]
  arguments: {type: object, additionalProperties: false, properties: {}}
  http: {credential: warm, method: GET, url: "http://127.0.0.1:${port}/items"}
  result: {items: [/items], as: items, id: [/id], fields: [{name: id}]}
  completeness:
    paging: {mode: SingleResponse}
    signals: [{name: none, when: "body.items.size() == 0", reason: SOURCE_UNAVAILABLE}]
    limits: {items: 1000, time: 10s}
    scope: {resource: items, visibility: all, absence: Provable}
`;

if (import.meta.main) await main();
