/** Why an operation is not asked about, or not admitted, in the words a sidecar passes on to its caller. */
import type { Reason } from '#core/error/reasons.ts';

export interface Refusal {
  readonly kind: 'refused';
  readonly code: Reason;
  /** A sentence of our own, with the cure. */
  readonly message: string;
  /** The operation that is in the way. */
  readonly operationId?: string;
  /** For the metric: a closed word. */
  readonly because: RefusedBecause;
}

const REFUSED_BECAUSE = [
  'malformed',
  'not_served',
  'revision',
  'arguments',
  'requester',
  'clock',
  'card',
  'too_many',
  'denied_before',
  'no_approval',
  'denied',
  'expired',
  'used',
  'other_call',
  'busy',
  'unknown_outcome',
  'session',
  'api_server',
] as const;
export type RefusedBecause = (typeof REFUSED_BECAUSE)[number];

export function refusal(code: Reason, because: RefusedBecause, message: string, operationId?: string): Refusal {
  return { kind: 'refused', code, because, message, ...(operationId === undefined ? {} : { operationId }) };
}
