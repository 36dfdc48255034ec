import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KINDS, objectPath, one } from '#operator/kube/resource-kind.ts';

test('resource kind: a message names one of it with its article', () => {
  assert.equal(one(KINDS.pods), 'a Pod');
  assert.equal(one(KINDS.sessions), 'an AgentSession');
  assert.throws(() => objectPath(KINDS.contracts, { name: 'list-pods' }), /^TypeError: an ActionContract is in a namespace$/);
});
