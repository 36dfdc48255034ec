/**
 * What a failure is called outside: an error where no page was decoded, a reason where one was (design section 10).
 */
import type { IncompleteCode, Reason } from '#core/error/reasons.ts';
import type { SourceState } from './envelope.ts';
import type { FailureKind } from './source-walk.ts';

export interface FailureNames {
  readonly error: Reason;
  readonly reason: IncompleteCode;
  readonly state: SourceState['state'];
  /** Our own sentence, for both. */
  readonly message: string;
  /** The same request may succeed later: the cursor of the walk stays usable. */
  readonly passing: boolean;
}

export const FAILURES: Readonly<Record<FailureKind, FailureNames>> = {
  RateLimited: {
    error: 'REMOTE_RATE_LIMITED',
    reason: 'REMOTE_RATE_LIMITED',
    state: 'rate_limited',
    passing: true,
    message: 'the remote asks us to wait',
  },
  CursorExpired: {
    error: 'CURSOR_EXPIRED',
    reason: 'CURSOR_EXPIRED',
    state: 'expired',
    passing: false,
    message: "the remote's cursor, or the snapshot behind it, no longer exists",
  },
  Denied: {
    error: 'REMOTE_DENIED',
    reason: 'VISIBILITY_RESTRICTED',
    state: 'denied',
    passing: false,
    message: 'the remote does not let this credential see it',
  },
  NotFound: {
    error: 'REMOTE_NOT_FOUND',
    reason: 'SOURCE_UNAVAILABLE',
    state: 'unavailable',
    passing: false,
    message: 'the remote has no such object',
  },
  CapReached: {
    error: 'RESULT_INCOMPLETE',
    reason: 'RESULT_LIMIT_REACHED',
    state: 'partial',
    passing: false,
    message: 'the remote gives no more than this of any one question',
  },
  TimedOut: {
    error: 'DEADLINE_EXCEEDED',
    reason: 'TIME_BUDGET_EXCEEDED',
    state: 'unavailable',
    passing: true,
    message: 'the remote did not finish in time',
  },
  Unavailable: {
    error: 'REMOTE_UNAVAILABLE',
    reason: 'SOURCE_UNAVAILABLE',
    state: 'unavailable',
    passing: true,
    message: 'the remote did not answer, or failed',
  },
  Rejected: {
    error: 'REMOTE_REJECTED',
    reason: 'SOURCE_UNAVAILABLE',
    state: 'unavailable',
    passing: false,
    message: 'the remote refused the request as it stands',
  },
  Credential: {
    error: 'CREDENTIAL_INVALID',
    reason: 'VISIBILITY_RESTRICTED',
    state: 'denied',
    passing: false,
    message: 'the remote did not accept the credential',
  },
  Locked: {
    error: 'VAULT_LOCKED',
    reason: 'SOURCE_UNAVAILABLE',
    state: 'unavailable',
    passing: true,
    message: 'the credential cannot be read at the moment',
  },
  Redirect: {
    error: 'REDIRECT_REFUSED',
    reason: 'SOURCE_UNAVAILABLE',
    state: 'unavailable',
    passing: false,
    message: 'the remote answered with a redirect, which is never followed',
  },
  Protocol: {
    error: 'REMOTE_PROTOCOL',
    reason: 'COMPLETENESS_UNPROVEN',
    state: 'unavailable',
    passing: false,
    message: 'the answer was cut, or is not what the contract says',
  },
  TooLarge: {
    error: 'RESPONSE_TOO_LARGE',
    reason: 'RESULT_LIMIT_REACHED',
    state: 'partial',
    passing: false,
    message: 'the answer is larger than this call may still read',
  },
  EgressDenied: {
    error: 'EGRESS_DENIED',
    reason: 'SOURCE_UNAVAILABLE',
    state: 'unavailable',
    passing: false,
    message: 'the destination resolves to an address its binding does not allow',
  },
  Untrusted: {
    error: 'REMOTE_UNAVAILABLE',
    reason: 'SOURCE_UNAVAILABLE',
    state: 'unavailable',
    passing: false,
    message: 'the destination did not prove who it is',
  },
  HostKey: {
    error: 'HOST_KEY_MISMATCH',
    reason: 'SOURCE_UNAVAILABLE',
    state: 'unavailable',
    passing: false,
    message: 'the host showed another key than the pinned one',
  },
};
