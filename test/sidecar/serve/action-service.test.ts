/** The gRPC surface with the real server and client over loopback: what a handler says is what a caller reads. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { connect, type GrpcClient } from '#core/runtime/grpc-client.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import { completenessFrom, omittedFieldFrom, warningFrom } from '#core/wire/completeness-message.ts';
import { ActionService, Approval_State, Best, Effect, type Result, Result_Status } from '#proto/postern/v1/action_pb.ts';
import type { ExecuteCall } from '#sidecar/call/calls.ts';
import { actionService } from '#sidecar/serve/action-service.ts';
import { type Execute, FULL_COMPLETENESS, FULL_RESULT, fixedCalls, OPERATION, PLAN } from './fixed-calls.ts';

const closers: (() => Promise<void> | void)[] = [];
after(async () => {
  for (const close of closers.reverse()) await close();
});

async function serve(execute?: Execute): Promise<GrpcClient<typeof ActionService>> {
  const server = new GrpcServer();
  server.add(ActionService, actionService(fixedCalls(execute)));
  const connection = connect(`127.0.0.1:${await server.listen('127.0.0.1', 0)}`);
  closers.push(
    () => server.close(1000),
    () => connection.close(),
  );
  return connection.client(ActionService);
}

async function resultOf(
  client: GrpcClient<typeof ActionService>,
  request: Parameters<typeof client.execute>[0],
  options?: Parameters<typeof client.execute>[1],
): Promise<Result> {
  for await (const { event } of client.execute(request, options)) if (event.case === 'result') return event.value;
  throw new Error('no result came');
}

test('execute: every field of a result arrives', async () => {
  const result = await resultOf(await serve(), { action: 'list_open_issues' });
  assert.equal(result.status, Result_Status.PARTIAL);
  assert.equal(Buffer.from(result.data).toString(), '{"issues":[{"number":7,"title":"Größe"}]}');
  assert.ok(result.completeness);
  assert.deepEqual(completenessFrom(result.completeness), FULL_COMPLETENESS);
  assert.deepEqual(result.warnings.map(warningFrom), FULL_RESULT.envelope.warnings);
  assert.deepEqual(result.omittedFields.map(omittedFieldFrom), FULL_RESULT.envelope.omitted_fields);
  assert.deepEqual(
    [result.requestId, result.operationId, result.action, result.revision, result.evidence],
    [FULL_RESULT.requestId, FULL_RESULT.operationId, FULL_RESULT.action, FULL_RESULT.revision, 'e1'],
  );
});

test('execute: the request arrives as it was sent, with absent members absent', async () => {
  const seen: ExecuteCall[] = [];
  const client = await serve(async (call) => {
    seen.push(call);
    return FULL_RESULT;
  });
  const bytes = Buffer.from('{"repository":"storefront"}');
  await resultOf(client, { action: 'a' });
  await resultOf(client, { action: 'a', argumentsJson: bytes, cursor: 'c', onePage: true, operationId: 'op_1', deadlineMs: 7000 });
  assert.deepEqual({ ...seen[0], argumentsJson: undefined }, { action: 'a', onePage: false, argumentsJson: undefined });
  assert.deepEqual(
    { ...seen[1], argumentsJson: undefined },
    { action: 'a', onePage: true, cursor: 'c', operationId: 'op_1', deadlineMs: 7000, argumentsJson: undefined },
  );
  assert.deepEqual(Buffer.from(seen[1]?.argumentsJson ?? []), bytes);
});

test('execute: the shorter of both deadlines holds, less a margin for the answer', async () => {
  const seen: (number | undefined)[] = [];
  const client = await serve(async (call) => {
    seen.push(call.deadlineMs);
    return FULL_RESULT;
  });
  await resultOf(client, { action: 'a' }, { timeoutMs: 60_000 });
  await resultOf(client, { action: 'a', deadlineMs: 5000 }, { timeoutMs: 60_000 });
  await resultOf(client, { action: 'a', deadlineMs: 50_000 }, { timeoutMs: 2000 });
  assert.ok(seen[0] !== undefined && seen[0] > 58_000 && seen[0] <= 60_000 - limits.answerMarginMsMax, String(seen[0]));
  assert.equal(seen[1], 5000);
  assert.ok(seen[2] !== undefined && seen[2] <= 1800, String(seen[2]));
});

test('execute: progress arrives before the result, in order', async () => {
  const client = await serve(async (_call, { onProgress }) => {
    onProgress({ pages: 1, items: 100, source: 'eu' });
    onProgress({ pages: 2, items: 200, source: 'eu', waitingMs: 1500 });
    return FULL_RESULT;
  });
  const events: unknown[] = [];
  for await (const { event } of client.execute({ action: 'a' })) {
    events.push(
      event.case === 'progress'
        ? [Number(event.value.pages), Number(event.value.items), event.value.source, Number(event.value.waitingMs)]
        : event.case,
    );
  }
  assert.deepEqual(events, [[1, 100, 'eu', 0], [2, 200, 'eu', 1500], 'result']);
});

test('execute: an error arrives with reason, request id, fields, wait and completeness', async () => {
  const client = await serve(async () => {
    throw new PosternError('REMOTE_RATE_LIMITED', 'Wait a little.', {
      operationId: OPERATION.operationId,
      retryAfterMs: 1500,
      fields: [{ path: '/repository', rule: 'enum', message: 'One of storefront.' }],
      details: { source: 'eu' },
      completeness: FULL_COMPLETENESS,
      cause: new Error('s3cr3t of the remote'),
    });
  });
  await assert.rejects(resultOf(client, { action: 'a' }), (thrown: unknown) => {
    assert.ok(thrown instanceof PosternError);
    assert.equal(thrown.reason, 'REMOTE_RATE_LIMITED');
    assert.equal(thrown.message, 'Wait a little.');
    assert.match(thrown.requestId ?? '', /^req_[a-z2-7]{26}$/);
    assert.equal(thrown.operationId, OPERATION.operationId);
    assert.equal(thrown.retryAfterMs, 1500);
    assert.deepEqual(thrown.fields, [{ path: '/repository', rule: 'enum', message: 'One of storefront.' }]);
    assert.deepEqual(thrown.details, { source: 'eu' });
    assert.deepEqual(thrown.completeness, FULL_COMPLETENESS);
    assert.doesNotMatch(JSON.stringify(thrown), /s3cr3t/);
    return true;
  });
});

test('execute: whatever else is thrown is INTERNAL with a fixed sentence', async () => {
  const client = await serve(async () => {
    throw new TypeError('s3cr3t');
  });
  await assert.rejects(resultOf(client, { action: 'a' }), (thrown: unknown) => {
    assert.ok(thrown instanceof PosternError);
    assert.equal(thrown.reason, 'INTERNAL');
    assert.doesNotMatch(thrown.message, /s3cr3t/);
    return true;
  });
});

test('execute: the largest data there can be fits one message', async () => {
  const dataJson = Buffer.alloc(limits.resultDataBytesMax, 0x20);
  const result = await resultOf(await serve(async () => ({ ...FULL_RESULT, dataJson })), { action: 'a' });
  assert.equal(result.data.length, limits.resultDataBytesMax);
});

test('list actions: a description arrives whole', async () => {
  const client = await serve();
  const { actions } = await client.listActions({});
  const action = actions[0];
  assert.equal(action?.action, 'list_open_issues');
  assert.equal(action?.effect, Effect.READ);
  assert.equal(action?.best, Best.COMPLETE);
  assert.equal(JSON.parse(action?.argumentsSchemaJson ?? '').type, 'object');
  assert.equal(action?.result?.as, 'issues');
  assert.equal(Number(action?.limits?.bytes), 8_388_608);
});

test('operations: a record arrives, and what was dropped is said', async () => {
  const client = await serve();
  const { operation } = await client.getOperation({ operationId: OPERATION.operationId, waitMs: 5 });
  assert.equal(operation?.error?.code, 'REMOTE_UNAVAILABLE');
  assert.equal(operation?.finishedAt, '1970-01-01T00:00:01.500Z');
  const { operations, dropped, keptMax } = await client.listOperations({});
  assert.deepEqual([operations.length, Number(dropped), Number(keptMax)], [1, 3, 1000]);
});

test('prepare, confirm: a plan and its outcome reach the client whole', async () => {
  const client = await serve();
  const plan = await client.prepare({ action: 'restart', evidence: ['token'] });
  assert.equal(plan.planId, PLAN.planId);
  assert.equal(plan.card, PLAN.card);
  assert.equal(plan.cardDigest, PLAN.cardDigest);
  assert.equal(plan.approval?.state, Approval_State.WAITING);
  assert.equal(plan.expiresAt, '1970-01-01T00:01:00.000Z');
  const events = [];
  for await (const { event } of client.confirm({ planId: plan.planId })) events.push(event.case);
  assert.deepEqual(events, ['result']);
});
