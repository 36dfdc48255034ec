/** Contracts of which a session does not run the present revision. */
import { type Key, keyOf } from '#operator/kube/cache.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { SessionRecord } from '#operator/kube/records.ts';

export interface BehindContract {
  readonly key: Key;
  readonly name: string;
  /** Code of the problem for which the sidecar did not take it. */
  readonly refused: string | undefined;
}

/** A contract that does not compile has no revision to run, and one whose caller is refused is not to be run. */
export function contractsBehind(
  { namespace, spec, status }: Pick<SessionRecord, 'namespace' | 'spec' | 'status'>,
  cluster: Pick<Cluster, 'contracts'>,
): readonly BehindContract[] {
  const applied = new Map((status?.contracts ?? []).map((contract) => [contract.name, contract]));
  return cluster.contracts.by('caller', `${namespace}/${spec.serviceAccount}`).flatMap((contract) => {
    const wanted = contract.status?.revision;
    const caller = contract.status?.callers?.find(({ serviceAccount }) => serviceAccount === spec.serviceAccount);
    if (wanted === undefined || caller === undefined || caller.refused !== undefined) return [];
    const found = applied.get(contract.name);
    return found?.revision === wanted ? [] : [{ key: keyOf(contract), name: contract.name, refused: found?.refused }];
  });
}
