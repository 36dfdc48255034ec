/**
 * A GitHub App against a server that checks claims as GitHub does: signature, issuer, begin and end by its own clock. Tokens travel over
 * real TLS, through the transport that calls use.
 */
import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { assemble, type OutboundRequest } from '#core/contract/assemble.ts';
import { compileBinding } from '#core/contract/binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { BindingCredential } from '#sidecar/credential/attach.ts';
import { MASKED } from '#sidecar/credential/mask.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import { createAuthority, createSigningKey } from '#test/servers/certificates.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
after(() => rmSync(directory, { recursive: true }));
mkdirSync(join(directory, 'postern-app'));
const write = (key: string, value: string) => writeFileSync(join(directory, 'postern-app', key), value);

const signing = createSigningKey();
const START_MS = Date.parse('2027-05-03T10:00:00Z');
let nowMs = START_MS;
const clock = { wallMs: () => nowMs, monotonicMs: () => nowMs, sleep: async () => {}, alarm: () => () => {} };
const forever = new AbortController().signal;

interface Claims {
  readonly iss: string;
  readonly iat: number;
  readonly exp: number;
}

/** GitHub, as far as apps see it; `skewMs`: how far its clock is ahead of ours. */
const github = {
  origin: '',
  skewMs: 0,
  asked: [] as { path: string; claims: Claims }[],
  answer: undefined as undefined | ((token: string) => { status: number; body: string; headers?: Record<string, string> }),
};
const authority = await createAuthority();
const leaf = await authority.issue({ commonName: 'github', hosts: ['127.0.0.1'] });
const server = createServer({ key: leaf.keyPem, cert: leaf.certificatePem }, (request, response) => {
  const seconds = (nowMs + github.skewMs) / 1000;
  const claims = checkedClaims(request.headers.authorization ?? '');
  const refused =
    request.method !== 'POST' || claims === undefined || claims.iat > seconds || claims.exp > seconds + 600 || claims.exp <= seconds;
  const sendDate = { date: new Date(seconds * 1000).toUTCString() };
  if (refused) {
    response.writeHead(401, sendDate).end('{"message":"A JSON web token could not be decoded"}');
    return;
  }
  github.asked.push({ path: request.url ?? '', claims });
  const token = `ghs_SYNTHETIC${String(github.asked.length).padStart(24, '0')}`;
  const own = github.answer?.(token);
  const body = own?.body ?? JSON.stringify({ token, expires_at: new Date((seconds + 3600) * 1000).toISOString().replace('.000', '') });
  response.writeHead(own?.status ?? 201, { ...sendDate, ...own?.headers }).end(body);
});

before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  github.origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => server.close());

function reset() {
  nowMs = START_MS;
  Object.assign(github, { skewMs: 0, asked: [], answer: undefined });
  write('app-id', '1234567');
  write('installation-id', '87654321');
  write('key.pem', signing.privatePem);
}

function checkedClaims(authorization: string): Claims | undefined {
  const [head = '', body = '', signature = ''] = authorization.replace('Bearer ', '').split('.');
  const key = createPublicKey(signing.publicPem);
  if (!verify('sha256', Buffer.from(`${head}.${body}`), key, Buffer.from(signature, 'base64url'))) return undefined;
  assert.deepEqual(JSON.parse(Buffer.from(head, 'base64url').toString()), { alg: 'RS256', typ: 'JWT' });
  return JSON.parse(Buffer.from(body, 'base64url').toString());
}

const use = { appIdKey: 'app-id', installationIdKey: 'installation-id', privateKeyKey: 'key.pem' };

function bindingOf(githubApp: object, destinations: readonly object[]) {
  return compileBinding({
    kind: 'CredentialBinding',
    name: 'app',
    namespace: 'n',
    spec: { owner: 'team', secret: { name: 'postern-app' }, contracts: ['c'], destinations, use: { githubApp } } as never,
  });
}

