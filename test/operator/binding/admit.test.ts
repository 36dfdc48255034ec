import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { admitBinding } from '#operator/binding/admit.ts';
import { type BindingObject, bindingObject, clusterOf, exampleObjects } from '#test/operator/contract/records.ts';

test('binding admission: a binding nobody uses yet is let in', () => {
  assert.deepEqual(admitBinding(bindingObject(), null, clusterOf([])), { allowed: true, message: '', warnings: [] });
});

test('binding admission: what decides where a credential goes is refused with its place and a cure', () => {
  const destinations = [{ origin: 'http://stock.example.com', transport: 'Plaintext' }];
  const { allowed, message } = admitBinding(bindingObject({ destinations }), null, clusterOf([]));
  assert.equal(allowed, false);
  assert.match(message, /^spec\.destinations\[0\]\.origin: url-plaintext: .+/);
});

test('binding admission: another binding of the same Secret is named in a warning', () => {
  const { allowed, warnings } = admitBinding(bindingObject(), null, clusterOf([bindingObject({}, 'older')]));
  assert.equal(allowed, true);
  assert.deepEqual(warnings, ['spec.secret.name: postern-stock is also bound by older, to their own destinations.']);
});

test('binding admission: an update that leaves the spec as it is passes, whatever the spec says', () => {
  const broken = bindingObject({ use: {} });
  assert.equal(admitBinding(broken, null, clusterOf([])).allowed, false);
  assert.equal(admitBinding({ ...broken }, broken, clusterOf([])).allowed, true);
});

test('binding admission: a reason lets pods with a cloud identity use it; without one it is refused', () => {
  assert.equal(admitBinding(bindingObject({ allowCloudIdentity: { because: 'one bucket' } }), null, clusterOf([])).allowed, true);
  assert.equal(admitBinding(bindingObject({ allowCloudIdentity: {} }), null, clusterOf([])).allowed, false);
});

test('binding admission: every example is let in', () => {
  const objects = readdirSync('examples/contracts').flatMap((file) => exampleObjects(`examples/contracts/${file}`));
  const bindings = objects.filter((object): object is BindingObject => object.kind === 'CredentialBinding');
  assert.ok(bindings.length >= 10);
  for (const binding of bindings) assert.equal(admitBinding(binding, null, clusterOf([])).allowed, true, binding.metadata.name);
});
