/**
 * Goal: how a sidecar refuses to start, how it stops and how it crashes, as the one who runs it sees it: exit code, a sentence
 * with its cure, log lines. Method: the program as a process; signals and ports are real.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { connect } from '#core/runtime/grpc-client.ts';
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from '#proto/health/v1/health_pb.ts';
import { contractFile } from '#test/flow/contract-file.ts';
import { sendJson, startUpstream } from '#test/flow/stage.ts';
import { program, runPostern } from './run-postern.ts';

const CONTRACTS = contractFile({
  'get-item': `
  summary: Read item $(args.id)
  arguments: {type: object, additionalProperties: false, required: [id], properties: {id: {type: string, enum: [one, two]}}}
  http: {credential: reader, method: GET, url: "UPSTREAM/items/$(args.id)"}
  result: {object: /, as: item, fields: [{name: id}]}
  completeness: {scope: {resource: one item, visibility: all, absence: Never}, limits: {time: 20s}}`,
});
const NOBODY = CONTRACTS.replaceAll('UPSTREAM', 'http://127.0.0.1:9');

const directory = mkdtempSync(join(tmpdir(), 'postern-start-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const good = file('contracts.yaml', NOBODY);

const defaults = ['--credentials', directory, '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0'];

/** Of flags given twice the later one counts. */
function start(flags: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return runPostern(['sidecar', '--contracts', good, ...defaults, ...flags], env);
}

test('sidecar: refuses an environment that changes what it trusts, naming the variable and not its value', async () => {
  const { code, err } = await start([], {
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
    HTTPS_PROXY: 'http://user:hunter2@proxy.example:3128',
  });
  assert.equal(code, 2);
  assert.match(err, /NODE_TLS_REJECT_UNAUTHORIZED/);
  assert.match(err, /HTTPS_PROXY/);
  assert.doesNotMatch(err, /hunter2/);
});

test('sidecar: refuses contracts with problems, all at once, each with file, path and cure', async () => {
  const bad = file('bad.yaml', NOBODY.replace('effect: Read', 'effect: Raed').replace('$(args.id)"', '$(args.ib)"'));
  const { code, err } = await runPostern(['sidecar', '--contracts', bad, '--credentials', directory]);
  assert.equal(code, 2);
  assert.match(err, /bad\.yaml:\d+: spec\.effect: /);
  assert.match(err, /nearest: id/);
  assert.match(err, /cure: /);
  assert.doesNotMatch(err, /\n {4}at /);
});

test('sidecar: a taken port ends the start with the flag that moves it, and leaves nothing serving', async () => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const taken = `127.0.0.1:${(holder.address() as AddressInfo).port}`;
  for (const flag of ['--listen', '--admin-listen']) {
    const { code, err } = await start([flag, taken]);
    assert.equal(code, 2);
    assert(err.includes(`${taken}: another process listens there`), err);
    assert(err.includes(` with ${flag};`), err);
    assert.doesNotMatch(err, /\n {4}at /);
  }
  holder.close();
});

test('sidecar: a folder it cannot use ends the start with the flag, and no byte of a key', async () => {
  const plain = file('plain', '');
  const states = ['{"session":"s","current":"c2hvcnQ="}', '{"session', '[]'].map((text, index) => {
    const state = join(directory, `state-${index}`);
    mkdirSync(state);
    writeFileSync(join(state, 'session.json'), text);
    return state;
  });
  for (const state of [plain, '/proc/postern', join(directory, 'no', 'parent'), ...states]) {
    const { code, err } = await start(['--state', state]);
    assert.equal(code, 2);
    assert(err.includes(state) && err.includes('--state'), err);
    assert.doesNotMatch(err, /\n {4}at |c2hv/);
  }
  const { code, err } = await start(['--credentials', join(directory, 'nowhere')]);
  assert.equal(code, 2);
  assert.match(err, /no folder .*nowhere with credentials\n {2}.*--credentials/);
});

/** Its process ends with the test, whatever the test finds. */
interface Served extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly lines: readonly Record<string, unknown>[];
  /** Resolves with the first log line of this message. */
  logged(message: string): Promise<Record<string, unknown>>;
  /** Resolves with the exit code. */
  readonly exit: Promise<number>;
}

function serve(flags: readonly string[], main = program): Served {
  const child = spawn(process.execPath, [main, 'sidecar', ...defaults, ...flags], { env: {}, stdio: ['ignore', 'ignore', 'pipe'] });
  const lines: Record<string, unknown>[] = [];
  const log = new EventEmitter();
  const exit = once(child, 'close').then(([code]) => code);
  createInterface({ input: child.stderr }).on('line', (line) => {
    lines.push(JSON.parse(line));
    log.emit('line');
  });
  return {
    child,
    lines,
    exit,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL');
      await exit;
    },
    async logged(message) {
      for (;;) {
        const found = lines.find((line) => line.message === message);
        if (found !== undefined) return found;
        await Promise.race([once(log, 'line'), exit.then((code) => assert.fail(`ended with ${code} before it logged "${message}"`))]);
      }
    },
  };
}

