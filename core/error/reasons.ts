/**
 * The closed set of public error codes and of incompleteness reasons.
 *
 * The gRPC code and whether a repeat may help are decided here, never where the
 * error is thrown (design: "Public errors are a closed set with our own messages").
 * `retryable` means: the same call may succeed later, at once or after the named
 * condition has changed.
 */

/** gRPC status codes by number, https://grpc.io/docs/guides/status-codes/ */
export const GRPC = {
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  ALREADY_EXISTS: 6,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  ABORTED: 10,
  INTERNAL: 13,
  UNAVAILABLE: 14,
} as const;

interface ReasonEntry {
  readonly grpc: number;
  readonly retryable: boolean;
  /** One sentence for the reference page: when it happens. */
  readonly when: string;
}

export const REASONS = {
  INVALID_ARGUMENT: {
    grpc: GRPC.INVALID_ARGUMENT,
    retryable: false,
    when: 'The arguments, or the call itself, break a rule of the contract.',
  },
  ACTION_UNKNOWN: { grpc: GRPC.NOT_FOUND, retryable: false, when: 'No contract defines an action of this name here.' },
  CONTRACT_NOT_READY: {
    grpc: GRPC.FAILED_PRECONDITION,
    retryable: true,
    when: 'The contract exists but cannot be called yet: what it needs is missing, suspended or not served.',
  },
  SESSION_SUSPENDED: { grpc: GRPC.PERMISSION_DENIED, retryable: true, when: 'This session or action is suspended.' },
  SESSION_REVOKED: { grpc: GRPC.PERMISSION_DENIED, retryable: false, when: 'This session was revoked.' },
  SESSION_EXPIRED: { grpc: GRPC.PERMISSION_DENIED, retryable: false, when: 'This session has ended.' },
  APPROVAL_REQUIRED: {
    grpc: GRPC.FAILED_PRECONDITION,
    retryable: true,
    when: 'A person must agree first, and is asked; the details name the question and carry its card.',
  },
  APPROVAL_DENIED: {
    grpc: GRPC.PERMISSION_DENIED,
    retryable: false,
    when: 'A person denied this call, or chose another plan of its card.',
  },
  APPROVAL_EXPIRED: {
    grpc: GRPC.FAILED_PRECONDITION,
    retryable: false,
    when: 'The question or the yes is over: too late, used, or what was planned has changed. Call again for a new card.',
  },
  VAULT_LOCKED: { grpc: GRPC.UNAVAILABLE, retryable: true, when: 'The credential cannot be read at the moment.' },
  CREDENTIAL_INVALID: { grpc: GRPC.FAILED_PRECONDITION, retryable: false, when: 'The credential is malformed, or the remote refused it.' },
  CONTROL_STALE: { grpc: GRPC.UNAVAILABLE, retryable: true, when: 'The configuration is older than its lease allows.' },
  EVIDENCE_REQUIRED: {
    grpc: GRPC.FAILED_PRECONDITION,
    retryable: false,
    when: 'The call needs the evidence of a read that was not given.',
  },
  EVIDENCE_INCOMPLETE: { grpc: GRPC.FAILED_PRECONDITION, retryable: false, when: 'The evidence does not show what the call needs.' },
  EVIDENCE_EXPIRED: { grpc: GRPC.FAILED_PRECONDITION, retryable: false, when: 'The evidence is too old.' },
  RESULT_INCOMPLETE: {
    grpc: GRPC.FAILED_PRECONDITION,
    retryable: false,
    when: 'The contract demands a complete answer and none could be given.',
  },
  IDEMPOTENCY_CONFLICT: { grpc: GRPC.ALREADY_EXISTS, retryable: false, when: 'The operation id was used with other arguments.' },
  IDEMPOTENCY_BUSY: { grpc: GRPC.ABORTED, retryable: true, when: 'An equal call is still running.' },
  CURSOR_INVALID: { grpc: GRPC.INVALID_ARGUMENT, retryable: false, when: 'The cursor is not one of this session, revision and arguments.' },
  CURSOR_EXPIRED: { grpc: GRPC.FAILED_PRECONDITION, retryable: false, when: 'The cursor, or the snapshot behind it, no longer exists.' },
  REMOTE_RATE_LIMITED: { grpc: GRPC.RESOURCE_EXHAUSTED, retryable: true, when: 'The remote asked us to wait.' },
  REMOTE_UNAVAILABLE: { grpc: GRPC.UNAVAILABLE, retryable: true, when: 'The remote did not answer, or failed.' },
  REMOTE_REJECTED: { grpc: GRPC.FAILED_PRECONDITION, retryable: false, when: 'The remote refused the request as it stands.' },
  REMOTE_DENIED: { grpc: GRPC.PERMISSION_DENIED, retryable: false, when: 'The remote does not let this credential see or do it.' },
  REMOTE_NOT_FOUND: { grpc: GRPC.NOT_FOUND, retryable: false, when: 'The remote has no such object.' },
  REMOTE_PROTOCOL: { grpc: GRPC.INTERNAL, retryable: false, when: 'The remote answered something that is not what the contract says.' },
  REDIRECT_REFUSED: {
    grpc: GRPC.FAILED_PRECONDITION,
    retryable: false,
    when: 'The remote answered with a redirect, which is never followed.',
  },
  RESPONSE_TOO_LARGE: { grpc: GRPC.RESOURCE_EXHAUSTED, retryable: false, when: 'The answer is larger than the contract allows.' },
  HOST_KEY_MISMATCH: { grpc: GRPC.FAILED_PRECONDITION, retryable: false, when: 'The SSH host showed another key than the pinned one.' },
  EGRESS_DENIED: {
    grpc: GRPC.PERMISSION_DENIED,
    retryable: false,
    when: 'The destination resolves to an address its binding does not allow.',
  },
  OUTCOME_UNKNOWN: {
    grpc: GRPC.UNKNOWN,
    retryable: false,
    when: 'A request was sent, and nobody can tell whether it took effect: of this call, or of an equal one before it.',
  },
  LIMIT_EXCEEDED: { grpc: GRPC.RESOURCE_EXHAUSTED, retryable: true, when: 'A limit of this sidecar is used up.' },
  AUDIT_UNAVAILABLE: { grpc: GRPC.UNAVAILABLE, retryable: true, when: 'The record of the call cannot be kept.' },
  DEADLINE_EXCEEDED: { grpc: GRPC.DEADLINE_EXCEEDED, retryable: true, when: 'Nothing usable came before the deadline.' },
  INTERNAL: { grpc: GRPC.INTERNAL, retryable: false, when: 'A fault of Postern itself.' },
} as const satisfies Record<string, ReasonEntry>;

export type Reason = keyof typeof REASONS;

/** Why an answer is not all (design section 5). Few and stable; each makes `complete` false. */
export const INCOMPLETE_REASONS = [
  'MORE_PAGES_AVAILABLE',
  'RESULT_LIMIT_REACHED',
  'TIME_BUDGET_EXCEEDED',
  'SOURCE_UNAVAILABLE',
  'VISIBILITY_RESTRICTED',
  'REMOTE_RATE_LIMITED',
  'CURSOR_EXPIRED',
  'SNAPSHOT_CHANGED',
  'COMPLETENESS_UNPROVEN',
] as const;
export type IncompleteCode = (typeof INCOMPLETE_REASONS)[number];

/** Trust, freshness and interpretation; never makes a result incomplete (design section 5). */
export const WARNING_CODES = [
  'STALE_INDEX',
  'PARTIAL_FIELD_SET',
  'DEFAULT_SCOPE_APPLIED',
  'DEPRECATED_FIELD',
  'VALUE_NORMALIZED',
  'ORDER_REPLACED',
  'UPSTREAM_NOTICE',
  'CREDENTIAL_REFLECTED',
] as const;
export type WarningCode = (typeof WARNING_CODES)[number];
