/**
 * Goal: no right of the table escapes the review (LEAK-24). Method: on a real API server each row is granted in turn, to an account of its
 * own, by the RBAC objects a person would write; the review has to name it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { AccessReviewer } from '#operator/access/reviewer.ts';
import { type Caller, RIGHTS, type Right } from '#operator/access/rights.ts';
import { connectionTo } from '#operator/kube/connect.ts';
import { accessTo } from '#test/operator/kube/real-access.ts';
import { until } from '#test/operator/until.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const RBAC = '/apis/rbac.authorization.k8s.io/v1';
let api: KubeApiserver;
let reviewer: AccessReviewer;
let close: () => Promise<void>;
const failures: unknown[] = [];

const caller = (account: string): Caller => ({ namespace: 'agents', account, secrets: ['postern-stock'], contracts: ['list-stock'] });

before(async () => {
  if (skip) return;
  api = await startKubeApiserver();
  const connection = connectionTo(accessTo(api));
  close = () => connection.close();
  await post('/api/v1/namespaces', { metadata: { name: 'agents' } });
  await post('/api/v1/namespaces', { metadata: { name: 'elsewhere' } });
  reviewer = new AccessReviewer({
    client: connection.client,
    clock: systemClock,
    callerOf: (key) => caller(key.slice('agents/'.length)),
    onVerdict: () => {},
    onFailed: (_key, error) => failures.push(error),
  });
  for (const [index, right] of RIGHTS.entries()) await grant(`row-${index}`, right);
  await grant(
    'named-secret',
    { verb: 'get', group: '', resource: 'secrets', scope: 'namespace', why: '' },
    { resourceNames: ['postern-stock'] },
  );
  await grant(
    'named-contract',
    { verb: 'approve', group: 'postern.dev', resource: 'actioncontracts', scope: 'namespace', why: '' },
    { resourceNames: ['list-stock'] },
  );
  await grant('elsewhere', { verb: 'create', group: '', resource: 'pods', scope: 'namespace', why: '' }, { namespace: 'elsewhere' });
  await grant('harmless', { verb: 'get', group: '', resource: 'configmaps', scope: 'namespace', why: '' });
  await grant('everything', { verb: '*', group: '*', resource: '*', scope: 'cluster', why: '' });
  // The authorizer learns of them in order; the last one stands for all.
  await until(async () => (await isAllowed('everything', 'delete', 'nodes')) === true);
});

after(async () => {
  await reviewer?.stop();
  await close?.();
  await api?.[Symbol.asyncDispose]();
});

for (const [index, right] of RIGHTS.entries()) {
  const resource = right.subresource === undefined ? right.resource : `${right.resource}/${right.subresource}`;
  test(`access: an account that may ${right.verb} ${resource} is refused by name (LEAK-24)`, { skip }, async () => {
    assert.equal(await reviewer.verdict(`agents/row-${index}`), `it may ${right.why}`);
  });
}

test('access: a right on the one Secret or contract of the caller is found', { skip }, async () => {
  assert.equal(await reviewer.verdict('agents/named-secret'), 'it may read Secrets');
  assert.equal(await reviewer.verdict('agents/named-contract'), 'it may approve its own calls');
});

test('access: harmless rights, rights elsewhere and no rights refuse nobody', { skip }, async () => {
  for (const account of ['harmless', 'elsewhere', 'nobody']) assert.equal(await reviewer.verdict(`agents/${account}`), null, account);
});

test('access: an administrator is refused by the first row', { skip }, async () => {
  assert.equal(await reviewer.verdict('agents/everything'), 'it may read Secrets');
});

for (const group of ['system:serviceaccounts', 'system:serviceaccounts:agents', 'system:authenticated']) {
  test(`access: a right of the group ${group} is a right of the account, and is lifted with it`, { skip }, async () => {
    const account = `member-${group.replaceAll(':', '-')}`;
    assert.equal(await reviewer.verdict(`agents/${account}`), null);
    const name = `group-${group.replaceAll(':', '-')}`;
    await post(`${RBAC}/clusterroles`, { metadata: { name }, rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['create'] }] });
    await post(`${RBAC}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: group }],
    });
    await until(async () => isAllowed(account, 'create', 'pods'));
    reviewer.note([group]);
    await until(() => reviewer.known(`agents/${account}`) === 'it may create pods');
    assert.ok(reviewer.refused.includes(`agents/${account}`));
    await api.request('DELETE', `${RBAC}/clusterrolebindings/${name}`);
    await until(async () => !(await isAllowed(account, 'create', 'pods')));
    reviewer.note([group]);
    await until(() => reviewer.known(`agents/${account}`) === null);
    assert.deepEqual(failures, []);
  });
}

/** What a person writes: a role with the one rule, and a binding of the account to it. */
async function grant(
  account: string,
  right: Right,
  more: { readonly resourceNames?: readonly string[]; readonly namespace?: string } = {},
) {
  const resource = right.subresource === undefined ? right.resource : `${right.resource}/${right.subresource}`;
  const { resourceNames, namespace = 'agents' } = more;
  const rules = [{ apiGroups: [right.group], resources: [resource], verbs: [right.verb], ...(resourceNames && { resourceNames }) }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: account };
  const subjects = [{ kind: 'ServiceAccount', namespace: 'agents', name: account }];
  await post(`${RBAC}/clusterroles`, { metadata: { name: account }, rules });
  const within = right.scope === 'cluster' ? `${RBAC}/clusterrolebindings` : `${RBAC}/namespaces/${namespace}/rolebindings`;
  await post(within, { metadata: { name: account }, roleRef, subjects });
}

async function isAllowed(account: string, verb: string, resource: string): Promise<boolean> {
  const spec = {
    user: `system:serviceaccount:agents:${account}`,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:agents', 'system:authenticated'],
    resourceAttributes: { verb, resource, namespace: 'agents' },
  };
  const answer = await api.request<{ status: { allowed: boolean } }>('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', {
    spec,
  });
  return answer.body.status.allowed;
}

async function post(path: string, body: unknown): Promise<void> {
  const answer = await api.request('POST', path, body);
  if (answer.status >= 300) throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}
