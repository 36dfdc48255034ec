/** One session, two replicas, and an API server that decides between them by versions alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '#core/bounds/clock.ts';
import { broken, certified, knownEpoch, knownHead, witnessed } from '#operator/control/audit-status.ts';
import { SessionHold } from '#operator/control/session-hold.ts';
import type { StreamStatus } from '#operator/control/session-status.ts';
import { KubeError } from '#operator/kube/kube-error.ts';
import { sessionRecord } from '#operator/kube/records.ts';

type Kube = ConstructorParameters<typeof SessionHold>[0]['kube'];

/** A session that replica `one` holds; `two` has claimed it and not written yet. */
async function twoStreams() {
  let object = {
    apiVersion: 'postern.dev/v1alpha1',
    kind: 'AgentSession',
    metadata: { namespace: 'agents', name: 'bot', uid: 'uid', resourceVersion: '1', creationTimestamp: '2026-12-01T00:00:00Z' },
    spec: {},
    status: {} as StreamStatus,
  };
  const kube = {
    get: async () => object,
    apply: async (_: unknown, change: typeof object) => {
      if (change.metadata.resourceVersion !== object.metadata.resourceVersion)
        throw new KubeError('changed', { status: 409, reason: 'Conflict' });
      const resourceVersion = String(Number(object.metadata.resourceVersion) + 1);
      object = { ...object, status: change.status, metadata: { ...object.metadata, resourceVersion } };
      return object;
    },
  } as unknown as Kube;
  const hold = (stream: string) =>
    new SessionHold({ kube, clock: systemClock, replica: `replica-${stream}`, stream }, sessionRecord(object as never));
  const one = hold('one');
  assert.equal(await one.claim('sidecar', '1'), 'held');
  const two = hold('two');
  assert.equal(await two.claim('sidecar', '1'), 'held');
  return { one, two, status: () => object.status };
}

const head = (size: number, byte: number) => ({ size, hash: Buffer.alloc(32, byte) });

test('session hold: a stream that takes over keeps what the one before wrote after it had looked (AUD-03, AUD-04)', async () => {
  const { one, two, status } = await twoStreams();
  one.change((before) => certified(witnessed(before, head(100, 1), 0), { epoch: 2, key: 'first' }));
  assert.equal(await one.write(), 'written');
  two.change((before) => certified(witnessed(before, head(90, 2), 0), { epoch: 2, key: 'second' }));
  assert.equal(await two.write(), 'written');
  assert.deepEqual(knownEpoch(status()), { epoch: 2, key: 'first' });
  assert.deepEqual(knownEpoch(two.status), { epoch: 2, key: 'first' });
  assert.equal(knownHead(status())?.size, 100);
  assert.equal(await one.write(), 'lost');
});

test('session hold: one head each on two streams is a fork, and a chain that broke on one stays broken on the next (AUD-24)', async () => {
  const { one, two, status } = await twoStreams();
  one.change((before) => witnessed(before, head(100, 1), 0));
  await one.write();
  two.change((before) => witnessed(before, head(100, 2), 0));
  await two.write();
  assert.equal(status().audit?.conflict?.kind, 'Fork');

  const again = await twoStreams();
  again.one.change((before) => broken(before, { kind: 'rollback', known: head(9, 1), shown: head(8, 1), note: 'note' }, 0));
  await again.one.write();
  await again.two.write();
  assert.equal(again.status().audit?.conflict?.kind, 'Rollback');
  assert.ok(again.status().conditions?.some(({ type, status }) => type === 'AuditBroken' && status === 'True'));
});
