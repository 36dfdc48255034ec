/** Rotation against a real API server: what it answers when a pod was made anew, or refuses to be touched, no fake would know. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import type { CredentialBinding } from '#core/resource/gen/credential-binding.ts';
import { ANNOTATION } from '#core/resource/names.ts';
import { Cache } from '#operator/kube/cache.ts';
import { type Cluster, emptyCluster } from '#operator/kube/cluster.ts';
import { type Connection, connectionTo } from '#operator/kube/connect.ts';
import { bindingRecord, type KubeObject, type PodObject, podRecord } from '#operator/kube/records.ts';
import { rotate } from '#operator/rotation/rotate.ts';
import { writeSecretVersion } from '#operator/rotation/secret-versions.ts';
import { until } from '#test/operator/kube/fast-clock.ts';
import { accessTo } from '#test/operator/kube/real-access.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';

const skip = await unavailable('etcd', 'kube-apiserver');
const PODS = '/api/v1/namespaces/triage/pods';
const BINDINGS = '/apis/postern.dev/v1alpha1/namespaces/triage/credentialbindings';
const OTHER_UID = '00000000-0000-4000-8000-000000000000';

let kube: KubeApiserver;
let connection: Connection;

before(async () => {
  if (skip) return;
  kube = await startKubeApiserver();
  connection = connectionTo(accessTo(kube));
  const crd = parse(readFileSync('crds/postern.dev_credentialbindings.yaml', 'utf8'), { maxAliasCount: -1 });
  await kube.request('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  await kube.request('POST', '/api/v1/namespaces', { metadata: { name: 'triage' } });
  await kube.request('POST', '/api/v1/namespaces/triage/serviceaccounts', { metadata: { name: 'default' } });
  await until(async () => (await kube.request('GET', BINDINGS)).status === 200, 'the kind is served');
});
after(async () => {
  await connection?.close();
  await kube?.[Symbol.asyncDispose]();
});

async function makePod(name: string, labels: Readonly<Record<string, string>> = {}): Promise<PodObject> {
  const sources = [{ secret: { name: 'postern-github', optional: true, items: [{ key: 'token', path: 'postern-github/token' }] } }];
  const spec = { containers: [{ name: 'agent', image: 'a:1' }], volumes: [{ name: 'postern-credentials', projected: { sources } }] };
  const { status, body } = await kube.request<PodObject>('POST', PODS, { metadata: { name, labels }, spec });
  assert.equal(status, 201);
  return body;
}

type Binding = CredentialBinding & KubeObject;

async function makeBinding(name: string): Promise<Binding> {
  const spec = {
    owner: 'platform',
    secret: { name: 'postern-github', revision: '2' },
    contracts: ['list'],
    destinations: [{ origin: 'https://api.example.com' }],
    use: { bearer: { key: 'token' } },
  };
  const object = { apiVersion: 'postern.dev/v1alpha1', kind: 'CredentialBinding', metadata: { name }, spec };
  const { status, body } = await kube.request<Binding>('POST', BINDINGS, object);
  assert.equal(status, 201);
  return body;
}

function clusterOf(binding: Binding, pods: readonly PodObject[]): Cluster {
  const cluster = emptyCluster();
  cluster.bindings.put(bindingRecord(binding));
  for (const pod of pods) cluster.pods.put(podRecord(pod));
  return cluster;
}

const read = async <T>(path: string) => (await kube.request<T>('GET', path)).body;
const touched = async (pod: string) => (await read<PodObject>(`${PODS}/${pod}`)).metadata.annotations?.[ANNOTATION.credentialsTouched];
const announced = async (binding: string) => (await read<Binding>(`${BINDINGS}/${binding}`)).status?.announcedRevision;

test('rotation: a pod made anew under its name is left alone and holds up no other, and the announcement is remembered (OPR-10)', {
  skip,
}, async () => {
  const binding = await makeBinding('anew');
  const anew = await makePod('anew-1');
  const stays = await makePod('anew-2');
  const gone = { ...anew, metadata: { ...anew.metadata, name: 'anew-3' } };
  const cluster = clusterOf(binding, [{ ...anew, metadata: { ...anew.metadata, uid: OTHER_UID } }, stays, gone]);
  const outcomes: string[] = [];
  await rotate('triage/anew', { client: connection.client, cluster, onRotated: (outcome) => outcomes.push(outcome) });
  assert.deepEqual(outcomes, ['announced']);
  assert.equal(await touched('anew-1'), undefined);
  assert.match((await touched('anew-2')) ?? '', /^anew:[0-9a-f]{16}$/);
  assert.notEqual(await announced('anew'), undefined);
});

test('rotation: pods that somebody else’s policy keeps from being touched keep no other from the new value, and it is tried again', {
  skip,
}, async () => {
  const admission = '/apis/admissionregistration.k8s.io/v1';
  const metadata = { name: 'frozen' };
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['pods'] }];
  const validations = [{ expression: "!('frozen' in object.metadata.?labels.orValue({}))", message: 'frozen' }];
  const policy = { metadata, spec: { failurePolicy: 'Fail', matchConstraints: { resourceRules: rules }, validations } };
  await kube.request('POST', `${admission}/validatingadmissionpolicies`, policy);
  const spec = { policyName: 'frozen', validationActions: ['Deny'] };
  await kube.request('POST', `${admission}/validatingadmissionpolicybindings`, { metadata, spec });
  const frozen: PodObject[] = [];
  for (let index = 0; index < 9; index += 1) frozen.push(await makePod(`frozen-${index}`, { frozen: 'true' }));
  const patch = { metadata: { annotations: { probe: 'x' } } };
  await until(async () => (await kube.request('PATCH', `${PODS}/frozen-0`, patch)).status !== 200, 'the policy holds');
  const binding = await makeBinding('frozen');
  const free = await makePod('free');
  const means = { client: connection.client, cluster: clusterOf(binding, [...frozen, free]), onRotated: () => undefined };
  await assert.rejects(rotate('triage/frozen', means), /frozen/);
  assert.match((await touched('free')) ?? '', /^frozen:/);
  assert.equal(await announced('frozen'), undefined);
});

test('watcher: a binding made anew under its name is left to its own change (OPR-10)', { skip }, async () => {
  const binding = await makeBinding('old-binding');
  const { bindings } = clusterOf({ ...binding, metadata: { ...binding.metadata, uid: OTHER_UID } }, []);
  const secrets = new Cache<{ namespace: string; name: string; uid: string; resourceVersion: string }>();
  secrets.put({ namespace: 'triage', name: 'postern-github', uid: 's', resourceVersion: '7' });
  await writeSecretVersion('triage/old-binding', { secrets, bindings }, connection.client);
  assert.equal((await read<Binding>(`${BINDINGS}/old-binding`)).metadata.annotations?.[ANNOTATION.secretVersion], undefined);
});
