/**
 * Goal: the operator, started whole against a real API server, makes of contracts and bindings what the design promises, whatever the
 * order they come in. Method: objects are applied as people apply them; nothing but the API server is looked at.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { unavailable } from '#test/servers/build.ts';
import { bindingObject, contractObject } from './contract/records.ts';
import { OperatorRig } from './operator-rig.ts';
import { until } from './until.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
let rig: OperatorRig;

before(async () => {
  if (skip) return;
  rig = await OperatorRig.start();
  await rig.replica();
});

after(async () => {
  await rig?.[Symbol.asyncDispose]();
});

const GOOD = { Accepted: 'True', Ready: 'True' };

test('operator: a contract before its binding waits, and is ready once it comes', { skip }, async () => {
  await rig.namespace('before');
  await rig.create(contractObject(), 'before');
  const waiting = await rig.settled('actioncontracts', 'before', 'list-stock', { Accepted: 'True', Ready: 'False' });
  assert.match(JSON.stringify(waiting.status.conditions), /The binding stock is not there/);
  await rig.create(bindingObject(), 'before');
  const ready = await rig.settled('actioncontracts', 'before', 'list-stock', GOOD);
  assert.match(ready.status.revision, /^sha256:[0-9a-f]{64}$/);
  assert.equal(ready.status.best, 'Complete');
  assert.equal(ready.status.defaults['result.decoder'], 'JSON');
});

test('operator: a binding before its contract ends the same way', { skip }, async () => {
  await rig.namespace('after');
  await rig.create(bindingObject(), 'after');
  await rig.settled('credentialbindings', 'after', 'stock', GOOD);
  await rig.create(contractObject(), 'after');
  await rig.settled('actioncontracts', 'after', 'list-stock', GOOD);
  await until(async () => (await rig.get('credentialbindings', 'after', 'stock')).status.usedBy.includes('list-stock'));
});

test('operator: nothing but status is ever written into what people apply (GitOps)', { skip }, async () => {
  for (const [plural, name] of [
    ['actioncontracts', 'list-stock'],
    ['credentialbindings', 'stock'],
  ] as const) {
    const { metadata } = await rig.get(plural, 'after', name);
    const ours = metadata.managedFields.filter(({ manager }) => manager.startsWith('postern'));
    assert.ok(ours.length > 0);
    for (const { subresource, fieldsV1 } of ours) {
      assert.equal(subresource, 'status');
      assert.deepEqual(Object.keys(fieldsV1), ['f:status']);
    }
    assert.equal(metadata.generation, 1);
  }
});
