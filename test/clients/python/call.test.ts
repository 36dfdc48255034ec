/**
 * A second client in another language, made from the committed .proto files. Goal: it reads every field of every answer.
 * Method: the same fixed answers go to Python and to our own client, and what both print as protobuf JSON is compared.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { type DescMessage, type MessageShape, toJson } from '@bufbuild/protobuf';
import type { Continuation } from '#core/completeness/envelope.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { connect, type GrpcClient } from '#core/runtime/grpc-client.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import { ActionService, ExecuteResponseSchema, ListActionsResponseSchema } from '#proto/postern/v1/action_pb.ts';
import type { ExecuteCall } from '#sidecar/call/calls.ts';
import { actionService } from '#sidecar/serve/action-service.ts';
import { FULL_COMPLETENESS, FULL_RESULT, fixedCalls } from '#test/sidecar/serve/fixed-calls.ts';
import { callFromPython, findPython, generatePython } from './python.ts';

const found = await findPython();
const skip = 'missing' in found ? found.missing : false;
const python = 'python' in found ? found.python : '';

const CONTINUATIONS: Readonly<Record<string, Continuation>> = {
  next_cursor: FULL_COMPLETENESS.continuation,
  retry_after: {
    kind: 'retry_after',
    retry_after_ms: 1500,
    retry_at: '2026-01-01T00:00:01.500Z',
    cursor: 'c2',
    expires_at: '2026-01-01T00:05:00Z',
  },
  narrow_query: { kind: 'narrow_query', arguments: ['since', 'until'] },
  retry_with_deadline: { kind: 'retry_with_deadline', deadline_ms: 20_000 },
  restart: { kind: 'restart' },
  none: { kind: 'none' },
};

const seen: ExecuteCall[] = [];
const server = new GrpcServer();
let address = '';
let generated = '';

before(async () => {
  server.add(
    ActionService,
    actionService(
      fixedCalls(async (call, { onProgress }) => {
        seen.push(call);
        const continuation = CONTINUATIONS[call.action];
        if (continuation === undefined) {
          throw new PosternError('REMOTE_RATE_LIMITED', 'Wait – a little.', {
            retryAfterMs: 1500,
            fields: [{ path: '/repository', rule: 'enum', message: 'One of storefront.' }],
            completeness: FULL_COMPLETENESS,
          });
        }
        onProgress({ pages: 1, items: 100, source: 'us-east', waitingMs: 250 });
        return { ...FULL_RESULT, envelope: { ...FULL_RESULT.envelope, completeness: { ...FULL_COMPLETENESS, continuation } } };
      }),
    ),
  );
  address = `127.0.0.1:${await server.listen('127.0.0.1', 0)}`;
  if (skip !== false) return;
  generated = await mkdtemp(join(tmpdir(), 'postern-python-'));
  await generatePython(python, generated);
});

after(async () => {
  await server.close(1000);
  if (generated !== '') await rm(generated, { recursive: true, force: true });
});

/** What our own client reads, in the JSON form of protobuf with every default written out. */
async function fromOurs<Desc extends DescMessage>(
  schema: Desc,
  read: (client: GrpcClient<typeof ActionService>) => AsyncIterable<MessageShape<Desc>>,
): Promise<unknown[]> {
  const connection = connect(address);
  try {
    const events: unknown[] = [];
    for await (const message of read(connection.client(ActionService))) {
      events.push(toJson(schema, message, { alwaysEmitImplicit: true, useProtoFieldName: true }));
    }
    return events;
  } finally {
    connection.close();
  }
}

for (const action of Object.keys(CONTINUATIONS)) {
  test(`python: reads every field of a result that continues with ${action}`, { skip }, async () => {
    const expected = await fromOurs(ExecuteResponseSchema, (client) => client.execute({ action }));
    assert.equal(expected.length, 2);
    assert.deepEqual(await callFromPython(python, generated, address, 'Execute', { action }), { events: expected });
  });
}

test('python: the arguments arrive as the bytes they were', { skip }, async () => {
  const text = '{"note":"Größe 世界","n":1.0}';
  await callFromPython(python, generated, address, 'Execute', {
    action: 'none',
    arguments_json: Buffer.from(text).toString('base64'),
    cursor: 'c',
    one_page: true,
    deadline_ms: '5000',
  });
  const call = seen.at(-1);
  assert.equal(Buffer.from(call?.argumentsJson ?? []).toString(), text);
  assert.deepEqual([call?.cursor, call?.onePage, call?.deadlineMs], ['c', true, 5000]);
});

test('python: reads the list of actions', { skip }, async () => {
  const expected = await fromOurs(ListActionsResponseSchema, async function* (client) {
    yield await client.listActions({});
  });
  assert.deepEqual(await callFromPython(python, generated, address, 'ListActions', {}), { events: expected });
});

test('python: reads an error with reason, wait, violated rule and completeness', { skip }, async () => {
  const { error } = (await callFromPython(python, generated, address, 'Execute', { action: 'fails' })) as {
    error: { code: string; message: string; details: Record<string, unknown>[] };
  };
  assert.deepEqual([error.code, error.message], ['RESOURCE_EXHAUSTED', 'Wait – a little.']);
  const of = (type: string) => error.details.find((detail) => detail.type === type);
  assert.equal(of('google.rpc.ErrorInfo')?.reason, 'REMOTE_RATE_LIMITED');
  assert.deepEqual(of('google.rpc.ErrorInfo')?.metadata, { retryable: 'true' });
  assert.equal(of('google.rpc.RetryInfo')?.retry_delay, '1.500s');
  assert.match(String(of('google.rpc.RequestInfo')?.request_id), /^req_/);
  const { field_violations: violations } = of('google.rpc.BadRequest') as { field_violations: { field: string; reason: string }[] };
  assert.deepEqual([violations[0]?.field, violations[0]?.reason], ['/repository', 'ENUM']);
  const { completeness } = of('postern.v1.ErrorDetail') as {
    completeness: { continuation: { next_cursor: { cursor: string } }; incomplete_reasons: { code: string }[] };
  };
  assert.equal(completeness.continuation.next_cursor.cursor, 'c1');
  assert.deepEqual(
    completeness.incomplete_reasons.map(({ code }) => code),
    ['RESULT_LIMIT_REACHED', 'SOURCE_UNAVAILABLE'],
  );
});
