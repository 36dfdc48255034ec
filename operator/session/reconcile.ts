/**
 * The leader's part of every AgentSession: its state and why, when it began and ended, whether it lacks a revision, and its deletion a
 * day after the end.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { FIELD_MANAGER } from '#core/resource/names.ts';
import { type Key, keyOf } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { EventTeller, Telling } from '#operator/kube/events.ts';
import { isGone } from '#operator/kube/kube-error.ts';
import type { PodRecord, SessionRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { applyStatus, type StatusPart } from '#operator/kube/status.ts';
import { cachedFacts } from './facts.ts';
import { oldRevision } from './old-revision.ts';
import type { SessionFacts, SessionStateName } from './state.ts';
import { type LeaderStatus, sessionStep } from './step.ts';

export interface SessionReconcileOptions {
  readonly client: Pick<KubeClient, 'get' | 'apply' | 'patch' | 'delete'>;
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly events: Pick<EventTeller, 'tell'>;
  /** How long the present revision of a contract has been known. */
  revisionAgeMs(contract: Key): number;
}

const PART: StatusPart = {
  kind: KINDS.sessions,
  manager: `${FIELD_MANAGER.operator}-session`,
  fields: ['state', 'because', 'imageDigest', 'startedAt', 'endedAt'],
  conditions: ['OnOldRevision'],
};

/** For a Controller; throws KubeError. */
export function sessionReconcile(options: SessionReconcileOptions): (key: Key) => Promise<{ readonly afterMs: number } | undefined> {
  const { client, cluster, clock } = options;
  /** UIDs whose broken audit was told in this term. */
  const brokenTold = new Set<string>();
  return async (key) => {
    const session = cluster.sessions.get(key);
    if (session === undefined) return undefined;
    tellBroken(options, session, brokenTold);
    const pod = podOf(cluster, session);
    const facts: SessionFacts = { ...cachedFacts(cluster, session), podGone: await podGone(client, session, pod) };
    const step = sessionStep({ session, facts, imageDigest: pod?.imageDigest }, clock.wallMs());
    const ref = { namespace: session.namespace, name: session.name };
    if (step.deleteInMs === 0) {
      await client.delete(KINDS.sessions, ref, { uid: session.uid });
      brokenTold.delete(session.uid);
      return undefined;
    }
    if (step.outlivesPod && !(await dropOwner(client, session))) return undefined;
    const old = oldRevision(session, cluster, options.revisionAgeMs);
    const written = await applyStatus(client, PART, session, { fields: { ...step.status }, conditions: old.findings }, clock);
    if (written === 'written') tell(options, session, step.status);
    const afterMs = step.deleteInMs ?? old.againMs;
    return afterMs === undefined ? undefined : { afterMs };
  };
}

/** False when this very session is gone; one made anew under its name has its own turn. */
async function dropOwner(client: Pick<KubeClient, 'patch'>, { namespace, name, uid }: SessionRecord): Promise<boolean> {
  try {
    await client.patch(KINDS.sessions, { namespace, name }, { metadata: { uid, ownerReferences: null } });
    return true;
  } catch (thrown) {
    if (isGone(thrown)) return false;
    throw thrown;
  }
}

/** Enqueues the sessions that a change of a cache concerns; returns the end of it. */
export function enqueueSessions(cluster: Cluster, enqueue: (key: Key) => void): () => void {
  const stops = [
    cluster.sessions.onChange(({ key }) => enqueue(key)),
    cluster.pods.onChange((change) => {
      for (const session of cluster.sessions.by('pod', ('now' in change ? change.now : change.was).uid)) enqueue(keyOf(session));
    }),
    cluster.namespaces.onChange((change) => {
      if (change.kind === 'updated' && change.was.sessionApproval === change.now.sessionApproval) return;
      const { name } = 'now' in change ? change.now : change.was;
      for (const session of cluster.sessions.values()) if (session.namespace === name) enqueue(keyOf(session));
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function podOf(cluster: Pick<Cluster, 'pods'>, { namespace, spec }: SessionRecord): PodRecord | undefined {
  const pod = cluster.pods.get(keyOf({ namespace, name: spec.pod.name }));
  return pod?.uid === spec.pod.uid ? pod : undefined;
}

/** An end cannot be taken back, so a cache that lacks the pod is not believed: it may be behind. */
async function podGone(
  client: Pick<KubeClient, 'get'>,
  { namespace, spec, status }: SessionRecord,
  known: PodRecord | undefined,
): Promise<boolean> {
  if (known !== undefined) return known.phase === 'Succeeded' || known.phase === 'Failed';
  if (status?.state === 'Ended') return true;
  const pod = await client.get<{ readonly metadata: { readonly uid: string } }>(KINDS.pods, { namespace, name: spec.pod.name });
  return pod?.metadata.uid !== spec.pod.uid;
}

const EVENTS: Readonly<Partial<Record<SessionStateName, Pick<Telling, 'type' | 'reason'>>>> = {
  Revoked: { type: 'Warning', reason: 'Revoked' },
  Suspended: { type: 'Warning', reason: 'Suspended' },
  Ended: { type: 'Normal', reason: 'Ended' },
};

function tell({ events }: SessionReconcileOptions, session: SessionRecord, { state, because = '' }: LeaderStatus): void {
  if (session.status?.state === state) return;
  const duplicate = (session.status?.conditions ?? []).some(({ type, status }) => type === 'DuplicateSidecar' && status === 'True');
  const event = state === 'Suspended' && duplicate ? { type: 'Warning' as const, reason: 'DuplicateSidecar' } : EVENTS[state];
  if (event === undefined) return;
  const { namespace, name, uid } = session;
  events.tell({ kind: KINDS.sessions, namespace, name, uid }, { ...event, action: 'Judge', note: because });
}

/** Both heads stand in it: the condition goes with its session, an Event may have been kept elsewhere. */
function tellBroken({ events }: SessionReconcileOptions, { namespace, name, uid, status }: SessionRecord, told: Set<string>): void {
  const broken = (status?.conditions ?? []).find((condition) => condition.type === 'AuditBroken' && condition.status === 'True');
  if (broken === undefined || told.has(uid)) return;
  told.add(uid);
  const note = broken.message;
  events.tell({ kind: KINDS.sessions, namespace, name, uid }, { type: 'Warning', reason: 'AuditBroken', action: 'Witness', note });
}
