import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ServerHttp2Stream } from 'node:http2';
import { test } from 'node:test';
import { limits } from '#core/bounds/limits.ts';
import { type GuardEvent, STREAM_HEADER, StreamGuard } from '#core/runtime/stream-guard.ts';

/** The few members of a stream the guard touches. */
class FakeStream extends EventEmitter {
  closed = false;
  readableEnded = false;
  close(): void {
    this.closed = true;
    this.emit('close');
  }
}

function guarded() {
  const events: GuardEvent[] = [];
  const guard = new StreamGuard((event) => events.push(event));
  const fake = new FakeStream();
  const stream: unknown = fake;
  return { guard, events, fake, stream: stream as ServerHttp2Stream };
}

test('stream guard: a request that is not whole in time is closed', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { guard, events, fake, stream } = guarded();
  guard.admit(stream, {});
  t.mock.timers.tick(limits.grpcRequestMsMax - 1);
  assert.equal(fake.closed, false);
  t.mock.timers.tick(1);
  assert.equal(fake.closed, true);
  assert.deepEqual(events, ['request_too_slow']);
  assert.equal(guard.open, 0);
});

test('stream guard: a whole request is not closed by its time', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { guard, events, fake, stream } = guarded();
  guard.admit(stream, {});
  fake.readableEnded = true;
  fake.emit('end');
  t.mock.timers.tick(limits.grpcRequestMsMax * 10);
  assert.equal(fake.closed, false);
  assert.deepEqual(events, []);
});

test('stream guard: the timer of an answer goes with its stream (GRPC-12)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { guard, events, fake, stream } = guarded();
  guard.closeAfter(stream, limits.grpcResponseMsMax, 'response_unread');
  fake.close();
  t.mock.timers.tick(limits.grpcResponseMsMax * 2);
  assert.deepEqual(events, []);
});

test('stream guard: an answer that is not read in time is cut', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { guard, events, fake, stream } = guarded();
  guard.closeAfter(stream, limits.grpcResponseMsMax, 'response_unread');
  t.mock.timers.tick(limits.grpcResponseMsMax);
  assert.equal(fake.closed, true);
  assert.deepEqual(events, ['response_unread']);
});

test('stream guard: what a stream held is given back once, when it closes', () => {
  const { guard, fake, stream } = guarded();
  assert.ok(guard.hold(stream, limits.grpcUnreadBytesMax));
  assert.equal(guard.hold(stream, 1), false);
  fake.close();
  fake.emit('close');
  const other = guarded();
  assert.ok(guard.hold(other.stream, limits.grpcUnreadBytesMax));
  assert.equal(guard.hold(other.stream, 1), false);
});

test('stream guard: the header of a stream is the guard’s own, whatever was sent', () => {
  const { guard, stream } = guarded();
  const headers = { [STREAM_HEADER]: 'forged' };
  guard.admit(stream, headers);
  assert.notEqual(headers[STREAM_HEADER], 'forged');
  assert.equal(guard.find('forged'), undefined);
  assert.equal(guard.find(headers[STREAM_HEADER])?.http2, stream);
});
