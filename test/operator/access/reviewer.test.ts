/**
 * Goal: no right of the table escapes the review (LEAK-24). Method: on a real API server each row is granted in turn, to an account of its
 * own, by the RBAC objects a person would write; the review has to name it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { emptyRbac, namedRules, watchGrants } from '#operator/access/grants.ts';
import { startRbacInformers } from '#operator/access/informers.ts';
import { AccessReviewer } from '#operator/access/reviewer.ts';
import { type Caller, isAskedAbout, RIGHTS, type Right, userOf } from '#operator/access/rights.ts';
import type { KubeClient } from '#operator/kube/client.ts';
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
let stopInformers: () => Promise<void>;
const failures: unknown[] = [];

const rbac = emptyRbac();

function caller(account: string): Caller {
  const { user, groups } = userOf({ namespace: 'agents', account });
  const granted = namedRules(rbac, 'agents', [user, ...groups]).filter(isAskedAbout);
  return { namespace: 'agents', account, secrets: ['postern-stock'], contracts: ['list-stock'], granted };
}

/** Rights on one name that nothing but a role tells: what gets around Postern, and how the refusal calls it. */
const NAMED: Readonly<Record<string, readonly [Omit<Right, 'why'>, string, string]>> = {
  token: [
    { verb: 'create', group: '', resource: 'serviceaccounts', subresource: 'token', scope: 'namespace' },
    'deployer',
    'make tokens of other accounts (serviceaccounts/token)',
  ],
  'any-token': [
    { verb: '*', group: '', resource: '*', subresource: 'token', scope: 'cluster' },
    'deployer',
    'make tokens of other accounts (serviceaccounts/token)',
  ],
  deployment: [{ verb: 'patch', group: 'apps', resource: 'deployments', scope: 'namespace' }, 'agent', 'make pods by Deployments'],
  debug: [
    { verb: 'update', group: '', resource: 'pods', subresource: 'ephemeralcontainers', scope: 'namespace' },
    'agent-0',
    'put containers into running pods (pods/ephemeralcontainers)',
  ],
  exec: [
    { verb: 'get', group: '', resource: 'pods', subresource: 'exec', scope: 'namespace' },
    'agent-0',
    'run commands in containers (pods/exec)',
  ],
  user: [{ verb: 'impersonate', group: '', resource: 'users', scope: 'cluster' }, 'root@example.com', 'act as other users (impersonate)'],
  role: [
    { verb: 'bind', group: 'rbac.authorization.k8s.io', resource: 'clusterroles', scope: 'cluster' },
    'admin',
    'grant rights it does not have (bind, escalate)',
  ],
  guard: [
    { verb: 'delete', group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicybindings', scope: 'cluster' },
    'postern-pod',
    'change admission (validatingadmissionpolicybindings)',
  ],
  'patched-secret': [{ verb: 'patch', group: '', resource: 'secrets', scope: 'namespace' }, 'postern-stock', 'read Secrets'],
  secret: [{ verb: 'get', group: '', resource: 'secrets', scope: 'namespace' }, 'postern-other', 'read Secrets'],
};

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
  for (const [name, [right, object]] of Object.entries(NAMED))
    await grant(`only-${name}`, { ...right, why: '' }, { resourceNames: [object] });
  await grant(
    'named-elsewhere',
    { verb: 'create', group: '', resource: 'serviceaccounts', subresource: 'token', scope: 'namespace', why: '' },
    { resourceNames: ['deployer'], namespace: 'elsewhere' },
  );
  await grant('own-secret', { verb: 'get', group: '', resource: 'secrets', scope: 'namespace', why: '' }, { resourceNames: ['settings'] });
  await grant(
    'own-settings',
    { verb: 'update', group: '', resource: 'configmaps', scope: 'namespace', why: '' },
    { resourceNames: ['settings'] },
  );
  await grant('harmless', { verb: 'get', group: '', resource: 'configmaps', scope: 'namespace', why: '' });
  await grant('everything', { verb: '*', group: '*', resource: '*', scope: 'cluster', why: '' });
  // The authorizer learns of them in order; the last one stands for all.
  await until(async () => (await isAllowed('everything', 'delete', 'nodes')) === true);
  stopInformers = startRbacInformers({ transport: connection.transport, rbac, clock: systemClock });
  await until(() => rbac.clusterRoles.get('everything') !== undefined && rbac.clusterRoleBindings.get('everything') !== undefined);
  await until(() => rbac.roleBindings.get('agents/own-settings') !== undefined);
});

after(async () => {
  await reviewer?.stop();
  await stopInformers?.();
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

for (const [name, [right, object, why]] of Object.entries(NAMED)) {
  const resource = right.subresource === undefined ? right.resource : `${right.resource}/${right.subresource}`;
  test(`access: an account that may ${right.verb} ${resource} of the one name ${object} is refused (LEAK-24)`, { skip }, async () => {
    assert.equal(await reviewer.verdict(`agents/only-${name}`), `it may ${why}`);
  });
}

test('access: a grant that comes during the first review is reviewed too (LEAK-24)', async () => {
  const grants = emptyRbac();
  let granted = false;
  const first = Promise.withResolvers<void>();
  const reached = Promise.withResolvers<void>();
  const slow: Pick<KubeClient, 'create'> = {
    create: async <T>(_kind: unknown, object: T): Promise<T> => {
      const { spec } = object as { readonly spec: { readonly resourceAttributes: { readonly resource: string; readonly verb: string } } };
      const { resource, verb } = spec.resourceAttributes;
      const allowed = granted && resource === 'pods' && verb === 'create';
      // Every question of the first review is asked before the grant; the last ones are answered after it.
      if (resource === 'namespaces') {
        reached.resolve();
        await first.promise;
      }
      return { ...object, status: { allowed } };
    },
  };
  const racing = new AccessReviewer({
    client: slow,
    clock: { ...systemClock, alarm: (_ms, act) => systemClock.alarm(1, act) },
    callerOf: () => ({ ...caller('racer'), granted: [] }),
    onVerdict: () => {},
    onFailed: (_key, error) => failures.push(error),
  });
  const unwatch = watchGrants(grants, (subjects) => racing.note(subjects));
  const verdict = racing.verdict('agents/racer');
  await reached.promise;
  granted = true;
  const subjects = ['system:serviceaccount:agents:racer'];
  grants.roleBindings.put({ namespace: 'agents', name: 'late', uid: 'u', resourceVersion: '1', role: 'agents/maker', subjects });
  first.resolve();
  assert.equal(await verdict, null);
  await until(() => racing.known('agents/racer') === 'it may create pods');
  unwatch();
  await racing.stop();
});

test('access: harmless rights, rights elsewhere and no rights refuse nobody', { skip }, async () => {
  for (const account of ['harmless', 'elsewhere', 'nobody', 'named-elsewhere', 'own-secret', 'own-settings'])
    assert.equal(await reviewer.verdict(`agents/${account}`), null, account);
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
