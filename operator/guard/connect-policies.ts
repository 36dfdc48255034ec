/**
 * The guards at the other doors of a running pod: exec, attach, port-forward, and tokens asked for outside of a pod.
 *
 * - A request without a container's name means the only app container, and with several the API server refuses it; an init container
 *   is never the default (measured with a kubelet that listens; failure case INJ-30). So only the name is refused.
 * - Port-forward reaches the pod's loopback, and the request names no port a policy could read. Whoever may forward or exec into the
 *   agent acts as the agent, and RBAC decides who may; to no ServiceAccount is it open here, since programs forward unwatched.
 * - `nodes/proxy` runs commands without any admission: no policy sees it, and the operator refuses callers that hold it.
 */
import { RESERVED_AUDIENCE_PREFIX, SIDECAR } from '#core/resource/names.ts';
import { celLiteral } from './cel-text.ts';
import { enforcedNamespaces, type Guard, type GuardSettings, guard } from './policy.ts';

export function connectPolicy(settings: GuardSettings): Guard {
  const core = { apiGroups: [''], apiVersions: ['v1'], operations: ['CONNECT'] };
  return guard({
    name: 'postern-connect',
    about: 'Nobody runs a command in the sidecar, attaches to it, or forwards ports of a guarded pod as a ServiceAccount.',
    namespaces: enforcedNamespaces(settings),
    rules: [{ ...core, resources: ['pods/exec', 'pods/attach', 'pods/portforward'] }],
    validations: [
      {
        expression: `request.subResource == 'portforward' || object.?container.orValue('') != ${celLiteral(SIDECAR.container)}`,
        message: `container ${SIDECAR.container}: nobody runs commands in the sidecar or attaches to it; its log and its metrics say what it does.`,
      },
      {
        expression: `request.subResource != 'portforward' || !('system:serviceaccounts' in request.userInfo.?groups.orValue([]))`,
        message:
          'portforward: in a guarded namespace no ServiceAccount forwards ports of pods, which would make it the agent; use a Service.',
      },
    ],
  });
}

/** A token for Postern is what a sidecar is known by. Kubelets ask for those of projected volumes, which the pod policies judge. */
export function tokenPolicy(): Guard {
  return guard({
    name: 'postern-token',
    about: 'Tokens for Postern are asked for by kubelets alone.',
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['serviceaccounts/token'] }],
    matchConditions: [{ name: 'not-a-kubelet', expression: `!('system:nodes' in request.userInfo.?groups.orValue([]))` }],
    validations: [
      {
        expression: `!has(object.spec.audiences) || object.spec.audiences == null || object.spec.audiences.all(a, !a.startsWith(${celLiteral(RESERVED_AUDIENCE_PREFIX)}))`,
        message: `spec.audiences: audiences ${RESERVED_AUDIENCE_PREFIX}* are the sidecar's, and its token comes with its pod; choose another audience.`,
      },
    ],
  });
}
