import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Replicas } from '#sidecar/control/replicas.ts';

test('replicas: each is tried before any is tried again, and chance decides among the new', async () => {
  const replicas = new Replicas(
    'operator',
    async () => ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
    () => 0.99,
  );
  const tried = [await replicas.next(), await replicas.next(), await replicas.next()];
  assert.equal(tried[0], '10.0.0.3');
  assert.deepEqual([...tried].sort(), ['10.0.0.1', '10.0.0.2', '10.0.0.3']);
  assert.equal(await replicas.next(), '10.0.0.3');
});

test('replicas: one that is new is tried before those that were', async () => {
  let found = ['10.0.0.1'];
  const replicas = new Replicas('operator', async () => found);
  await replicas.next();
  found = ['10.0.0.1', '10.0.0.2'];
  assert.equal(await replicas.next(), '10.0.0.2');
  assert.equal(await replicas.next(), '10.0.0.1');
});

test('replicas: a literal address is never looked up; a name without addresses is a fault of its own', async () => {
  const never = () => Promise.reject(new Error('looked up'));
  assert.equal(await new Replicas('fd00::1', never).next(), 'fd00::1');
  await assert.rejects(new Replicas('operator', never).next(), { end: 'name_unresolved' });
  await assert.rejects(new Replicas('operator', async () => []).next(), { end: 'name_unresolved' });
});
