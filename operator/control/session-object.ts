/** The AgentSession of a pod: found, or made. One a pod, by a name that the pod's UID is part of. */
import { limits } from '#core/bounds/limits.ts';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import { API_VERSION } from '#core/resource/names.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import { type KubeObject, type OwnerReference, type PodObject, type SessionRecord, sessionRecord } from '#operator/kube/records.ts';
import { KINDS, type ResourceKind } from '#operator/kube/resource-kind.ts';
import type { Identity } from './authenticate.ts';

type Kube = Pick<KubeClient, 'get' | 'create'>;
type Session = AgentSession & KubeObject;

/** `<pod name, at most 200 characters>-<first 8 of its UID>`; a name of an object may not have `.` or `-` before the dash. */
export function sessionName({ name, uid }: { readonly name: string; readonly uid: string }): string {
  return `${name.slice(0, 200).replace(/[-.]+$/, '')}-${uid.slice(0, 8)}`;
}

/** Throws KubeError. A session that is there already is returned as the API server has it. */
export async function sessionOf(kube: Kube, cluster: Pick<Cluster, 'sessions'>, identity: Identity): Promise<SessionRecord> {
  const { namespace, pod } = identity;
  const known = cluster.sessions.by('pod', pod.metadata.uid).find((session) => session.namespace === namespace);
  if (known !== undefined) return known;
  const name = sessionName(pod.metadata);
  const session = sessionObject(name, identity, await controllerAtTop(kube, namespace, pod));
  try {
    return sessionRecord(await kube.create<Session>(KINDS.sessions, session as Session));
  } catch (error) {
    if (!isKubeError(error, 409)) throw error;
    const other = await kube.get<Session>(KINDS.sessions, { namespace, name });
    // Only the operator makes sessions, and a name holds a UID; one of another pod means that the name was not made by this rule.
    if (other === null || other.spec.pod.uid !== pod.metadata.uid) throw error;
    return sessionRecord(other);
  }
}

/**
 * Owned by the pod, so that sessions do not outlive their pods where nobody cleans up; without a finalizer, which would keep a
 * namespace from going while the operator is away.
 */
export function sessionObject(name: string, { namespace, account, pod }: Identity, controller: OwnerReference | undefined): AgentSession {
  const { metadata, spec } = pod;
  return {
    apiVersion: API_VERSION,
    kind: 'AgentSession',
    metadata: {
      name,
      namespace,
      ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid }],
    },
    spec: {
      pod: { name: metadata.name, uid: metadata.uid },
      serviceAccount: account,
      ...(controller === undefined ? {} : { controller: { kind: controller.kind, name: controller.name, uid: controller.uid } }),
      node: spec.nodeName ?? '',
      image: (spec.containers[0]?.image ?? '').slice(0, 1024),
    },
  };
}

/** What makes the things that make pods; all else is at the top already. */
const BELOW_OTHERS: Readonly<Record<string, ResourceKind>> = { ReplicaSet: KINDS.replicaSets, Job: KINDS.jobs };

/**
 * The Deployment and not its ReplicaSet: a revoked agent would be back under a new name with the next rollout. What is not there, or may
 * not be read, is taken for the top. An API server that is too busy to say is asked again later: a session keeps its controller for ever,
 * and one with the wrong name would not be known as the successor of a revoked one. Throws KubeError.
 */
async function controllerAtTop(kube: Kube, namespace: string, pod: PodObject): Promise<OwnerReference | undefined> {
  let top = controllerOf(pod);
  for (let step = 0; step < limits.controlOwnersMax; step += 1) {
    const kind = top === undefined ? undefined : BELOW_OTHERS[top.kind];
    if (top === undefined || kind === undefined) return top;
    const object = await kube.get<KubeObject>(kind, { namespace, name: top.name }).catch(nullIfForbidden);
    const above = object?.metadata.uid === top.uid ? controllerOf(object) : undefined;
    if (above === undefined) return top;
    top = above;
  }
  return top;
}

function nullIfForbidden(error: unknown): null {
  if (isKubeError(error, 403)) return null;
  throw error;
}

function controllerOf({ metadata }: KubeObject): OwnerReference | undefined {
  return (metadata.ownerReferences ?? []).find(({ controller }) => controller === true);
}
