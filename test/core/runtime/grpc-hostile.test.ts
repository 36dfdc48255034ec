/**
 * The agent writes HTTP/2 frames by hand. Goal: no frame starts work that is not wanted, takes memory without bound,
 * ends the process or gains a right. Method: the real server on loopback, requests below the level of any gRPC library.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { limits } from '#core/bounds/limits.ts';
import type { CallEnd } from '#core/runtime/grpc-call.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import type { GuardEvent } from '#core/runtime/stream-guard.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import type { CallContext, ExecuteCall, ExecuteResult } from '#sidecar/call/calls.ts';
import { actionService } from '#sidecar/serve/action-service.ts';
import { FULL_RESULT, fixedCalls } from '#test/sidecar/serve/fixed-calls.ts';
import { answerOf, executeFrame, frame, openCall, openSession } from './raw-grpc.ts';

const closers: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of closers.reverse()) await close();
});

interface Served {
  readonly port: number;
  readonly server: GrpcServer;
  readonly calls: ExecuteCall[];
  readonly contexts: CallContext[];
  readonly events: GuardEvent[];
  readonly ends: CallEnd[];
  /** An ordinary call, to show that the process is well. */
  ask(): Promise<string>;
}

async function serve(
  execute: (call: ExecuteCall, context: CallContext) => Promise<ExecuteResult> = async () => FULL_RESULT,
): Promise<Served> {
  const calls: ExecuteCall[] = [];
  const contexts: CallContext[] = [];
  const events: GuardEvent[] = [];
  const ends: CallEnd[] = [];
  const server = new GrpcServer({ onGuardEvent: (event) => events.push(event), onCallEnd: (end) => ends.push(end) });
  const recorded = fixedCalls((call, context) => {
    calls.push(call);
    contexts.push(context);
    return execute(call, context);
  });
  server.add(ActionService, actionService(recorded));
  const port = await server.listen('127.0.0.1', 0);
  const connection = connect(`127.0.0.1:${port}`);
  closers.push(
    () => server.close(100),
    () => connection.close(),
  );
  const client = connection.client(ActionService);
  return { port, server, calls, contexts, events, ends, ask: async () => (await client.listActions({})).actions[0]?.action ?? '' };
}

const never = (_call: ExecuteCall, { signal }: CallContext) =>
  new Promise<ExecuteResult>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const turns = (count: number) =>
  Array.from({ length: count }).reduce<Promise<unknown>>(
    (previous) => previous.then(() => new Promise((resolve) => setImmediate(resolve))),
    Promise.resolve(),
  );

test('grpc: of 5,000 streams of one connection no more than the limit get a handler (GRPC-06)', async () => {
  const { port, calls, ask } = await serve(never);
  const session = await openSession(port);
  // The settings of the server say how many; a hostile client does not care, and neither does this one.
  const streams = Array.from({ length: 5000 }, () => openCall(session));
  for (const stream of streams) stream.end(executeFrame());
  while (calls.length < limits.grpcStreamsPerConnectionMax) await turns(5);
  await turns(50);
  assert.equal(calls.length, limits.grpcStreamsPerConnectionMax);
  assert.equal(await ask(), 'list_open_issues');
  session.destroy();
});

test('grpc: streams over all connections have one limit, and the excess is answered LIMIT_EXCEEDED (GRPC-06)', async () => {
  const { port, calls, events } = await serve(never);
  const needed = Math.ceil(limits.callsInFlightMax / limits.grpcStreamsPerConnectionMax) + 1;
  const sessions = await Promise.all(Array.from({ length: needed }, () => openSession(port)));
  const answers = sessions.flatMap((session) =>
    Array.from({ length: limits.grpcStreamsPerConnectionMax }, () => {
      const stream = openCall(session);
      stream.end(executeFrame());
      return answerOf(stream);
    }),
  );
  const first = await Promise.race(answers);
  assert.equal(first.code, 8);
  assert.equal(first.reason, 'LIMIT_EXCEEDED');
  await turns(50);
  assert.equal(calls.length, limits.callsInFlightMax);
  assert.ok(events.includes('too_many_streams'));
  for (const session of sessions) session.destroy();
});

test('grpc: connections beyond the limit are closed at once', async () => {
  const { port, events } = await serve();
  const sockets = Array.from({ length: limits.grpcConnectionsMax + 8 }, () => connectTcp(port, '127.0.0.1').on('error', () => {}));
  while (!events.includes('too_many_connections')) await turns(5);
  for (const socket of sockets) socket.destroy();
});

