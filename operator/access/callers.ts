/** The callers of the cluster: accounts that some contract names, with the names their rights are asked with. */
import type { Cluster } from '#operator/kube/cluster.ts';
import type { Caller } from './rights.ts';

/** Undefined when no contract names the account. `key` is `namespace/account`. */
export function callerOf(key: string, cluster: Cluster): Caller | undefined {
  const contracts = cluster.contracts.by('caller', key);
  const [namespace = '', account = ''] = key.split('/');
  if (contracts.length === 0) return undefined;
  const bindings = new Set(contracts.flatMap(({ credentials }) => credentials));
  const secrets = [...bindings].flatMap((name) => cluster.bindings.get(`${namespace}/${name}`)?.secret ?? []);
  return { namespace, account, secrets: [...new Set(secrets)].sort(), contracts: contracts.map(({ name }) => name).sort() };
}
