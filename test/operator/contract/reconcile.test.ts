import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { ContractReconciler } from '#operator/contract/reconcile.ts';
import { watchContracts } from '#operator/contract/watch.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { bindingRecord, contractRecord } from '#operator/kube/records.ts';
import { bindingObject, clusterOf, contractObject, metadata, podOf, sessionOf } from './records.ts';

interface Applied {
  readonly metadata: { readonly name: string };
  // biome-ignore lint/suspicious/noExplicitAny: a status as applied
  readonly status: any;
}

function reconciler(cluster: Cluster, options: { clock?: Clock; verdict?: () => Promise<string | null> } = {}) {
  const applied: Applied[] = [];
  const faults: string[] = [];
  const trusted: (string | null)[] = [];
  const { clock = systemClock, verdict = async () => null } = options;
  const client = {
    get: async () => null,
    apply: async (_kind: unknown, object: unknown) => {
      applied.push(object as Applied);
      return object;
    },
  };
  const rights = { trust: (_key: string, refused: string | null) => trusted.push(refused), verdict };
  const made = new ContractReconciler({ client: client as never, cluster, clock, rights, onFault: (key) => faults.push(key) });
  return { made, applied, faults, trusted };
}

const reasons = ({ status }: Applied) =>
  Object.fromEntries(status.conditions.map(({ type, reason }: { readonly type: string; readonly reason: string }) => [type, reason]));

test('contract reconcile: a contract the compiler fails on is marked, reported once, and stops nobody (OPR-11)', async () => {
  const cluster = clusterOf([contractObject(), contractObject({ action: 'other', credentials: ['fine'] }, 'other')]);
  // What no API server stores: the record itself is broken.
  cluster.bindings.put({ ...bindingRecord(bindingObject()), specJson: '{"destinations":' });
  const { made, applied, faults } = reconciler(cluster);
  await made.reconcile('triage/list-stock');
  await made.reconcile('triage/other');
  assert.deepEqual(faults, ['triage/list-stock']);
  assert.deepEqual(reasons(applied[0] as Applied), { Accepted: 'CompilerFault', Ready: 'NotAccepted' });
  assert.notEqual(reasons(applied[1] as Applied).Accepted, 'CompilerFault');
});

test('contract reconcile: a second look at an unchanged contract writes nothing', async () => {
  const object = contractObject();
  const cluster = clusterOf([object, bindingObject()]);
  const { made, applied } = reconciler(cluster);
  await made.reconcile('triage/list-stock');
  const { status } = applied[0] as Applied;
  cluster.contracts.put(contractRecord({ ...object, metadata: { ...object.metadata, resourceVersion: 'x' }, status }));
  await made.reconcile('triage/list-stock');
  assert.equal(applied.length, 1);
  assert.equal(cluster.contracts.get('triage/list-stock')?.status?.defaults, undefined, 'defaults are not kept in memory');
});

test('contract reconcile: an account nobody could review is refused, and the look is tried again (LEAK-24)', async () => {
  const cluster = clusterOf([contractObject(), bindingObject()]);
  const { made, applied } = reconciler(cluster, { verdict: () => Promise.reject(new Error('away')) });
  await assert.rejects(made.reconcile('triage/list-stock'), /away/);
  const { status } = applied[0] as Applied;
  assert.match(status.callers[0].refused, /could not be reviewed yet/);
  assert.equal(reasons(applied[0] as Applied).Ready, 'CallersRefused');
});

test('contract reconcile: a new leader trusts the verdict in the status, and not that nobody could review', async () => {
  const object = contractObject();
  const withCaller = (refused?: string) =>
    contractRecord({
      ...object,
      metadata: { ...object.metadata, resourceVersion: String(Math.random()) },
      status: { callers: [{ serviceAccount: 'bot', ...(refused && { refused }) }] },
    });
  const cluster = clusterOf([object, bindingObject()]);
  const { made, trusted } = reconciler(cluster);
  for (const refused of ['it may create pods', undefined, 'what else it may do could not be reviewed yet']) {
    cluster.contracts.put(withCaller(refused));
    await made.reconcile('triage/list-stock');
  }
  assert.deepEqual(trusted, ['it may create pods', null]);
});

