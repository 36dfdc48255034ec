/**
 * Goal: walks over a real Kubernetes API server end as what they are. Method: 5,000 ConfigMaps, a ServiceAccount with
 * real RBAC, a real compaction of etcd; every answer is compared with what was created, not with the sidecar's counts.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Stage, startStage } from '#test/flow/stage.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { type Relay, startRelay } from './relay.ts';
import { codesOf, cursorOf, rowsOf, walkAll } from './walk-all.ts';

const COUNT = 5000;
const skip = await unavailable('etcd', 'kube-apiserver');

let kube: KubeApiserver;
let relay: Relay;
let stage: Stage;
/** Uid of each ConfigMap of the namespace `many`. */
const uids = new Map<string, string>();

before(async () => {
  if (skip !== false) return;
  kube = await startKubeApiserver();
  relay = await startRelay({ target: kube.url, ca: kube.caPem });
  for (const namespace of ['many', 'alpha', 'beta', 'gamma', 'agents']) await create('/api/v1/namespaces', 'Namespace', 'v1', namespace);
  await createInParallel(Array.from({ length: COUNT }, (_, index) => `row-${String(index).padStart(5, '0')}`));
  for (const namespace of ['alpha', 'beta', 'gamma'])
    for (const name of ['one', 'two', 'three'])
      await create(`/api/v1/namespaces/${namespace}/configmaps`, 'ConfigMap', 'v1', `${namespace}-${name}`);
  for (const namespace of ['many', 'alpha', 'beta']) await allow(namespace);
  stage = await startStage({
    contracts: contracts(),
    upstreamPort: 0,
    credentials: {
      'postern-cluster/token': await kube.createServiceAccountToken('agents', 'reader'),
      'postern-cluster/ca.crt': kube.caPem,
      'postern-cluster/relay.crt': relay.caPem,
      'postern-wrong/token': 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJub2JvZHkifQ.bm90IGEgc2lnbmF0dXJl',
      'postern-wrong/ca.crt': kube.caPem,
      'postern-stranger/token': await kube.createServiceAccountToken('agents', 'stranger'),
      'postern-stranger/ca.crt': relay.caPem,
    },
  });
});
after(async () => {
  await stage?.[Symbol.asyncDispose]();
  await relay?.[Symbol.asyncDispose]();
  await kube?.[Symbol.asyncDispose]();
});

async function create(path: string, kind: string, apiVersion: string, name: string, more: object = {}): Promise<string> {
  const { status, body } = await kube.request<{ metadata: { uid: string } }>('POST', path, {
    apiVersion,
    kind,
    metadata: { name },
    ...more,
  });
  assert.equal(status, 201, JSON.stringify(body));
  return body.metadata.uid;
}

async function createInParallel(names: readonly string[]): Promise<void> {
  const left = names.values();
  const worker = async () => {
    for (const name of left)
      uids.set(name, await create('/api/v1/namespaces/many/configmaps', 'ConfigMap', 'v1', name, { data: { name } }));
  };
  await Promise.all(Array.from({ length: 24 }, worker));
}

const RBAC = 'rbac.authorization.k8s.io/v1';

async function allow(namespace: string): Promise<void> {
  const path = `/apis/${RBAC}/namespaces/${namespace}`;
  await create(`${path}/roles`, 'Role', RBAC, 'reader', { rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }] });
  await create(`${path}/rolebindings`, 'RoleBinding', RBAC, 'reader', {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    subjects: [{ kind: 'ServiceAccount', name: 'reader', namespace: 'agents' }],
  });
}

function contracts(): string {
  const walk = (name: string, origin: string, limits: string) =>
    contract(name, `${origin}/api/v1/namespaces/many/configmaps`, 'cluster', `limits: ${limits}`);
  return [
    binding('cluster', 'postern-cluster', 'list-all, list-by-items, list-by-pages, list-slowly, list-through-relay, list-three', [
      [kube.url, 'ca.crt'],
      [relay.url, 'relay.crt'],
    ]),
    binding('wrong', 'postern-wrong', 'list-with-wrong-token', [[kube.url, 'ca.crt']]),
    binding('stranger', 'postern-stranger', 'list-as-stranger', [[relay.url, 'ca.crt']]),
    walk('list-all', kube.url, '{pages: 20, items: 6000, bytes: 64Mi, time: 30s, pageSize: 500}'),
    walk('list-by-items', kube.url, '{pages: 20, items: 1234, bytes: 64Mi, time: 30s, pageSize: 500}'),
    walk('list-by-pages', kube.url, '{pages: 3, items: 6000, bytes: 64Mi, time: 30s, pageSize: 500}'),
    walk('list-through-relay', relay.url, '{pages: 20, items: 6000, bytes: 64Mi, time: 30s, pageSize: 500}'),
    walk('list-slowly', relay.url, '{pages: 2, items: 6000, bytes: 64Mi, time: 30s, pageSize: 500}'),
    contract('list-with-wrong-token', `${kube.url}/api/v1/namespaces/many/configmaps`, 'wrong', 'limits: {pageSize: 500}'),
    contract('list-as-stranger', `${relay.url}/api/v1/namespaces/many/configmaps`, 'stranger', 'limits: {pageSize: 500}'),
    contract(
      'list-three',
      `${kube.url}/api/v1/namespaces/$(source.namespace)/configmaps`,
      'cluster',
      `sources: {list: [{name: a, values: {namespace: alpha}}, {name: b, values: {namespace: beta}}, {name: c, values: {namespace: gamma}}]}
    limits: {pages: 12, items: 100, time: 20s, pageSize: 2, parallel: 3}`,
    ),
  ].join('\n---\n');
}

