/**
 * Pods that should be guarded and are not, by reason (failure cases INJ-19, INJ-22). Reported, never evicted: a pod that runs without the
 * sidecar runs without credentials, and ending other people's work is not the operator's to decide.
 */
import { limits } from '#core/bounds/limits.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { ContractRecord, NamespaceRecord, PodRecord } from '#operator/kube/records.ts';

export const EXPOSURES = {
  /** Uses a Secret that only sidecars may use: it was made before the guards, or in spite of them. */
  reserved_secret: 'use a reserved Secret outside of a sidecar',
  /** Made from a file on its node: the API server only mirrors it, and nothing can be put into it. */
  mirror: 'are static pods of a node, which cannot be guarded',
  /** Asked for the sidecar by label and has none. */
  labelled_without_sidecar: 'ask for the sidecar and have none',
  /** Its account is the caller of an accepted contract, and it has no sidecar: it cannot call, and nothing about it is checked. */
  caller_without_sidecar: 'run as the caller of a contract and have no sidecar',
} as const;

export type Exposure = keyof typeof EXPOSURES;

export interface NamespaceExposure {
  /** Names of pods, sorted. */
  readonly pods: Readonly<Record<Exposure, readonly string[]>>;
  /** Accounts of those pods, each with its pods' names. */
  readonly accounts: ReadonlyMap<string, readonly string[]>;
}

/** `isCaller`: of an accepted contract that does not refuse the account. */
export function exposureOf(pod: PodRecord, namespace: NamespaceRecord | undefined, isCaller: boolean): Exposure | undefined {
  if (pod.deleting || pod.phase === 'Succeeded' || pod.phase === 'Failed') return undefined;
  if (pod.reservedElsewhere || (pod.mountedSecrets.length > 0 && !pod.hasSidecar)) return 'reserved_secret';
  if (namespace?.enforced !== true) return undefined;
  if (pod.mirror) return 'mirror';
  if (pod.hasSidecar) return undefined;
  if (pod.inject) return 'labelled_without_sidecar';
  return isCaller ? 'caller_without_sidecar' : undefined;
}

export function namespaceExposure(name: string, cluster: Cluster): NamespaceExposure {
  const namespace = cluster.namespaces.get(name);
  const pods: Record<Exposure, string[]> = { reserved_secret: [], mirror: [], labelled_without_sidecar: [], caller_without_sidecar: [] };
  const accounts = new Map<string, string[]>();
  const callers = callersIn(name, cluster);
  for (const pod of cluster.pods.by('namespace', name)) {
    const exposure = exposureOf(pod, namespace, callers.has(pod.serviceAccount));
    if (exposure === undefined) continue;
    pods[exposure].push(pod.name);
    const known = accounts.get(pod.serviceAccount);
    if (known === undefined) accounts.set(pod.serviceAccount, [pod.name]);
    else known.push(pod.name);
  }
  for (const names of [...Object.values(pods), ...accounts.values()]) names.sort();
  return { pods, accounts };
}

function callersIn(namespace: string, cluster: Cluster): ReadonlySet<string> {
  return new Set(cluster.contracts.by('namespace', namespace).flatMap(grantedAccounts));
}

function grantedAccounts({ status, callers }: ContractRecord): readonly string[] {
  if (status?.conditions?.some(({ type, status: is }) => type === 'Accepted' && is === 'True') !== true) return [];
  const refused = new Set(status.callers?.filter((caller) => caller.refused !== undefined).map(({ serviceAccount }) => serviceAccount));
  return callers.filter((account) => !refused.has(account));
}

/** A sentence for a person; empty when nothing is exposed. */
export function exposureNote({ pods }: NamespaceExposure): string {
  const parts = Object.entries(EXPOSURES).flatMap(([reason, words]) => {
    const names = pods[reason as Exposure];
    return names.length === 0 ? [] : [`${names.length} pods ${words} (${some(names)})`];
  });
  return parts.length === 0 ? '' : `${parts.join('; ')}. Make them anew; "kubectl postern explain-pod" says more about each.`;
}

export function some(names: readonly string[]): string {
  const more = names.length - limits.exposureNamesMax;
  return `${names.slice(0, limits.exposureNamesMax).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
