/**
 * Takes back `Connected` from sessions whose stream ended with its replica, for the leader: a replica that crashed, or that was cut off,
 * says nothing any more, and a sidecar that does not come back would look connected for ever.
 *
 * The last word in the session is what is believed: `lastSeenAt`, and where the replica's pod is gone, not much longer than a sidecar
 * takes to find another. A stream that stands after all writes over it with its next word, since both write by versions.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import { type Key, keyOf } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import type { KubeObject, SessionRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { STREAM_MANAGER } from './session-hold.ts';
import { conditionOf, disconnected, replicaIn, streamStatusOf } from './session-status.ts';

export interface LostStreamMeans {
  /** Fenced by the term. */
  readonly client: Pick<KubeClient, 'apply'>;
  readonly cluster: Pick<Cluster, 'sessions' | 'pods'>;
  readonly clock: Clock;
  /** Of the operator. */
  readonly namespace: string;
  /** Name of this replica, which is that of its pod. */
  readonly replica: string;
}

/** For a Controller: resolves with when the next word is overdue. Throws KubeError. */
export async function endLostStream(key: Key, means: LostStreamMeans): Promise<{ readonly afterMs: number } | undefined> {
  const session = means.cluster.sessions.get(key);
  if (session === undefined || conditionOf(session.status, 'Connected')?.status !== 'True') return undefined;
  const orphaned = replicaGone(session, means);
  const afterMs = lastWordMs(session) + (orphaned ? limits.controlOrphanedMs : limits.controlUnseenMs) - means.clock.wallMs();
  if (afterMs > 0) return { afterMs };
  const message = orphaned
    ? 'The replica that held its stream is gone, and its sidecar has not come back.'
    : 'Nothing was heard of its stream for longer than one that stands is silent.';
  await write(session, message, means);
  return undefined;
}

/** Enqueues the sessions that a change of a cache concerns; returns the end of it. */
export function watchLostStreams({ cluster, namespace }: LostStreamMeans, enqueue: (key: Key) => void): () => void {
  const stops = [
    cluster.sessions.onChange(({ key }) => enqueue(key)),
    cluster.pods.onChange((change) => {
      if (change.kind !== 'deleted' || change.was.namespace !== namespace) return;
      for (const session of cluster.sessions.values()) if (replicaIn(session.status) === change.was.name) enqueue(keyOf(session));
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function replicaGone({ status }: SessionRecord, { cluster, namespace, replica }: LostStreamMeans): boolean {
  const holder = replicaIn(status);
  const isPod = (name: string) => cluster.pods.get(keyOf({ namespace, name })) !== undefined;
  // Where not even this replica is a pod, that others are none says nothing.
  return holder !== undefined && !isPod(holder) && isPod(replica);
}

/** Unix time in milliseconds. `lastSeenAt` may be of the stream before. */
function lastWordMs({ status }: SessionRecord): number {
  const times = [status?.lastSeenAt, conditionOf(status, 'Connected')?.lastTransitionTime];
  return Math.max(...times.map((time) => Date.parse(time ?? '') || 0));
}

async function write(session: SessionRecord, message: string, { client, clock }: LostStreamMeans): Promise<void> {
  const { namespace, name, uid, resourceVersion } = session;
  const status = disconnected(streamStatusOf(session.status), 'StreamLost', message, clock.wallMs());
  const object = { metadata: { namespace, name, uid, resourceVersion }, status };
  try {
    const options = { manager: STREAM_MANAGER, force: true, subresource: 'status' };
    await client.apply<AgentSession & KubeObject>(
      KINDS.sessions,
      object as Partial<AgentSession & KubeObject> & { metadata: object },
      options,
    );
  } catch (error) {
    // Somebody wrote in between, perhaps the stream itself: the cache will show it, and that is looked at.
    if (!isKubeError(error, 409) && !isKubeError(error, 404)) throw error;
  }
}
