/**
 * The four CRDs in a real kube-apiserver. Goal: they are structural and within the CEL budget (else they are not
 * established), refuse what can never be right with our own sentence, default nothing, and keep what is final final.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const BASE = '/apis/postern.dev/v1alpha1/namespaces/triage';
const EXAMPLES = '/apis/postern.dev/v1alpha1/namespaces/examples';

interface Kube {
  readonly status: number;
  readonly body: {
    readonly message?: string;
    readonly spec?: unknown;
    readonly status?: unknown;
    readonly metadata?: { readonly resourceVersion: string };
  };
}

let api: KubeApiserver | undefined;
const running = () => api ?? assert.fail('the API server did not start');

async function call(method: string, path: string, body?: unknown): Promise<Kube> {
  return running().request<Kube['body']>(method, path, body);
}

before(
  async () => {
    if (skip !== false) return;
    api = await startKubeApiserver();
    for (const name of readdirSync('crds')) {
      const crd = parse(readFileSync(`crds/${name}`, 'utf8'), { maxAliasCount: -1 });
      const created = await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
      assert.equal(created.status, 201, `${name}: ${created.body.message}`);
    }
    for (const name of ['triage', 'examples']) assert.equal((await call('POST', '/api/v1/namespaces', { metadata: { name } })).status, 201);
    for (const plural of ['actioncontracts', 'credentialbindings', 'agentsessions', 'actionapprovals']) {
      while ((await call('GET', `${BASE}/${plural}`)).status !== 200) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  },
  { timeout: 120_000 },
);

after(async () => {
  await api?.[Symbol.asyncDispose]();
});

function object(kind: string, name: string, spec: unknown) {
  return { apiVersion: 'postern.dev/v1alpha1', kind, metadata: { name, namespace: 'triage' }, spec };
}

const CONTRACT = {
  action: 'list_open_issues',
  summary: 'List open issues',
  owner: 'triage-team',
  effect: 'Read',
  callers: [{ serviceAccount: 'triage-bot' }],
  credentials: ['github-triage'],
  arguments: { type: 'object', additionalProperties: false, properties: { since: { type: 'string', format: 'date-time' } } },
  resolve: { repository: { storefront: { owner: 'acme', deep: { list: [1, 'a', null] } } } },
  constants: { query: '{ $(not.a.slot) }' },
  http: {
    credential: 'github-triage',
    method: 'POST',
    url: 'https://api.github.com/graphql',
    body: { json: { nested: [{ any: 1.5 }], none: null } },
  },
  result: { items: ['/'], fields: [{ name: 'number' }] },
  completeness: {
    paging: { next: [{ name: 'page', from: [{ link: 'next', query: 'page' }] }], end: { nextIs: ['Absent'] } },
    limits: { pages: 10, time: '20s' },
  },
};

test('crds: a contract is stored as it was written, with nothing added and nothing dropped', { skip }, async () => {
  const created = await call('POST', `${BASE}/actioncontracts`, object('ActionContract', 'list-open-issues', CONTRACT));
  assert.equal(created.status, 201, created.body.message);
  assert.deepEqual(created.body.spec, CONTRACT);
});

/** A contract with some blocks replaced. */
const contractWith = (blocks: object) => object('ActionContract', 'list-open-issues', { ...CONTRACT, ...blocks });
const refused: readonly (readonly [string, unknown, RegExp])[] = [
  ['actioncontracts', object('ActionContract', 'another-name', CONTRACT), /spec\.action must be metadata\.name/],
  [
    'actioncontracts',
    contractWith({ ssh: { credential: 'a', host: 'h', argv: ['x'], shell: 'Posix' } }),
    /exactly one target: http or ssh/,
  ],
  ['actioncontracts', contractWith({ http: undefined }), /exactly one target: http or ssh/],
  [
    'actioncontracts',
    contractWith({ http: { ...CONTRACT.http, body: { text: 'a', form: {} } } }),
    /spec\.http\.body.* must validate one and only one schema/,
  ],
  [
    'actioncontracts',
    contractWith({ completeness: { required: [{ name: 'a', anyOf: [{ body: '/a', lastItem: '/b' }] }] } }),
    /exactly one of body, header, link, lastItem/,
  ],
  ['actioncontracts', contractWith({ completeness: { signals: [{ name: 'a', when: 'true' }] } }), /when needs a reason/],
  ['actioncontracts', contractWith({ completeness: { consistency: { mode: 'Declared' } } }), /Declared needs because/],
  [
    'actioncontracts',
    contractWith({
      completeness: {
        totals: [
          { name: 'a', from: { body: '/a' } },
          { name: 'a', from: { body: '/b' } },
        ],
      },
    }),
    /Duplicate value/,
  ],
  ['actioncontracts', contractWith({ idempotency: { mode: 'Key' } }), /exactly one place for the key/],
  ['actioncontracts', contractWith({ effect: 'Delete' }), /Unsupported value: "Delete"/],
  [
    'credentialbindings',
    object('CredentialBinding', 'b', {
      owner: 'o',
      secret: { name: 'plain' },
      contracts: [],
      destinations: [{ origin: 'https://a.example' }],
      use: { bearer: { key: 'a' } },
    }),
    /spec\.secret\.name/,
  ],
  [
    'credentialbindings',
    object('CredentialBinding', 'b', {
      owner: 'o',
      secret: { name: 'postern-a' },
      contracts: [],
      destinations: [{ origin: 'http://10.0.0.1:80' }],
      use: { bearer: { key: 'a' } },
    }),
    /transport: Plaintext/,
  ],
  [
    'credentialbindings',
    object('CredentialBinding', 'b', {
      owner: 'o',
      secret: { name: 'postern-a' },
      contracts: [],
      destinations: [{ origin: 'ssh://a.example:22' }],
      use: { bearer: { key: 'a' } },
    }),
    /needs hostKeys/,
  ],
  [
    'credentialbindings',
    object('CredentialBinding', 'b', {
      owner: 'o',
      secret: { name: 'postern-a' },
      contracts: [],
      destinations: [{ origin: 'https://a.example' }],
      use: { bearer: { key: 'a' }, basic: { usernameKey: 'a', passwordKey: 'b' } },
    }),
    /attached in exactly one way/,
  ],
];
for (const [plural, body, message] of refused) {
  test(`crds: ${plural} refuses with ${message.source}`, { skip }, async () => {
    const answer = await call('POST', `${BASE}/${plural}`, body);
    assert.equal(answer.status, 422);
    assert.match(answer.body.message ?? '', message);
  });
}

