/** The session as the operator states it. */
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import { State } from '#proto/postern/control/v1/control_pb.ts';

export type SessionPhase = NonNullable<NonNullable<AgentSession['status']>['state']>;

export interface Session {
  /** metadata.name of the AgentSession and the namespace of the pod; empty before the first welcome. */
  readonly name: string;
  readonly namespace: string;
  readonly phase: SessionPhase;
  /** Words of a person or of the operator; untrusted text. */
  readonly because: string;
}

/** Before anybody said anything. */
export const NO_SESSION: Session = { name: '', namespace: '', phase: 'Pending', because: '' };

/** A state that this release does not know gives no right: it is Suspended until the operator says one that it knows. */
export function phaseOf(state: State): SessionPhase {
  return PHASE_OF[state] ?? 'Suspended';
}

const PHASE_OF: Readonly<Record<number, SessionPhase>> = {
  [State.PENDING]: 'Pending',
  [State.ACTIVE]: 'Active',
  [State.SUSPENDED]: 'Suspended',
  [State.REVOKED]: 'Revoked',
  [State.ENDED]: 'Ended',
};
