/** Who may call a contract, what runs under each of those accounts, and why an account gets nothing. */
import { limits } from '#core/bounds/limits.ts';
import type { CredentialBinding } from '#core/resource/gen/credential-binding.ts';
import type { AccountRecord, BindingRecord, PodRecord } from '#operator/kube/records.ts';

export interface CallerFacts {
  /** As in status.callers. */
  readonly shown: {
    readonly serviceAccount: string;
    readonly refused?: string;
    readonly workloads: readonly { readonly kind: string; readonly name: string; readonly pods: number }[];
  };
  /** All of them, where `shown` is cut. */
  readonly workloads: number;
}

/** `refused`: the verdict about what else the account may do; undefined when it may do nothing that matters. */
export function callerFacts(serviceAccount: string, refused: string | undefined, pods: readonly PodRecord[]): CallerFacts {
  const workloads = workloadsOf(pods);
  return {
    shown: {
      serviceAccount,
      ...(refused === undefined ? {} : { refused }),
      workloads: workloads.slice(0, limits.statusWorkloadsMax),
    },
    workloads: workloads.length,
  };
}

interface Workload {
  readonly kind: string;
  readonly name: string;
  readonly pods: number;
}

/** Most pods first, then by name. Pods that have ended are nobody's workload. */
export function workloadsOf(pods: readonly PodRecord[]): readonly Workload[] {
  const found = new Map<string, Workload>();
  for (const pod of pods) {
    if (pod.phase === 'Succeeded' || pod.phase === 'Failed') continue;
    const { kind, name } = workloadOf(pod);
    const key = `${kind}/${name}`;
    found.set(key, { kind, name, pods: (found.get(key)?.pods ?? 0) + 1 });
  }
  return [...found.values()].sort((a, b) => b.pods - a.pods || (a.name < b.name ? -1 : 1));
}

/**
 * The name a person knows. ReplicaSets of a Deployment and Jobs of a CronJob are named after it by their controllers, so that the one
 * above need not be read; a ReplicaSet somebody wrote with such a name is shown as a Deployment, and nothing depends on it.
 */
function workloadOf({ controller, name }: PodRecord): { readonly kind: string; readonly name: string } {
  if (controller === undefined) return { kind: 'Pod', name };
  const above = ABOVE[controller.kind];
  const stem = above?.suffix.test(controller.name) === true ? controller.name.replace(above.suffix, '') : '';
  return stem === '' || above === undefined ? { kind: controller.kind, name: controller.name } : { kind: above.kind, name: stem };
}

const ABOVE: Readonly<Record<string, { readonly kind: string; readonly suffix: RegExp }>> = {
  // The hash of the pod template, in the API server's alphabet without vowels.
  ReplicaSet: { kind: 'Deployment', suffix: /-[bcdfghjklmnpqrstvwxz2456789]{5,10}$/ },
  // Minutes since 1970.
  Job: { kind: 'CronJob', suffix: /-[0-9]{8,10}$/ },
};

/**
 * Annotations by which clouds hand a ServiceAccount an identity of its own. With one the agent reaches that cloud past Postern, so the
 * owner of each credential has to agree (design section 2.1). Associations that live in the cloud alone (EKS Pod Identity, GKE
 * principal bindings) cannot be seen from here.
 */
const CLOUD_IDENTITIES: Readonly<Record<string, string>> = {
  'eks.amazonaws.com/role-arn': 'AWS',
  'iam.gke.io/gcp-service-account': 'Google Cloud',
  'azure.workload.identity/client-id': 'Azure',
};

/** Why the account's cloud identity keeps it from these bindings. */
export function cloudIdentityRefusal(account: AccountRecord | undefined, bindings: readonly BindingRecord[]): string | undefined {
  const cloud = Object.entries(CLOUD_IDENTITIES).find(([annotation]) => account?.annotations[annotation] !== undefined)?.[1];
  if (cloud === undefined) return undefined;
  const against = bindings.find(
    ({ specJson }) => (JSON.parse(specJson) as Partial<CredentialBinding['spec']>).allowCloudIdentity === undefined,
  );
  return against === undefined ? undefined : `it has an identity in ${cloud}, and the binding ${against.name} does not allow that`;
}
