import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newRequestId } from '#core/runtime/grpc-call.ts';

test('request id: ten thousand differ, and all have the form', () => {
  const ids = new Set(Array.from({ length: 10_000 }, newRequestId));
  assert.equal(ids.size, 10_000);
  for (const id of ids) assert.match(id, /^req_[a-z2-7]{26}$/);
});

test('request id: every letter of the alphabet comes up', () => {
  const letters = new Set(Array.from({ length: 1000 }, () => newRequestId().slice(4)).join(''));
  assert.equal(letters.size, 32);
});
