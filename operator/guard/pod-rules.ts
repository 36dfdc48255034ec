/**
 * What the guards refuse in a pod, but for the sidecar's own spec (sidecar-release.ts). Each rule is about one part of a pod and stands
 * here once; policies and judge both read it.
 *
 * `reserved` rules hold in every namespace the guards look at: Secrets, volumes and token audiences of the reserved names belong to
 * the init container `postern`. `shape` rules hold for pods with the sidecar: nothing in them may take down the wall between their
 * containers (design section 2.1, failure case INJ-26).
 */
import { RESERVED_AUDIENCE_PREFIX, RESERVED_PREFIX, SIDECAR } from '#core/resource/names.ts';
import { SIDECAR_VOLUMES } from '#operator/pod/sidecar-volumes.ts';
import { UNSAFE_CAPABILITIES } from '#operator/pod/unsafe-pod.ts';
import type { Condition } from './condition.ts';
import {
  CONTAINER_SECRETS,
  CONTAINER_VOLUMES,
  POD_SECRETS,
  PROJECTED_SECRET,
  TOKEN_AUDIENCE,
  VOLUME_SECRETS,
} from './secret-references.ts';

/**
 * - `pod`: the PodSpec, when it is created; no later request can change what these rules read.
 * - `volume`: each volume.
 * - `container`: each container of all three lists.
 * - `other`: the same without the init container `postern`.
 * - `agent`: containers and ephemeral containers.
 * - `ephemeral`: ephemeral containers.
 */
export type Part = 'pod' | 'volume' | 'container' | 'other' | 'agent' | 'ephemeral';

export interface Rule {
  readonly name: string;
  readonly part: Part;
  /** What is refused. */
  readonly when: Condition;
  /** Rule and cure, without the path. */
  readonly says: string;
}

const reserved = { startsWith: RESERVED_PREFIX } as const;
const not = (condition: Condition): Condition => ({ not: condition });
const named = (...names: readonly string[]): Condition => ({ any: ['name'], test: { oneOf: names } });

const BIND = `only the sidecar mounts Secrets named ${RESERVED_PREFIX}*; write a CredentialBinding for it, or rename the Secret.`;

export const RESERVED_RULES: readonly Rule[] = [
  { name: 'reserved-volume-secret', part: 'volume', when: { any: VOLUME_SECRETS, test: reserved }, says: BIND },
  {
    name: 'reserved-projected-secret',
    part: 'volume',
    when: { every: [{ any: [PROJECTED_SECRET], test: reserved }, not(named(SIDECAR.credentialsVolume))] },
    says: BIND,
  },
  {
    name: 'reserved-audience',
    part: 'volume',
    when: {
      every: [{ any: [TOKEN_AUDIENCE], test: { startsWith: RESERVED_AUDIENCE_PREFIX } }, not(named(SIDECAR.identityVolume))],
    },
    says: `only the sidecar asks for tokens with an audience ${RESERVED_AUDIENCE_PREFIX}*; choose another audience.`,
  },
  {
    name: 'reserved-volume-name',
    part: 'volume',
    when: { every: [{ any: ['name'], test: reserved }, not(named(...SIDECAR_VOLUMES))] },
    says: `volume names that begin with ${RESERVED_PREFIX} are the sidecar's; choose another name.`,
  },
  { name: 'reserved-container-secret', part: 'container', when: { any: CONTAINER_SECRETS, test: reserved }, says: BIND },
  {
    name: 'reserved-mount',
    part: 'other',
    when: { any: CONTAINER_VOLUMES, test: reserved },
    says: `only the init container ${SIDECAR.container} mounts volumes named ${RESERVED_PREFIX}*; leave the mount out.`,
  },
  { name: 'reserved-pull-secret', part: 'pod', when: { any: POD_SECRETS, test: reserved }, says: BIND },
];

const PTRACE = 'beside the sidecar no container may have a capability that reads other containers';

/** The pod has the sidecar. */
export const SHAPE_RULES: readonly Rule[] = [
  {
    name: 'shared-namespaces',
    part: 'pod',
    when: { any: ['hostNetwork', 'hostPID', 'hostIPC', 'shareProcessNamespace'], test: { equals: true } },
    says: 'a pod with the sidecar shares no namespace with the node, nor processes among its containers; leave hostNetwork, hostPID, hostIPC and shareProcessNamespace out.',
  },
  {
    name: 'host-process',
    part: 'pod',
    when: { any: ['securityContext.windowsOptions.hostProcess'], test: { equals: true } },
    says: 'a host process pod is the node; the sidecar cannot run in it.',
  },
  {
    name: 'host-path',
    part: 'volume',
    when: { any: ['hostPath'], test: { there: true } },
    says: "the node's disk holds what the sidecar mounts; use another kind of volume.",
  },
  {
    name: 'privileged',
    part: 'container',
    when: { any: ['securityContext.privileged', 'securityContext.windowsOptions.hostProcess'], test: { equals: true } },
    says: 'a privileged container can read the sidecar; leave privileged out.',
  },
  {
    name: 'unmasked-proc',
    part: 'container',
    when: { any: ['securityContext.procMount'], test: { equals: 'Unmasked' } },
    says: 'an unmasked /proc shows the node; leave procMount out.',
  },
  {
    name: 'capability',
    part: 'container',
    when: { any: ['securityContext.capabilities.add[]'], test: { capability: UNSAFE_CAPABILITIES } },
    says: `${PTRACE} (${UNSAFE_CAPABILITIES.join(', ')}); leave it out of capabilities.add.`,
  },
  {
    name: 'ephemeral-target',
    part: 'ephemeral',
    when: { any: ['targetContainerName'], test: { equals: SIDECAR.container } },
    says: `nobody debugs the sidecar from inside its pod; choose another target than ${SIDECAR.container}.`,
  },
];

/** In enforced namespaces, whether the pod has the sidecar or not. */
export const NAME_RULE: Rule = {
  name: 'container-name',
  part: 'agent',
  when: named(SIDECAR.container),
  says: `the name ${SIDECAR.container} is the sidecar's, which is an init container; choose another name.`,
};
