/**
 * Goal: a credential is nowhere but on its own request (LEAK-01 to LEAK-13, LEAK-22). Method: every kind of credential is a
 * canary, every upstream sends it back in every way it can, and everything that comes out of the sidecar - bytes of replies,
 * trailers, log, metrics, files, the command line - is searched by code that shares nothing with the mask.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { ExecuteRequestSchema, GetOperationRequestSchema } from '#proto/postern/v1/action_pb.ts';
import { startTlsFront, type TlsFront } from '#test/servers/tls-front.ts';
import { type BindingName, bindingNames, canaryContracts, decoders } from './canary-contracts.ts';
import { type Canary, canariesIn } from './canary-search.ts';
import { formsOf, sendShape, shapeNames } from './echo-upstream.ts';
import { filesBelow, writableFiles } from './process-files.ts';
import { type RawCalls, rawCalls } from './raw-call.ts';
import { type Answer, type Stage, sendJson, startStage, startUpstream, type Upstream } from './stage.ts';

const PROGRAM = join(import.meta.dirname, '..', '..', 'cli', 'postern.mjs');

/** Marks of every encoder's taste; never twice the same. */
function secret(): string {
  const part = () => randomBytes(5).toString('hex');
  return `${part()}/${part()}+${part()}=~&"${part()}`;
}

type Slots = Readonly<Record<'token' | 'password' | 'issued' | 'user', string>>;

const slots = Object.fromEntries(
  bindingNames.map((name) => [
    name,
    { token: secret(), password: secret(), issued: `${randomBytes(9).toString('hex')}/+~`, user: `u${randomBytes(9).toString('hex')}` },
  ]),
) as Readonly<Record<BindingName, Slots>>;

const secrets: readonly Canary[] = bindingNames.flatMap((binding) =>
  (['token', 'password', 'issued'] as const).map((slot) => ({ name: `${binding} ${slot}`, value: slots[binding][slot] })),
);
/** User names and key ids are no secrets, and still nobody's business outside an answer. */
const names: readonly Canary[] = bindingNames.map((binding) => ({ name: `${binding} user`, value: slots[binding].user }));

const cwd = mkdtempSync(join(tmpdir(), 'postern-canary-'));
const state = mkdtempSync(join(tmpdir(), 'postern-canary-state-'));
let upstream: Upstream;
let stage: Stage;
let front: TlsFront;
let raw: RawCalls;

const answer: Answer = ({ url, headers }, response) => {
  const [, place = '', decoder = '', shape = ''] = url.pathname.split('/');
  if (place === 'token') return sendToken(decoder, response);
  const binding = place as BindingName;
  const own = slots[binding];
  if (decoder === 'reflect') return sendJson(response, 200, { words: url.searchParams.get('words'), headers });
  const known = [...new Set([own.token, own.password, own.issued])].filter((value) => isUsed(binding, value));
  const pairs = known.map((value) => `${own.user}:${value}`);
  const seen = Object.entries(headers).map(([name, value]) => `${name.toUpperCase()}: ${String(value)}`);
  // What the token endpoint was sent, told by another endpoint of the same owner.
  const asked = upstream.requests
    .filter((request) => request.url === `/token/${TOKEN_PLACES[binding]}`)
    .map((request) => `${request.headers.authorization} ${request.body}`);
  const forms = [...[...known, ...pairs].flatMap(formsOf), ...seen, ...asked.slice(-6)];
  sendShape(response, shape, { decoder, forms, secrets: known, later: url.searchParams.has('after') });
};

const TOKEN_PLACES: Partial<Record<BindingName, string>> = { oauth2: 'basic', posted: 'body', refused: 'refused' };

/** Which of its slots a kind of credential has. */
function isUsed(binding: BindingName, value: string): boolean {
  const { token, password, issued } = slots[binding];
  if (binding === 'bearer' || binding === 'header') return value === token;
  if (binding === 'basic') return value === password;
  return binding === 'sigv4' ? value !== issued : value === password || value === issued;
}

function sendToken(how: string, response: Parameters<Answer>[1]): void {
  const own = slots[how === 'basic' ? 'oauth2' : how === 'body' ? 'posted' : 'refused'];
  const told = { error_description: formsOf(own.password).join(' '), hint: own.password };
  if (how === 'refused') sendJson(response, 400, { error: own.password, ...told }, { 'www-authenticate': `Basic realm=${own.issued}` });
  else sendJson(response, 200, { access_token: own.issued, token_type: 'Bearer', expires_in: 3600, ...told });
}

