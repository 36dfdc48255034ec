/**
 * What in a pod takes down the wall between its containers (design section 2.1, failure case INJ-26): such a pod gets no sidecar and no
 * credential. A sidecar beside a container that reads its memory, its files or the node's disk would protect nothing and say it did.
 */
import { type AgentPod, containersOf, type PlacedContainer, type PodFinding, type PodSpec } from './agent-pod.ts';

/** Every reason, in the order of the fields; empty for a pod that may have the sidecar. */
export function unsafeFindings({ spec }: AgentPod): readonly PodFinding[] {
  return [...podWide(spec), ...hostPaths(spec), ...containersOf(spec).flatMap(unsafeContainer)];
}

/** Capabilities with which a container reads another's memory or leaves its own walls. */
export const UNSAFE_CAPABILITIES: readonly string[] = [
  'ALL',
  'BPF',
  'CHECKPOINT_RESTORE',
  'DAC_READ_SEARCH',
  'PERFMON',
  'SYS_ADMIN',
  'SYS_MODULE',
  'SYS_PTRACE',
  'SYS_RAWIO',
];

const FLAGS = {
  hostNetwork: "the node's network reaches the loopback port of every such pod",
  hostPID: "the node's processes, the sidecar among them, can be read",
  hostIPC: "the node's shared memory can be read",
  shareProcessNamespace: "containers of the pod can read the sidecar's environment, files and memory",
} as const;

function podWide(spec: PodSpec): readonly PodFinding[] {
  const found: PodFinding[] = [];
  for (const [flag, because] of Object.entries(FLAGS)) {
    if (spec[flag as keyof typeof FLAGS] === true)
      found.push({ path: `spec.${flag}`, message: `${because}; set it to false or leave it out.` });
  }
  if (spec.os?.name === 'windows' || spec.nodeSelector?.['kubernetes.io/os'] === 'windows') {
    const path = spec.os?.name === 'windows' ? 'spec.os.name' : 'spec.nodeSelector[kubernetes.io/os]';
    found.push({ path, message: 'the sidecar runs on Linux nodes only.' });
  }
  if (spec.securityContext?.runAsUser === 0) {
    const message = 'the sidecar never runs as root, and this makes it; set runAsUser on the containers that need it instead.';
    found.push({ path: 'spec.securityContext.runAsUser', message });
  }
  if (spec.securityContext?.windowsOptions?.hostProcess === true) {
    found.push({ path: 'spec.securityContext.windowsOptions.hostProcess', message: 'the pod is the node; leave it out.' });
  }
  return found;
}

function hostPaths(spec: PodSpec): readonly PodFinding[] {
  return (spec.volumes ?? []).flatMap(({ hostPath }, index) =>
    hostPath === undefined || hostPath === null
      ? []
      : [
          {
            path: `spec.volumes[${index}].hostPath`,
            message: "the node's disk holds what the sidecar mounts; use another kind of volume.",
          },
        ],
  );
}

function unsafeContainer({ path, container }: PlacedContainer): readonly PodFinding[] {
  const context = container.securityContext;
  const found: PodFinding[] = [];
  const add = (field: string, message: string) => found.push({ path: `${path}.securityContext.${field}`, message });
  if (context?.privileged === true) add('privileged', 'a privileged container can read the sidecar; set it to false or leave it out.');
  if (context?.procMount !== undefined && context.procMount !== 'Default')
    add('procMount', 'an unmasked /proc shows the node; leave it out.');
  if (context?.windowsOptions?.hostProcess === true) add('windowsOptions.hostProcess', 'the container is the node; leave it out.');
  for (const [index, capability] of (context?.capabilities?.add ?? []).entries()) {
    // The kernel's names begin with CAP_, and runtimes take both forms.
    const name = capability.toUpperCase().replace(/^CAP_/, '');
    if (UNSAFE_CAPABILITIES.includes(name)) add(`capabilities.add[${index}]`, `with ${name} the sidecar can be read; leave it out.`);
  }
  return found;
}
