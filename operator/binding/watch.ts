/** Which bindings a change concerns; `now` and `soon` as for contracts: what a person waits for, and counts. */
import type { Change, Key } from '#operator/kube/cache.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { ContractRecord, SessionRecord } from '#operator/kube/records.ts';

export interface Notes {
  now(key: Key): void;
  soon(key: Key): void;
}

/** Returns how to stop. */
export function watchBindings(cluster: Cluster, notes: Notes): () => void {
  const ofAccount = (account: Key) => cluster.contracts.by('caller', account).flatMap(bindingsOf);
  const stops = [
    cluster.bindings.onChange((change) => {
      if (change.kind === 'added' || (change.kind === 'updated' && change.was.specJson !== change.now.specJson)) {
        // Also those it goes through: who uses them follows from its spec.
        const beside = cluster.contracts.by('credential', change.key).flatMap(bindingsOf);
        for (const key of new Set([change.key, ...beside])) notes.now(key);
      }
    }),
    cluster.contracts.onChange((change) => {
      if (change.kind === 'updated' && isSameToBindings(change.was, change.now)) return;
      const before = change.kind === 'added' ? [] : bindingsOf(change.was);
      const after = change.kind === 'deleted' ? [] : bindingsOf(change.now);
      for (const key of new Set([...before, ...after])) notes.now(key);
    }),
    cluster.namespaces.onChange((change) => {
      for (const key of cluster.bindings.keys()) if (key.startsWith(`${change.key}/`)) notes.soon(key);
    }),
    cluster.pods.onChange((change) => {
      const { namespace, serviceAccount } = recordOf(change);
      for (const key of ofAccount(`${namespace}/${serviceAccount}`)) notes.soon(key);
    }),
    cluster.sessions.onChange((change) => {
      if (change.kind === 'updated' && told(change.was) === told(change.now)) return;
      const { namespace, spec } = recordOf(change);
      for (const key of ofAccount(`${namespace}/${spec.serviceAccount}`)) notes.soon(key);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function bindingsOf({ namespace, credentials }: ContractRecord): readonly Key[] {
  return credentials.map((name) => `${namespace}/${name}`);
}

/** Who calls with it, and who of them is refused. */
function isSameToBindings(was: ContractRecord, now: ContractRecord): boolean {
  const said = ({ specJson, status }: ContractRecord) =>
    JSON.stringify([
      specJson,
      status?.callers?.map(({ serviceAccount, refused }) => [serviceAccount, refused]),
      status?.conditions?.find(({ type }) => type === 'Accepted')?.status,
    ]);
  return said(was) === said(now);
}

function told({ status }: SessionRecord): string {
  return JSON.stringify([status?.state, status?.credentials]);
}

function recordOf<T>(change: Change<T>): T {
  return change.kind === 'deleted' ? change.was : change.now;
}
