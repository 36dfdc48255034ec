/**
 * A binding from what was written to what its owner reads of it: gather -> compile -> one status. On the leader only. Of the Secret it
 * knows what sidecars report into their sessions; it has no verb on Secrets.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { compileBinding } from '#core/contract/binding.ts';
import { CONDITION, FIELD_MANAGER } from '#core/resource/names.ts';
import type { Key } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { isUsed } from '#operator/kube/hop-use.ts';
import type { BindingRecord, ContractRecord, PodRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { applyStatus, type StatusPart } from '#operator/kube/status.ts';
import { bindingWritten } from './admit.ts';
import { keyFacts } from './key-facts.ts';
import { type BindingFacts, bindingStatus } from './status.ts';

export interface BindingMeans {
  readonly client: Pick<KubeClient, 'apply' | 'get'>;
  readonly cluster: Cluster;
  readonly clock: Clock;
}

export const BINDING_STATUS: StatusPart = {
  kind: KINDS.bindings,
  manager: FIELD_MANAGER.operator,
  // announcedRevision is written by the rotation, under a manager of its own.
  fields: ['observedGeneration', 'usedBy', 'keys', 'podsToRoll'],
  conditions: CONDITION.CredentialBinding,
};

/** One look at one binding (`namespace/name`). Throws what the API server refuses; the queue tries again. */
export async function reconcileBinding(key: Key, { client, cluster, clock }: BindingMeans): Promise<undefined> {
  const record = cluster.bindings.get(key);
  if (record === undefined) return;
  const { conditions, ...fields } = bindingStatus(factsOf(record, cluster));
  const observed = { observedGeneration: record.generation };
  const found = conditions.map((condition) => ({ ...condition, ...observed }));
  await applyStatus(client, BINDING_STATUS, record, { fields, conditions: found }, clock);
}

function factsOf(record: BindingRecord, cluster: Cluster): BindingFacts {
  const { namespace, name } = record;
  const bindingOf = (each: string) => cluster.bindings.get(`${namespace}/${each}`);
  const users = cluster.contracts.by('credential', `${namespace}/${name}`).filter((contract) => isUsed(record, contract, bindingOf));
  const accounts = [...new Set(users.flatMap(({ callers }) => callers))].sort();
  const sessions = accounts.flatMap((account) => cluster.sessions.by('account', `${namespace}/${account}`));
  const { object, report } = bindingWritten(record);
  const compiled = object === undefined ? { problems: report.problems } : compileBinding(object);
  return {
    name,
    generation: record.generation,
    binding: 'binding' in compiled ? compiled.binding : undefined,
    problems: compiled.problems,
    usedBy: users.map((contract) => contract.name).sort(),
    keys: keyFacts(name, sessions),
    podsToRoll: podsToRoll(record, users, cluster),
    refusedCallers: refusedCallers(users),
    podSecurity: cluster.namespaces.get(namespace)?.labels['pod-security.kubernetes.io/enforce'],
  };
}

/**
 * Pods of callers that get the contract and lack the Secret. One without a sidecar counts where it would get one if it were made now: in
 * an enforced namespace. Elsewhere nothing is injected, and making it anew would not help.
 */
function podsToRoll({ namespace, secret }: BindingRecord, users: readonly ContractRecord[], cluster: Cluster): readonly string[] {
  const enforced = cluster.namespaces.get(namespace)?.enforced === true;
  const granted = users.flatMap(({ status, callers }) => callers.filter((account) => isGranted(status, account)));
  const pods = [...new Set(granted)].flatMap((account) => cluster.pods.by('account', `${namespace}/${account}`));
  const lacking = pods.filter((pod) => isAlive(pod) && !pod.mountedSecrets.includes(secret) && (pod.hasSidecar || enforced) && !pod.mirror);
  return lacking.map(({ name }) => name).sort();
}

function isAlive({ deleting, phase }: PodRecord): boolean {
  return !deleting && phase !== 'Succeeded' && phase !== 'Failed';
}

function isGranted(status: ContractRecord['status'], account: string): boolean {
  const accepted = status?.conditions?.some((condition) => condition.type === 'Accepted' && condition.status === 'True') === true;
  const caller = status?.callers?.find(({ serviceAccount }) => serviceAccount === account);
  return accepted && caller !== undefined && caller.refused === undefined;
}

function refusedCallers(users: readonly ContractRecord[]): readonly string[] {
  const refused = users.flatMap(({ status }) => status?.callers ?? []).filter((caller) => caller.refused !== undefined);
  return [...new Set(refused.map((caller) => `${caller.serviceAccount}: ${caller.refused}`))].sort();
}
