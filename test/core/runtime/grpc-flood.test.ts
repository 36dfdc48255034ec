/**
 * Floods of streams, resets, connections, unread answers and random frames. Goal: nothing grows without bound and calls of
 * others go on. Method: the real server on loopback, requests below the level of any gRPC library.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { limits } from '#core/bounds/limits.ts';
import { FULL_RESULT } from '#test/sidecar/serve/fixed-calls.ts';
import { answerOf, executeFrame, openCall, openSession } from './raw-grpc.ts';
import { closeAll, never, serve, turns } from './served.ts';

after(closeAll);

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

/** A frame of HTTP/2: length, type, flags, stream, payload (RFC 9113, section 4.1). */
function http2Frame(type: number, flags: number, stream: number, payload: Uint8Array): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const anyFrame = fc
  .tuple(
    fc.integer({ min: 0, max: 12 }),
    fc.integer({ min: 0, max: 255 }),
    fc.integer({ min: 0, max: 9 }),
    fc.uint8Array({ maxLength: 60 }),
  )
  .map(([type, flags, stream, payload]) => http2Frame(type, flags, stream, payload));

test('grpc: no sequence of frames ends the process (GRPC-08)', async () => {
  const { port, ask, server } = await serve();
  await fc.assert(
    fc.asyncProperty(fc.array(anyFrame, { maxLength: 30 }), fc.boolean(), async (frames, settings) => {
      const socket = connectTcp(port, '127.0.0.1').on('error', () => {});
      socket.resume();
      socket.end(Buffer.concat([PREFACE, ...(settings ? [http2Frame(4, 0, 0, new Uint8Array())] : []), ...frames]));
      await once(socket, 'close');
    }),
    { numRuns: 300 },
  );
  assert.equal(await ask(), 'list_open_issues');
  while (server.open > 0) await turns(5);
});
