/**
 * Where a connection may go: addresses as a resolver gives them, certificates as servers show them.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer as createHttpsServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { addressCheck } from '#sidecar/execute/http/address.ts';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import type { Transport } from '#sidecar/execute/http/transport.ts';
import { createAuthority } from '#test/servers/certificates.ts';
import { startRawServer } from './raw-server.ts';
import { failure, ok, sendTo, text } from './with-server.ts';

const never = [
  '0.0.0.0',
  '255.255.255.255',
  '169.254.169.254',
  '169.254.1.1',
  '224.0.0.1',
  '240.0.0.1',
  '192.0.2.1',
  '198.18.0.1',
  '100.100.100.200',
  '168.63.129.16',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'ff02::1',
  '::ffff:8.8.8.8',
  '::ffff:127.0.0.1',
  '64:ff9b::a00:1',
  '2002:7f00:1::',
  '2001:0:1::',
  '2001:db8::1',
  'fd00:ec2::254',
  '::8.8.8.8',
  'fec0::1',
  '127.1',
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '',
  'localhost',
  '8.8.8.8.',
];
for (const address of never) {
  test(`HTTP-24: ${address || 'an empty address'} is never dialled, whatever the binding names`, () => {
    for (const addresses of [undefined, ['0.0.0.0/0', '::/0'], ['8.8.8.0/24']]) {
      assert.equal(addressCheck({ allowLoopback: true, ...(addresses && { addresses }) })(address), false);
    }
  });
}

test('egress: public addresses are allowed by default, private ones only where the binding names the range', () => {
  const open = addressCheck({ allowLoopback: false });
  for (const address of ['8.8.8.8', '2606:4700::1111']) assert.equal(open(address), true, address);
  for (const address of ['10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1', 'fd12::1', '127.0.0.1', '::1'])
    assert.equal(open(address), false, address);
  const named = addressCheck({ addresses: ['10.20.0.0/16', 'fd12::/32'], allowLoopback: false });
  assert.deepEqual(['10.20.255.1', '10.21.0.1', 'fd12::1', '8.8.8.8'].map(named), [true, false, true, false]);
});

test('egress: loopback needs the operator and the literal address in the binding', () => {
  const check = (allowLoopback: boolean, ...addresses: string[]) => addressCheck({ addresses, allowLoopback });
  assert.equal(check(true, '127.0.0.1/32')('127.0.0.1'), true);
  assert.equal(check(true, '127.0.0.1')('127.0.0.1'), true);
  assert.equal(check(true, '::1/128')('::1'), true);
  assert.equal(check(false, '127.0.0.1/32')('127.0.0.1'), false);
  assert.equal(check(true, '127.0.0.0/8')('127.0.0.1'), false);
  assert.equal(check(true, '0.0.0.0/0')('127.0.0.1'), false);
  assert.equal(check(true, '127.0.0.1/32')('127.0.0.2'), false);
});

test('HTTP-24: one forbidden address among several refuses the whole answer', async () => {
  const destinations = new Destinations({ allowLoopback: false, resolve: async () => ['8.8.8.8', '169.254.169.254'] });
  const ended = await failure(sendTo(destinations.transport({ origin: 'https://api.test', credential: 'c' }), 'https://api.test'));
  assert.deepEqual([ended.kind, ended.sent], ['egressDenied', false]);
});

test('HTTP-24: a name is resolved once per connection and the vetted address is the one dialled', async () => {
  await using server = await startRawServer((socket) => socket.write(ok('x')));
  const answers = [['127.0.0.1'], ['169.254.169.254']];
  let asked = 0;
  const destinations = new Destinations({
    allowLoopback: true,
    resolve: async () => answers[asked++] ?? assert.fail('a third resolution'),
  });
  const origin = `http://rebind.test:${server.port}`;
  const transport = destinations.transport({ origin, credential: 'c', addresses: ['127.0.0.1'] });
  assert.equal(text(await sendTo(transport, origin)), 'x');
  assert.equal(asked, 1);
  assert.match(server.requests[0]!, /host: rebind\.test/i);
  destinations.close();
  assert.equal((await failure(sendTo(transport, origin))).kind, 'egressDenied');
});

test('egress: a name that does not resolve and a port that is closed are unreachable', async () => {
  const lost = new Destinations({ allowLoopback: true, resolve: () => Promise.reject(new Error('ENOTFOUND')) });
  assert.equal(
    (await failure(sendTo(lost.transport({ origin: 'https://no.test', credential: 'c' }), 'https://no.test'))).kind,
    'unreachable',
  );
  const closed = await startRawServer(() => undefined);
  await closed[Symbol.asyncDispose]();
  const transport = new Destinations({ allowLoopback: true }).transport({
    origin: closed.origin,
    credential: 'c',
    addresses: ['127.0.0.1'],
  });
  const ended = await failure(sendTo(transport, closed.origin));
  assert.deepEqual([ended.kind, ended.sent], ['unreachable', false]);
});

async function withTls(options: ServerOptions, use: (port: number) => Promise<void>): Promise<void> {
  const server = createHttpsServer(options, (request, response) =>
    response.end(JSON.stringify({ sni: Reflect.get(request.socket, 'servername') })),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    await use((server.address() as AddressInfo).port);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const byName = new Destinations({ allowLoopback: true, resolve: async () => ['127.0.0.1'] });
function named(origin: string, ca?: string): Transport {
  return byName.transport({ origin, credential: `c-${Math.random()}`, addresses: ['127.0.0.1'], ca: () => ca });
}

test('HTTP-21: a server is trusted for the name in the origin by the binding CA only, with that name as SNI', async () => {
  const ours = await createAuthority();
  const other = await createAuthority('another CA');
  const { certificatePem, keyPem } = await ours.issue({ commonName: 'api.test', hosts: ['api.test'] });
  await withTls({ cert: certificatePem, key: keyPem }, async (port) => {
    const origin = `https://api.test:${port}`;
    assert.deepEqual(JSON.parse(text(await sendTo(named(origin, ours.caPem), origin))), { sni: 'api.test' });
    for (const [why, at, ca] of [
      ['another CA', origin, other.caPem],
      ['the system roots', origin, undefined],
      ['another name', `https://other.test:${port}`, ours.caPem],
      ['an address', `https://127.0.0.1:${port}`, ours.caPem],
    ] as const) {
      const ended = await failure(sendTo(named(at, ca), at));
      assert.deepEqual([ended.kind, ended.sent], ['tls', false], why);
    }
  });
});

test('egress: an expired certificate and TLS 1.1 are refused', async () => {
  const authority = await createAuthority();
  const expired = await authority.issue({ commonName: 'api.test', hosts: ['api.test'], lifetimeMs: -1000 });
  await withTls({ cert: expired.certificatePem, key: expired.keyPem }, async (port) => {
    assert.equal((await failure(sendTo(named(`https://api.test:${port}`, authority.caPem), `https://api.test:${port}`))).kind, 'tls');
  });
  const valid = await authority.issue({ commonName: 'api.test', hosts: ['api.test'] });
  const old = {
    cert: valid.certificatePem,
    key: valid.keyPem,
    minVersion: 'TLSv1.1',
    maxVersion: 'TLSv1.1',
    ciphers: 'DEFAULT@SECLEVEL=0',
  } as const;
  await withTls(old, async (port) => {
    assert.equal((await failure(sendTo(named(`https://api.test:${port}`, authority.caPem), `https://api.test:${port}`))).kind, 'tls');
  });
});

test('egress: a CA that changes means new sockets, and the old ones answer nobody', async () => {
  const authority = await createAuthority();
  const other = await createAuthority('another CA');
  const { certificatePem, keyPem } = await authority.issue({ commonName: 'api.test', hosts: ['api.test'] });
  await withTls({ cert: certificatePem, key: keyPem }, async (port) => {
    const origin = `https://api.test:${port}`;
    let ca = authority.caPem;
    const transport = byName.transport({ origin, credential: 'rotating', addresses: ['127.0.0.1'], ca: () => ca });
    assert.equal((await sendTo(transport, origin)).status, 200);
    ca = other.caPem;
    assert.equal((await failure(sendTo(transport, origin))).kind, 'tls');
    byName.transport({ origin, credential: 'rotating', addresses: ['127.0.0.1'], ca: () => authority.caPem });
    assert.equal((await sendTo(transport, origin)).status, 200, 'a binding that names another key is heard');
    byName.transport({ origin, credential: 'rotating', addresses: ['127.0.0.1'], ca: () => ca });
    ca = 'not a certificate';
    assert.equal((await failure(sendTo(transport, origin))).kind, 'tls');
  });
});

test('HTTP-23: an environment that switches verification off changes nothing', async () => {
  const { certificatePem, keyPem } = await (await createAuthority()).issue({ commonName: 'api.test', hosts: ['api.test'] });
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    await withTls({ cert: certificatePem, key: keyPem }, async (port) => {
      assert.equal((await failure(sendTo(named(`https://api.test:${port}`), `https://api.test:${port}`))).kind, 'tls');
    });
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  }
});

test('HTTP-35: failing handshakes do not pile up memory or sockets', async () => {
  const { certificatePem, keyPem } = await (await createAuthority()).issue({ commonName: 'api.test', hosts: ['api.test'] });
  await withTls({ cert: certificatePem, key: keyPem }, async (port) => {
    const origin = `https://api.test:${port}`;
    const transport = named(origin);
    const fail = async (times: number) => {
      for (let index = 0; index < times; index++) assert.equal((await failure(sendTo(transport, origin))).kind, 'tls');
    };
    await fail(50);
    const handles = process.getActiveResourcesInfo().length;
    const before = process.memoryUsage().rss;
    await fail(300);
    assert(process.memoryUsage().rss - before < 64 * 1024 * 1024);
    assert(process.getActiveResourcesInfo().length <= handles + 8);
  });
});

test('egress: a destination beyond the bound closes the one used longest ago, and both still answer', async () => {
  await using server = await startRawServer((socket) => socket.write(ok('x')));
  const destinations = new Destinations({ allowLoopback: true });
  const transports = Array.from({ length: 130 }, (_, index) =>
    destinations.transport({ origin: server.origin, credential: `c${index}`, addresses: ['127.0.0.1'] }),
  );
  for (const transport of transports) await sendTo(transport, server.origin);
  assert.equal(server.connections(), 130);
  await sendTo(transports[129]!, server.origin);
  assert.equal(server.connections(), 130, 'the newest is still open');
  await sendTo(transports[0]!, server.origin);
  assert.equal(server.connections(), 131, 'the oldest had been closed');
  destinations.close();
});