test('contract reconcile: times of warnings are written once a minute, a new warning at once', async () => {
  let nowMs = 0;
  const clock: Clock = { ...systemClock, wallMs: () => Date.parse('2026-12-01T00:00:00Z'), monotonicMs: () => nowMs };
  const object = contractObject();
  const cluster = clusterOf([object, bindingObject()]);
  const { made, applied } = reconciler(cluster, { clock });
  const warning = (code: string, lastSeen: string) => ({
    action: 'list_stock',
    code,
    owner: 'stock-team',
    firstSeen: '2026-11-01T00:00:00Z',
    lastSeen,
  });
  const session = sessionOf({ state: 'Active' });
  const say = async (...warnings: object[]) => {
    cluster.sessions.put({ ...session, resourceVersion: String(Math.random()), status: { state: 'Active', warnings } as never });
    const wish = await made.reconcile('triage/list-stock');
    const { status } = applied.at(-1) as Applied;
    cluster.contracts.put(contractRecord({ ...object, metadata: { ...object.metadata, resourceVersion: String(Math.random()) }, status }));
    return { wish, seen: status.warnings.map(({ lastSeen }: { readonly lastSeen: string }) => lastSeen) };
  };
  assert.deepEqual((await say(warning('STALE_INDEX', '2026-11-02T00:00:00Z'))).seen, ['2026-11-02T00:00:00Z']);
  nowMs += 1_000;
  const held = await say(warning('STALE_INDEX', '2026-11-03T00:00:00Z'));
  assert.deepEqual(held.seen, ['2026-11-02T00:00:00Z']);
  assert.deepEqual(held.wish, { afterMs: limits.statusWarningsMs - 1_000 });
  const second = await say(warning('STALE_INDEX', '2026-11-03T00:00:00Z'), warning('UPSTREAM_NOTICE', '2026-11-03T00:00:00Z'));
  assert.equal(second.seen.length, 2);
  nowMs += limits.statusWarningsMs;
  assert.deepEqual((await say(warning('STALE_INDEX', '2026-11-04T00:00:00Z'))).seen, ['2026-11-04T00:00:00Z']);
});

function watched(cluster: Cluster) {
  const now: string[] = [];
  const soon: string[] = [];
  watchContracts(cluster, { now: (key) => now.push(key), soon: (key) => soon.push(key) });
  const clear = () => {
    now.length = 0;
    soon.length = 0;
  };
  return { now, soon, clear };
}

test('contract watch: what decides is looked at now, counts soon, and our own writes not at all', () => {
  const object = contractObject();
  const cluster = clusterOf([]);
  const { now, soon, clear } = watched(cluster);
  cluster.contracts.put(contractRecord(object));
  assert.deepEqual([now, soon], [['triage/list-stock'], []]);
  clear();
  cluster.contracts.put(
    contractRecord({ ...object, metadata: { ...object.metadata, resourceVersion: 'x' }, status: { observedGeneration: 1 } }),
  );
  assert.deepEqual([now, soon], [[], []]);
  cluster.bindings.put(bindingRecord(bindingObject()));
  cluster.accounts.put({ ...metadata('bot'), annotations: {} });
  assert.deepEqual([now, soon], [['triage/list-stock', 'triage/list-stock'], []]);
  clear();
  cluster.pods.put(podOf());
  const session = sessionOf({ state: 'Active' });
  cluster.sessions.put(session);
  assert.deepEqual([now, soon], [[], ['triage/list-stock', 'triage/list-stock']]);
  clear();
  cluster.sessions.put({ ...session, resourceVersion: 'y', status: { state: 'Active', lastSeenAt: '2026-12-01T00:00:00Z' } });
  assert.deepEqual(soon, [], 'a heartbeat');
});

test('contract watch: a contract that leans on another is looked at when that one comes, changes or goes', () => {
  const cluster = clusterOf([contractObject({ action: 'refund', recheck: { contract: 'list-stock' } }, 'refund')]);
  const { now } = watched(cluster);
  cluster.contracts.put(contractRecord(contractObject()));
  cluster.contracts.remove('triage/list-stock');
  assert.deepEqual(now, ['triage/list-stock', 'triage/refund', 'triage/refund']);
});
