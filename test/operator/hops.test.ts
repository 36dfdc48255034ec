/**
 * A contract whose host is reached through another one, from what was written to what a pod gets: Ready, both bindings in the bundle, the
 * keys of both Secrets in the sidecar's volume. The hop grants itself to no contract (SSH-22).
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromBinary } from '@bufbuild/protobuf';
import { systemClock } from '#core/bounds/clock.ts';
import { reconcileBinding } from '#operator/binding/reconcile.ts';
import { watchBindings } from '#operator/binding/watch.ts';
import { ContractReconciler } from '#operator/contract/reconcile.ts';
import { bundleOf } from '#operator/control/bundle.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { bindingRecord, contractRecord } from '#operator/kube/records.ts';
import { callerGrants } from '#operator/pod/caller-grants.ts';
import { sidecarVolumes } from '#operator/pod/sidecar-volumes.ts';
import { BundleSchema } from '#proto/postern/control/v1/control_pb.ts';
import { bindingObject, clusterOf, contractObject } from './contract/records.ts';

const HOST_KEY = `SHA256:${'A'.repeat(43)}`;

function host(name: string, change: object = {}, via?: string) {
  const destination = {
    origin: `ssh://${name}.example.com:22`,
    hostKeys: [HOST_KEY],
    ...(via === undefined ? {} : { via }),
  };
  return bindingObject(
    {
      secret: { name: `postern-${name}` },
      contracts: [],
      destinations: [destination],
      use: { sshKey: { user: 'ops', privateKeyKey: `${name}-id` } },
      ...change,
    },
    name,
  );
}

const status = contractObject(
  {
    action: 'service_status',
    credentials: ['web', 'bastion'],
    http: undefined,
    readOnlyBecause: 'uptime only tells',
    ssh: { credential: 'web', host: 'web.example.com', argv: ['uptime'], shell: 'Posix' },
    result: { object: '/', as: 'line', decoder: 'Lines', allFields: { because: 'one line' } },
    completeness: { scope: { resource: 'the host', visibility: 'all of it', absence: 'Never' } },
  },
  'service-status',
);

/** What the leader writes about the contract, taken into the cache as an informer would. */
async function judged(cluster: Cluster): Promise<Readonly<Record<string, string>>> {
  let applied: { readonly status: { readonly conditions: readonly { type: string; status: string; message: string }[] } } | undefined;
  const client = {
    get: async () => null,
    apply: async (_kind: unknown, object: typeof applied) => {
      applied = object;
      return object;
    },
  };
  const rights = { trust: () => {}, verdict: async () => null };
  const made = new ContractReconciler({ client: client as never, cluster, clock: systemClock, rights, onFault: assert.fail });
  await made.reconcile('triage/service-status');
  assert.ok(applied);
  const { metadata } = status;
  cluster.contracts.put(
    contractRecord({ ...status, metadata: { ...metadata, resourceVersion: 'judged' }, status: applied.status as never }),
  );
  return Object.fromEntries(applied.status.conditions.map((each) => [each.type, `${each.status} ${each.message}`]));
}

function grantsOf(cluster: Cluster) {
  return callerGrants(cluster.contracts.by('caller', 'triage/bot'), 'bot', (name) => cluster.bindings.get(`triage/${name}`));
}

test('hops: a contract that goes through a host is ready, and its bundle and its pods hold what both hosts need (SSH-22)', async () => {
  const cluster = clusterOf([status, host('web', { contracts: ['service-status'] }, 'bastion'), host('bastion')]);
  const conditions = await judged(cluster);
  assert.match(conditions.Accepted ?? '', /^True/, JSON.stringify(conditions));
  assert.match(conditions.Ready ?? '', /^True/, JSON.stringify(conditions));

  const { objects } = fromBinary(BundleSchema, bundleOf(cluster, 'triage', 'bot').encoded);
  assert.deepEqual(
    objects.map(({ kind, name }) => `${kind} ${name}`),
    ['ActionContract service-status', 'CredentialBinding bastion', 'CredentialBinding web'],
  );
  const { secrets } = grantsOf(cluster);
  assert.deepEqual(secrets, [
    { secret: 'postern-bastion', keys: ['bastion-id'] },
    { secret: 'postern-web', keys: ['web-id'] },
  ]);
  const mounted = JSON.stringify(sidecarVolumes(secrets)[0]);
  for (const path of ['postern-bastion/bastion-id', 'postern-web/web-id']) assert.ok(mounted.includes(path), path);
});

test('hops: a listed binding that is on nobody’s way is mounted nowhere (LEAK-24)', async () => {
  const cluster = clusterOf([status, host('web', { contracts: ['service-status'] }), host('bastion')]);
  assert.match((await judged(cluster)).Accepted ?? '', /^False/);
  // Also where an older verdict still says that the contract is accepted.
  const { metadata } = status;
  const accepted = { type: 'Accepted', status: 'True', reason: 'Accepted', message: '', lastTransitionTime: '' } as const;
  const old = { observedGeneration: metadata.generation, conditions: [accepted], callers: [{ serviceAccount: 'bot' }] };
  cluster.contracts.put(contractRecord({ ...status, metadata: { ...metadata, resourceVersion: 'older' }, status: old as never }));
  assert.deepEqual(
    grantsOf(cluster).secrets.map(({ secret }) => secret),
    ['postern-web'],
  );
});

test('hops: a contract that does not list the hop is accepted, waits, and says what to list', async () => {
  const alone = { ...status, spec: { ...status.spec, credentials: ['web'] } };
  const cluster = clusterOf([alone, host('web', { contracts: ['service-status'] }, 'bastion'), host('bastion')]);
  const conditions = await judged(cluster);
  assert.match(conditions.Accepted ?? '', /^True/);
  assert.match(conditions.Ready ?? '', /^False .*bastion is the hop before web: list it in spec\.credentials/);
});

test('hops: the owner of a hop reads who goes through it, also when another binding begins to', async () => {
  const cluster = clusterOf([status, host('web', { contracts: ['service-status'] }), host('bastion')]);
  const looked: string[] = [];
  const stop = watchBindings(cluster, { now: (key) => looked.push(key), soon: () => {} });
  cluster.bindings.put(bindingRecord(host('web', { contracts: ['service-status'] }, 'bastion')));
  stop();
  assert.deepEqual(looked.toSorted(), ['triage/bastion', 'triage/web']);
  let applied: { readonly status: { readonly usedBy: readonly string[] } } | undefined;
  const client = { get: async () => null, apply: async (_kind: unknown, object: typeof applied) => (applied = object) };
  await reconcileBinding('triage/bastion', { client: client as never, cluster, clock: systemClock });
  assert.deepEqual(applied?.status.usedBy, ['service-status']);
});
