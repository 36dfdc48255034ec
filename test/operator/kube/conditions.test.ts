import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conditionsOf, type Finding } from '#operator/kube/conditions.ts';

const finding = (type: string, status: 'True' | 'False', message: string): Finding => ({ type, status, reason: 'Because', message });

test('conditions: text of others is shown, not obeyed, and has an end', () => {
  const [condition] = conditionsOf([finding('Exposed', 'True', `a\u202eb\n${'x'.repeat(5_000)}`)], [], 0);
  assert.match(condition?.message ?? '', /^a<U\+202E>b<U\+000A>/);
  assert((condition?.message.length ?? 0) <= 1_024);
});

test('conditions: are sorted by type, and of two of one type the later holds', () => {
  const conditions = conditionsOf([finding('Ready', 'True', 'b'), finding('Accepted', 'True', 'a'), finding('Ready', 'False', 'c')], [], 0);
  assert.deepEqual(
    conditions.map(({ type, status, lastTransitionTime }) => [type, status, lastTransitionTime]),
    [
      ['Accepted', 'True', '1970-01-01T00:00:00Z'],
      ['Ready', 'False', '1970-01-01T00:00:00Z'],
    ],
  );
});
