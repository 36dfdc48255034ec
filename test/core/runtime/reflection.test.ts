import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { type FileDescriptorProto, FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { connect } from '#core/runtime/grpc-client.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import { addHealth, HealthState } from '#core/runtime/health.ts';
import { addReflection } from '#core/runtime/reflection.ts';
import {
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
  type ServerReflectionResponse,
  ServerReflectionResponseSchema,
} from '#proto/grpc/reflection/v1/reflection_pb.ts';
import { Health, HealthCheckResponse_ServingStatus as ServingStatus } from '#proto/health/v1/health_pb.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import { actionService } from '#sidecar/serve/action-service.ts';
import { fixedCalls } from '#test/sidecar/serve/fixed-calls.ts';
import { answerOf, frame, openCall, openSession } from './raw-grpc.ts';

const server = new GrpcServer();
const health = new HealthState();
server.add(ActionService, actionService(fixedCalls()));
addHealth(server, health, [ActionService.typeName]);
addReflection(server, [ActionService]);
const listening = server.listen('127.0.0.1', 0);
after(() => server.close(100));

type Question = ServerReflectionRequest['messageRequest'];

async function ask(version: string, ...questions: Question[]): Promise<ServerReflectionResponse[]> {
  const session = await openSession(await listening);
  const stream = openCall(session, { ':path': `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo` });
  for (const messageRequest of questions)
    stream.write(frame(toBinary(ServerReflectionRequestSchema, create(ServerReflectionRequestSchema, { messageRequest }))));
  stream.end();
  const { data, code } = await answerOf(stream);
  session.destroy();
  assert.equal(code, 0);
  const messages: ServerReflectionResponse[] = [];
  for (let at = 0; at < data.length; ) {
    const length = data.readUInt32BE(at + 1);
    messages.push(fromBinary(ServerReflectionResponseSchema, data.subarray(at + 5, at + 5 + length)));
    at += 5 + length;
  }
  return messages;
}

function filesIn({ messageResponse }: ServerReflectionResponse): FileDescriptorProto[] {
  assert.equal(messageResponse.case, 'fileDescriptorResponse');
  return messageResponse.value.fileDescriptorProto.map((bytes) => fromBinary(FileDescriptorProtoSchema, bytes));
}

for (const version of ['v1', 'v1alpha']) {
  test(`reflection ${version}: lists the action service and nothing else (GRPC-19)`, async () => {
    const [answer] = await ask(version, { case: 'listServices', value: '' });
    assert.equal(answer?.messageResponse.case, 'listServicesResponse');
    assert.deepEqual(
      answer.messageResponse.value.service.map(({ name }) => name),
      ['postern.v1.ActionService'],
    );
  });

  test(`reflection ${version}: describes a symbol with all it needs`, async () => {
    for (const symbol of [
      'postern.v1.ActionService',
      'postern.v1.ActionService.Execute',
      'postern.v1.Result',
      'postern.v1.Continuation.NextCursor',
    ]) {
      const [answer] = await ask(version, { case: 'fileContainingSymbol', value: symbol });
      const files = filesIn(answer ?? assert.fail('no answer'));
      const names = new Set(files.map(({ name }) => name));
      for (const file of files) for (const needed of file.dependency) assert.ok(names.has(needed), needed);
    }
  });
}

test('reflection: several questions of one stream are answered in order', async () => {
  const answers = await ask('v1', { case: 'fileByFilename', value: 'postern/v1/completeness.proto' }, { case: 'listServices', value: '' });
  assert.deepEqual(
    answers.map(({ messageResponse }) => messageResponse.case),
    ['fileDescriptorResponse', 'listServicesResponse'],
  );
});

test('reflection: what is not ours is not described', async () => {
  const answers = await ask(
    'v1',
    { case: 'fileContainingSymbol', value: 'grpc.health.v1.Health' },
    { case: 'fileByFilename', value: '../../etc/passwd' },
    { case: 'fileContainingSymbol', value: '__proto__' },
    { case: undefined },
  );
  for (const { messageResponse } of answers) {
    assert.equal(messageResponse.case, 'errorResponse');
    assert.equal(messageResponse.value.errorCode, 5);
  }
});

test('reflection: bytes that are no request end the stream, and the process lives', async () => {
  const session = await openSession(await listening);
  const stream = openCall(session, { ':path': '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo' });
  stream.end(frame(Buffer.from([0xff, 0xff])));
  assert.equal((await answerOf(stream)).code, 3);
  session.destroy();
  assert.equal((await ask('v1', { case: 'listServices', value: '' })).length, 1);
});

test('health: says whether calls are taken, for the server and for the service', async () => {
  const connection = connect(`127.0.0.1:${await listening}`);
  const client = connection.client(Health);
  assert.equal((await client.check({})).status, ServingStatus.NOT_SERVING);
  health.set(true);
  assert.equal((await client.check({ service: 'postern.v1.ActionService' })).status, ServingStatus.SERVING);
  assert.deepEqual(Object.keys((await client.list({})).statuses), ['', 'postern.v1.ActionService']);
  await assert.rejects(client.check({ service: 'unknown' }), { reason: 'ACTION_UNKNOWN' });
  connection.close();
});

test('health: a watcher sees every change until it leaves', async () => {
  health.set(true);
  const connection = connect(`127.0.0.1:${await listening}`);
  const seen: number[] = [];
  for await (const { status } of connection.client(Health).watch({})) {
    seen.push(status);
    if (seen.length === 3) break;
    health.set(!health.serving);
  }
  assert.deepEqual(seen, [ServingStatus.SERVING, ServingStatus.NOT_SERVING, ServingStatus.SERVING]);
  connection.close();
});
