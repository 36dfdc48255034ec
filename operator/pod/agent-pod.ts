/**
 * The fields of a pod that injection reads. The pod itself is kept whole and as it came: a field that is not named here - of a newer
 * Kubernetes, say - must pass through unchanged (failure case INJ-09 is what happens otherwise).
 */

export interface AgentPod {
  readonly metadata?: {
    readonly name?: string;
    readonly generateName?: string;
    readonly labels?: Readonly<Record<string, string>> | null;
    readonly annotations?: Readonly<Record<string, string>> | null;
  };
  readonly spec: PodSpec;
}

export interface PodSpec {
  readonly serviceAccountName?: string;
  readonly initContainers?: readonly PodContainer[] | null;
  readonly containers: readonly PodContainer[];
  readonly ephemeralContainers?: readonly PodContainer[] | null;
  readonly volumes?: readonly PodVolume[] | null;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly os?: { readonly name?: string };
  readonly nodeSelector?: Readonly<Record<string, string>> | null;
  readonly securityContext?: SecurityContext | null;
}

export interface SecurityContext {
  readonly runAsUser?: number;
  readonly windowsOptions?: { readonly hostProcess?: boolean } | null;
}

export interface PodContainer {
  readonly name: string;
  readonly volumeMounts?: readonly { readonly name: string }[] | null;
  readonly securityContext?:
    | (SecurityContext & {
        readonly privileged?: boolean;
        readonly procMount?: string;
        readonly capabilities?: { readonly add?: readonly string[] | null } | null;
      })
    | null;
}

export interface PodVolume {
  readonly name: string;
  readonly hostPath?: unknown;
}

/** Lists of containers, in the order in which a person looks for them. */
export const CONTAINER_LISTS = ['initContainers', 'containers', 'ephemeralContainers'] as const;

export interface PlacedContainer {
  /** `spec.containers[1]`. */
  readonly path: string;
  readonly container: PodContainer;
}

export function containersOf(spec: PodSpec): readonly PlacedContainer[] {
  return CONTAINER_LISTS.flatMap((list) => (spec[list] ?? []).map((container, index) => ({ path: `spec.${list}[${index}]`, container })));
}

/** What is wrong with a field of the pod, for a person. */
export interface PodFinding {
  /** As in the API: `spec.containers[0].securityContext.privileged`. */
  readonly path: string;
  /** One sentence without the path: rule and cure. */
  readonly message: string;
}

export function findingText({ path, message }: PodFinding): string {
  return `${path}: ${message}`;
}
