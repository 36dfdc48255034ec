/**
 * Goal: whoever answers at a vetted address - another name's certificate, a peer that breaks TLS in the middle, a resolver that
 * changes its mind - gets no request, ends no process and costs no memory. Method: real sockets, sabotaged on the way.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { createServer as createTlsServer, type TlsOptions } from 'node:tls';
import { Destinations } from '#sidecar/execute/http/destinations.ts';
import { createAuthority } from '#test/servers/certificates.ts';
import { startRawServer } from '#test/sidecar/execute/http/raw-server.ts';
import { failure, ok, sendTo, text } from '#test/sidecar/execute/http/with-server.ts';

const authority = await createAuthority();
const servers: Server[] = [];
const sockets = new Set<Socket>();
after(() => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** An HTTPS server that counts the bytes of requests it got to read. */
async function tlsServer(options: TlsOptions): Promise<{ readonly port: number; bytes(): number }> {
  let bytes = 0;
  const server = createTlsServer(options, (socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      socket.write(ok('x'));
    });
  });
  return { port: await listening(server), bytes: () => bytes };
}

const byName = new Destinations({ allowLoopback: true, resolve: async () => ['127.0.0.1'] });
const at = (origin: string, ca: string | undefined = authority.caPem, credential = `c${Math.random()}`) =>
  byName.transport({ origin, credential, addresses: ['127.0.0.1'], ca: () => ca });
const issued = async (subject: Parameters<typeof authority.issue>[0]) => {
  const { certificatePem: cert, keyPem: key } = await authority.issue(subject);
  return { cert, key };
};

test('egress: certificates of other names, however near, get no byte of a request', async () => {
  for (const hosts of [['evil.test'], ['api.test.evil.test'], ['xapi.test'], ['*.api.test'], ['*'], ['*.test.api'], ['127.0.0.1'], []]) {
    const server = await tlsServer(await issued({ commonName: hosts.length === 0 ? 'api.test' : 'x', hosts }));
    const origin = `https://api.test:${server.port}`;
    const ended = await failure(sendTo(at(origin), origin));
    assert.deepEqual([ended.kind, ended.sent, server.bytes()], ['tls', false, 0], hosts.join());
  }
});

test('egress: a certificate that signs itself is not trusted, also with system roots', async () => {
  const other = await createAuthority('self');
  const { certificatePem: cert, keyPem: key } = await other.issue({ commonName: 'api.test', hosts: ['api.test'] });
  const server = await tlsServer({ cert, key });
  const origin = `https://api.test:${server.port}`;
  for (const ca of [authority.caPem, undefined]) assert.equal((await failure(sendTo(at(origin, ca), origin))).kind, 'tls');
  assert.equal(server.bytes(), 0);
});

test('egress: a server that chooses HTTP/2, or asks for a client certificate, is no way round', async () => {
  const own = await issued({ commonName: 'api.test', hosts: ['api.test'] });
  const h2 = await tlsServer({ ...own, ALPNProtocols: ['h2'] });
  assert.equal((await failure(sendTo(at(`https://api.test:${h2.port}`), `https://api.test:${h2.port}`))).kind, 'tls');
  assert.equal(h2.bytes(), 0);
  const asking = await tlsServer({ ...own, requestCert: true, rejectUnauthorized: true, ca: authority.caPem });
  const ended = await failure(sendTo(at(`https://api.test:${asking.port}`), `https://api.test:${asking.port}`));
  assert.ok(['tls', 'unreachable', 'protocol'].includes(ended.kind), ended.kind);
  assert.equal(asking.bytes(), 0);
});

/** Relays to a server and, once it has answered `flights` times, writes `junk` in the same breath or cuts the line. */
async function saboteur(port: number, flights: number, junk: Buffer | undefined): Promise<number> {
  return listening(
    createServer((near) => {
      const far = connect(port, '127.0.0.1');
      sockets.add(far.on('error', () => near.destroy()));
      near.on('data', (chunk) => far.write(chunk));
      let seen = 0;
      far.on('data', (chunk) => {
        seen += 1;
        if (seen !== flights) near.write(chunk);
        else if (junk === undefined) near.resetAndDestroy();
        else near.write(Buffer.concat([chunk, junk]));
      });
      near.on('close', () => far.destroy());
    }),
  );
}

test('egress: junk or a reset in and right behind the handshake is a failure and never an uncaught one', async () => {
  const faults: unknown[] = [];
  const onFault = (fault: unknown) => faults.push(fault);
  process.on('uncaughtException', onFault).on('unhandledRejection', onFault);
  const own = await issued({ commonName: 'api.test', hosts: ['api.test'] });
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    const server = await tlsServer({ ...own, maxVersion });
    for (const flights of [1, 2, 3]) {
      for (const junk of [
        undefined,
        Buffer.from('170303001001020304', 'hex'),
        Buffer.alloc(40, 0x17),
        Buffer.from('15030300020228', 'hex'),
      ]) {
        const port = await saboteur(server.port, flights, junk);
        const origin = `https://api.test:${port}`;
        await sendTo(at(origin), origin, {}, { signal: AbortSignal.timeout(1500) }).then(
          (reply) => assert.equal(text(reply), 'x'),
          (thrown: Error) => assert.equal(thrown.name, 'TransportFailure'),
        );
      }
    }
  }
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.off('uncaughtException', onFault).off('unhandledRejection', onFault);
  assert.deepEqual(faults, []);
});

test('HTTP-24: a resolver that changes its mind is heard once for each connection, and never with a forbidden address', async () => {
  await using server = await startRawServer((socket) => socket.end(ok('x', 'Connection: close\r\n')));
  const turns: string[][] = [['127.0.0.1'], ['169.254.169.254'], ['127.0.0.1', '::1'], ['127.0.0.2'], [''], ['localhost'], ['127.0.0.1']];
  let asked = 0;
  const destinations = new Destinations({ allowLoopback: true, resolve: async () => turns[asked++] ?? assert.fail('asked too often') });
  const origin = `http://rebind.test:${server.port}`;
  const transport = destinations.transport({ origin, credential: 'c', addresses: ['127.0.0.1'] });
  const outcomes: string[] = [];
  for (const _ of turns) outcomes.push(await sendTo(transport, origin).then(text, (thrown: { kind: string }) => thrown.kind));
  assert.deepEqual(outcomes, ['x', 'egressDenied', 'egressDenied', 'egressDenied', 'egressDenied', 'egressDenied', 'x']);
  assert.equal(server.connections(), 2);
  destinations.close();
});

test('HTTP-35: timeouts, refusals and broken answers leave neither memory nor sockets behind', async () => {
  await using server = await startRawServer((socket, { index }) => {
    if (index % 3 === 0) socket.write('HTTP/1.1 2');
    else if (index % 3 === 1) socket.end('nonsense\r\n\r\n');
  });
  const destinations = new Destinations({ allowLoopback: true });
  const transport = destinations.transport({ origin: server.origin, credential: 'c', addresses: ['127.0.0.1'] });
  const fail = (times: number) =>
    Promise.all(Array.from({ length: times }, () => failure(sendTo(transport, server.origin, {}, { signal: AbortSignal.timeout(60) }))));
  for (let round = 0; round < 10; round += 1) await fail(40);
  const handles = process.getActiveResourcesInfo().length;
  const before = process.memoryUsage().rss;
  for (let round = 0; round < 25; round += 1) await fail(40);
  assert.ok(process.memoryUsage().rss - before < 48 * 1024 * 1024, String(process.memoryUsage().rss - before));
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.ok(process.getActiveResourcesInfo().length <= handles + 70);
  destinations.close();
});
