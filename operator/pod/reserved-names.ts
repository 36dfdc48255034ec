/**
 * Names in a pod that only the operator gives: the container `postern`, volumes `postern-*`, annotations `postern.dev/*`. A pod that
 * brings them is refused, never merged with (failure cases INJ-13, INJ-15): a merge would let its author choose the image, the user or
 * the command beside the credentials. The one exception is our own output coming back on reinvocation, which equals what we would add.
 */
import { ANNOTATION, RESERVED_PREFIX, SIDECAR } from '#core/resource/names.ts';
import { type AgentPod, containersOf, type PodContainer, type PodFinding, type PodSpec } from './agent-pod.ts';
import { firstDifference } from './json-difference.ts';
import { SIDECAR_VOLUMES } from './sidecar-volumes.ts';

export interface ReservedNames {
  readonly findings: readonly PodFinding[];
  /** Index in spec.initContainers of a sidecar that is exactly one of ours. */
  readonly sidecarAt: number | undefined;
}

/** `sidecars` are all that may stand in this pod: of this release, and of others that replicas still give out. */
export function checkReservedNames(pod: AgentPod, sidecars: readonly unknown[]): ReservedNames {
  const at = (pod.spec.initContainers ?? []).findIndex(({ name }) => name === SIDECAR.container);
  const found = at === -1 ? undefined : pod.spec.initContainers?.[at];
  // A LimitRange may add resources the sidecar does not name, such as ephemeral-storage: the platform's to say.
  const differences = found === undefined ? [] : sidecars.map((sidecar) => firstDifference(withoutAssignedUser(found), sidecar, OPEN));
  const ours = differences.includes(undefined) ? at : undefined;
  return {
    findings: [...annotations(pod), ...containers(pod.spec, ours, differences[0]), ...volumes(pod.spec, ours), ...mounts(pod.spec, ours)],
    sidecarAt: ours,
  };
}

/** A platform with UID ranges puts a user into each container (failure case INJ-11); root is none that it assigns. */
function withoutAssignedUser(container: PodContainer): PodContainer {
  const { runAsUser, ...securityContext } = container.securityContext ?? {};
  return runAsUser === undefined || runAsUser === 0 ? container : { ...container, securityContext };
}

const OPEN = { open: ['resources.requests', 'resources.limits'] };

const KNOWN_ANNOTATIONS: readonly string[] = Object.values(ANNOTATION);

function annotations({ metadata }: AgentPod): readonly PodFinding[] {
  return Object.keys(metadata?.annotations ?? {})
    .filter((name) => name.startsWith('postern.dev/') && !KNOWN_ANNOTATIONS.includes(name))
    .sort()
    .map((name) => ({
      path: `metadata.annotations[${name}]`,
      message: `there is no such annotation, and it would have no effect; the sidecar's size is chosen by ${ANNOTATION.size}. Remove it.`,
    }));
}

function containers(spec: PodSpec, ours: number | undefined, difference: string | undefined): readonly PodFinding[] {
  const found: PodFinding[] = [];
  for (const { path, container } of containersOf(spec)) {
    if (container.name !== SIDECAR.container || path === `spec.initContainers[${ours}]`) continue;
    const field = path.startsWith('spec.initContainers') && difference !== undefined && difference !== '' ? `.${difference}` : '.name';
    const message = `the container name ${SIDECAR.container} is reserved for the sidecar, which this is not: the pod brought it, or another admission webhook rewrote it. Remove the container; the operator adds it.`;
    found.push({ path: path + field, message });
  }
  return found;
}

function volumes(spec: PodSpec, ours: number | undefined): readonly PodFinding[] {
  const found: PodFinding[] = [];
  for (const [index, { name }] of (spec.volumes ?? []).entries()) {
    if (!name.startsWith(RESERVED_PREFIX) || (ours !== undefined && SIDECAR_VOLUMES.includes(name))) continue;
    const message = `volume names that begin with ${RESERVED_PREFIX} are reserved for the sidecar; rename or remove it.`;
    found.push({ path: `spec.volumes[${index}].name`, message });
  }
  return found;
}

function mounts(spec: PodSpec, ours: number | undefined): readonly PodFinding[] {
  return containersOf(spec).flatMap(({ path, container }) => {
    if (path === `spec.initContainers[${ours}]`) return [];
    return (container.volumeMounts ?? []).flatMap(({ name }, index) => {
      const message = `volumes ${RESERVED_PREFIX}* are the sidecar's alone; remove the mount.`;
      return name.startsWith(RESERVED_PREFIX) ? [{ path: `${path}.volumeMounts[${index}].name`, message }] : [];
    });
  });
}
