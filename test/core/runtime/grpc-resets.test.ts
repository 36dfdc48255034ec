/** Calls that their callers leave: after the answer as often as they like, before it only so often (GRPC-07). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import { executeFrame, openCall, openSession } from './raw-grpc.ts';
import { closeAll, never, serve, turns } from './served.ts';

after(closeAll);

test('grpc: a caller that leaves each call as soon as it has its result is never cut off', async () => {
  const { port, calls, ends, events } = await serve();
  const session = await openSession(port);
  for (let index = 0; index < 3 * limits.grpcResetsBurst; index += 1) {
    const stream = openCall(session).end(executeFrame());
    await once(stream, 'data');
    stream.close(8);
    await once(stream, 'close');
    assert.ok(!session.closed && !session.destroyed, `cut off after ${index} calls`);
  }
  assert.equal(calls.length, 3 * limits.grpcResetsBurst);
  while (ends.length < calls.length) await turns(5);
  assert.deepEqual(events, []);
  session.destroy();
});

test('grpc: a client that stops reading after the result goes on calling', async () => {
  const { port } = await serve();
  const connection = connect(`127.0.0.1:${port}`);
  const client = connection.client(ActionService);
  let results = 0;
  for (let index = 0; index < 1.5 * limits.grpcResetsBurst; index += 1) {
    for await (const { event } of client.execute({ action: 'list_open_issues' })) {
      if (event.case !== 'result') continue;
      results += 1;
      break;
    }
  }
  assert.equal(results, 1.5 * limits.grpcResetsBurst);
  connection.close();
});

test('grpc: a connection that leaves too many calls before their answer is closed, and others go on (GRPC-07)', async () => {
  const { port, events, ask } = await serve(never);
  const session = await openSession(port);
  let left = 0;
  while (!session.closed && !session.destroyed) {
    for (let index = 0; index < limits.grpcStreamsPerConnectionMax; index += 1, left += 1) openCall(session).end(executeFrame()).close(8);
    await turns(3);
    assert.ok(left < 100 * limits.grpcResetsBurst, 'never closed');
  }
  while (!events.includes('too_many_resets')) await turns(5);
  assert.ok(left >= limits.grpcResetsBurst, `closed after ${left}`);
  assert.equal(await ask(), 'list_open_issues');
});
