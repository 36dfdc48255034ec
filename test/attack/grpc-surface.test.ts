/**
 * Goal: whatever the agent writes on its port, nothing of it becomes a label, a log line, a stream that stays, a call upstream that
 * was given up. Method: a whole sidecar, hostile names and timing, counts on both sides.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { ExecuteRequestSchema } from '#proto/postern/v1/action_pb.ts';
import { answerOf, executeFrame, frame, openCall, openSession } from '#test/core/runtime/raw-grpc.ts';
import { type HostileStage, json, startHostileStage } from './hostile-stage.ts';

let stage: HostileStage;
let port = 0;
before(async () => {
  stage = await startHostileStage();
  port = Number(stage.sidecar.address.split(':').at(-1));
});
after(() => stage[Symbol.asyncDispose]());

const series = (text: string) => text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;

test('grpc surface: names of actions become neither series nor log lines', async () => {
  const names = [
    'find',
    'x\n{"level":"error","message":"forged"}',
    '__proto__',
    'constructor',
    '\u202eevil',
    'a"} 1\nforged_metric 1',
    'f\u0456nd',
    '',
  ];
  await stage.refused('nothing').catch(() => undefined);
  const before = series(await stage.metrics());
  for (let index = 0; index < 300; index += 1) {
    const name = index < names.length ? (names[index] ?? '') : `forged-${index}-${'x'.repeat(index)}`;
    if (name !== 'find') assert.equal((await stage.refused(name)).reason, 'ACTION_UNKNOWN', name);
  }
  const text = await stage.metrics();
  assert.ok(series(text) <= before + 5, `${before} -> ${series(text)}`);
  // Ids are random, and in so many of them any word of four letters stands some day.
  const log = stage.sidecar.log().replaceAll(/"(?:request|operation)_id":"\w+"/g, '""');
  assert.doesNotMatch(text + log, /forged|evil/);
  for (const line of stage.sidecar.log().split('\n')) assert.equal(typeof JSON.parse(line).message, 'string');
});

test('grpc surface: a name of 200 KiB costs no more than a short one', async () => {
  assert.equal((await stage.refused('x'.repeat(200_000))).reason, 'ACTION_UNKNOWN');
});

test('grpc surface: cursors that are huge, forged, of another action or edited open nothing', async () => {
  for (const cursor of ['A', 'x'.repeat(limits.cursorBytesMax + 1), '{"page":9}', '../../etc', 'AQ'.repeat(500), '\u0000', 'é'])
    assert.equal((await stage.refused('find', { q: 'x' }, { cursor })).reason, 'CURSOR_INVALID', cursor.slice(0, 20));
  assert.equal((await stage.refused('find', { q: 'x' }, { cursor: 'x'.repeat(limits.grpcRequestBytesMax) })).reason, 'LIMIT_EXCEEDED');
});

test('grpc surface: deadlines of any size are refused or bounded by the contract', async () => {
  stage.play((socket) => socket.write(json('{}')));
  const session = await openSession(port);
  const request = toBinary(ExecuteRequestSchema, create(ExecuteRequestSchema, { action: 'find', argumentsJson: Buffer.from('{"q":"x"}') }));
  const tag = ExecuteRequestSchema.field.deadlineMs.number * 8;
  // The value as it would stand on the wire: the largest, 2^64-1 where 32 bits are meant, and one that never ends.
  const ask = (...value: number[]) => answerOf(openCall(session).end(frame(Buffer.concat([request, Buffer.from([tag, ...value])]))));
  assert.equal((await ask(0xff, 0xff, 0xff, 0xff, 0x0f)).code, 0);
  assert.equal((await ask(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01)).code, 0);
  assert.equal((await ask(...Array.from({ length: 11 }, () => 0xff))).reason, 'INVALID_ARGUMENT');
  session.destroy();
});

test('grpc surface: operation ids of a caller’s own making are refused', async () => {
  for (const operationId of ['x', '../x', `op_${'A'.repeat(26)}`, `op_${'a'.repeat(26)}\n`, `op_${'a'.repeat(2000)}`])
    assert.equal((await stage.refused('find', { q: 'x' }, { operationId })).reason, 'INVALID_ARGUMENT', operationId.slice(0, 40));
});

test('grpc surface: metadata beyond its limit is refused, and the call does not run', async () => {
  stage.play((socket) => socket.write(json('{}')));
  const session = await openSession(port);
  const ask = (bytes: number) =>
    answerOf(
      openCall(session, { 'x-a': 'v'.repeat(bytes) }).end(executeFrame({ action: 'find', argumentsJson: Buffer.from('{"q":"x"}') })),
    );
  assert.equal((await ask(limits.grpcMetadataBytesMax)).reason, 'LIMIT_EXCEEDED');
  assert.equal(stage.server.requests.length, 0);
  assert.equal((await ask(limits.grpcMetadataBytesMax - 1000)).code, 0);
  session.destroy();
});

test('LEAK-17: nothing a caller puts into its metadata goes upstream', async () => {
  stage.play((socket) => socket.write(json('{}')));
  const session = await openSession(port);
  const claims = {
    authorization: 'Bearer caller-s3cret',
    cookie: 'a=caller-s3cret',
    'x-api-key': 'caller-s3cret',
    'user-agent': 'caller-s3cret',
  };
  assert.equal(
    (await answerOf(openCall(session, claims).end(executeFrame({ action: 'find', argumentsJson: Buffer.from('{"q":"x"}') })))).code,
    0,
  );
  assert.doesNotMatch(stage.server.requests.join('\n') + stage.sidecar.log(), /caller-s3cret/);
  session.destroy();
});

test('GRPC-07: of calls given up at random moments none is sent twice, and none after it was given up', async () => {
  stage.play((socket) => setTimeout(() => socket.write(json('{}')), 5));
  const session = await openSession(port);
  const calls = Array.from({ length: 300 }, (_, index) => {
    const stream = openCall(session).end(executeFrame({ action: 'find', argumentsJson: Buffer.from(`{"q":"race-${index}"}`) }));
    setTimeout(() => stream.close(8), index % 20);
    return once(stream, 'close');
  });
  await Promise.all(calls);
  session.destroy();
  await stage.call('find', { q: 'afterwards' });
  const asked = stage.server.requests.map((head) => /q=([^ ]*)/.exec(head)?.[1] ?? '');
  assert.equal(new Set(asked).size, asked.length, 'no call was sent twice');
  const sent = asked.length;
  await stage.call('find', { q: 'much-later' });
  assert.equal(stage.server.requests.length, sent + 1, 'nothing was sent behind the back of a cancelled call');
});

test('grpc surface: under load beyond every limit the excess is LIMIT_EXCEEDED and the sidecar serves on', async () => {
  const held: (() => void)[] = [];
  stage.play((socket) => held.push(() => socket.write(json('{}'))));
  const sessions = await Promise.all(Array.from({ length: 4 }, () => openSession(port)));
  const answers = sessions.flatMap((session) =>
    Array.from({ length: limits.grpcStreamsPerConnectionMax }, () =>
      answerOf(openCall(session).end(executeFrame({ action: 'find', argumentsJson: Buffer.from('{"q":"load"}') }))),
    ),
  );
  const first = await Promise.race(answers);
  assert.equal(first.reason, 'LIMIT_EXCEEDED');
  for (const session of sessions) session.destroy();
  await Promise.all(answers);
  stage.play((socket) => socket.write(json('{}')));
  for (;;) {
    const ended = await stage.call('find', { q: 'x' }).then(
      () => 'OK',
      (thrown) => PosternError.from(thrown).reason,
    );
    if (ended === 'OK') break;
    assert.equal(ended, 'LIMIT_EXCEEDED');
  }
  const rss = Number(/^postern_resident_memory_bytes (\S+)/m.exec(await stage.metrics())?.[1]);
  assert.ok(rss > 0 && rss < 400 * 1024 * 1024, String(rss));
});
