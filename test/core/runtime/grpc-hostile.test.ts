/**
 * The agent writes HTTP/2 frames by hand. Goal: no request starts work that is not wanted, ends the process or gains a
 * right. Method: the real server on loopback, requests below the level of any gRPC library.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { limits } from '#core/bounds/limits.ts';
import type { CallContext } from '#sidecar/call/calls.ts';
import { answerOf, executeFrame, frame, openCall, openSession } from './raw-grpc.ts';
import { closeAll, never, serve, turns } from './served.ts';

after(closeAll);

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

test('grpc: an HTTP/1 peer is dropped, and the process lives', async () => {
  const { port, ask } = await serve();
  const socket = connectTcp(port, '127.0.0.1');
  socket.write('GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  assert.equal(await ask(), 'list_open_issues');
});
