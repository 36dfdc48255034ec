import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { reconcileBinding } from '#operator/binding/reconcile.ts';
import { contractRecord, type KubeObject, namespaceRecord, type PodRecord } from '#operator/kube/records.ts';
import { bindingObject, clusterOf, contractObject, metadata, podOf } from '#test/operator/contract/records.ts';

const CONDITION = { reason: 'Compiled', message: '', lastTransitionTime: '2026-12-01T00:00:00Z' };

async function statusWith(
  pods: readonly Partial<PodRecord>[],
  { enforced = true, refused }: { enforced?: boolean; refused?: string } = {},
) {
  const contract = contractObject();
  const cluster = clusterOf([contract, bindingObject()]);
  const status = {
    conditions: [{ type: 'Accepted', status: 'True' as const, ...CONDITION }],
    callers: [{ serviceAccount: 'bot', ...(refused !== undefined && { refused }) }],
  };
  cluster.contracts.put(contractRecord({ ...contract, metadata: { ...contract.metadata, resourceVersion: 'x' }, status }));
  const labels = enforced ? { 'postern.dev/enforce': '' } : {};
  cluster.namespaces.put(namespaceRecord({ metadata: { ...metadata('triage', ''), labels } } as KubeObject));
  for (const [index, pod] of pods.entries()) cluster.pods.put(podOf({ name: `pod-${index}`, ...pod }));
  // biome-ignore lint/suspicious/noExplicitAny: a status as applied
  const applied: any[] = [];
  const apply = async (_kind: unknown, object: unknown) => {
    applied.push(object);
    return object;
  };
  await reconcileBinding('triage/stock', { client: { get: async () => null, apply } as never, cluster, clock: systemClock });
  return applied[0].status;
}

const lacking: Partial<PodRecord> = { mountedSecrets: [] };

test('binding reconcile: pods of callers whose sidecar lacks the Secret are to be made anew', async () => {
  const status = await statusWith([lacking, {}, { ...lacking, hasSidecar: false }]);
  assert.equal(status.podsToRoll, 2);
  assert.deepEqual(status.usedBy, ['list-stock']);
});

test('binding reconcile: pods that end, that nothing is injected into, or whose account is refused are not', async () => {
  assert.equal(
    (
      await statusWith([
        { ...lacking, deleting: true },
        { ...lacking, phase: 'Succeeded' },
        { ...lacking, mirror: true },
      ])
    ).podsToRoll,
    0,
  );
  assert.equal((await statusWith([{ ...lacking, hasSidecar: false }], { enforced: false })).podsToRoll, 0);
  assert.equal((await statusWith([lacking], { refused: 'it may create pods' })).podsToRoll, 0);
});

test('binding reconcile: refused callers are named with the reason', async () => {
  const { conditions } = await statusWith([], { refused: 'it may create pods' });
  const found = conditions.find(({ type }: { readonly type: string }) => type === 'CallersRefused');
  assert.match(found.message, /bot: it may create pods/);
});
