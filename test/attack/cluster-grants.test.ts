/**
 * Goal: a caller that is given, while it runs, a right by which it could become somebody else loses its actions, whatever way the right is
 * written. Method: a whole replica with the chart's rights on a real API server; a Role on one name, which no question without that name
 * would find (LEAK-24).
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { bindingObject, contractObject } from '#test/operator/contract/records.ts';
import { OperatorRig } from '#test/operator/operator-rig.ts';
import { until } from '#test/operator/until.ts';
import { unavailable } from '#test/servers/build.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const RBAC = '/apis/rbac.authorization.k8s.io/v1/namespaces/agents';
let rig: OperatorRig;

before(async () => {
  if (skip) return;
  rig = await OperatorRig.start();
  await rig.namespace('agents');
  await rig.call('POST', '/api/v1/namespaces/agents/serviceaccounts', { metadata: { name: 'bot' } });
  await rig.replica();
  await rig.create(bindingObject(), 'agents');
  await rig.create(contractObject(), 'agents');
  await rig.settled('actioncontracts', 'agents', 'list-stock', { Ready: 'True', CallersRefused: 'absent' });
});
after(async () => rig?.[Symbol.asyncDispose]());

async function refused(): Promise<string | undefined> {
  const { status } = await rig.get('actioncontracts', 'agents', 'list-stock');
  return status?.callers?.[0]?.refused;
}

for (const [right, rule] of Object.entries({
  'make tokens of other accounts (serviceaccounts/token)': { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
  'make pods by Deployments': { apiGroups: ['apps'], resources: ['deployments'], verbs: ['patch'] },
})) {
  test(`grants: a running caller that may ${right} of one name is refused, until the name goes`, { skip }, async (t) => {
    const startMs = performance.now();
    await rig.call('POST', `${RBAC}/roles`, { metadata: { name: 'one' }, rules: [{ ...rule, resourceNames: ['deployer'] }] });
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'one' };
    const subjects = [{ kind: 'ServiceAccount', namespace: 'agents', name: 'bot' }];
    await rig.call('POST', `${RBAC}/rolebindings`, { metadata: { name: 'one' }, roleRef, subjects });
    await until(async () => (await refused()) === `it may ${right}`);
    t.diagnostic(`refused after ${Math.round(performance.now() - startMs)} ms`);
    await rig.call('PATCH', `${RBAC}/roles/one`, { rules: [{ ...rule, resources: ['configmaps'], resourceNames: ['deployer'] }] });
    await until(async () => (await refused()) === undefined);
    await rig.call('DELETE', `${RBAC}/rolebindings/one`);
    await rig.call('DELETE', `${RBAC}/roles/one`);
    assert.equal(await refused(), undefined);
  });
}
