/** The facts of one session, gathered from the caches of a replica. Nothing here decides. */
import { DUPLICATE_SIDECAR } from '#core/resource/names.ts';
import { keyOf } from '#operator/kube/cache.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { type SessionFacts, type SessionVerdict, sessionState } from './state.ts';

/** All but `podGone`: that a cache lacks a pod proves nothing, since it may be behind; the leader asks the API server. */
export function cachedFacts(cluster: Pick<Cluster, 'namespaces' | 'sessions'>, session: SessionRecord): Omit<SessionFacts, 'podGone'> {
  const { spec, status } = session;
  return {
    current: { state: status?.state, because: status?.because },
    revoked: spec.revoked === true,
    admitted: spec.admitted === true,
    // A namespace that is not known yet may ask for it.
    approvalRequired: cluster.namespaces.get(session.namespace)?.sessionApproval ?? true,
    acknowledged: (status?.appliedRevision ?? '') !== '',
    duplicate: duplicateOf(session),
    followsRevoked: followsRevoked(cluster, session),
  };
}

/**
 * The state as one replica may tell its sidecar, from its own caches alone. `acknowledged`: a bundle was acknowledged on this very
 * stream, and may not be in the status yet.
 */
export function stateForStream(
  cluster: Pick<Cluster, 'namespaces' | 'sessions'>,
  session: SessionRecord,
  acknowledged: boolean,
): SessionVerdict {
  const facts = cachedFacts(cluster, session);
  return sessionState({ ...facts, acknowledged: facts.acknowledged || acknowledged, podGone: false });
}

function duplicateOf({ status }: SessionRecord): SessionFacts['duplicate'] {
  const condition = (status?.conditions ?? []).find(({ type }) => type === 'DuplicateSidecar');
  if (condition?.status !== 'True') return 'none';
  return condition.reason === DUPLICATE_SIDECAR.afterAdmission ? 'after admission' : 'before admission';
}

function followsRevoked({ sessions }: Pick<Cluster, 'sessions'>, session: SessionRecord): boolean {
  const account = keyOf({ namespace: session.namespace, name: session.spec.serviceAccount });
  return sessions
    .by('account', account)
    .some(
      (other) =>
        other.uid !== session.uid &&
        other.spec.revoked === true &&
        other.createdMs <= session.createdMs &&
        sameController(other.spec.controller, session.spec.controller),
    );
}

type Controller = SessionRecord['spec']['controller'];

/** By name and not by UID: else deleting and making anew what the pods come from would be a way around the revocation. */
function sameController(one: Controller, other: Controller): boolean {
  return one?.kind === other?.kind && one?.name === other?.name;
}
