import assert from 'node:assert/strict';
import { connect as connectTcp } from 'node:net';
import { after, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { limits } from '#core/bounds/limits.ts';
import { pinServerName } from '#core/resource/names.ts';
import { AGENT_BOUNDS, CONTROL_BOUNDS } from '#core/runtime/grpc-bounds.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import type { CallContext, ExecuteResult } from '#sidecar/call/calls.ts';
import { actionService } from '#sidecar/serve/action-service.ts';
import { pinOfPem, replicaCertificate } from '#test/fakes/operator.ts';
import { createAuthority } from '#test/servers/certificates.ts';
import { FULL_RESULT, fixedCalls } from '#test/sidecar/serve/fixed-calls.ts';

const closers: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of closers.reverse()) await close();
});

/** A server whose calls end when the test says so. */
async function serveGated() {
  const gate = Promise.withResolvers<ExecuteResult>();
  const arrived = Promise.withResolvers<CallContext>();
  const server = new GrpcServer();
  server.add(
    ActionService,
    actionService(
      fixedCalls((_call, context) => {
        arrived.resolve(context);
        return gate.promise;
      }),
    ),
  );
  const port = await server.listen('127.0.0.1', 0);
  const connection = connect(`127.0.0.1:${port}`);
  closers.push(() => connection.close());
  return { server, port, gate, arrived, client: connection.client(ActionService) };
}

async function events(client: Awaited<ReturnType<typeof serveGated>>['client']): Promise<(string | undefined)[]> {
  const cases: (string | undefined)[] = [];
  for await (const { event } of client.execute({ action: 'a' })) cases.push(event.case);
  return cases;
}

test('grpc server: a running call ends before the server does', async () => {
  const { server, gate, arrived, client } = await serveGated();
  const answer = events(client);
  await arrived.promise;
  let closed = false;
  const closing = server.close(60_000).then(() => {
    closed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(closed, false);
  gate.resolve(FULL_RESULT);
  assert.deepEqual(await answer, ['result']);
  await closing;
});

test('grpc server: a call that does not end is cut after the grace, and its signal is aborted', async () => {
  const { server, arrived, client } = await serveGated();
  const answer = events(client);
  const { signal } = await arrived.promise;
  const rejected = assert.rejects(answer);
  await server.close(20);
  await rejected;
  assert.ok(signal.aborted);
});

test('grpc server: takes no new connection while it closes', async () => {
  const { server, port, gate, arrived, client } = await serveGated();
  const answer = events(client);
  await arrived.promise;
  const closing = server.close(60_000);
  const refused = await new Promise<string>((resolve) => {
    const socket = connectTcp(port, '127.0.0.1');
    socket.on('connect', () => resolve('connected'));
    socket.on('error', (error) => resolve('code' in error ? String(error.code) : 'error'));
  });
  assert.equal(refused, 'ECONNREFUSED');
  gate.resolve(FULL_RESULT);
  await answer;
  await closing;
});

test('grpc server: a port that is taken is an error, not shared', async () => {
  const { server, port } = await serveGated();
  const second = new GrpcServer();
  await assert.rejects(second.listen('127.0.0.1', port), { code: 'EADDRINUSE' });
  await server.close(0);
});

test('grpc client: where nobody listens, the answer is REMOTE_UNAVAILABLE', async () => {
  const { server, port } = await serveGated();
  await server.close(0);
  const connection = connect(`127.0.0.1:${port}`);
  await assert.rejects(connection.client(ActionService).listActions({}), { reason: 'REMOTE_UNAVAILABLE' });
  connection.close();
});

test('grpc client: a deadline that passes is DEADLINE_EXCEEDED', async () => {
  const { server, client } = await serveGated();
  await assert.rejects(
    async () => {
      for await (const _ of client.execute({ action: 'a' }, { timeoutMs: 30 })) assert.fail('nothing should come');
    },
    { reason: 'DEADLINE_EXCEEDED' },
  );
  await server.close(0);
});

test('grpc client: leaving a stream early cancels the call', async () => {
  const { server, arrived, client } = await serveGated();
  const abort = new AbortController();
  const answer = (async () => {
    for await (const _ of client.execute({ action: 'a' }, { signal: abort.signal })) assert.fail('nothing should come');
  })();
  const { signal } = await arrived.promise;
  abort.abort();
  await assert.rejects(answer);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  await server.close(0);
});

test('grpc server: connections that never say a word do not hold up its end, and a running call has its time (GRPC-14)', {
  timeout: 60_000,
}, async () => {
  const { server, port, gate, arrived, client } = await serveGated();
  // It does not read either, so that nothing it is told reaches it.
  const silent = connectTcp(port, '127.0.0.1');
  await new Promise((resolve) => silent.once('connect', resolve));
  const running = events(client);
  await arrived.promise;
  const closing = server.close(30_000);
  await new Promise((resolve) => setTimeout(resolve, limits.grpcIdleCloseMsMax + 200));
  gate.resolve(FULL_RESULT);
  assert.equal((await running).at(-1), 'result');
  await closing;
  silent.destroy();
});

test('grpc server: on a network, a port full of connections that say nothing still takes those that do, and a call keeps its own (GRPC-06)', {
  timeout: 60_000,
}, async () => {
  const authority = await createAuthority();
  const certificate = await replicaCertificate(authority);
  const crowded: string[] = [];
  const server = new GrpcServer({
    bounds: { ...AGENT_BOUNDS, connectionsMax: 4 },
    tls: { contextFor: () => certificate },
    onGuardEvent: (event) => crowded.push(event),
  });
  const gate = Promise.withResolvers<ExecuteResult>();
  server.add(ActionService, actionService(fixedCalls(() => gate.promise)));
  const port = await server.listen('127.0.0.1', 0);
  const tls = { ca: authority.caPem, serverName: pinServerName(pinOfPem(authority.caPem)) };
  const client = () => {
    const connection = connect(`127.0.0.1:${port}`, { tls });
    closers.push(() => connection.close());
    return connection.client(ActionService);
  };
  const running = events(client());
  for (let round = 0; round < 12; round += 1) {
    const silent = connectTcp({ port, host: '127.0.0.1', localAddress: '127.0.0.66' }).on('error', () => undefined);
    await new Promise((resolve) => silent.once('connect', resolve));
    closers.push(() => void silent.destroy());
  }
  await client().listActions({});
  gate.resolve(FULL_RESULT);
  assert.equal((await running).at(-1), 'result');
  assert.ok(crowded.includes('too_many_connections'));
  await server.close(100);
});

test('grpc server: a TLS peer that makes its handshake only when the server stops does not hold up its end (GRPC-14)', {
  timeout: 60_000,
}, async () => {
  const certificate = await replicaCertificate(await createAuthority());
  const server = new GrpcServer({ bounds: CONTROL_BOUNDS, tls: { contextFor: () => certificate } });
  const raw = connectTcp(await server.listen('127.0.0.1', 0), '127.0.0.1');
  await new Promise((resolve) => raw.once('connect', resolve));
  const closing = server.close(200);
  const late = connectTls({ socket: raw, servername: 'late.invalid', ALPNProtocols: ['h2'], rejectUnauthorized: false });
  late.on('error', () => undefined);
  await closing;
  raw.destroy();
});
