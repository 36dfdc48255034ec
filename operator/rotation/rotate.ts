/**
 * Rotation, on the leader: touches the pods that mount a Secret whose new value was announced, then remembers the announcement in the
 * binding's status. If we crash between the two, the next leader touches only the pods that lack the mark.
 */
import { limits } from '#core/bounds/limits.ts';
import { ANNOTATION } from '#core/resource/names.ts';
import { type Key, keyOf } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { isGone } from '#operator/kube/kube-error.ts';
import type { PodRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { rotationStep } from './announcement.ts';

/** A field of status that no other part applies, so that neither takes it from the other. */
const MANAGER = 'postern-rotation';

export interface RotationMeans {
  readonly client: KubeClient;
  readonly cluster: Cluster;
  onRotated(outcome: 'announced' | 'failed', pods: number): void;
}

/** One reconcile of one binding (`namespace/name`). Throws what the API server refuses; the queue tries again. */
export async function rotate(key: Key, { client, cluster, onRotated }: RotationMeans): Promise<void> {
  const binding = cluster.bindings.get(key);
  if (binding === undefined) return;
  const { namespace, name } = binding;
  const step = rotationStep(binding, cluster.pods.by('secret', `${namespace}/${binding.secret}`));
  if (step.kind === 'nothing') return;
  try {
    await touchAll(client, step.pods, step.mark);
    await client.apply(
      KINDS.bindings,
      { metadata: { namespace, name }, status: { announcedRevision: step.announcement } },
      {
        manager: MANAGER,
        force: true,
        subresource: 'status',
      },
    );
  } catch (thrown) {
    onRotated('failed', step.pods.length);
    throw thrown;
  }
  onRotated('announced', step.pods.length);
}

/**
 * A few at a time: a Secret may be mounted by thousands of pods, and each touch makes a kubelet read it. Pods that cannot be touched -
 * another policy refuses it, say - keep no other from the new value; the first failure is thrown once all were tried.
 */
async function touchAll(client: KubeClient, pods: readonly PodRecord[], mark: string): Promise<void> {
  const waiting = [...pods].reverse();
  const failures: unknown[] = [];
  const worker = async () => {
    for (let pod = waiting.pop(); pod !== undefined; pod = waiting.pop()) {
      await touch(client, pod, mark).catch((failure: unknown) => failures.push(failure));
    }
  };
  await Promise.all(Array.from({ length: limits.rotationTouchesMax }, worker));
  if (failures.length > 0) throw failures[0];
}

async function touch(client: KubeClient, { namespace, name, uid }: PodRecord, mark: string): Promise<void> {
  try {
    // With the UID: a pod made anew under the name has the new value already.
    await client.patch(KINDS.pods, { namespace, name }, { metadata: { uid, annotations: { [ANNOTATION.credentialsTouched]: mark } } });
  } catch (thrown) {
    if (!isGone(thrown)) throw thrown;
  }
}

/** The binding of each change that may need a rotation. */
export function watchRotations({ bindings }: Cluster, note: (key: Key) => void): () => void {
  return bindings.onChange((change) => {
    if (change.kind !== 'deleted') note(keyOf(change.now));
  });
}
