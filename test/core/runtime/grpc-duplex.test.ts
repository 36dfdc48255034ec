import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createSecureContext, type SecureContext, connect as tlsConnect } from 'node:tls';
import { PosternError } from '#core/error/postern-error.ts';
import { CONTROL_BOUNDS } from '#core/runtime/grpc-bounds.ts';
import type { StreamContext } from '#core/runtime/grpc-call.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { GrpcServer, type GrpcServerOptions } from '#core/runtime/grpc-server.ts';
import { ControlRefusal } from '#core/wire/control-refusal.ts';
import { type ConnectRequest, ControlService } from '#proto/postern/control/v1/control_pb.ts';
import { type Authority, createAuthority } from '#test/servers/certificates.ts';

const closers: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

type Reply = (bytes: bigint) => Promise<void>;
type Handler = (messages: AsyncIterable<ConnectRequest>, reply: Reply, context: StreamContext) => Promise<void>;

/** Serves one handler that answers with renewals. */
async function serve(handler: Handler, options: GrpcServerOptions = {}) {
  const server = new GrpcServer({ bounds: CONTROL_BOUNDS, ...options });
  server.add(ControlService, {
    connect: (messages, send, context) =>
      handler(messages, (leaseMs) => send({ message: { case: 'renewal', value: { leaseMs } } }), context),
  });
  const port = await server.listen('127.0.0.1', 0);
  closers.push(() => server.close(0));
  return { server, address: `127.0.0.1:${port}`, port };
}

function open(address: string, options: Parameters<typeof connect>[1] = {}) {
  const connection = connect(address, options);
  closers.push(() => connection.close());
  const stream = connection.client(ControlService).connect({ authorization: 'Bearer of-a-test' });
  return { stream, hello: () => stream.send({ message: { case: 'hello', value: { version: '1' } } }) };
}

test('grpc duplex: messages go both ways, in order, until the server has said its last word', async () => {
  const { address } = await serve(async (messages, reply) => {
    let count = 0n;
    for await (const { message } of messages) {
      if (message.case !== 'hello') continue;
      count += 1n;
      await reply(count);
      if (count === 3n) return;
    }
  });
  const { stream, hello } = open(address);
  const got: bigint[] = [];
  hello();
  for await (const { message } of stream) {
    if (message.case === 'renewal') got.push(message.value.leaseMs);
    hello();
  }
  assert.deepEqual(got, [1n, 2n, 3n]);
});

test('grpc duplex: the status of a stream that has answered already arrives after its last message', async () => {
  const { address } = await serve(async (_, reply) => {
    await reply(1n);
    throw new ControlRefusal('DRAINING', 'This replica stops.');
  });
  const { stream, hello } = open(address);
  hello();
  const got: bigint[] = [];
  await assert.rejects(
    async () => {
      for await (const { message } of stream) if (message.case === 'renewal') got.push(message.value.leaseMs);
    },
    (error: Error) => error.message === 'DRAINING: This replica stops.',
  );
  assert.deepEqual(got, [1n]);
});

test('grpc duplex: a fault of the handler tells nothing of itself', async () => {
  const { address } = await serve(() => Promise.reject(new Error('password=hunter22')));
  const { stream, hello } = open(address);
  hello();
  await assert.rejects(
    async () => {
      for await (const _ of stream) assert.fail('nothing should come');
    },
    (error: PosternError) => error.reason === 'INTERNAL' && !error.message.includes('hunter22'),
  );
});

test('grpc duplex: a peer that goes away aborts the signal and ends its messages', async () => {
  const arrived = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const { address } = await serve(async (messages, _, { signal }) => {
    arrived.resolve();
    for await (const _message of messages) {
      // Nobody says a second word.
    }
    // Node tells of a reset as of an end first; what a handler still does is stopped a moment later.
    if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
    ended.resolve();
  });
  const { stream, hello } = open(address);
  const listening = (async () => {
    for await (const _ of stream) assert.fail('nothing should come');
  })();
  hello();
  await arrived.promise;
  stream.cancel();
  await assert.rejects(listening);
  await ended.promise;
});

test('grpc duplex: a send waits while the peer does not read, so that one message is held', async () => {
  const sent = { count: 0 };
  const server = new GrpcServer({ bounds: CONTROL_BOUNDS });
  const filler = 'x'.repeat(512 * 1024);
  const gone = Promise.withResolvers<void>();
  server.add(ControlService, {
    connect: async (_messages, send) => {
      try {
        for (; sent.count < 200; sent.count += 1) await send({ message: { case: 'session', value: { because: filler } } });
      } finally {
        gone.resolve();
      }
    },
  });
  const port = await server.listen('127.0.0.1', 0);
  closers.push(() => server.close(0));
  const { stream, hello } = open(`127.0.0.1:${port}`);
  hello();
  // One message is read, then no more: what the window takes is little, and the rest waits at the server.
  for await (const _ of stream) break;
  await gone.promise;
  assert.ok(sent.count < 200, `${sent.count} messages of half a megabyte were sent to a peer that reads one`);
});