function binding(name: string, secret: string, granted: string, destinations: readonly (readonly [string, string])[]): string {
  const places = destinations.map(
    ([origin, ca]) =>
      `{origin: "${origin}", methods: [GET], pathPrefixes: [/api/v1/namespaces/], addresses: [127.0.0.1/32], ca: {key: ${ca}}}`,
  );
  return `apiVersion: postern.dev/v1alpha1
kind: CredentialBinding
metadata: {name: ${name}, namespace: real}
spec:
  owner: cluster-platform
  secret: {name: ${secret}}
  contracts: [${granted}]
  destinations: [${places.join(', ')}]
  use: {bearer: {key: token}}`;
}

function contract(name: string, url: string, credential: string, completeness: string): string {
  return `apiVersion: postern.dev/v1alpha1
kind: ActionContract
metadata: {name: ${name}, namespace: real}
spec:
  action: ${name.replaceAll('-', '_')}
  summary: List ConfigMaps
  owner: sre
  effect: Read
  callers: [{serviceAccount: sre-bot}]
  credentials: [${credential}]
  arguments: {type: object, additionalProperties: false, properties: {}}
  http: {credential: ${credential}, method: GET, url: "${url}"}
  result: {as: maps, fields: [{name: name, path: /metadata/name}, {name: uid, path: /metadata/uid}]}
  completeness:
    preset: kubernetes-v1
    ${completeness}
    scope: {resource: ConfigMaps, visibility: namespaces the reader may list, absence: Provable}
  warnings: [{name: shard-only, code: DEFAULT_SCOPE_APPLIED, owner: cluster-platform, expires: "2027-11-30", message: One shard answered}]`;
}

function assertEveryMap(rows: readonly Readonly<Record<string, unknown>>[]): void {
  assert.equal(rows.length, COUNT);
  const expected = [...uids].map(([name, uid]) => ({ name, uid })).sort((a, b) => (a.name < b.name ? -1 : 1));
  assert.deepEqual(rows, expected);
}

test('kubernetes: a walk of 5,000 ConfigMaps is complete with exactly these', { skip }, async () => {
  const answer = await stage.call('list_all');
  assertEveryMap(rowsOf(answer));
  const { completeness, evidence } = answer;
  assert.equal(answer.status, 'ok');
  assert.equal(completeness.complete, true);
  assert.equal(completeness.scope.consistency, 'checked');
  assert.notEqual(completeness.scope.snapshot, undefined);
  assert.equal(completeness.page.returned, COUNT);
  assert.notEqual(evidence, undefined);
});

test('kubernetes: the same walk in several calls loses and doubles no ConfigMap', { skip }, async (t) => {
  await t.test('kubernetes: cut by a limit of items in the middle of pages', async () => {
    const { rows, answers, last } = await walkAll(stage, 'list_by_items');
    assertEveryMap(rows);
    assert.deepEqual(
      answers.map(({ completeness }) => completeness.page.returned),
      [1234, 1234, 1234, 1234, 64],
    );
    assert.equal(last.completeness.complete, true);
    assert.equal(last.completeness.page.walk.returned, COUNT);
  });
  await t.test('kubernetes: cut by a limit of pages', async () => {
    const { rows, answers, last } = await walkAll(stage, 'list_by_pages');
    assertEveryMap(rows);
    assert.deepEqual(answers.map(codesOf), [...Array.from({ length: 3 }, () => ['MORE_PAGES_AVAILABLE', 'RESULT_LIMIT_REACHED']), []]);
    assert.equal(last.completeness.scope.consistency, 'checked');
  });
});

