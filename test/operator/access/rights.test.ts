import assert from 'node:assert/strict';
import { test } from 'node:test';
import { questionsOf, RIGHTS } from '#operator/access/rights.ts';

/** Section 2.1 of the design, word for word; the table of the code must hold at least this. */
const DESIGN = [
  'get secrets',
  'list secrets',
  'watch secrets',
  // Their answers hold the values, dry runs too.
  ...['patch', 'delete', 'deletecollection', 'update'].map((verb) => `${verb} secrets`),
  'approve signers',
  'create apiservices',
  'update customresourcedefinitions',
  'create pods',
  ...['deployments', 'replicasets', 'statefulsets', 'daemonsets', 'jobs', 'cronjobs', 'replicationcontrollers'].map(
    (kind) => `create ${kind}`,
  ),
  'patch pods',
  'update pods',
  ...['exec', 'attach', 'portforward'].flatMap((sub) => [`get pods/${sub}`, `create pods/${sub}`]),
  'patch pods/ephemeralcontainers',
  'create serviceaccounts/token',
  ...['users', 'groups', 'serviceaccounts'].map((kind) => `impersonate ${kind}`),
  ...['roles', 'clusterroles'].flatMap((kind) => [`bind ${kind}`, `escalate ${kind}`]),
  'get nodes/proxy',
  'create nodes/proxy',
  ...['actioncontracts', 'credentialbindings', 'agentsessions', 'actionapprovals'].flatMap((kind) =>
    ['create', 'update', 'patch', 'delete'].map((verb) => `${verb} ${kind}`),
  ),
  'approve actioncontracts',
  ...['namespaces', 'namespaces/status', 'namespaces/finalize'].map((kind) => `patch ${kind}`),
  ...[
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ].flatMap((kind) => ['create', 'update', 'patch', 'delete'].map((verb) => `${verb} ${kind}`)),
];

for (const right of DESIGN) {
  test(`rights: ${right} is asked about (LEAK-24)`, () => {
    const asked = RIGHTS.map(
      ({ verb, resource, subresource }) => `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`,
    );
    assert.ok(asked.includes(right));
  });
}

test('rights: the questions are about the account with the groups its token carries, in its namespace', () => {
  const questions = questionsOf({
    namespace: 'agents',
    account: 'bot',
    secrets: ['postern-stock'],
    contracts: ['list-stock'],
    granted: [],
  });
  for (const { ask } of questions) {
    assert.equal(ask.user, 'system:serviceaccount:agents:bot');
    assert.deepEqual(ask.groups, ['system:serviceaccounts', 'system:serviceaccounts:agents', 'system:authenticated']);
    assert.ok(ask.resourceAttributes.namespace === 'agents' || ask.resourceAttributes.namespace === undefined);
  }
  const named = questions.flatMap(({ ask: { resourceAttributes } }) => resourceAttributes.name ?? []);
  assert.deepEqual([...new Set(named)].sort(), ['agents', 'bot', 'list-stock', 'postern-stock']);
});