function credential(apiUrl = `${github.origin}/api/v3`) {
  const { binding, problems } = bindingOf({ ...use, apiUrl }, [
    { origin: github.origin, addresses: ['127.0.0.1/32'], methods: ['GET'], pathPrefixes: ['/repos/acme/'] },
  ]);
  assert(binding !== undefined, JSON.stringify(problems));
  const destinations = new Destinations({ allowLoopback: true });
  const transport = destinations.transport({
    origin: github.origin,
    credential: 'n/app',
    addresses: ['127.0.0.1'],
    ca: () => authority.caPem,
  });
  const own = new BindingCredential(binding, {
    store: new CredentialStore({ directory, clock }),
    clock,
    sendTokenRequest: (request, options) => transport.send(request, options),
  });
  return Object.assign(own, { [Symbol.dispose]: () => destinations.close() });
}

function request(): OutboundRequest {
  const segments = [['repos'], ['acme'], ['x']];
  return assemble(
    { method: 'GET', origin: github.origin, segments, query: [], headers: [] },
    { args: {}, resolve: {}, constants: {}, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: {} },
  ).outbound;
}

const tokenOf = async (own: BindingCredential) => Object.fromEntries((await own.attach(request(), forever)).headers).authorization;

async function refusal(own: BindingCredential): Promise<PosternError> {
  try {
    await own.attach(request(), forever);
  } catch (error) {
    assert(error instanceof PosternError, String(error));
    return error;
  }
  return assert.fail('a token was attached');
}

test('github app: one claim buys one token for many calls, below the base path of the server', async () => {
  reset();
  using own = credential();
  const all = await Promise.all(Array.from({ length: 20 }, () => tokenOf(own)));
  assert.equal(new Set(all).size, 1);
  assert.match(all[0] ?? '', /^Bearer ghs_SYNTHETIC/);
  assert.equal(github.asked.length, 1);
  assert.equal(github.asked[0]?.path, '/api/v3/app/installations/87654321/access_tokens');
  assert.equal(github.asked[0]?.claims.iss, '1234567');
  assert.ok((github.asked[0]?.claims.exp ?? 0) - START_MS / 1000 <= 600);
});

test('github app: a claim holds while either clock is a minute ahead', async () => {
  for (const skewMs of [-59_000, 59_000]) {
    reset();
    github.skewMs = skewMs;
    using own = credential();
    assert.match((await tokenOf(own)) ?? '', /^Bearer ghs_/, String(skewMs));
  }
});

test('github app: a clock that is wrong by more is refused without a word of the server', async () => {
  reset();
  github.skewMs = -600_000;
  using own = credential();
  const { reason, message } = await refusal(own);
  assert.equal(reason, 'CREDENTIAL_INVALID');
  assert.match(message, /clock/);
  assert.doesNotMatch(message, /JSON web token|eyJ/);
});

test('github app: a token is renewed before its end by the clock of GitHub, and the old one stays masked', async () => {
  reset();
  github.skewMs = -45_000;
  using own = credential();
  const first = await tokenOf(own);
  nowMs += 3600_000 - limits.tokenMarginMs - 1000;
  assert.equal(await tokenOf(own), first);
  nowMs += 1000;
  const second = await tokenOf(own);
  assert.notEqual(second, first);
  assert.equal(own.mask.forAnyone().text(`${first?.slice(7)} ${second?.slice(7)}`), `${MASKED} ${MASKED}`);
});

test('github app: after a 401 every call gets one new token', async () => {
  reset();
  using own = credential();
  const sent = await Promise.all(Array.from({ length: 5 }, () => own.attach(request(), forever)));
  const again = sent.map((refused) => {
    assert.equal(own.renew(refused), true);
    return tokenOf(own);
  });
  assert.equal(new Set(await Promise.all(again)).size, 1);
  assert.equal(github.asked.length, 2);
});

test('LEAK-05: token, claim and private key are masked, the key also with other line ends', async () => {
  reset();
  using own = credential();
  const token = await tokenOf(own);
  const mask = own.mask.forAnyone();
  const body = signing.privatePem.replace(/-----.*-----/g, '').replace(/\s/g, '');
  assert.equal(mask.text(`${token}`), MASKED);
  assert.equal(mask.text(signing.privatePem.trim()), MASKED);
  assert.equal(mask.text(JSON.stringify(signing.privatePem.trim())), `"${MASKED}"`);
  assert.equal(mask.text(`<${body}>`), `<${MASKED}>`);
});

