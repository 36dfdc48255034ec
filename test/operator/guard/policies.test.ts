/** What holds for the text of every policy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policies } from '#operator/guard/policies.ts';
import { sidecarPolicy } from '#operator/guard/sidecar-policy.ts';
import { allowedRelease } from '#operator/guard/sidecar-release.ts';
import { sizeClasses } from '#operator/settings.ts';
import { release, settings } from './guarded-cluster.ts';

const manySizes = sizeClasses([...'abcdefgh'].map((name) => `${name}=100m/1000m/192Mi/512Mi`).join(','));
const releases = ['1', '2', '3'].map((digit) =>
  allowedRelease({ ...release, image: `${'r'.repeat(500)}@sha256:${digit.repeat(64)}` }, manySizes),
);
const all = [...policies(settings), sidecarPolicy(settings, releases)];

test('policies: no params, and each that denies fails closed', () => {
  for (const { name, policy, binding } of all) {
    assert.ok(!('paramKind' in policy) && !('paramRef' in binding), name);
    assert.equal(policy.failurePolicy, binding.validationActions.includes('Deny') ? 'Fail' : 'Ignore', name);
  }
  assert.equal(new Set(all.map(({ name }) => name)).size, all.length);
});

test('policies: at most two checks of the authorizer an expression and 28 a policy, or the API server runs out of budget', () => {
  for (const { name, policy } of all) {
    const expressions = [...(policy.matchConditions ?? []), ...(policy.variables ?? []), ...policy.validations].map(
      ({ expression }) => expression,
    );
    const checks = expressions.map((expression) => expression.split('.check(').length - 1);
    assert.ok(Math.max(...checks) <= 2, name);
    assert.ok(checks.reduce((sum, count) => sum + count, 0) <= 28, name);
  }
});

test('policies: with three releases of eight sizes every expression is far below what CEL reads at once', () => {
  for (const { name, policy } of all) {
    for (const { expression } of [...(policy.variables ?? []), ...policy.validations]) assert.ok(expression.length < 50_000, name);
  }
});

test('policies: policies that look at pods leave the system and the operator alone (INJ-02, INJ-03)', () => {
  for (const { name, policy } of all) {
    const { namespaceSelector, resourceRules } = policy.matchConstraints;
    const creates = resourceRules.some(({ resources, operations }) => resources.includes('pods') && operations.includes('CREATE'));
    if (!creates) continue;
    assert.deepEqual(
      namespaceSelector.matchExpressions?.[0],
      { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['kube-system', settings.namespace] },
      name,
    );
  }
});

test('policies: every message is one line that says what to do', () => {
  for (const { name, policy } of all) {
    for (const { message, messageExpression } of policy.validations) {
      assert.ok((message === undefined) !== (messageExpression === undefined), name);
      if (message !== undefined) assert.match(message, /^[^\n]{20,1000}\.$/, name);
    }
  }
});
