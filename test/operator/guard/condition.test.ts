import assert from 'node:assert/strict';
import { test } from 'node:test';
import { celLiteral } from '#operator/guard/cel-text.ts';
import { conditionCel, conditionHolds, metAt } from '#operator/guard/condition.ts';

test('cel text: writes JSON, and marks members of different types', () => {
  assert.equal(celLiteral('a"b\n'), '"a\\"b\\n"');
  assert.equal(celLiteral(['a', 'b']), '["a", "b"]');
  assert.equal(celLiteral({ a: 'x', b: undefined }), '{"a": "x"}');
  assert.equal(celLiteral({ a: 1, b: [{ c: true }] }), '{"a": dyn(1), "b": dyn([dyn({"c": dyn(true)})])}');
  assert.throws(() => celLiteral(0.5), TypeError);
});

const secret = { any: ['volumes[].secret.secretName', 'volumes[].csi.attributes{}'], test: { startsWith: 'postern-' } } as const;

test('condition: finds the first value and says where', () => {
  const pod = { volumes: [{ emptyDir: {} }, { csi: { attributes: { a: 'x', b: 'postern-y' } } }] };
  assert.equal(metAt(secret, pod), 'volumes[1].csi.attributes[b]');
  assert.equal(metAt(secret, { volumes: null }), undefined);
  assert.equal(metAt(secret, {}), undefined);
  assert.equal(metAt(secret, 'text'), undefined);
});

test('condition: every and not', () => {
  const condition = {
    every: [{ any: ['name'], test: { startsWith: 'p' } }, { not: { any: ['name'], test: { oneOf: ['pa', 'pb'] } } }],
  } as const;
  assert.equal(metAt(condition, { name: 'pc' }), 'name');
  assert.equal(conditionHolds(condition, { name: 'pa' }), false);
  assert.equal(conditionHolds(condition, { name: 'x' }), false);
});

test('condition: a capability is known in every spelling a runtime takes', () => {
  const condition = { any: ['add[]'], test: { capability: ['SYS_PTRACE'] } } as const;
  for (const name of ['SYS_PTRACE', 'sys_ptrace', 'CAP_SYS_PTRACE', 'cap_sys_ptrace', '\u017FYS_PTRACE', '']) {
    assert.equal(conditionHolds(condition, { add: ['CHOWN', name] }), true, name);
  }
  assert.equal(conditionHolds(condition, { add: ['CHOWN', 'NET_ADMIN'] }), false);
});

test('condition: as CEL it asks for each field before it reads it', () => {
  assert.equal(
    conditionCel({ any: ['a[].b.c'], test: { equals: true } }, 'v'),
    'has(v.a) && v.a != null && v.a.exists(x0, has(x0.b) && has(x0.b.c) && x0.b.c == true)',
  );
});
