/** The five roles for people, on a real API server with the chart's policies: who can do what in a namespace, and who cannot. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Agent, request } from 'undici';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { namespace, rendered, required, toolsFor } from './release.ts';
import { until } from './until.ts';

const skip = await unavailable('etcd', 'kube-apiserver', 'kubectl', 'helm');
const ROLES = ['contract-author', 'credential-owner', 'approver', 'auditor', 'viewer'] as const;
type Role = (typeof ROLES)[number];
const [author, owner, approver, auditor, viewer] = ROLES;
const everyone = ROLES;

/** verb and resource, as `kubectl auth can-i` takes them -> who can; everybody else cannot. */
const CAN: Readonly<Record<string, readonly Role[]>> = {
  'get actioncontracts': everyone,
  'create actioncontracts': [author],
  'update actioncontracts': [author],
  'patch actioncontracts': [author],
  'delete actioncontracts': [author],
  'deletecollection actioncontracts': [],
  'patch actioncontracts/status': [],
  'approve actioncontracts': [approver],
  'get credentialbindings': [author, owner, auditor, viewer],
  'create credentialbindings': [owner],
  'patch credentialbindings': [owner],
  'delete credentialbindings': [owner],
  'use credentialbindings': [owner],
  'patch credentialbindings/status': [],
  'watch agentsessions': everyone,
  'create agentsessions': [],
  'delete agentsessions': [],
  'patch agentsessions': [owner, approver],
  'admit agentsessions': [approver],
  'patch agentsessions/status': [],
  'get actionapprovals': [approver, auditor],
  'create actionapprovals': [],
  'delete actionapprovals': [],
  'patch actionapprovals': [],
  'patch actionapprovals/status': [approver],
  'list events': [auditor],
  'get secrets': [],
  'list secrets': [],
  'create pods': [],
  'patch pods': [],
  'create pods/exec': [],
  'impersonate users': [],
  'create rolebindings': [],
};

const GROUPS: Readonly<Record<string, string>> = {
  secrets: '',
  pods: '',
  events: '',
  users: '',
  rolebindings: 'rbac.authorization.k8s.io',
};

