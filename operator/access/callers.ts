/** The callers of the cluster: accounts that some contract names, with the names their rights are asked with. */
import type { Cluster } from '#operator/kube/cluster.ts';
import { namedRules, type RbacCaches } from './grants.ts';
import { type Caller, isAskedAbout, userOf } from './rights.ts';

/** Undefined when no contract names the account. `key` is `namespace/account`. */
export function callerOf(key: string, cluster: Cluster, rbac: RbacCaches): Caller | undefined {
  const contracts = cluster.contracts.by('caller', key);
  const [namespace = '', account = ''] = key.split('/');
  if (contracts.length === 0) return undefined;
  const bindings = new Set(contracts.flatMap(({ credentials }) => credentials));
  const secrets = [...bindings].flatMap((name) => cluster.bindings.get(`${namespace}/${name}`)?.secret ?? []);
  const { user, groups } = userOf({ namespace, account });
  return {
    namespace,
    account,
    secrets: [...new Set(secrets)].sort(),
    contracts: contracts.map(({ name }) => name).sort(),
    granted: namedRules(rbac, namespace, [user, ...groups]).filter(isAskedAbout),
  };
}