test('grpc duplex: only a server whose bounds say so shows a handler the authorization', async () => {
  const seen: (string | undefined)[] = [];
  for (const authorization of [true, false]) {
    const { address } = await serve(
      async (_, __, context) => {
        seen.push(context.authorization);
        assert.match(context.peer, /127\.0\.0\.1$/);
      },
      { bounds: { ...CONTROL_BOUNDS, authorization } },
    );
    const { stream, hello } = open(address);
    hello();
    for await (const _ of stream) assert.fail('nothing should come');
  }
  assert.deepEqual(seen, ['Bearer of-a-test', undefined]);
});

test('grpc duplex: a message over the limit ends the stream before it is held', async () => {
  const { address } = await serve(async (messages) => {
    for await (const _ of messages) assert.fail('no message should come');
  });
  const { stream } = open(address);
  stream.send({ message: { case: 'hello', value: { version: `${'v'.repeat(CONTROL_BOUNDS.requestBytesMax)}` } } });
  await assert.rejects(
    async () => {
      for await (const _ of stream) assert.fail('nothing should come');
    },
    (error: PosternError) => error instanceof PosternError && error.reason === 'LIMIT_EXCEEDED',
  );
});

async function contextOf(authority: Authority, host: string): Promise<SecureContext> {
  const { certificatePem, keyPem } = await authority.issue({ commonName: host, hosts: [host] });
  return createSecureContext({ cert: certificatePem, key: keyPem, minVersion: 'TLSv1.3' });
}

test('tls listener: a new certificate is served from the next connection on, and connections that stand are left alone', async () => {
  const [before, later] = [await createAuthority('before'), await createAuthority('later')];
  let context = await contextOf(before, 'operator.test');
  const { address } = await serve(
    async (messages, reply) => {
      for await (const _ of messages) await reply(1n);
    },
    { tls: { contextFor: (name) => (name === 'operator.test' ? context : undefined) } },
  );
  const one = open(address, { tls: { ca: before.caPem, serverName: 'operator.test' } });
  const messages = one.stream[Symbol.asyncIterator]();
  one.hello();
  assert.equal((await messages.next()).done, false);
  context = await contextOf(later, 'operator.test');
  const two = open(address, { tls: { ca: later.caPem, serverName: 'operator.test' } });
  two.hello();
  assert.equal((await two.stream[Symbol.asyncIterator]().next()).done, false, 'the new CA');
  one.hello();
  assert.equal((await messages.next()).done, false, 'the old connection');
  const three = open(address, { tls: { ca: before.caPem, serverName: 'operator.test' } });
  three.hello();
  await assert.rejects(three.stream[Symbol.asyncIterator]().next(), { reason: 'REMOTE_UNAVAILABLE' });
});

test('tls listener: a peer without a known server name, of TLS 1.2 or without HTTP/2 does not get past its handshake', async () => {
  const authority = await createAuthority();
  const context = await contextOf(authority, 'operator.test');
  let failed = 0;
  const contextFor = (name: string) => (name === 'operator.test' ? context : undefined);
  const { port } = await serve(async () => assert.fail('no stream should open'), {
    tls: { contextFor, onHandshakeFailed: () => (failed += 1) },
  });
  const shake = (options: object) =>
    new Promise<string>((resolve) => {
      const socket = tlsConnect({
        host: '127.0.0.1',
        port,
        ca: authority.caPem,
        servername: 'operator.test',
        ALPNProtocols: ['h2'],
        ...options,
      });
      socket.on('error', () => resolve('refused'));
      socket.on('close', () => resolve('closed'));
      socket.on('data', () => resolve('served'));
    });
  assert.equal(await shake({ servername: 'another.test' }), 'refused');
  assert.equal(await shake({ servername: '', checkServerIdentity: () => undefined }), 'refused');
  assert.equal(await shake({ maxVersion: 'TLSv1.2' }), 'refused');
  assert.notEqual(await shake({ ALPNProtocols: ['http/1.1'] }), 'served');
  assert.notEqual(await shake({ ALPNProtocols: undefined }), 'served');
  assert.ok(failed >= 3);
});