/** One call in the name of a user. */
function callAs(kube: KubeApiserver, agent: Agent) {
  return async (user: string, method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) => {
    const response = await request(`${kube.url}${path}`, {
      dispatcher: agent,
      method,
      headers: {
        authorization: `Bearer ${kube.adminToken}`,
        'impersonate-user': user,
        'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.body.text();
    return { status: response.statusCode, body: JSON.parse(text) as { message?: string; status?: { allowed?: boolean } } };
  };
}

const API = '/apis/postern.dev/v1alpha1/namespaces/triage';
const digest = `sha256:${'0'.repeat(64)}`;
const uid = '0b6f6c1e-8a0f-4a53-9d5e-3f1c2b7a9e10';
const apiVersion = 'postern.dev/v1alpha1';

const contract = (credential: string) => ({
  apiVersion,
  kind: 'ActionContract',
  metadata: { name: 'list-stock' },
  spec: {
    action: 'list_stock',
    summary: 'List the stock',
    owner: 'shop',
    effect: 'Read',
    callers: [{ serviceAccount: 'shop-bot' }],
    credentials: [credential],
    arguments: { type: 'object', additionalProperties: false, properties: {} },
    http: { credential, method: 'GET', url: 'https://stock.example.com/items' },
    result: { fields: [{ name: 'sku' }] },
  },
});
const binding = {
  apiVersion,
  kind: 'CredentialBinding',
  metadata: { name: 'stock' },
  spec: {
    owner: 'shop',
    secret: { name: 'postern-stock' },
    contracts: ['list-stock'],
    destinations: [{ origin: 'https://stock.example.com' }],
    use: { bearer: { key: 'token' } },
  },
};
const session = {
  apiVersion,
  kind: 'AgentSession',
  metadata: { name: 'shop-bot-1-0b6f6c1e' },
  spec: { pod: { name: 'shop-bot-1', uid }, serviceAccount: 'shop-bot', node: 'node-1', image: 'example.invalid/bot' },
};
const approval = {
  apiVersion,
  kind: 'ActionApproval',
  metadata: { name: 'question' },
  spec: {
    purpose: 'Call',
    session: { name: session.metadata.name, uid },
    serviceAccount: 'shop-bot',
    contract: 'list-stock',
    action: 'list_stock',
    revision: digest,
    argumentsDigest: digest,
    planDigest: digest,
    card: 'List the stock',
    cardDigest: digest,
    expiresAt: '2027-05-03T15:00:00Z',
  },
};
const decision = (name: string) => ({ status: { decision: { approver: name, verdict: 'Approved', cardDigest: digest } } });
const OPERATOR = `system:serviceaccount:${namespace}:postern-operator`;

test('roles: on a real API server', { skip }, async (t) => {
  await using kube = await startKubeApiserver();
  using tools = toolsFor(kube);
  const agent = new Agent({ connect: { ca: kube.caPem } });
  t.after(() => agent.close());
  const as = callAs(kube, agent);
  const wanted = /^(CustomResourceDefinition|ClusterRole|ClusterRoleBinding|ValidatingAdmissionPolicy|ValidatingAdmissionPolicyBinding)$/;
  const items = (await rendered([...required, '--skip-tests'])).filter(({ kind }) => wanted.test(kind));
  const applied = await tools.kubectlWith(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '--server-side', '-f', '-');
  assert.equal(applied.status, 0, applied.stderr);
  await tools.kubectl('create', 'namespace', 'triage');
  for (const role of ROLES)
    await tools.kubectl('create', 'rolebinding', role, '-n', 'triage', `--clusterrole=postern-${role}`, `--user=${role}`);
  await tools.kubectl('wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s');

  await t.test('roles: each can what the table says, and nothing else', async () => {
    for (const [what, who] of Object.entries(CAN)) {
      const [verb = '', target = ''] = what.split(' ');
      const [resource = '', subresource] = target.split('/');
      const group = GROUPS[resource] ?? 'postern.dev';
      const resourceAttributes = { namespace: 'triage', verb, group, resource, ...(subresource === undefined ? {} : { subresource }) };
      for (const role of ROLES) {
        const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec: { user: role, resourceAttributes } };
        const { body } = await kube.request<{ status: { allowed: boolean } }>(
          'POST',
          '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          review,
        );
        assert.equal(body.status.allowed, who.includes(role), `${role}: ${what}`);
      }
    }
  });

  await t.test('roles: none reaches beyond the namespace it is bound in', async () => {
    for (const role of ROLES) {
      const { status } = await as(role, 'GET', '/apis/postern.dev/v1alpha1/actioncontracts');
      assert.equal(status, 403, role);
    }
  });

  await t.test('roles: a binding needs the role and the Secret, a contract the role and the verb use, each from somebody', async () => {
    // Policies are in effect some moments after they were written.
    const refused = await until('the policy of bindings is in effect', async () => {
      const { status, body } = await as(owner, 'POST', `${API}/credentialbindings?dryRun=All`, binding);
      return status === 201 ? undefined : body.message;
    });
    assert.match(refused, /you may not read the Secret postern-stock/);
    await tools.kubectl(
      'create',
      'role',
      'stock-secret',
      '-n',
      'triage',
      '--verb=get',
      '--resource=secrets',
      '--resource-name=postern-stock',
    );
    await tools.kubectl('create', 'rolebinding', 'stock-secret', '-n', 'triage', '--role=stock-secret', `--user=${owner}`);
    assert.equal((await as(author, 'POST', `${API}/credentialbindings`, binding)).status, 403);
    const made = await as(owner, 'POST', `${API}/credentialbindings`, binding);
    assert.equal(made.status, 201, made.body.message);

    const unused = await as(author, 'POST', `${API}/actioncontracts`, contract('stock'));
    assert.equal(unused.status, 403);
    assert.match(unused.body.message ?? '', /use/);
    // As docs/cluster.md tells the owner to hand it on.
    const use = { apiGroups: ['postern.dev'], resources: ['credentialbindings'], resourceNames: ['stock'], verbs: ['use'] };
    const role = {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'Role',
      metadata: { name: 'use-stock', namespace: 'triage' },
      rules: [use],
    };
    assert.equal((await tools.kubectlWith(JSON.stringify(role), 'apply', '-f', '-')).status, 0);
    await tools.kubectl('create', 'rolebinding', 'use-stock', '-n', 'triage', '--role=use-stock', `--user=${author}`);
    const written = await as(author, 'POST', `${API}/actioncontracts`, contract('stock'));
    assert.equal(written.status, 201, written.body.message);
    for (const other of [owner, approver, auditor, viewer]) {
      assert.equal((await as(other, 'PATCH', `${API}/actioncontracts/list-stock`, { spec: { owner: 'me' } })).status, 403, other);
    }
  });

  await t.test('roles: owner and approver revoke a session, nobody takes it back, and only an approver admits', async () => {
    assert.equal((await as(OPERATOR, 'POST', `${API}/agentsessions`, session)).status, 201);
    const path = `${API}/agentsessions/${session.metadata.name}`;
    for (const role of [author, auditor, viewer]) {
      assert.equal((await as(role, 'PATCH', path, { spec: { revoked: true } })).status, 403, role);
    }
    const admitted = await as(owner, 'PATCH', path, { spec: { admitted: true } });
    assert.equal(admitted.status, 403, admitted.body.message);
    assert.equal((await as(approver, 'PATCH', path, { spec: { admitted: true } })).status, 200);
    assert.equal((await as(owner, 'PATCH', path, { spec: { revoked: true } })).status, 200);
    for (const change of [{ revoked: false }, { revoked: null }]) {
      const back = await as(approver, 'PATCH', path, { spec: change });
      assert.ok(back.status >= 400, JSON.stringify(back.body));
    }
  });

  await t.test('roles: an approver decides, under the own name, once; a viewer does not see the card', async () => {
    // The operator asks no questions yet, so the chart does not grant it this.
    await tools.kubectl('create', 'role', 'asks', '-n', 'triage', '--verb=create', '--resource=actionapprovals.postern.dev');
    await tools.kubectl('create', 'rolebinding', 'asks', '-n', 'triage', '--role=asks', `--user=${OPERATOR}`);
    const made = await as(OPERATOR, 'POST', `${API}/actionapprovals`, approval);
    assert.equal(made.status, 201, made.body.message);
    const path = `${API}/actionapprovals/question/status`;
    for (const role of [author, owner, auditor, viewer]) assert.equal((await as(role, 'PATCH', path, decision(role))).status, 403, role);
    for (const role of [author, owner, viewer]) assert.equal((await as(role, 'GET', `${API}/actionapprovals/question`)).status, 403, role);
    assert.match((await as(approver, 'PATCH', path, decision('somebody-else'))).body.message ?? '', /must be your own user name/);
    const decided = await as(approver, 'PATCH', path, decision(approver));
    assert.equal(decided.status, 200, decided.body.message);
    const again = await as(approver, 'PATCH', path, { status: { decision: { approver, verdict: 'Denied', cardDigest: digest } } });
    assert.ok(again.status >= 400);
  });

  await t.test('crds: kubectl explain teaches each field with an example', async () => {
    const http = await tools.kubectl('explain', 'actioncontract.spec.http');
    assert.match(http, /KIND: +ActionContract/);
    for (const field of ['credential', 'method', 'url', 'query', 'headers', 'body', 'open', 'next', 'close'])
      assert.match(http, new RegExp(`^ +${field}\\b`, 'm'));
    assert.match(http, /Example:/);
    const paths = [
      'actioncontract.spec.completeness.paging.next.from.body',
      'credb.spec.destinations.addresses',
      'asess.spec.revoked',
      'aappr.spec.grant.vary',
      'actc.spec.warnings.expires',
    ];
    for (const path of paths) assert.match(await tools.kubectl('explain', path), /Example:/, path);
  });

  await t.test('crds: one table of all of ours by the category, and columns that say who and whether', async () => {
    const table = await tools.kubectl('get', 'postern', '-n', 'triage');
    for (const name of [
      'actioncontract.postern.dev/list-stock',
      'credentialbinding.postern.dev/stock',
      'agentsession.postern.dev/shop-bot-1-0b6f6c1e',
    ]) {
      assert.match(table, new RegExp(name));
    }
    assert.match(await tools.kubectl('get', 'asess', '-n', 'triage'), /POD +ACCOUNT +STATE +REVOKED +AGE/);
    assert.match(
      await tools.kubectl('get', 'actc', '-n', 'triage', '-o', 'wide'),
      /ACTION +EFFECT +READY +BEST +SESSIONS +OWNER +REVISION +AGE/,
    );
  });

  await t.test('crds: the API server finds every schema structural', async () => {
    const { items: all } = JSON.parse(await tools.kubectl('get', 'crd', '-o', 'json')) as {
      items: { metadata: { name: string }; status: { conditions: { type: string; status: string; message: string }[] } }[];
    };
    assert.equal(all.length, 4);
    for (const { metadata, status } of all) {
      const wrong = status.conditions.filter(({ type, status: value }) => type === 'NonStructuralSchema' && value === 'True');
      assert.deepEqual(wrong, [], metadata.name);
    }
  });
});