before(async () => {
  process.chdir(cwd);
  upstream = await startUpstream(answer);
  front = await startTlsFront({ target: `http://127.0.0.1:${upstream.port}` });
  stage = await startStage({
    contracts: canaryContracts(front.url),
    upstreamPort: upstream.port,
    credentials: Object.fromEntries(
      bindingNames.flatMap((name) => [
        [`postern-${name}/ca.crt`, front.caPem],
        ...(['token', 'password', 'user'] as const).map((key) => [`postern-${name}/${key}`, slots[name][key]]),
      ]),
    ),
    flags: ['--state', state],
  });
  raw = rawCalls(stage.sidecar.address);
});
after(async () => {
  raw?.close();
  await stage?.[Symbol.asyncDispose]();
  await front?.[Symbol.asyncDispose]();
  await upstream[Symbol.asyncDispose]();
  process.chdir(tmpdir());
  for (const folder of [cwd, state]) rmSync(folder, { recursive: true });
});

function assertNone(where: string, data: string | Uint8Array, canaries: readonly Canary[] = secrets): void {
  const found = canariesIn(data, canaries);
  assert.deepEqual(found, [], `${where}: ${Buffer.from(data).toString('utf8').slice(0, 4000)}`);
}

function executeBytes(action: string, args: unknown, cursor = ''): Uint8Array {
  return toBinary(
    ExecuteRequestSchema,
    create(ExecuteRequestSchema, { action, argumentsJson: new TextEncoder().encode(JSON.stringify(args)), cursor }),
  );
}

test('canary: the search finds a canary in every form an upstream may use, inside other text', () => {
  const canary = { name: 'it', value: secret() };
  for (const form of formsOf(canary.value)) {
    assert.deepEqual(canariesIn(`{"seen": ${JSON.stringify(form)}, "b": 1}`, [canary]), ['it'], form);
    assert.deepEqual(canariesIn(Buffer.from(`x ${form} y`), [canary]), ['it'], form);
    assert.deepEqual(canariesIn(Buffer.from(form).toString('base64'), [canary]), ['it'], form);
  }
  assert.deepEqual(canariesIn(canary.value.slice(5, 18), [canary]), ['it']);
  assert.deepEqual(canariesIn(formsOf(secret()).join('\n'), [canary]), []);
});

for (const binding of bindingNames) {
  test(`canary: whatever an upstream sends back, no reply holds the credential (${binding})`, async () => {
    let masked = 0;
    for (const decoder of decoders) {
      for (const shape of shapeNames) {
        const pieces = await raw.call('Execute', executeBytes(`${binding}_${decoder}`, { shape }));
        assert(pieces.length > 0);
        for (const piece of pieces) assertNone(`${binding} ${decoder} ${shape}`, piece);
        if (pieces.some((piece) => piece.includes('[masked]'))) masked += 1;
      }
    }
    // It did come back, and it was taken out: else this test shows nothing.
    const reached = upstream.requests.filter(({ url }) => url.startsWith(`/${binding}/`)).length;
    if (binding === 'refused') assert.equal(reached, 0);
    else assert(masked > 10 && reached > shapeNames.length, `${masked} answers were masked, ${reached} requests came`);
  });
}

test('canary: no request holds a credential of another binding, or its own outside its header', () => {
  for (const { url, headers, body } of upstream.requests) {
    const [, place = '', how = ''] = url.split(/[/?]/);
    assertNone(`request line ${url}`, url);
    if (place === 'token' && how === 'body') continue;
    assertNone(`body ${url}`, body);
    const own = place === 'token' ? { basic: 'oauth2', refused: 'refused' }[how] : place;
    const foreign = secrets.filter(({ name }) => !name.startsWith(`${own} `));
    assertNone(`headers ${url}`, JSON.stringify(headers), foreign);
    const { authorization, 'x-api-key': key, 'x-amz-security-token': session, ...others } = headers;
    assert.notEqual(authorization ?? key ?? session, undefined);
    assertNone(`other headers ${url}`, JSON.stringify(others));
  }
});

test('canary: a guess of the caller is answered like any other words (LEAK-22)', async () => {
  for (const binding of ['bearer', 'header', 'basic', 'oauth2', 'posted'] as const) {
    const own = slots[binding];
    const right = binding === 'bearer' || binding === 'header' ? own.token : own.password;
    const wrong = secret();
    for (const [index, guess] of formsOf(right).entries()) {
      // Whole as it is attached, it stays a guess of one bit (sidecar/credential/mask.ts); the counter below tells of it.
      if (guess.startsWith('Bearer ')) continue;
      const other = formsOf(wrong)[index] ?? '';
      const [good, bad] = [await reflected(binding, guess), await reflected(binding, other)];
      assert.equal(
        good.replaceAll(JSON.stringify(guess), '"GUESS"'),
        bad.replaceAll(JSON.stringify(other), '"GUESS"'),
        `${binding}: ${guess}`,
      );
    }
    const refused = await Promise.all([right, wrong].map((value) => stage.refused(`${binding}_json`, { shape: value, [value]: 1 })));
    const [good = '', bad = ''] = refused.map((error) => JSON.stringify([error.reason, error.message, error.fields, error.details]));
    assert.equal(blank(good, right), blank(bad, wrong));
  }
});