test('kubernetes: what changes in mid-walk does not mix into the list', { skip }, async () => {
  const path = '/api/v1/namespaces/many/configmaps';
  relay.before(async (number) => {
    if (number === 3) for (const name of ['aaa', 'row-02500x', 'zzz']) await create(path, 'ConfigMap', 'v1', name);
    if (number === 4) assert.equal((await kube.request('DELETE', `${path}/row-04999`)).status, 200);
  });
  const answer = await stage.call('list_through_relay');
  assert.equal(relay.passed.length, 10);
  assertEveryMap(rowsOf(answer));
  assert.equal(answer.completeness.complete, true);

  const later = await stage.call('list_all');
  assert.equal(later.completeness.complete, true);
  assert.equal(rowsOf(later).length, COUNT + 2);
  assert.notEqual(later.completeness.scope.snapshot, answer.completeness.scope.snapshot);
});

test('kubernetes: a snapshot compacted between two calls is CURSOR_EXPIRED, never a merged list', { skip }, async () => {
  relay.before(async () => {});
  const first = await stage.call('list_slowly');
  assert.equal(rowsOf(first).length, 1000);
  await kube.compact();
  relay.before(async () => {});
  const error = await stage.refused('list_slowly', {}, { cursor: cursorOf(first) });
  assert.equal(error.reason, 'CURSOR_EXPIRED');
  assert.deepEqual(wayOf(error.completeness), { kind: 'restart' });
  // The API server offers to go on at another snapshot; that would be another list.
  assert.equal(relay.passed.length, 1);
});

test('kubernetes: a snapshot compacted in mid-call keeps the rows of one snapshot and says restart', { skip }, async () => {
  relay.before(async (number) => {
    if (number === 4) await kube.compact();
  });
  const answer = await stage.call('list_through_relay');
  assert.equal(relay.passed.length, 4);
  assert.equal(answer.status, 'partial');
  assert.deepEqual(codesOf(answer), ['CURSOR_EXPIRED']);
  assert.deepEqual(answer.completeness.continuation, { kind: 'restart' });
  assert.equal(answer.evidence, undefined);
  const names = rowsOf(answer).map(({ name }) => name);
  assert.equal(names.length, 1500);
  assert.deepEqual(names, [...names].sort());
});

test('kubernetes: one namespace of three forbidden restricts the answer and leaves the other two', { skip }, async () => {
  const answer = await stage.call('list_three');
  assert.deepEqual(
    rowsOf(answer).map(({ name }) => name),
    ['alpha-one', 'alpha-three', 'alpha-two', 'beta-one', 'beta-three', 'beta-two'],
  );
  assert.equal(answer.status, 'partial');
  assert.deepEqual(codesOf(answer), ['VISIBILITY_RESTRICTED']);
  assert.deepEqual(answer.completeness.incomplete_reasons[0]?.sources, ['c']);
  assert.deepEqual(
    answer.completeness.sources.map(({ name, state, returned }) => ({ name, state, returned })),
    [
      { name: 'a', state: 'complete', returned: 3 },
      { name: 'b', state: 'complete', returned: 3 },
      { name: 'c', state: 'denied', returned: 0 },
    ],
  );
  assert.equal(answer.completeness.continuation.kind, 'none');
  assert.doesNotMatch(JSON.stringify(answer), /gamma/);
});

test('kubernetes: a token of nobody is CREDENTIAL_INVALID, an account without rights REMOTE_DENIED', { skip }, async () => {
  assert.equal((await stage.refused('list_with_wrong_token')).reason, 'CREDENTIAL_INVALID');
  relay.before(async () => {});
  assert.equal((await stage.refused('list_as_stranger')).reason, 'REMOTE_DENIED');
});

test('kubernetes: a right taken away in mid-walk restricts the answer', { skip }, async () => {
  relay.before(async (number) => {
    if (number !== 3) return;
    assert.equal((await kube.request('DELETE', `/apis/${RBAC}/namespaces/many/rolebindings/reader`)).status, 200);
    await untilForbidden();
  });
  const answer = await stage.call('list_through_relay');
  assert.equal(rowsOf(answer).length, 1000);
  assert.deepEqual(codesOf(answer), ['MORE_PAGES_AVAILABLE', 'VISIBILITY_RESTRICTED']);
  assert.equal(answer.completeness.continuation.kind, 'none');
});

/** The authorizer hears of a change by its own watch. */
async function untilForbidden(): Promise<void> {
  const user = 'system:serviceaccount:agents:reader';
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, resourceAttributes: { namespace: 'many', verb: 'list', resource: 'configmaps' } },
  };
  for (;;) {
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
    const { body } = await kube.request<{ status: { allowed: boolean } }>('POST', path, review);
    if (!body.status.allowed) return;
  }
}

function wayOf(completeness: unknown): unknown {
  assert(typeof completeness === 'object' && completeness !== null && 'continuation' in completeness);
  return completeness.continuation;
}
