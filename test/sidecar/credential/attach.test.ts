/**
 * Where a credential is put and where it is not. Promise P1: only after the destination is final, only towards a destination
 * its binding names.
 */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { assemble, type OutboundRequest } from '#core/contract/assemble.ts';
import type { RequestTemplate } from '#core/contract/compiled.ts';
import type { CompiledBinding } from '#core/contract/compiled-binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { BindingCredential } from '#sidecar/credential/attach.ts';
import { MASKED } from '#sidecar/credential/mask.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import type { TokenReply } from '#sidecar/credential/token-reply.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
after(() => rmSync(directory, { recursive: true }));
mkdirSync(join(directory, 'postern-x'));
const write = (key: string, value: string) => writeFileSync(join(directory, 'postern-x', key), value);

const TOKEN = 'SYN-token-0123456789';
write('token', TOKEN);
write('user', 'me@example.com');
write('password', 'pass:word-ü-42');
write('key-id', 'AKIDEXAMPLE');
write('secret-key', 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY');
write('session', 'SESSION-token-0123456789');
write('client-id', 'client one');
write('client-secret', 'SYN/client secret:42');

type Spec = CompiledBinding['spec'];
const clock = {
  wallMs: () => Date.parse('2015-08-30T12:36:00Z'),
  monotonicMs: () => nowMs,
  sleep: () => Promise.resolve(),
  alarm: () => () => {},
};
let nowMs = 0;
const forever = new AbortController().signal;

function credential(
  use: Spec['use'],
  some: Partial<Spec> = {},
  send: (request: OutboundRequest) => Promise<TokenReply> = () => assert.fail('no token'),
) {
  const spec: Spec = {
    owner: 'team',
    secret: { name: 'postern-x' },
    contracts: ['c'],
    destinations: [{ origin: 'https://api.test' }],
    use,
    ...some,
  };
  const store = new CredentialStore({ directory, clock });
  return new BindingCredential({ name: 'x', namespace: 'n', spec }, { store, clock, sendTokenRequest: send });
}

function request(some: Partial<RequestTemplate> = {}): OutboundRequest {
  const template: RequestTemplate = { method: 'GET', origin: 'https://api.test', segments: [['v1']], query: [], headers: [], ...some };
  return assemble(template, { args: {}, resolve: {}, constants: {}, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: {} })
    .outbound;
}

async function refusal(run: () => unknown): Promise<string> {
  try {
    await run();
  } catch (error) {
    assert(error instanceof PosternError, String(error));
    return error.reason;
  }
  return assert.fail('was attached');
}

const added = async (own: BindingCredential, to: OutboundRequest) => Object.fromEntries((await own.attach(to, forever)).headers);

test('P1: a credential is attached only to the very request that was assembled and compared', async () => {
  const own = credential({ bearer: { key: 'token' } });
  const assembled = request();
  for (const forged of [{ ...assembled }, { ...assembled, origin: 'https://evil.test' }, structuredClone(assembled)]) {
    assert.equal(await refusal(() => own.attach(forged, forever)), 'INTERNAL');
  }
  assert.throws(() => Object.assign(assembled, { origin: 'https://evil.test' }), TypeError);
  const attached = await own.attach(assembled, forever);
  assert.deepEqual({ ...attached, headers: [] }, { ...assembled, headers: [] });
  assert.throws(() => Object.assign(attached, { origin: 'https://evil.test' }), TypeError);
  assert.equal(await refusal(() => own.attach(attached, forever)), 'INTERNAL');
});

test('P1: origin, method and path prefix of the binding decide, by whole segments', async () => {
  const own = credential(
    { bearer: { key: 'token' } },
    {
      destinations: [
        { origin: 'https://api.test', methods: ['GET'], pathPrefixes: ['/repos/acme/', '/search/code', '/logs-*'] },
        { origin: 'https://eu.test:8443' },
      ],
    },
  );
  const segments = (path: string) => path.split('/').map((part) => [part]);
  for (const [path, allowed] of [
    ['repos/acme', true],
    ['repos/acme/x/y', true],
    ['repos/acmeX', false],
    ['repos', false],
    ['search/code', true],
    ['search/codes', false],
    ['logs-a', true],
    ['logs-a/b', true],
    ['logs', false],
  ] as const) {
    const run = () => own.attach(request({ segments: segments(path) }), forever);
    if (allowed) await run();
    else assert.equal(await refusal(run), 'EGRESS_DENIED', path);
  }
  assert.equal(await refusal(() => own.attach(request({ method: 'POST', segments: segments('search/code') }), forever)), 'EGRESS_DENIED');
  assert.equal(
    await refusal(() => own.attach(request({ origin: 'https://api.test:8443', segments: segments('search/code') }), forever)),
    'EGRESS_DENIED',
  );
  await own.attach(request({ method: 'POST', origin: 'https://eu.test:8443' }), forever);
});

test('attach: bearer, own header and basic put one header, and mask what they put', async () => {
  const password = 'pass:word-ü-42';
  const pair = Buffer.from(`me@example.com:${password}`).toString('base64');
  for (const [use, header] of [
    [{ bearer: { key: 'token' } }, { authorization: `Bearer ${TOKEN}` }],
    [{ header: { name: 'private-token', key: 'token' } }, { 'private-token': TOKEN }],
    [{ header: { name: 'authorization', prefix: 'ApiKey ', key: 'token' } }, { authorization: `ApiKey ${TOKEN}` }],
    [{ basic: { usernameKey: 'user', passwordKey: 'password' } }, { authorization: `Basic ${pair}` }],
  ] as const) {
    const own = credential(use);
    assert.deepEqual(await added(own, request()), header);
    const mask = own.mask.forAnyone();
    assert(!mask.text(`echo ${Object.values(header)[0]} me@example.com`).match(/SYN|word|bWU/), JSON.stringify(use));
    assert.match(mask.text('me@example.com'), /^me@example\.com$/);
  }
});

test("attach: a header of the contract with the credential's name is a fault, never sent twice", async () => {
  const own = credential({ header: { name: 'private-token', key: 'token' } });
  assert.equal(await refusal(() => own.attach(request({ headers: [['private-token', ['mine']]] }), forever)), 'INTERNAL');
});

test('attach: suspended, locked, malformed and unserved credentials say so', async () => {
  assert.equal(
    await refusal(() => credential({ bearer: { key: 'token' } }, { suspended: { because: 'leaked' } }).attach(request(), forever)),
    'SESSION_SUSPENDED',
  );
  assert.equal(await refusal(() => credential({ bearer: { key: 'absent' } }).attach(request(), forever)), 'VAULT_LOCKED');
  assert.equal(await refusal(() => credential({ bearer: { key: 'password' } }).attach(request(), forever)), 'CREDENTIAL_INVALID');
  assert.equal(await refusal(() => credential({ sshKey: { user: 'me', privateKeyKey: 'token' } })), 'CONTRACT_NOT_READY');
});

test('LEAK-23: after a rotation both values are masked and the new one is sent', async () => {
  write('rotating', 'SYN-old-0123456789');
  const own = credential({ bearer: { key: 'rotating' } });
  await added(own, request());
  const before = own.mask;
  assert.equal(own.mask, before);
  write('rotating', 'SYN-new-9876543210');
  nowMs += limits.credentialCheckMs;
  assert.equal((await added(own, request())).authorization, 'Bearer SYN-new-9876543210');
  assert.notEqual(own.mask, before);
  assert.equal(own.mask.forAnyone().text('SYN-old-0123456789,SYN-new-9876543210'), `${MASKED},${MASKED}`);
  nowMs += limits.secretRetiredMs;
  assert.equal(own.mask.forAnyone().text('SYN-old-0123456789,SYN-new-9876543210'), `SYN-old-0123456789,${MASKED}`);
});

const aws = { awsSigV4: { accessKeyIdKey: 'key-id', secretAccessKeyKey: 'secret-key' } } as const;
const signing = (service: string) => ({
  destinations: [{ origin: 'https://example.amazonaws.com', signing: { service, region: 'us-east-1' } }],
});

test('attach: SigV4 gives the signatures of the published test suite', async () => {
  const own = credential(aws, signing('service'));
  const origin = 'https://example.amazonaws.com';
  const vanilla = await added(own, request({ origin, segments: [] }));
  assert.equal(
    vanilla.authorization,
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  );
  assert.equal(vanilla['x-amz-date'], '20150830T123600Z');
  const query = await added(
    own,
    request({
      origin,
      segments: [],
      query: [
        ['Param2', ['value2']],
        ['Param1', ['value1']],
      ],
    }),
  );
  assert.match(query.authorization!, /Signature=b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500$/);
});

test('attach: SigV4 for S3 sends the hash of the body, with a session token both are signed', async () => {
  const own = credential({ awsSigV4: { ...aws.awsSigV4, sessionTokenKey: 'session' } }, signing('s3'));
  const headers = await added(own, request({ origin: 'https://example.amazonaws.com', segments: [] }));
  assert.equal(headers['x-amz-content-sha256'], 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  assert.equal(headers['x-amz-security-token'], 'SESSION-token-0123456789');
  assert.match(headers.authorization!, /SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,/);
  assert.equal(own.mask.forAnyone().text('SESSION-token-0123456789'), MASKED);
  assert.equal(
    await refusal(() => credential(aws, { destinations: [{ origin: 'https://api.test' }] }).attach(request(), forever)),
    'CONTRACT_NOT_READY',
  );
});

const oauth = {
  oauth2ClientCredentials: {
    tokenUrl: 'https://login.test/token',
    clientIdKey: 'client-id',
    clientSecretKey: 'client-secret',
    scopes: ['read', 'list'],
  },
};
const places = { destinations: [{ origin: 'https://api.test' }, { origin: 'https://login.test' }] };
const tokenReply = (answer: object, status = 200): TokenReply => ({ status, body: Buffer.from(JSON.stringify(answer)) });

test('attach: OAuth2 fetches one token for many calls, renews it before its end and masks the old one', async () => {
  const asked: OutboundRequest[] = [];
  const own = credential(oauth, places, async (sent) => {
    asked.push(sent);
    return tokenReply({ access_token: `SYN-access-token-${asked.length}`, token_type: 'bearer', expires_in: 3600 });
  });
  const all = await Promise.all(Array.from({ length: 20 }, () => added(own, request())));
  assert(all.every(({ authorization }) => authorization === 'Bearer SYN-access-token-1'));
  assert.equal(asked.length, 1);
  const [{ origin, target, method, headers, body }] = asked as [OutboundRequest];
  assert.deepEqual(
    [method, origin, target, Buffer.from(body!).toString()],
    ['POST', 'https://login.test', '/token', 'grant_type=client_credentials&scope=read%20list'],
  );
  assert.equal(
    Object.fromEntries(headers).authorization,
    `Basic ${Buffer.from('client%20one:SYN%2Fclient%20secret%3A42').toString('base64')}`,
  );
  // As the token endpoint got it, under base64, it looks like neither the secret nor its base64.
  assert.equal(own.mask.forAnyone().text(`echo: ${Object.fromEntries(headers).authorization}`), `echo: Basic ${MASKED}`);
  assert.equal(own.mask.forAnyone().text(Buffer.from('xSYN%2Fclient%20secret%3A42y').toString('base64')).includes('JTJGY2xpZW50'), false);
  nowMs += 3600_000 - limits.tokenMarginMs;
  assert.equal((await added(own, request())).authorization, 'Bearer SYN-access-token-2');
  assert.equal(own.mask.forAnyone().text('SYN-access-token-1 SYN-access-token-2 SYN/client secret:42'), `${MASKED} ${MASKED} ${MASKED}`);
  assert.equal(own.renew(), true);
  assert.equal((await added(own, request())).authorization, 'Bearer SYN-access-token-3');
});

test('attach: many calls refused with one token fetch one new token', async () => {
  let fetched = 0;
  const own = credential(oauth, places, async () => {
    fetched += 1;
    return tokenReply({ access_token: `SYN-access-token-${fetched}`, token_type: 'Bearer' });
  });
  const sent = await Promise.all(Array.from({ length: 10 }, () => own.attach(request(), forever)));
  const [first, second, ...late] = sent as [OutboundRequest, OutboundRequest, ...OutboundRequest[]];
  assert.equal(own.renew(first), true);
  const again = own.attach(request(), forever);
  assert.equal(own.renew(second), true, 'while the new token is on its way');
  await again;
  for (const refused of late) assert.equal(own.renew(refused), true, 'after it came');
  assert.equal((await added(own, request())).authorization, 'Bearer SYN-access-token-2');
  assert.equal(fetched, 2);
});

test('attach: a token endpoint that refuses, fails or answers nonsense is told apart', async () => {
  for (const [reply, reason] of [
    [() => Promise.reject(new Error('unreachable')), 'VAULT_LOCKED'],
    [async () => tokenReply({}, 503), 'VAULT_LOCKED'],
    [async () => ({ ...tokenReply({}), fault: 'cut' }), 'VAULT_LOCKED'],
    [async () => tokenReply({ error: 'invalid_client' }, 401), 'CREDENTIAL_INVALID'],
    [async () => tokenReply({ access_token: 'SYN-access', token_type: 'mac' }), 'CREDENTIAL_INVALID'],
    [async () => tokenReply({ access_token: 'short', token_type: 'Bearer' }), 'CREDENTIAL_INVALID'],
    [async () => tokenReply({ access_token: 'SYN-access\r\nx-evil: 1', token_type: 'Bearer' }), 'CREDENTIAL_INVALID'],
    [async () => ({ status: 200, body: Buffer.from('<html>') }), 'CREDENTIAL_INVALID'],
  ] as [() => Promise<TokenReply>, string][]) {
    const own = credential(oauth, places, reply);
    assert.equal(await refusal(() => own.attach(request(), forever)), reason);
    assert.equal(own.renew(), false);
  }
  assert.equal(await refusal(() => credential(oauth)), 'EGRESS_DENIED');
});

test('attach: a caller that gives up does not cancel the token of the others', async () => {
  const { promise, resolve } = Promise.withResolvers<TokenReply>();
  const own = credential(oauth, places, () => promise);
  const abort = new AbortController();
  const impatient = refusal(() => own.attach(request(), abort.signal));
  const patient = added(own, request());
  abort.abort();
  assert.equal(await impatient, 'VAULT_LOCKED');
  resolve(tokenReply({ access_token: 'SYN-access-token', token_type: 'Bearer' }));
  assert.equal((await patient).authorization, 'Bearer SYN-access-token');
});