test('grpc: calls reset together with their request never reach a handler (GRPC-07)', async () => {
  const { port, calls, ask } = await serve();
  let sent = 0;
  // The server closes a session after too many resets; the flood goes on over new ones.
  while (sent < 3000) {
    const session = await openSession(port);
    while (sent < 3000 && !session.closed && !session.destroyed) {
      for (let index = 0; index < 100 && sent < 3000; index += 1, sent += 1) {
        const stream = openCall(session);
        stream.end(executeFrame());
        stream.close(8);
      }
      await turns(5);
    }
    session.destroy();
  }
  assert.equal(calls.length, 0);
  assert.equal(await ask(), 'list_open_issues');
});

test('grpc: a caller that leaves in mid-call aborts the signal', async () => {
  const { port, contexts, ends } = await serve(never);
  const session = await openSession(port);
  const stream = openCall(session);
  stream.end(executeFrame());
  while (contexts.length === 0) await turns(1);
  const { signal } = contexts[0] as CallContext;
  stream.close(8);
  await once(signal, 'abort');
  while (ends.length === 0) await turns(1);
  assert.equal(ends[0]?.code, 1);
  session.destroy();
});

test('grpc: a path without a method is refused, and the process lives (GRPC-08b)', async () => {
  const { port, ask } = await serve();
  const session = await openSession(port);
  for (const path of ['x', '/', '//', '/postern.v1.ActionService/', '/postern.v1.ActionService/__proto__', '*']) {
    const answer = await answerOf(openCall(session, { ':path': path }).end());
    assert.ok(answer.code === 12 || answer.rst !== 0, `${path}: ${answer.code}`);
  }
  for (const headers of [{ 'content-type': 'text/html' }, { ':method': 'GET' }])
    await answerOf(openCall(session, headers as Record<string, string>).end(executeFrame()));
  session.destroy();
  assert.equal(await ask(), 'list_open_issues');
});

test('grpc: a compressed flag without an encoding is refused, not read as plain (GRPC-08c)', async () => {
  const { port, calls } = await serve();
  const session = await openSession(port);
  for (const headers of [{}, { 'grpc-encoding': 'identity' }] as Record<string, string>[]) {
    const answer = await answerOf(openCall(session, headers).end(frame(executeFrame().subarray(5), 1)));
    assert.equal(answer.code, 12);
  }
  assert.equal(calls.length, 0);
  session.destroy();
});

test('grpc: unknown flags and encodings are refused (GRPC-08c)', async () => {
  const { port, calls } = await serve();
  const session = await openSession(port);
  const answer = await answerOf(openCall(session, { 'grpc-encoding': 'br' }).end(frame(Buffer.from('x'), 1)));
  assert.equal(answer.code, 12);
  assert.equal(calls.length, 0);
  session.destroy();
});

test('grpc: a declared length of 4 GiB is refused by its header alone (GRPC-09)', async () => {
  const { port, calls } = await serve();
  const session = await openSession(port);
  const stream = openCall(session);
  stream.write(Buffer.from('00ffffffff', 'hex'));
  const answer = await answerOf(stream);
  assert.equal(answer.code, 8);
  assert.equal(calls.length, 0);
  session.destroy();
});

test('grpc: a request over 256 KiB is refused; one just under it arrives (GRPC-09)', async () => {
  const { port, calls } = await serve();
  const session = await openSession(port);
  const over = await answerOf(openCall(session).end(executeFrame({ argumentsJson: new Uint8Array(limits.grpcRequestBytesMax) })));
  assert.equal(over.code, 8);
  assert.equal(calls.length, 0);
  const under = await answerOf(openCall(session).end(executeFrame({ argumentsJson: new Uint8Array(limits.grpcRequestBytesMax - 100) })));
  assert.equal(under.code, 0);
  session.destroy();
});

test('grpc: a gzip bomb is refused at the limit of its unpacked size (GRPC-09)', async () => {
  const { port, calls } = await serve();
  const session = await openSession(port);
  const bomb = frame(gzipSync(Buffer.alloc(64 * 1024 * 1024)), 1);
  assert.ok(bomb.length < limits.grpcRequestBytesMax);
  const answer = await answerOf(openCall(session, { 'grpc-encoding': 'gzip' }).end(bomb));
  assert.equal(answer.code, 8);
  assert.equal(calls.length, 0);
  session.destroy();
});

const timeouts: readonly (readonly [string, (ms: number | undefined) => boolean])[] = [
  ['99999999H', (ms) => ms === limits.grpcDeadlineMsMax - limits.answerMarginMsMax],
  ['600H', (ms) => ms === limits.grpcDeadlineMsMax - limits.answerMarginMsMax],
  ['-1S', (ms) => ms === limits.grpcDeadlineMsMax - limits.answerMarginMsMax],
  ['1e9S', (ms) => ms === limits.grpcDeadlineMsMax - limits.answerMarginMsMax],
  ['', (ms) => ms === limits.grpcDeadlineMsMax - limits.answerMarginMsMax],
  ['99999999n', (ms) => ms !== undefined && ms > 0 && ms <= 100],
  ['20S', (ms) => ms === 20_000 - limits.answerMarginMsMax],
];
for (const [value, fits] of timeouts) {
  test(`grpc: grpc-timeout "${value}" is clamped, and the call runs (GRPC-10)`, async () => {
    const { port, calls } = await serve();
    const session = await openSession(port);
    const answer = await answerOf(openCall(session, { 'grpc-timeout': value }).end(executeFrame()));
    assert.equal(answer.code, 0, answer.message);
    assert.equal(calls.length, 1);
    assert.ok(fits(calls[0]?.deadlineMs), String(calls[0]?.deadlineMs));
    session.destroy();
  });
}