test('github app: a rotated private key signs the next claim', async () => {
  reset();
  using own = credential();
  await tokenOf(own);
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  write('key.pem', privateKey.export({ type: 'pkcs1', format: 'pem' }).toString());
  nowMs += 3600_000;
  assert.equal((await refusal(own)).reason, 'CREDENTIAL_INVALID');
  assert.equal(own.mask.forAnyone().text(signing.privatePem.trim()), MASKED);
});

test('github app: malformed keys and ids say which, and nothing of them', async () => {
  const elliptic = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  for (const [key, value, expected] of [
    ['key.pem', 'SYN-not-a-key', /private key .* PEM/],
    ['key.pem', signing.privatePem.slice(0, 200), /private key .* PEM/],
    ['key.pem', elliptic, /no RSA key/],
    ['installation-id', '42/../../user', /installation id/],
    ['app-id', 'a b', /app id/],
  ] as const) {
    reset();
    write(key, value);
    using own = credential();
    const { reason, message } = await refusal(own);
    assert.equal(reason, 'CREDENTIAL_INVALID');
    assert.match(message, expected);
    assert.doesNotMatch(message, /SYN|MII|42|a b/);
    assert.equal(github.asked.length, 0);
  }
});

test('github app: refused, limited and failing answers are told apart', async () => {
  for (const [answer, reason] of [
    [{ status: 404, body: '{"message":"Not Found"}' }, 'CREDENTIAL_INVALID'],
    [{ status: 403, body: '{"message":"This installation has been suspended"}' }, 'CREDENTIAL_INVALID'],
    [{ status: 422, body: '{}' }, 'CREDENTIAL_INVALID'],
    [{ status: 403, body: '{}', headers: { 'x-ratelimit-remaining': '0' } }, 'VAULT_LOCKED'],
    [{ status: 403, body: '{}', headers: { 'retry-after': '60' } }, 'VAULT_LOCKED'],
    [{ status: 429, body: '{}' }, 'VAULT_LOCKED'],
    [{ status: 502, body: '<html>' }, 'VAULT_LOCKED'],
    [{ status: 302, body: '', headers: { location: 'https://evil.test/' } }, 'VAULT_LOCKED'],
    [{ status: 201, body: '<html>' }, 'CREDENTIAL_INVALID'],
    [{ status: 201, body: '{"token":"short"}' }, 'CREDENTIAL_INVALID'],
    [{ status: 201, body: '{"token":"ghs_with\\r\\nx-evil: 1"}' }, 'CREDENTIAL_INVALID'],
  ] as const) {
    reset();
    github.answer = () => answer;
    using own = credential();
    assert.equal((await refusal(own)).reason, reason, JSON.stringify(answer));
    assert.equal(own.renew(), false);
  }
});

test('github app: without an end, or with an absurd one, a token is not kept for longer than GitHub gives', async () => {
  for (const [expiresAt, lifeMs] of [
    [undefined, limits.tokenLifeMsDefault],
    ['2199-01-01T00:00:00Z', limits.githubTokenLifeMsMax],
  ] as const) {
    reset();
    github.answer = (token) => ({ status: 201, body: JSON.stringify({ token, expires_at: expiresAt }) });
    using own = credential();
    const first = await tokenOf(own);
    nowMs += lifeMs - limits.tokenMarginMs - 1;
    assert.equal(await tokenOf(own), first);
    nowMs += 1;
    assert.notEqual(await tokenOf(own), first);
  }
});

test('github app: the place where claims go must be a destination of the owner', () => {
  const elsewhere = bindingOf({ ...use, apiUrl: 'https://github.example.com/api/v3' }, [{ origin: 'https://api.github.com' }]);
  assert.deepEqual(
    elsewhere.problems.map(({ code, path }) => `${code} ${path}`),
    ['binding-destination spec.use.githubApp.apiUrl'],
  );
  assert.equal(bindingOf(use, [{ origin: 'https://github.example.com' }]).problems.length, 1, 'the default is a place too');
  assert.equal(bindingOf(use, [{ origin: 'https://api.github.com' }]).problems.length, 0);
  const query = bindingOf({ ...use, apiUrl: 'https://api.github.com/?x=1' }, [{ origin: 'https://api.github.com' }]);
  assert.ok(query.problems.some(({ code }) => code === 'url-character'));
});
