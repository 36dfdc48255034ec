import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResourceObject } from '#core/contract/resource-object.ts';
import { shippedPresetObjects, withShippedPresets } from '#core/contract/shipped-presets.ts';

const own: ResourceObject = { kind: 'ContractPreset', name: 'github-v1', namespace: 'default', spec: {} };

test('shipped presets: a given one takes the place of a shipped one of its name', () => {
  const presets = withShippedPresets([own]);
  assert.deepEqual(
    presets.filter(({ name }) => name === own.name),
    [own],
  );
  assert.equal(presets.length, shippedPresetObjects().length);
});

test('shipped presets: their text is parsed when it is asked for', () => {
  const kubernetes = withShippedPresets([]).find(({ name }) => name === 'kubernetes-v1');
  assert.deepEqual(kubernetes?.spec.result && Object.keys(kubernetes.spec.result), ['id', 'items', 'outcomes']);
});
