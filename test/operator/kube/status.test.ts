import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import type { Clock } from '#core/bounds/clock.ts';
import { systemClock } from '#core/bounds/clock.ts';
import { type ApiTransport, createApiTransport } from '#operator/kube/api-transport.ts';
import { createKubeClient, type KubeClient } from '#operator/kube/client.ts';
import type { Condition } from '#operator/kube/conditions.ts';
import type { KubeObject } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { applyStatus, type StatusNow, type StatusPart } from '#operator/kube/status.ts';
import { unavailable } from '#test/servers/build.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { until } from './fast-clock.ts';
import { accessTo } from './real-access.ts';

const skip = await unavailable('etcd', 'kube-apiserver');

type Session = KubeObject & {
  readonly status?: { readonly state?: string; readonly version?: string; readonly conditions?: readonly Condition[] };
};

let kube: KubeApiserver;
let transport: ApiTransport;
let client: KubeClient;
before(async () => {
  if (skip !== false) return;
  kube = await startKubeApiserver();
  transport = createApiTransport(accessTo(kube));
  client = createKubeClient(transport);
  const definition: unknown = parse(await readFile(new URL('../../../crds/postern.dev_agentsessions.yaml', import.meta.url), 'utf8'), {
    merge: true,
  });
  await client.create(KINDS.customResources, definition as object);
  await until(async () => (await kube.request('GET', '/apis/postern.dev/v1alpha1/agentsessions')).status === 200, 'the kind is served');
});
after(async () => {
  await transport?.close();
  await kube?.[Symbol.asyncDispose]();
});

const leader: StatusPart = {
  kind: KINDS.sessions,
  manager: 'postern-operator',
  fields: ['state'],
  conditions: ['Exposed', 'OnOldRevision'],
};
const holder: StatusPart = { kind: KINDS.sessions, manager: 'postern-operator-stream', fields: ['version'], conditions: ['Connected'] };

async function createSession(name: string): Promise<Session> {
  const pod = { name, uid: '0f0f0f0f-0000-4000-8000-000000000000' };
  const spec = { pod, serviceAccount: 'triage-bot', node: 'node-1', image: 'agent' };
  const created = await client.create<object>(KINDS.sessions, { metadata: { namespace: 'default', name }, spec });
  return created as Session;
}

const read = async (name: string) => (await client.get<Session>(KINDS.sessions, { namespace: 'default', name })) as Session;
const ownerOf = ({ metadata: { name, uid, resourceVersion }, status }: Session) => ({
  namespace: 'default',
  name,
  uid,
  resourceVersion,
  status,
});
const at = (wallMs: number): Clock => ({ ...systemClock, wallMs: () => wallMs });
const finding = (type: string, status: 'True' | 'False', message = 'So it is.') => ({ type, status, reason: 'Because', message });
const now = (fields: object, ...conditions: StatusNow['conditions']): StatusNow => ({ fields: { ...fields }, conditions });

test('status: is written once, and not again while it says the same', { skip }, async () => {
  let writes = 0;
  const apply: KubeClient['apply'] = (...args) => {
    writes += 1;
    return client.apply(...args);
  };
  const counting = { ...client, apply };
  const created = await createSession('once');
  const said = now({ state: 'Active' }, finding('Exposed', 'False'));
  assert.equal(await applyStatus(counting, leader, ownerOf(created), said), 'written');
  assert.equal(await applyStatus(counting, leader, ownerOf(await read('once')), said, at(Date.now() + 3_600_000)), 'unchanged');
  assert.equal(writes, 1);
});

test('status: the time of a condition changes with its status only', { skip }, async () => {
  const created = await createSession('times');
  const first = Date.UTC(2030, 0, 1);
  await applyStatus(client, leader, ownerOf(created), now({}, finding('Exposed', 'False'), finding('OnOldRevision', 'False')), at(first));
  await applyStatus(
    client,
    leader,
    ownerOf(await read('times')),
    now({}, finding('Exposed', 'True'), finding('OnOldRevision', 'False', 'Otherwise.')),
    at(first + 60_000),
  );
  const conditions = (await read('times')).status?.conditions ?? [];
  assert.deepEqual(conditions.map(({ type, lastTransitionTime, message }) => [type, lastTransitionTime, message]).sort(), [
    ['Exposed', '2030-01-01T00:01:00Z', 'So it is.'],
    ['OnOldRevision', '2030-01-01T00:00:00Z', 'Otherwise.'],
  ]);
});

test('status: two writers keep out of each other, and what one leaves out is removed', { skip }, async () => {
  const created = await createSession('shared');
  await applyStatus(client, leader, ownerOf(created), now({ state: 'Active' }, finding('Exposed', 'True')));
  await applyStatus(client, holder, ownerOf(await read('shared')), now({ version: '0.1.0' }, finding('Connected', 'True')));
  // On what was seen before the other one wrote: its part stays.
  const seen = { ...ownerOf(await read('shared')), resourceVersion: created.metadata.resourceVersion };
  assert.equal(await applyStatus(client, leader, seen, now({ state: 'Active' })), 'written');
  const { status } = await read('shared');
  assert.equal(status?.state, 'Active');
  assert.equal(status?.version, '0.1.0');
  assert.deepEqual(
    (status?.conditions ?? []).map(({ type }) => type),
    ['Connected'],
  );
  assert.equal(await applyStatus(client, leader, ownerOf(await read('shared')), now({ state: 'Active' })), 'unchanged');
  await assert.rejects(applyStatus(client, leader, ownerOf(created), now({ version: '9' })), /does not own status version/);
});

test('status: an object that is gone, or is another one of the same name, is left alone (OPR-10)', { skip }, async () => {
  const created = await createSession('recreated');
  await client.delete(KINDS.sessions, { namespace: 'default', name: 'recreated' });
  assert.equal(await applyStatus(client, leader, ownerOf(created), now({ state: 'Active' })), 'gone');
  await createSession('recreated');
  assert.equal(await applyStatus(client, leader, ownerOf(created), now({ state: 'Active' })), 'gone');
  assert.equal((await read('recreated')).status?.state, undefined);
});
