/** One approval on the leader: gather -> step -> one write, and whoever must know is told. Replicas and people write the rest of its status. */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { type Key, keyOf } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { EventTeller } from '#operator/kube/events.ts';
import { isGone, isKubeError } from '#operator/kube/kube-error.ts';
import { secondTime } from '#operator/kube/micro-time.ts';
import type { ApprovalRecord, SessionRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { tellingOf } from './events.ts';
import { type ApprovalFacts, type ApprovalStep, approvalStep, deletedAtMs, type State } from './step.ts';

export interface ApprovalMeans {
  /** Fenced by the term. */
  readonly client: Pick<KubeClient, 'patch' | 'delete'>;
  readonly cluster: Pick<Cluster, 'approvals' | 'contracts' | 'sessions'>;
  readonly clock: Clock;
  /** Unix time in milliseconds by the clock of the API server. */
  serverNowMs(): number;
  readonly events: Pick<EventTeller, 'tell'>;
  /** It waits for a person; called again at each look. */
  onWaiting(approval: ApprovalRecord): void;
  /** It has become another; once for each state. MUST not throw. */
  onBecame(state: State, purpose: 'Call' | 'Resolve'): void;
}

/** For a Controller. Throws KubeError. */
export async function reconcileApproval(key: Key, means: ApprovalMeans): Promise<{ readonly afterMs: number } | undefined> {
  const approval = means.cluster.approvals.get(key);
  if (approval === undefined) return undefined;
  const nowMs = means.serverNowMs();
  const step = approvalStep(approval, factsOf(approval, means.cluster), nowMs);
  // A hold is there for less than a second where all is well, and nobody wants to read of it.
  const restMs = approval.createdMs + limits.holdSettlesMs - nowMs;
  if (step.state === 'UnderWay' && restMs > 0) return { afterMs: restMs };
  const dueMs = deletedAtMs(approval);
  if (step.ended && dueMs !== undefined && dueMs <= nowMs) {
    await means.client.delete(KINDS.approvals, approval, { uid: approval.uid });
    return undefined;
  }
  await write(approval, step, nowMs, means);
  if (step.state === 'Waiting') means.onWaiting(approval);
  if (step.warn) means.events.tell({ kind: KINDS.approvals, ...approval }, tellingOf('Forgotten', approval));
  const afterMs = step.ended ? (dueMs ?? nowMs + limits.approvalKeptMs) - nowMs : step.afterMs;
  return afterMs === undefined ? undefined : { afterMs: Math.max(LOOK_AGAIN_MS, afterMs) };
}

/** The clock of the API server is known to a second. */
const LOOK_AGAIN_MS = 1_000;

/** Enqueues the approvals that a change of a cache concerns; returns the end of it. */
export function watchApprovals({ approvals, contracts, sessions }: ApprovalMeans['cluster'], enqueue: (key: Key) => void): () => void {
  const all = (found: readonly ApprovalRecord[]) => {
    for (const approval of found) enqueue(keyOf(approval));
  };
  const stops = [
    approvals.onChange((change) => {
      if (change.kind !== 'deleted') enqueue(change.key);
    }),
    contracts.onChange(({ key }) => all(approvals.by('contract', key))),
    sessions.onChange((change) => all(approvals.by('session', ('now' in change ? change.now : change.was).uid))),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function factsOf({ namespace, spec }: ApprovalRecord, { sessions, contracts }: ApprovalMeans['cluster']): ApprovalFacts {
  const session = sessions.get(keyOf({ namespace, name: spec.session?.name ?? '' }));
  const own = session?.uid === spec.session?.uid ? session : undefined;
  const connected = own?.status?.conditions?.find(({ type }) => type === 'Connected');
  const contract = contracts.get(keyOf({ namespace, name: spec.contract }));
  const settled = contract?.status?.observedGeneration === contract?.generation;
  return {
    sessionOver: sessionOver(own),
    silentSinceMs: connected === undefined || connected.status === 'True' ? undefined : Date.parse(connected.lastTransitionTime),
    revision: contract === undefined ? null : settled ? contract.status?.revision : undefined,
  };
}

function sessionOver(session: SessionRecord | undefined): string | undefined {
  if (session === undefined || session.status?.state === 'Ended') return 'The session that asked has ended.';
  return session.spec.revoked === true || session.status?.state === 'Revoked' ? 'The session that asked was revoked.' : undefined;
}

async function write(approval: ApprovalRecord, step: ApprovalStep, nowMs: number, means: ApprovalMeans): Promise<void> {
  const { namespace, name, uid, resourceVersion, status, spec } = approval;
  const before = status?.conditions?.find(({ type }) => type === 'Usable');
  const same = status?.state === step.state && before?.message === step.message && status.decidedAt === step.decidedAt;
  if (same) return;
  const lastTransitionTime = before?.status === step.usable ? before.lastTransitionTime : secondTime(nowMs);
  const usable = { type: 'Usable', status: step.usable, reason: step.state, message: step.message, lastTransitionTime };
  const written = { state: step.state, conditions: [usable], ...(step.decidedAt !== undefined && { decidedAt: step.decidedAt }) };
  try {
    const patch = { metadata: { uid, resourceVersion }, status: written };
    await means.client.patch(KINDS.approvals, { namespace, name }, patch, { subresource: 'status' });
  } catch (error) {
    // Somebody wrote in between, or it is gone: the cache will show it, and that is looked at.
    if (isKubeError(error, 409) || isGone(error)) return;
    throw error;
  }
  if (before?.reason === step.state) return;
  means.onBecame(step.state, spec.purpose);
  if (step.state !== 'UnderWay') means.events.tell({ kind: KINDS.approvals, ...approval }, tellingOf(step.state, approval));
}
