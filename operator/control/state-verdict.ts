/** What a session may do, and how a sidecar is told. */
import { create } from '@bufbuild/protobuf';
import { type SessionState, SessionStateSchema, State } from '#proto/postern/control/v1/control_pb.ts';

/** As `status.state` and `status.because`. */
export interface StateVerdict {
  readonly state: 'Pending' | 'Active' | 'Suspended' | 'Revoked' | 'Ended';
  readonly because: string | undefined;
}

export function sessionStateOf({ state, because }: StateVerdict): SessionState {
  return create(SessionStateSchema, { state: STATES[state], because: because ?? '' });
}

const STATES = {
  Pending: State.PENDING,
  Active: State.ACTIVE,
  Suspended: State.SUSPENDED,
  Revoked: State.REVOKED,
  Ended: State.ENDED,
} as const;

export function sameState(a: SessionState, b: SessionState): boolean {
  return a.state === b.state && a.because === b.because;
}
