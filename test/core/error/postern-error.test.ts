import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PosternError } from '#core/error/postern-error.ts';

test('error: what is not ours becomes INTERNAL, and none of its text is in the message', () => {
  const error = PosternError.from(new TypeError('failed on token-0123456789'));
  assert.equal(error.reason, 'INTERNAL');
  assert.doesNotMatch(JSON.stringify(error) + error.message, /token-/);
  assert(error.cause instanceof TypeError);
});

test('error: takes the ids of its call and keeps all else', () => {
  const whole = {
    cause: new Error('why'),
    fields: [{ path: '/a', rule: 'pattern', message: 'It does not match.' }],
    details: { limit: 'pages' },
    completeness: { complete: false },
    retryAfterMs: 7,
  };
  const error = new PosternError('LIMIT_EXCEEDED', 'Too many.', whole).forCall({ requestId: 'req_1', operationId: 'op_1' });
  assert.deepEqual(
    { ...error },
    { ...new PosternError('LIMIT_EXCEEDED', 'Too many.', { ...whole, requestId: 'req_1', operationId: 'op_1' }) },
  );
  assert.equal(error.cause, whole.cause);
});

test('error: an id it has already stays', () => {
  const error = new PosternError('IDEMPOTENCY_BUSY', 'It runs.', { operationId: 'op_first' });
  assert.equal(error.forCall({ requestId: 'req_1', operationId: 'op_2' }).operationId, 'op_first');
});
