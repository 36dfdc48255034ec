import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import type { ClusterConnection } from '#cli/cluster-connection.ts';
import { decide, REVOKE } from '#cli/cluster-revoke.ts';
import { KubeError } from '#operator/kube/kube-error.ts';

interface Session {
  readonly metadata: { readonly name: string; readonly uid: string; readonly namespace: string };
  readonly spec: { readonly serviceAccount: string; readonly pod: { readonly name: string }; revoked?: boolean };
}

const session = (name: string): Session => ({
  metadata: { name, uid: name, namespace: 'agents' },
  spec: { serviceAccount: 'bot', pod: { name } },
});

/** A cluster in which each revocation meets a pod that has just started, until there are no more of these. */
function startingPods(sessions: Session[], late: string[], refuseOrphan = false): ClusterConnection {
  const client = {
    async *list() {
      yield* sessions.map((each) => structuredClone(each));
    },
    async patch(_kind: unknown, { name }: { name: string }, { spec }: { spec?: { revoked: boolean } }) {
      if (spec === undefined && refuseOrphan) throw new KubeError('no', { status: 403, reason: 'Forbidden' });
      const found = sessions.find(({ metadata }) => metadata.name === name);
      if (spec !== undefined && found !== undefined) found.spec.revoked = spec.revoked;
      const next = spec === undefined ? undefined : late.shift();
      if (next !== undefined) sessions.push(session(next));
    },
  };
  return { client: client as unknown as ClusterConnection['client'], namespace: 'agents', all: false };
}

test('revoke: an account loses also the sessions of pods that start meanwhile', async () => {
  const quiet = mock.method(process.stdout, 'write', () => true);
  const sessions = [session('a')];
  await decide(startingPods(sessions, ['b', 'c']), [], { account: 'bot' }, REVOKE).finally(() => quiet.mock.restore());
  assert.deepEqual(
    sessions.map(({ metadata, spec }) => [metadata.name, spec.revoked]),
    [
      ['a', true],
      ['b', true],
      ['c', true],
    ],
  );
});

test('revoke: whoever may not take the owner off a record has revoked all the same', async () => {
  const quiet = mock.method(process.stdout, 'write', () => true);
  const sessions = [session('a')];
  await decide(startingPods(sessions, [], true), ['a'], {}, REVOKE).finally(() => quiet.mock.restore());
  assert.equal(sessions[0]?.spec.revoked, true);
});
