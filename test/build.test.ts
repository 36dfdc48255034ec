import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { sidecarFiles } from '#bench/prepare.ts';
import { buildBundle, NODE_FLAGS, warmCache } from '#build.ts';
import manifest from '#package.json' with { type: 'json' };
import { ed25519Key, exitWith, type FakeSshServer, startFakeSsh } from '#test/fakes/ssh-server.ts';

const run = promisify(execFile);
const TOKEN = 'a-token-of-the-build-test';
const ITEMS = [{ id: 7, name: 'seven', price: 1.5, tags: [], ok: true }];

describe('build', () => {
  let scratch = '';
  let bundle = '';
  const postern = (...args: string[]) => run(process.execPath, [bundle, ...args], { env: {} });

  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'postern-build-'));
    bundle = await buildBundle(scratch);
  });
  after(() => rmSync(scratch, { recursive: true, force: true }));

  it('build: the bundle stands alone and tells the version of the package', async () => {
    assert.equal((await postern('--version')).stdout.trim(), manifest.version);
  });

  it('build: the bundle lints contracts, and a wrong one fails it', async () => {
    const examples = join(import.meta.dirname, '..', 'examples', 'quickstart', 'contracts');
    const files = readdirSync(examples).map((file) => join(examples, file));
    await postern('contract', 'lint', ...files);
    await assert.rejects(postern('contract', 'lint', join(import.meta.dirname, '..', 'package.json')), { code: 1 });
  });

  it('build: the bundled sidecar answers a call with the flags of the image', async () => {
    await using upstream = await startUpstream();
    await using sidecar = await startBundle(bundle, sidecarFiles(scratch, upstream.port, TOKEN));
    const { stdout } = await postern('call', 'get_items', '{"id": "42"}', '-o', 'json', '--address', sidecar.address);
    const answer: { data: unknown; completeness: { complete: boolean } } = JSON.parse(stdout);
    assert.deepEqual(answer.data, { items: ITEMS });
    assert.equal(answer.completeness.complete, true);
  });

  it('build: the bundled sidecar runs a command over SSH', async () => {
    await using host = await startFakeSsh({ onCommand: ({ channel }) => exitWith(channel, 0, 'up 3 days\n') });
    await using sidecar = await startBundle(bundle, sshFiles(join(scratch, 'ssh'), host));
    const { stdout } = await postern('call', 'show_uptime', '{}', '-o', 'json', '--address', sidecar.address);
    const answer: { data: unknown } = JSON.parse(stdout);
    assert.deepEqual([answer.data, host.commands], [{ lines: [{ line: 'up 3 days' }] }, ["'uptime'"]]);
  });

  it('build: warming leaves a compile cache that a start takes', async () => {
    const cache = join(scratch, 'cache');
    await warmCache(bundle, cache);
    const { stdout, stderr } = await run(process.execPath, [...NODE_FLAGS, bundle, '--version'], {
      env: { NODE_COMPILE_CACHE: cache, NODE_DEBUG_NATIVE: 'COMPILE_CACHE' },
    });
    assert.match(stdout + stderr, /was accepted/);
  });

  it('build: the Dockerfile starts the bundle with the flags that are tested', () => {
    const dockerfile = readFileSync(join(import.meta.dirname, '..', 'Dockerfile'), 'utf8');
    const entry = /^ENTRYPOINT (.+)$/m.exec(dockerfile)?.[1] ?? '[]';
    assert.deepEqual(JSON.parse(entry).slice(1), [...NODE_FLAGS, '/postern/postern.cjs']);
  });
});

function sshFiles(folder: string, host: FakeSshServer): readonly string[] {
  mkdirSync(join(folder, 'credentials', 'postern-ssh'), { recursive: true });
  writeFileSync(join(folder, 'credentials', 'postern-ssh', 'key'), ed25519Key().privateKey);
  const place = `127.0.0.1:${host.port}`;
  writeFileSync(
    join(folder, 'contracts.yaml'),
    `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: hosts, namespace: ops}
spec:
  owner: team
  secret: {name: postern-ssh}
  contracts: [show-uptime]
  destinations: [{origin: "ssh://${place}", addresses: [127.0.0.1/32], hostKeys: ["${host.key.fingerprint}"]}]
  use: {sshKey: {user: reader, privateKeyKey: key}}
---
apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: show-uptime, namespace: ops}
spec:
  action: show_uptime
  summary: Show how long a host is up
  owner: team
  effect: Read
  readOnlyBecause: uptime changes nothing
  callers: [{serviceAccount: bot}]
  credentials: [hosts]
  arguments: {type: object, additionalProperties: false, required: [], properties: {}}
  ssh: {credential: hosts, host: "${place}", argv: [uptime], shell: Posix}
  result: {decoder: Lines, items: [/], as: lines, fields: [{name: line}]}
  completeness: {paging: {mode: SingleResponse}, scope: {resource: uptime, visibility: all, absence: Never}}
`,
  );
  return ['--contracts', join(folder, 'contracts.yaml'), '--credentials', join(folder, 'credentials'), '--allow-loopback'];
}

async function startUpstream() {
  const server = createServer((request, response) => {
    response.statusCode = request.headers.authorization === `Bearer ${TOKEN}` ? 200 : 401;
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ marker: 'UPSTREAM_OK', items: ITEMS }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return {
    port: address.port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function startBundle(bundle: string, files: readonly string[]) {
  const ports = ['--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];
  const child = spawn(process.execPath, [...NODE_FLAGS, bundle, 'sidecar', ...files, ...ports], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const dispose = () => ended(child);
  for await (const line of createInterface({ input: child.stderr })) {
    if (line.includes('"message":"serving"')) return { address: String(JSON.parse(line).address), [Symbol.asyncDispose]: dispose };
  }
  throw new Error('the bundled sidecar does not serve');
}

async function ended(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  await exited;
  assert.equal(child.exitCode, 0);
}