test('grpc: metadata that looks like identity is ignored, and only its names are noted (GRPC-15)', async () => {
  const { port, calls, contexts, ends } = await serve();
  const session = await openSession(port);
  const claims = {
    authorization: 'Bearer s3cr3t',
    'x-postern-session': 'other',
    'x-forwarded-for': '1.2.3.4',
    'x-approved': 'true',
    'x-postern-stream': '1',
  };
  const answer = await answerOf(openCall(session, claims).end(executeFrame()));
  assert.equal(answer.code, 0);
  const plain = await answerOf(openCall(session).end(executeFrame()));
  assert.deepEqual(plain.data, answer.data);
  assert.deepEqual(calls[0], calls[1]);
  assert.doesNotMatch(JSON.stringify([calls, contexts, ends]), /s3cr3t|1\.2\.3\.4|other/);
  assert.deepEqual(ends[0]?.claims, ['authorization', 'x-postern-session', 'x-approved', 'x-forwarded-for']);
  session.destroy();
});

test('grpc: a thousand metadata keys reset the stream, and the process lives (GRPC-15)', async () => {
  const { port, calls, ask } = await serve();
  const session = await openSession(port);
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`x-${index}`, 'v']));
  const answer = await answerOf(openCall(session, many).end(executeFrame()));
  assert.notEqual(answer.rst, 0);
  assert.equal(calls.length, 0);
  session.destroy();
  assert.equal(await ask(), 'list_open_issues');
});

test('grpc: bytes that are no message are INVALID_ARGUMENT with our own words (JSON-25)', async () => {
  const { port, calls, ask } = await serve();
  const session = await openSession(port);
  // Field 1 (action) holding invalid UTF-8, then a cut varint, then a length beyond the end.
  for (const bytes of [Buffer.from([0x0a, 0x02, 0xff, 0xfe]), Buffer.from([0x08, 0xff]), Buffer.from([0x0a, 0x7f, 0x61])]) {
    const answer = await answerOf(openCall(session).end(frame(bytes)));
    assert.equal(answer.code, 3);
    assert.equal(answer.reason, 'INVALID_ARGUMENT');
  }
  assert.equal(calls.length, 0);
  session.destroy();
  assert.equal(await ask(), 'list_open_issues');
});

test('grpc: a message in frames of one byte arrives whole (GRPC-17)', async () => {
  const { port, calls } = await serve();
  const session = await openSession(port);
  const stream = openCall(session);
  for (const byte of executeFrame()) stream.write(Buffer.from([byte]));
  stream.end();
  assert.equal((await answerOf(stream)).code, 0);
  assert.equal(calls.length, 1);
  session.destroy();
});

test('grpc: no timer of an ended call stays behind (GRPC-12)', async () => {
  const { port, server } = await serve();
  const session = await openSession(port);
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const call = () => answerOf(openCall(session, { 'grpc-timeout': '1H' }).end(executeFrame()));
  await call();
  const before = timers();
  for (let index = 0; index < 200; index += 1) await call();
  await turns(5);
  assert.ok(timers() <= before + 2, `${before} -> ${timers()}`);
  assert.equal(server.open, 0);
  session.destroy();
});

test('grpc: an HTTP/1 peer is dropped, and the process lives', async () => {
  const { port, ask } = await serve();
  const socket = connectTcp(port, '127.0.0.1');
  socket.write('GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  assert.equal(await ask(), 'list_open_issues');
});

test('grpc: answers nobody reads are bounded over all calls', async () => {
  const dataJson = Buffer.alloc(limits.resultDataBytesMax, 0x20);
  const { port, ends } = await serve(async () => ({ ...FULL_RESULT, dataJson }));
  const session = await openSession(port);
  const count = Math.ceil(limits.grpcUnreadBytesMax / limits.resultDataBytesMax) + 5;
  const streams = Array.from({ length: count }, () => openCall(session).end(executeFrame()).pause());
  while (ends.length < count) await turns(5);
  const refused = ends.filter(({ error }) => error?.reason === 'LIMIT_EXCEEDED').length;
  assert.ok(refused >= 5, String(refused));
  for (const stream of streams) stream.close(8);
  while ((await answerOf(openCall(session).end(executeFrame()))).code !== 0) await turns(5);
  session.destroy();
});
