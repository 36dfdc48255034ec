/**
 * Client certificates against real TLS servers that ask for one: what each connection shows, when a new one is opened, and what is said
 * when a pair is bad.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { TLSSocket } from 'node:tls';
import { limits } from '#core/bounds/limits.ts';
import { assemble, type OutboundRequest } from '#core/contract/assemble.ts';
import { compileBinding } from '#core/contract/binding.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { BindingCredential } from '#sidecar/credential/attach.ts';
import { MASKED } from '#sidecar/credential/mask.ts';
import { CredentialStore } from '#sidecar/credential/store.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import { type SendOptions, TransportFailure } from '#sidecar/execute/http/transport.ts';
import { createAuthority, type KeyAndCertificate } from '#test/servers/certificates.ts';

const directory = mkdtempSync(join(tmpdir(), 'postern-test-'));
after(() => rmSync(directory, { recursive: true }));
mkdirSync(join(directory, 'postern-mtls'));
const write = (key: string, value: string) => writeFileSync(join(directory, 'postern-mtls', key), value);
function writePair({ certificatePem, keyPem }: KeyAndCertificate) {
  write('tls.crt', certificatePem);
  write('tls.key', keyPem);
}

let nowMs = 0;
const clock = { wallMs: () => Date.now() + nowMs, monotonicMs: () => nowMs, sleep: async () => {}, alarm: () => () => {} };

const authority = await createAuthority();
const serving = await authority.issue({ commonName: 'remote', hosts: ['127.0.0.1'] });
const alice = await authority.issue({ commonName: 'alice' });
const bob = await authority.issue({ commonName: 'bob' });

/** Answers whose certificate it saw, and on which connection; a wrong one by 403, as a proxy does. */
const sockets = new Set<TLSSocket>();
const server = createServer(
  { key: serving.keyPem, cert: serving.certificatePem, ca: authority.caPem, requestCert: true, rejectUnauthorized: false },
  (request, response) => {
    const socket = request.socket as TLSSocket;
    sockets.add(socket);
    const shown = socket.authorized ? socket.getPeerCertificate().subject.CN : 'nobody';
    response.writeHead(shown === 'nobody' ? 403 : 200).end(`${shown} on ${[...sockets].indexOf(socket) + 1}`);
  },
);
let origin = '';
before(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.close();
  server.closeAllConnections();
});

const use = { clientCertificate: { certificateKey: 'tls.crt', privateKeyKey: 'tls.key' } };

function open(name = 'mtls', destinations = new Destinations({ allowLoopback: true }), at = origin) {
  const { binding, problems } = compileBinding({
    kind: 'CredentialBinding',
    name,
    namespace: 'n',
    spec: {
      owner: 'team',
      secret: { name: 'postern-mtls' },
      contracts: ['c'],
      destinations: [{ origin: at, addresses: ['127.0.0.1/32'] }],
      use,
    } as never,
  });
  assert(binding !== undefined, JSON.stringify(problems));
  const own = new BindingCredential(binding, {
    store: new CredentialStore({ directory, clock }),
    clock,
    sendTokenRequest: () => assert.fail('no token'),
  });
  const transport = destinations.transport({
    origin: at,
    credential: `n/${name}`,
    addresses: ['127.0.0.1'],
    ca: () => authority.caPem,
    identity: () => own.identity(),
  });
  const send = async (more: Partial<SendOptions> = {}) => {
    const signal = AbortSignal.timeout(20_000);
    const request = await own.attach(outbound(at), signal);
    const reply = await transport.send(request, { signal, wireBytesMax: 1e6, bodyBytesMax: 1e6, ...more });
    return Buffer.from(reply.body).toString();
  };
  return { own, send, destinations, [Symbol.dispose]: () => destinations.close() };
}

function outbound(at: string): OutboundRequest {
  return assemble(
    { method: 'POST', origin: at, segments: [['v1']], query: [], headers: [] },
    { args: {}, resolve: {}, constants: {}, next: {}, open: {}, source: {}, limits: {}, budget: {}, operation: {} },
  ).outbound;
}

async function refusal(run: Promise<unknown>): Promise<PosternError> {
  try {
    await run;
  } catch (error) {
    assert(error instanceof PosternError, String(error));
    return error;
  }
  return assert.fail('a request was sent');
}

test('client certificate: the connection shows it, with its chain, and no header is added', async () => {
  writePair({ ...alice, certificatePem: `${alice.certificatePem}\n${authority.caPem}` });
  using remote = open();
  assert.match(await remote.send(), /^alice on /);
  assert.deepEqual((await remote.own.attach(outbound(origin), AbortSignal.timeout(1000))).headers, []);
  assert.equal(remote.own.identity()?.certificate.match(/BEGIN CERTIFICATE/g)?.length, 2);
});

test('HTTP-34: while the files are the same a socket serves again; other files mean a new one', async () => {
  writePair(alice);
  using remote = open();
  const first = await remote.send();
  assert.equal(await remote.send(), first);
  writePair(bob);
  nowMs += limits.credentialCheckMs;
  const second = await remote.send();
  assert.match(second, /^bob on /);
  assert.notEqual(second.split(' ')[2], first.split(' ')[2]);
  assert.equal(remote.own.mask.forAnyone().text(alice.keyPem.trim()), MASKED, 'the key that was');
});

test('HTTP-21: two bindings with the same files share no socket', async () => {
  writePair(alice);
  using one = open('one');
  const other = open('other', one.destinations);
  const seen = [await one.send(), await other.send(), await one.send(), await other.send()];
  assert.equal(seen[0], seen[2]);
  assert.equal(seen[1], seen[3]);
  assert.notEqual(seen[0], seen[1]);
});

