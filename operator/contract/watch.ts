/**
 * Which contracts a change concerns. `now`: what decides whether they may be called. `soon`: counts, which change with every pod and every
 * acknowledgement and are written once for many (1,000 sidecars that take a bundle are one write, not 1,000).
 */
import type { Change, Key } from '#operator/kube/cache.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { BindingRecord, ContractRecord, SessionRecord } from '#operator/kube/records.ts';

export interface Notes {
  now(key: Key): void;
  soon(key: Key): void;
}

/** Returns how to stop. */
export function watchContracts(cluster: Cluster, notes: Notes): () => void {
  const stops = [
    cluster.contracts.onChange((change) => {
      if (change.kind !== 'deleted' && isSpecChange(change)) notes.now(change.key);
      if (isSpecChange(change)) for (const key of contractsNaming(recordOf(change), cluster)) notes.now(key);
    }),
    cluster.bindings.onChange((change) => {
      if (isSpecChange(change))
        for (const { namespace, name } of cluster.contracts.by('credential', change.key)) notes.now(`${namespace}/${name}`);
    }),
    cluster.accounts.onChange(({ key }) => {
      for (const contract of callersContracts(key, cluster)) notes.now(contract);
    }),
    cluster.pods.onChange((change) => {
      const { namespace, serviceAccount } = recordOf(change);
      for (const key of callersContracts(`${namespace}/${serviceAccount}`, cluster)) notes.soon(key);
    }),
    cluster.sessions.onChange((change) => {
      if (change.kind === 'updated' && isOnlySeen(change.was, change.now)) return;
      const { namespace, spec } = recordOf(change);
      for (const key of callersContracts(`${namespace}/${spec.serviceAccount}`, cluster)) notes.soon(key);
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

/** Contracts that name the account (`namespace/account`) as a caller. */
export function callersContracts(account: Key, cluster: Cluster): readonly Key[] {
  return cluster.contracts.by('caller', account).map(({ namespace, name }) => `${namespace}/${name}`);
}

/** Contracts that lean on a read of this one; found by its name in their text, which is quick and at worst looks at one too many. */
function contractsNaming({ namespace, name }: ContractRecord, cluster: Cluster): readonly Key[] {
  const quoted = JSON.stringify(name);
  const naming = cluster.contracts.by('namespace', namespace).filter((other) => other.name !== name && other.specJson.includes(quoted));
  return naming.map((other) => `${namespace}/${other.name}`);
}

/** Our own writes of status must not make us look again. */
function isSpecChange(change: Change<ContractRecord> | Change<BindingRecord>): boolean {
  return change.kind !== 'updated' || change.was.specJson !== change.now.specJson;
}

/** Heartbeats, and words about other things than contracts and warnings. */
function isOnlySeen(was: SessionRecord, now: SessionRecord): boolean {
  const told = ({ status }: SessionRecord) => JSON.stringify([status?.state, status?.contracts, status?.warnings]);
  return told(was) === told(now);
}

function recordOf<T>(change: Change<T>): T {
  return change.kind === 'deleted' ? change.was : change.now;
}
