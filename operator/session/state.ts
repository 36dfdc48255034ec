/**
 * What an AgentSession may do, from facts alone. The leader writes the result into status; a replica that holds the stream decides by
 * the same table from its own caches, so that a revocation never waits for the leader.
 *
 * - `Ended` and a revocation are final.
 * - A suspension outlives its cause: only `spec.admitted` lifts it. Else whoever runs a second sidecar, or deletes the revoked session,
 *   would lift it by stopping.
 * - An admission lifts only what was before it. It cannot be taken back, so a second sidecar seen later suspends for good: in a
 *   namespace where every session is admitted, the check would otherwise be off.
 */
export type SessionStateName = 'Pending' | 'Active' | 'Suspended' | 'Revoked' | 'Ended';

export interface SessionFacts {
  /** `status.state` and `status.because`; state undefined before the first write. */
  readonly current: { readonly state: SessionStateName | undefined; readonly because: string | undefined };
  /** `spec.revoked`. */
  readonly revoked: boolean;
  /** `spec.admitted`. */
  readonly admitted: boolean;
  /** The pod of this UID is not there, or none of its containers will run again. */
  readonly podGone: boolean;
  /** The namespace asks for an admission. */
  readonly approvalRequired: boolean;
  /** A bundle was acknowledged. */
  readonly acknowledged: boolean;
  /** Whether a second sidecar was seen, and when for the last time. */
  readonly duplicate: 'none' | 'before admission' | 'after admission';
  /** A session of the same ServiceAccount and controller was revoked before this one began. */
  readonly followsRevoked: boolean;
}

export interface SessionVerdict {
  readonly state: SessionStateName;
  /** For people and agents; undefined where the state says all. */
  readonly because: string | undefined;
}

export const BECAUSE = {
  podGone: 'Its pod has ended.',
  revoked: 'Revoked by a person (spec.revoked). This is final: only a new pod gets a new session.',
  duplicateAfterAdmission:
    'A second sidecar connected for this pod after the session was admitted: another process holds its token. Delete the pod.',
  duplicate:
    'A second sidecar connected for this pod: another process holds its token. Delete the pod, or admit the session (kubectl postern admit) if this is explained.',
  followsRevoked:
    'A session of the same ServiceAccount and controller was revoked before. Admit this one (kubectl postern admit) once the cause of that is gone.',
  approval: 'The namespace asks for an admission (label postern.dev/session-approval): kubectl postern admit.',
  noBundle: 'Its sidecar has not acknowledged a bundle yet.',
} as const;

export function sessionState(facts: SessionFacts): SessionVerdict {
  return final(facts) ?? suspension(facts) ?? waiting(facts) ?? { state: 'Active', because: undefined };
}

function final({ current, podGone, revoked }: SessionFacts): SessionVerdict | undefined {
  if (current.state === 'Ended') return { state: 'Ended', because: current.because };
  if (podGone) return { state: 'Ended', because: BECAUSE.podGone };
  // A revoked session stays one also where the field is gone from what a stale cache shows.
  if (revoked || current.state === 'Revoked') return { state: 'Revoked', because: BECAUSE.revoked };
  return undefined;
}

function suspension({ current, admitted, duplicate, followsRevoked }: SessionFacts): SessionVerdict | undefined {
  if (duplicate === 'after admission') return { state: 'Suspended', because: BECAUSE.duplicateAfterAdmission };
  if (admitted) return undefined;
  if (duplicate === 'before admission') return { state: 'Suspended', because: BECAUSE.duplicate };
  if (current.state === 'Suspended') return { state: 'Suspended', because: current.because };
  // Only at its start: replicas of one Deployment that ran before are not suspended by the revocation of one of them.
  if (current.state === undefined && followsRevoked) return { state: 'Suspended', because: BECAUSE.followsRevoked };
  return undefined;
}

function waiting({ current, admitted, approvalRequired, acknowledged }: SessionFacts): SessionVerdict | undefined {
  // A label put on a namespace of running agents is for those that come.
  if (current.state === 'Active') return undefined;
  if (approvalRequired && !admitted) return { state: 'Pending', because: BECAUSE.approval };
  return acknowledged ? undefined : { state: 'Pending', because: BECAUSE.noBundle };
}