test('client certificate: during a rotation, of which one file is seen first, the pair before it serves', async () => {
  writePair(alice);
  using remote = open();
  await remote.send();
  write('tls.crt', bob.certificatePem);
  nowMs += limits.credentialCheckMs;
  assert.match(await remote.send(), /^alice on /);
  write('tls.key', bob.keyPem);
  nowMs += limits.credentialCheckMs;
  assert.match(await remote.send(), /^bob on /);
  write('tls.key', alice.keyPem);
  nowMs += limits.credentialCheckMs;
  assert.match(await remote.send(), /^bob on /);
  nowMs += limits.certificatePairMsMax;
  assert.equal((await refusal(remote.send())).reason, 'CREDENTIAL_INVALID');
});

test('client certificate: a bad pair is refused before anything is sent, without a byte of the key', async () => {
  const secret = alice.keyPem.split('\n')[1] ?? assert.fail();
  for (const [certificate, key, expected] of [
    [bob.certificatePem, alice.keyPem, /do not belong together/],
    ['SYN-not-a-certificate', alice.keyPem, /not a PEM certificate/],
    [alice.certificatePem.slice(0, 200), alice.keyPem, /not a PEM certificate/],
    [`-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----`, alice.keyPem, /not a PEM certificate/],
    [alice.certificatePem.repeat(limits.certificatesMax + 1), alice.keyPem, /chain of more than/],
    [alice.certificatePem, `${alice.keyPem.slice(0, 100)}\n-----END PRIVATE KEY-----`, /not a PEM key/],
    [alice.certificatePem, 'SYN-not-a-key', /not a PEM key/],
  ] as const) {
    write('tls.crt', certificate);
    write('tls.key', key);
    using remote = open();
    const error = await refusal(remote.send());
    assert.equal(error.reason, 'CREDENTIAL_INVALID');
    assert.match(error.message, expected);
    assert.ok(!JSON.stringify([error.message, error.details, String(error.cause)]).includes(secret.slice(0, 20)));
    assert.doesNotMatch(error.message, /SYN|AAAA|MII/);
  }
  rmSync(join(directory, 'postern-mtls', 'tls.key'));
  using remote = open();
  assert.equal((await refusal(remote.send())).reason, 'VAULT_LOCKED');
});

test('HTTP-34: a certificate that ended is refused before anything is sent, also on a socket that stands', async () => {
  writePair(await authority.issue({ commonName: 'brief', lifetimeMs: 3_600_000 }));
  using remote = open();
  assert.match(await remote.send(), /^brief on /);
  const before = nowMs;
  nowMs += 3_600_000;
  const error = await refusal(remote.send());
  nowMs = before;
  assert.equal(error.reason, 'CREDENTIAL_INVALID');
  assert.match(error.message, /has ended/);
});

test('client certificate: the private key is masked, also with other line ends; the certificate is no secret', async () => {
  writePair(alice);
  using remote = open();
  await remote.send();
  const mask = remote.own.mask.forAnyone();
  assert.equal(mask.text(alice.keyPem.trim()), MASKED);
  assert.equal(mask.text(alice.keyPem.replace(/-----.*-----/g, '').replace(/\s/g, '')), MASKED);
  assert.equal(mask.text(alice.certificatePem), alice.certificatePem);
});

test('client certificate: an alert about it under TLS 1.3 comes after our handshake, and means that nothing was read', async () => {
  const stranger = await (await createAuthority('somebody else')).issue({ commonName: 'stranger' });
  writePair(stranger);
  const files = { key: join(directory, 's.key'), crt: join(directory, 's.crt'), ca: join(directory, 'ca.crt') };
  writeFileSync(files.key, serving.keyPem);
  writeFileSync(files.crt, serving.certificatePem);
  writeFileSync(files.ca, authority.caPem);
  const settings = ['-key', files.key, '-cert', files.crt, '-CAfile', files.ca, '-Verify', '1', '-verify_return_error', '-tls1_3', '-www'];
  const openssl = spawn('openssl', ['s_server', '-accept', '127.0.0.1:0', ...settings], { stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    let said = '';
    for await (const chunk of openssl.stdout) {
      said += String(chunk);
      if (/ACCEPT \S+:\d+/.test(said)) break;
    }
    const port = /ACCEPT \S+:(\d+)/.exec(said)?.[1] ?? assert.fail(said);
    using remote = open('mtls', new Destinations({ allowLoopback: true }), `https://127.0.0.1:${port}`);
    const thrown: unknown = await remote.send().then(
      () => assert.fail('a reply came'),
      (error) => error,
    );
    assert(thrown instanceof TransportFailure, String(thrown));
    assert.deepEqual([thrown.kind, thrown.sent], ['tls', false], String(thrown.cause));
  } finally {
    openssl.kill('SIGKILL');
  }
});

test('client certificate: a plaintext destination is refused when the binding is compiled', () => {
  const { problems } = compileBinding({
    kind: 'CredentialBinding',
    name: 'mtls',
    namespace: 'n',
    spec: {
      owner: 'team',
      secret: { name: 'postern-mtls' },
      contracts: ['c'],
      destinations: [{ origin: 'http://10.0.0.1:8080', transport: 'Plaintext', addresses: ['10.0.0.0/8'] }],
      use,
    } as never,
  });
  assert.deepEqual(
    problems.map(({ code }) => code),
    ['binding-kind'],
  );
});