test('crds: the examples of this repository are taken', { skip }, async () => {
  for (const file of readdirSync('examples', { recursive: true, encoding: 'utf8' }).filter((name) => /\.ya?ml$/.test(name))) {
    for (const document of parseAllDocuments(readFileSync(`examples/${file}`, 'utf8'))) {
      const { kind, metadata, spec } = document.toJS() ?? {};
      if (kind !== 'ActionContract' && kind !== 'CredentialBinding') continue;
      const answer = await call('POST', `${EXAMPLES}/${kind.toLowerCase()}s?dryRun=All`, {
        ...object(kind, metadata.name, spec),
        metadata: { name: metadata.name },
      });
      assert.equal(answer.status, 201, `${file} ${metadata.name}: ${answer.body.message}`);
    }
  }
});

const UID = '01234567-89ab-cdef-0123-456789abcdef';
const DIGEST = `sha256:${'0'.repeat(64)}`;
const SESSION = { pod: { name: 'p', uid: UID }, serviceAccount: 'triage-bot', node: 'n', image: 'agent:1' };

test('agent session: revoked is final, and nothing else may change', { skip }, async () => {
  const path = `${BASE}/agentsessions/s`;
  assert.equal((await call('POST', `${BASE}/agentsessions`, object('AgentSession', 's', SESSION))).status, 201);
  assert.equal((await call('PATCH', path, { spec: { node: 'other' } })).status, 422);
  assert.equal((await call('PATCH', path, { spec: { controller: { kind: 'Job', name: 'j', uid: UID } } })).status, 422);
  assert.equal((await call('PATCH', path, { spec: { revoked: false } })).status, 200);
  assert.equal((await call('PATCH', path, { spec: { revoked: true } })).status, 200);
  for (const revoked of [false, null]) {
    const answer = await call('PATCH', path, { spec: { revoked } });
    assert.equal(answer.status, 422, String(revoked));
    assert.match(answer.body.message ?? '', /a revoked session stays revoked/);
  }
});

