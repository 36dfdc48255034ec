import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { limits } from '#core/bounds/limits.ts';
import type { Completeness } from '#core/completeness/envelope.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { REASONS, type Reason } from '#core/error/reasons.ts';
import { errorFromStatus, errorJson, statusOf } from '#core/wire/status.ts';
import { completeness } from './arbitrary-completeness.ts';

const reasons = Object.keys(REASONS) as Reason[];
const word = fc.stringMatching(/^[a-z][a-z_]{0,20}$/);
const sentence = fc.string({ maxLength: 80, unit: 'grapheme' });
const error = fc
  .record({
    reason: fc.constantFrom(...reasons),
    message: sentence,
    requestId: fc.option(fc.stringMatching(/^req_[a-z2-7]{26}$/), { nil: undefined }),
    operationId: fc.option(fc.stringMatching(/^op_[a-z0-9]{26}$/), { nil: undefined }),
    retryAfterMs: fc.option(fc.nat({ max: 100_000_000 }), { nil: undefined }),
    fields: fc.array(fc.record({ path: sentence, rule: word, message: sentence }, { noNullPrototype: true }), { maxLength: 3 }),
    details: fc.dictionary(
      word.filter((name) => name !== 'retryable' && name !== 'operation_id'),
      sentence,
      { maxKeys: 3, noNullPrototype: true },
    ),
    completeness: fc.option(completeness, { nil: undefined }),
  })
  .map(
    ({ reason, message, requestId, operationId, retryAfterMs, ...rest }) =>
      new PosternError(reason, message, {
        ...rest,
        ...(requestId === undefined ? {} : { requestId }),
        ...(operationId === undefined ? {} : { operationId }),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      }),
  );

test('status: an error survives the wire, or loses only what does not fit', () => {
  fc.assert(
    fc.property(error, (sent) => {
      const { code, message, details } = statusOf(sent);
      assert.ok(details.length <= limits.errorDetailsBytesMax);
      assert.equal(code, REASONS[sent.reason].grpc);
      const got = errorFromStatus(code, message, details);
      assert.deepEqual(
        [got.reason, got.message, got.requestId, got.operationId, got.retryAfterMs, got.fields, got.details, got.retryable],
        [sent.reason, sent.message, sent.requestId, sent.operationId, sent.retryAfterMs, sent.fields, sent.details, sent.retryable],
      );
      const expected = sent.completeness as Completeness | undefined;
      if (got.completeness !== undefined) assert.deepEqual((got.completeness as Completeness).continuation, expected?.continuation);
    }),
    { numRuns: 1000 },
  );
});

test('status: details never grow beyond what clients accept in a trailer', () => {
  const long = 'x'.repeat(100_000);
  const whole: Completeness = {
    complete: false,
    truncated: true,
    incomplete_reasons: [{ code: 'REMOTE_RATE_LIMITED', message: long, origin: 'upstream' }],
    continuation: { kind: 'retry_after', retry_after_ms: 1000, retry_at: '2026-01-01T00:00:01Z', cursor: long },
    scope: { resource: long, visibility: long, exclusions: [long], absence: 'never', consistency: 'unproven' },
    page: { returned: 0, walk: { returned: 0, calls: 1, pages: 0 } },
    sources: [],
    budget: { deadline_ms: 1, spent_ms: 1, waited_ms: 0 },
  };
  const fields = Array.from({ length: 1000 }, (_, index) => ({ path: `/${index}${long.slice(0, 500)}`, rule: 'enum', message: long }));
  const { details, message } = statusOf(
    new PosternError('REMOTE_RATE_LIMITED', long, {
      completeness: whole,
      fields,
      retryAfterMs: 1000,
      requestId: 'req_1',
      details: { a: long },
    }),
  );
  assert.ok(details.length <= limits.errorDetailsBytesMax);
  assert.ok(message.length <= limits.errorMessageCharsMax);
  const got = errorFromStatus(8, message, details);
  assert.deepEqual([got.reason, got.retryAfterMs, got.requestId], ['REMOTE_RATE_LIMITED', 1000, 'req_1']);
});

test('status: lists that grow with the contract go first, the way on stays', () => {
  const whole: Completeness = {
    complete: false,
    truncated: false,
    incomplete_reasons: [],
    continuation: { kind: 'restart' },
    scope: {
      resource: 'r',
      visibility: 'v',
      exclusions: Array.from({ length: 100 }, () => 'e'.repeat(100)),
      absence: 'never',
      consistency: 'unproven',
    },
    page: { returned: 0, walk: { returned: 0, calls: 1, pages: 0 } },
    sources: [],
    budget: { deadline_ms: 1, spent_ms: 1, waited_ms: 0 },
  };
  const { code, message, details } = statusOf(new PosternError('CURSOR_EXPIRED', 'gone', { completeness: whole }));
  const got = errorFromStatus(code, message, details).completeness as Completeness;
  assert.deepEqual(got.continuation, { kind: 'restart' });
  assert.deepEqual(got.scope.exclusions, []);
});

test('status: the cause of an error does not leave', () => {
  const { message, details } = statusOf(new PosternError('INTERNAL', 'A fault.', { cause: new Error('s3cr3t') }));
  assert.doesNotMatch(message + Buffer.from(details).toString('latin1'), /s3cr3t/);
});

test('status: foreign details are mapped by code, broken ones do no harm', () => {
  assert.equal(errorFromStatus(8, 'm', undefined).reason, 'LIMIT_EXCEEDED');
  assert.equal(errorFromStatus(14, 'm', Buffer.from('not a status')).reason, 'INTERNAL');
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      assert.ok(errorFromStatus(2, 'm', bytes) instanceof PosternError);
    }),
    { numRuns: 1000 },
  );
});

test('error json: has the four members every caller may rely on', () => {
  const json = errorJson(new PosternError('ACTION_UNKNOWN', 'No such action.', { requestId: 'req_1' }));
  assert.deepEqual(json, {
    ok: false,
    error: { code: 'ACTION_UNKNOWN', message: 'No such action.', retryable: false, request_id: 'req_1' },
  });
});

for (const reason of reasons) {
  test(`status: ${reason} has the form of an ErrorInfo reason and a gRPC code`, () => {
    assert.match(reason, /^[A-Z][A-Z0-9_]{0,61}[A-Z0-9]$/);
    assert.ok(REASONS[reason].grpc > 0 && REASONS[reason].grpc <= 16);
  });
}