/** A remote whose answers wait for `release`. */
async function startHolding() {
  let asked = () => {};
  const first = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const held: (() => void)[] = [];
  const upstream = await startUpstream((_request, response) => {
    held.push(() => sendJson(response, 200, { id: 'one' }));
    asked();
  });
  const contracts = file('held.yaml', CONTRACTS.replaceAll('UPSTREAM', `http://127.0.0.1:${upstream.port}`));
  mkdirSync(join(directory, 'postern-flow'), { recursive: true });
  writeFileSync(join(directory, 'postern-flow', 'token'), 'stop-token-0123456789');
  return {
    flags: ['--contracts', contracts, '--allow-loopback', '--log-level', 'info'],
    asked: first,
    release: () => {
      for (const answer of held) answer();
    },
    [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
  };
}

test('sidecar: told to stop, it first says so, lets a running call end, and exits 0', async () => {
  await using upstream = await startHolding();
  await using sidecar = serve(upstream.flags);
  const { address } = await sidecar.logged('serving');
  const call = runPostern(['call', 'get_item', '{"id":"one"}', '--address', String(address)]);
  await Promise.race([upstream.asked, call.then(({ err }) => assert.fail(`ended before the remote was asked: ${err}`))]);
  const watcher = connect(String(address));
  const seen: ServingStatus[] = [];
  for await (const { status } of watcher.client(Health).watch({})) {
    seen.push(status);
    if (status === ServingStatus.SERVING) sidecar.child.kill('SIGTERM');
  }
  watcher.close();
  assert.deepEqual(seen, [ServingStatus.SERVING, ServingStatus.NOT_SERVING]);
  assert.equal((await sidecar.logged('stopping')).count, 1);
  upstream.release();
  assert.equal((await call).code, 0);
  assert.equal(await sidecar.exit, 0);
  const messages = sidecar.lines.map(({ message }) => message);
  assert.deepEqual(messages.slice(2), ['serving', 'stopping', 'call answered', 'stopped']);
});

test('sidecar: a second signal, also another one, ends it at once', async () => {
  await using upstream = await startHolding();
  await using sidecar = serve(upstream.flags);
  const { address } = await sidecar.logged('serving');
  const call = runPostern(['call', 'get_item', '{"id":"one"}', '--address', String(address)]);
  await Promise.race([upstream.asked, call.then(({ err }) => assert.fail(`ended before the remote was asked: ${err}`))]);
  sidecar.child.kill('SIGTERM');
  await sidecar.logged('stopping');
  sidecar.child.kill('SIGINT');
  assert.equal(await sidecar.exit, 130);
  assert.notEqual((await call).code, 0);
});

test('sidecar: a fault nobody caught is the last line of the log, without its message, and exits 1', async () => {
  const main = file(
    'faulty.mjs',
    `import { runCli } from ${JSON.stringify(new URL('main.ts', pathToFileURL(program)).href)};
process.on('SIGUSR2', () => { throw new TypeError('it failed on the-token-0123456789'); });
await runCli(process.argv);`,
  );
  await using sidecar = serve(['--contracts', good], main);
  await sidecar.logged('serving');
  sidecar.child.kill('SIGUSR2');
  assert.equal(await sidecar.exit, 1);
  const last = sidecar.lines.at(-1);
  assert.equal(last?.level, 'error');
  assert.equal(last?.error_name, 'TypeError');
  assert.doesNotMatch(JSON.stringify(sidecar.lines), /the-token/);
});

test('sidecar: warns at its start of credential files that are not there and of loopback it will refuse', async () => {
  const empty = mkdtempSync(join(directory, 'no-credentials-'));
  const child = spawn(process.execPath, [program, 'sidecar', '--contracts', good, ...defaults, '--credentials', empty], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  for await (const line of createInterface({ input: child.stderr })) {
    lines.push(line);
    if (line.includes('"message":"serving"')) break;
  }
  child.kill('SIGTERM');
  await once(child, 'exit');
  const warned = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'warn');
  assert.deepEqual(
    warned.map(({ message, object }) => [message, object]),
    [
      ['missing credential file', 'postern-flow/token'],
      ['loopback is refused without --allow-loopback', undefined],
      ['nothing is recorded: no recipient of the audit is named', undefined],
    ],
  );
});

test('sidecar: flags of an audit that cannot be are refused with the cure', async () => {
  const files = ['sidecar', '--contracts', good, ...defaults];
  const recipient = 'age1wda04qpkgs0hx5f33d8ah0jnfqnmp5hzxffdc2zf9jl24pnw35ms44rnjx';
  const state = mkdtempSync(join(directory, 'audit-state-'));
  const cases = [
    [['--audit-recipient', recipient], '--audit-recipient needs --state'],
    [['--state', state, '--audit', state], 'an audit needs somebody who can read it'],
    [['--state', state, '--audit-recipient', 'age1none'], 'a recipient of the audit cannot be used'],
    [['--state', state, '--audit-recipient', recipient, '--audit-store', 'ftp://x'], '--audit-store'],
  ] as const;
  for (const [flags, expected] of cases) {
    const { code, err: stderr } = await runPostern([...files, ...flags]);
    assert.equal(code, 2, expected);
    assert.ok(stderr.includes(expected), stderr);
  }
});