/** `value` taken out of JSON text, also where it stands as a part of a JSON Pointer. */
function blank(text: string, value: string): string {
  const written = (each: string) => JSON.stringify(each).slice(1, -1);
  return text.replaceAll(written(value), 'GUESS').replaceAll(written(value.replaceAll('~', '~0').replaceAll('/', '~1')), 'GUESS');
}

async function reflected(binding: BindingName, words: string): Promise<string> {
  const { data, warnings } = await stage.call(`${binding}_reflect`, { words });
  return JSON.stringify({ data, warnings });
}

test('canary: lists, operations and the command line hold none', async () => {
  for (const piece of await raw.call('ListActions', new Uint8Array())) assertNone('ListActions', piece, [...secrets, ...names]);
  for (const piece of await raw.call('ListOperations', new Uint8Array())) assertNone('ListOperations', piece, [...secrets, ...names]);
  const { operations } = await stage.client.listOperations({});
  assert(operations.length > 50);
  for (const { operationId } of operations.slice(0, 20)) {
    const request = toBinary(GetOperationRequestSchema, create(GetOperationRequestSchema, { operationId }));
    for (const piece of await raw.call('GetOperation', request)) assertNone('GetOperation', piece, [...secrets, ...names]);
  }
  const commands = [
    ['actions', '-o', 'json'],
    ['actions', '-o', 'text'],
    ...['plain', 'notes', 'loop', 'status400', 'cut'].flatMap((shape) =>
      ['json', 'text'].map((form) => ['call', 'bearer_json', JSON.stringify({ shape }), '-o', form]),
    ),
    ['call', 'refused_json', '{"shape": "plain"}', '-o', 'text'],
  ];
  for (const command of commands) {
    const said = await run([...command, '--address', stage.sidecar.address]);
    assert.notEqual(said, '');
    assertNone(command.join(' '), said);
  }
});

function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...args], { env: {}, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (said += String(chunk)));
    child.on('error', reject);
    child.on('close', () => resolve(said));
  });
}

test('canary: log, metrics, open files and files left behind hold none, not even what callers said', async () => {
  const everything = [...secrets, ...names];
  assert.match(stage.sidecar.log(), /"level":"debug"/);
  assertNone('log', stage.sidecar.log(), everything);
  assertNone('metrics', await stage.metrics(), everything);
  const lock = join(state, 'journal', 'lock');
  assert.deepEqual(writableFiles(stage.sidecar.pid), [lock]);
  assert.equal(statSync(lock).size, 0, 'the lock of the journal holds no byte');
  const credentials = join(stage.directory, 'credentials');
  const files = [stage.directory, state, cwd].flatMap(filesBelow).filter((path) => !path.startsWith(credentials));
  assert(files.length > 1);
  for (const path of files) assertNone(path, readFileSync(path), everything);
});

test('canary: SIGUSR1 opens no inspector (LEAK-10), and a crash writes no file (LEAK-13)', async () => {
  const known = [stage.directory, state, cwd].flatMap(filesBelow);
  process.kill(stage.sidecar.pid, 'SIGUSR1');
  assert.deepEqual((await stage.call('bearer_json', { shape: 'cursor' })).data, { rows: [{ id: 'a' }, { id: 'b' }] });
  assert.doesNotMatch(stage.sidecar.log(), /[Dd]ebugger/);
  for (const signal of ['SIGUSR2', 'SIGABRT'] as const) {
    const other = await startStage({
      contracts: canaryContracts(front.url),
      upstreamPort: upstream.port,
      credentials: { 'postern-bearer/token': slots.bearer.token },
    });
    await other.call('bearer_json', { shape: 'plain' });
    const before = filesBelow(other.directory);
    process.kill(other.sidecar.pid, signal);
    await untilGone(other.sidecar.address);
    assert.deepEqual(filesBelow(other.directory), before);
    assertNone(`log after ${signal}`, other.sidecar.log(), [...secrets, ...names]);
    await other[Symbol.asyncDispose]();
  }
  assert.deepEqual([stage.directory, state, cwd].flatMap(filesBelow), known);
});

/** Resolves once nobody listens there any more. */
async function untilGone(address: string): Promise<void> {
  const port = Number(address.split(':').at(-1));
  const isOpen = () =>
    new Promise<boolean>((resolve) => {
      const socket = connectTcp(port, '127.0.0.1', () => {
        socket.destroy();
        resolve(true);
      });
      socket.on('error', () => resolve(false));
    });
  while (await isOpen()) await new Promise((resolve) => setTimeout(resolve, 20));
}
