/**
 * The chart's fixed policies about pods. They hold with the operator down (failure case INJ-01); the one that knows the sidecar's spec
 * is the operator's own, sidecar-policy.ts.
 *
 * Together they say: whatever is reserved belongs to an init container `postern` that mounts all three volumes of the sidecar
 * (here), and such a container is the sidecar of a release, field by field (there).
 */
import { LABEL, RESERVED_PREFIX, SIDECAR } from '#core/resource/names.ts';
import { SIDECAR_VOLUMES } from '#operator/pod/sidecar-volumes.ts';
import { celLiteral } from './cel-text.ts';
import { HAS_SIDECAR, POD_CHANGES, POD_REQUESTS, POD_VARIABLES, podValidation } from './pod-cel.ts';
import { NAME_RULE, RESERVED_RULES, SHAPE_RULES } from './pod-rules.ts';
import { enforcedNamespaces, type Guard, type GuardSettings, guard, guardedNamespaces } from './policy.ts';

export const SAYS = {
  notEnforced: `volumes named ${RESERVED_PREFIX}* are the sidecar's, and this namespace is not guarded; label it ${LABEL.enforce}, or rename the volume.`,
  noSidecar: `volumes named ${RESERVED_PREFIX}* are the sidecar's, and this pod has none; label it ${LABEL.inject}=true and let the operator put them in.`,
  sidecarChanged: `the sidecar of a running pod does not change, neither its image nor its resources; make the pod anew.`,
  sidecarDemanded: `label ${LABEL.inject}=true asks for the sidecar, and the pod has none: the operator did not answer, or another webhook took it out. Try again; without it the pod may not run.`,
  sidecarNotFirst: `the sidecar must be the first init container, so that all others can call it; another webhook put one before it.`,
  volumesMissing: `the init container ${SIDECAR.container} is the sidecar's, and the pod lacks its volumes (${SIDECAR_VOLUMES.join(', ')}); leave the container to the operator.`,
} as const;

const CREATED = `request.operation == 'CREATE'`;
const RESERVED_VOLUME = `(has(object.spec.volumes) && object.spec.volumes.exists(v, v.name.startsWith(${celLiteral(RESERVED_PREFIX)})))`;
const SIDECAR_OF = (pod: string) => `${pod}.spec.?initContainers.orValue([]).filter(c, c.name == ${celLiteral(SIDECAR.container)})`;

export function reservedPolicy(settings: GuardSettings): Guard {
  return guard({
    name: 'postern-reserved',
    about: `Secrets and volumes named ${RESERVED_PREFIX}*, and tokens for Postern, belong to the sidecar alone.`,
    namespaces: guardedNamespaces(settings),
    rules: [POD_REQUESTS],
    matchConditions: [POD_CHANGES],
    variables: [...POD_VARIABLES, { name: 'reservedVolume', expression: RESERVED_VOLUME }],
    validations: [
      // A container mounts only volumes that its pod has, so most pods need no look at their mounts.
      ...RESERVED_RULES.map((rule) => podValidation(rule, rule.part === 'other' ? 'variables.reservedVolume' : undefined)),
      {
        expression: `request.operation != 'CREATE' || !variables.reservedVolume || ${celLiteral(LABEL.enforce)} in namespaceObject.metadata.?labels.orValue({})`,
        message: `pod: ${SAYS.notEnforced}`,
      },
      { expression: `request.operation != 'CREATE' || !variables.reservedVolume || ${HAS_SIDECAR}`, message: `pod: ${SAYS.noSidecar}` },
      {
        expression: `${CREATED} || !variables.reservedVolume || ${SIDECAR_OF('object')} == ${SIDECAR_OF('oldObject')}`,
        message: `container ${SIDECAR.container}: ${SAYS.sidecarChanged}`,
      },
    ],
  });
}

/**
 * A mirror pod stands for a file on a node: it runs whatever we say, and refusing its mirror would only hide it (failure case INJ-19).
 * Anybody can write the annotation, so it counts only from a node, which may make no other pods (NodeRestriction).
 */
const MIRROR = `('system:nodes' in request.userInfo.?groups.orValue([]) && 'kubernetes.io/config.mirror' in object.metadata.?annotations.orValue({}))`;

export function podPolicy(settings: GuardSettings): Guard {
  const demanded = `object.metadata.?labels[?${celLiteral(LABEL.inject)}].orValue('') == 'true'`;
  const agentNamed = `object.spec.containers.exists(c, c.name == ${celLiteral(SIDECAR.container)})`;
  return guard({
    name: 'postern-pod',
    about: 'A pod that asks for the sidecar has it, and nothing in a pod with the sidecar can reach into it.',
    namespaces: enforcedNamespaces(settings),
    rules: [POD_REQUESTS],
    matchConditions: [{ name: 'concerns-the-sidecar', expression: `${HAS_SIDECAR} || ${demanded} || ${agentNamed}` }, POD_CHANGES],
    variables: [...POD_VARIABLES, { name: 'hasSidecar', expression: HAS_SIDECAR }],
    validations: [
      {
        expression: `request.operation != 'CREATE' || variables.hasSidecar || !(${demanded}) || ${MIRROR}`,
        message: `pod: ${SAYS.sidecarDemanded}`,
      },
      {
        expression: `request.operation != 'CREATE' || !variables.hasSidecar || object.spec.initContainers[0].name == ${celLiteral(SIDECAR.container)}`,
        message: `container ${SIDECAR.container}: ${SAYS.sidecarNotFirst}`,
      },
      {
        expression: `request.operation != 'CREATE' || !variables.hasSidecar || (has(object.spec.volumes) && ${celLiteral(SIDECAR_VOLUMES)}.all(n, object.spec.volumes.exists(v, v.name == n)))`,
        message: `container ${SIDECAR.container}: ${SAYS.volumesMissing}`,
      },
      podValidation(NAME_RULE),
      ...SHAPE_RULES.map((rule) => podValidation(rule, 'variables.hasSidecar')),
    ],
  });
}