test('agent session: ended is final', { skip }, async () => {
  const path = `${BASE}/agentsessions/ended/status`;
  assert.equal((await call('POST', `${BASE}/agentsessions`, object('AgentSession', 'ended', SESSION))).status, 201);
  assert.equal((await call('PATCH', path, { status: { state: 'Active' } })).status, 200);
  assert.equal((await call('PATCH', path, { status: { state: 'Ended' } })).status, 200);
  for (const status of [{ state: 'Active' }, { state: null }, null]) assert.equal((await call('PATCH', path, { status })).status, 422);
});

const APPROVAL = {
  purpose: 'Call',
  session: { name: 's', uid: UID },
  serviceAccount: 'triage-bot',
  contract: 'deploy-service',
  action: 'deploy_service',
  revision: DIGEST,
  argumentsDigest: DIGEST,
  planDigest: DIGEST,
  card: 'Deploy version 1.2.3 of api to staging',
  cardDigest: DIGEST,
  alternatives: [{ name: 'later', card: 'Later', cardDigest: DIGEST, planDigest: DIGEST, argumentsDigest: DIGEST }],
  expiresAt: '2027-01-01T00:00:00Z',
};

test('action approval: its spec never changes', { skip }, async () => {
  assert.equal((await call('POST', `${BASE}/actionapprovals`, object('ActionApproval', 'fixed', APPROVAL))).status, 201);
  for (const spec of [{ card: 'Delete everything' }, { alternatives: null }, { expiresAt: '2028-01-01T00:00:00Z' }]) {
    const answer = await call('PATCH', `${BASE}/actionapprovals/fixed`, { spec });
    assert.equal(answer.status, 422);
    assert.match(answer.body.message ?? '', /its spec never changes/);
  }
});

test('action approval: a decision is made once and cannot be taken away', { skip }, async () => {
  const path = `${BASE}/actionapprovals/once/status`;
  assert.equal((await call('POST', `${BASE}/actionapprovals`, object('ActionApproval', 'once', APPROVAL))).status, 201);
  const decision = { approver: 'jo@example.com', verdict: 'Approved', cardDigest: DIGEST };
  assert.equal((await call('PATCH', path, { status: { decision: { ...decision, verdict: 'Done' } } })).status, 422);
  assert.equal((await call('PATCH', path, { status: { decision: { ...decision, alternative: 'unknown' } } })).status, 422);
  assert.equal((await call('PATCH', path, { status: { decision: { ...decision, alternative: 'later' } } })).status, 200);
  for (const status of [{ decision: null }, { decision: { verdict: 'Denied' } }, { decision: { reason: 'added later' } }, null]) {
    const answer = await call('PATCH', path, { status });
    assert.equal(answer.status, 422, JSON.stringify(status));
    assert.match(answer.body.message ?? '', /a decision is made once/);
  }
  assert.equal((await call('PATCH', path, { status: { state: 'Approved', callsUsed: 1 } })).status, 200);
});

test('action approval: a question of purpose Resolve names an operation and is answered by Done or NotDone', { skip }, async () => {
  const { session: _, planDigest: __, ...question } = { ...APPROVAL, purpose: 'Resolve' };
  assert.equal((await call('POST', `${BASE}/actionapprovals`, object('ActionApproval', 'r', question))).status, 422);
  const operationId = `op_${'a'.repeat(26)}`;
  assert.equal((await call('POST', `${BASE}/actionapprovals`, object('ActionApproval', 'r', { ...question, operationId }))).status, 201);
  const decide = (verdict: string) =>
    call('PATCH', `${BASE}/actionapprovals/r/status`, { status: { decision: { approver: 'jo', verdict, cardDigest: DIGEST } } });
  const early = await decide('NotDone');
  assert.equal(early.status, 422);
  assert.match(early.body.message ?? '', /still under way/);
  assert.equal((await call('PATCH', `${BASE}/actionapprovals/r/status`, { status: { state: 'Waiting' } })).status, 200);
  assert.equal((await decide('Approved')).status, 422);
  assert.equal((await decide('NotDone')).status, 200);
});
