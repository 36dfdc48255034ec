/** What a caller is told of an operation that it cannot have the result of now. */
import { PosternError } from '#core/error/postern-error.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import type { EffectPlan } from './plan.ts';

/** The same call again goes on with the same operation once the person has agreed. */
export function askedError(
  { needs, card, cardDigest }: Pick<EffectPlan, 'needs' | 'card' | 'cardDigest'>,
  { record }: Entry,
): PosternError {
  const approval = needs.kind === 'person' ? needs.question : '';
  const expiresAt = new Date(record.expiresAtMs).toISOString();
  return new PosternError(
    'APPROVAL_REQUIRED',
    'A person must agree first, and is asked. Wait with GetOperation, then call again with this operation_id.',
    {
      operationId: record.operationId,
      details: { approval, card_digest: cardDigest, expires_at: expiresAt },
      operation: { approval, card, cardDigest, expiresAt },
    },
  );
}

export function unknownOperationError(): PosternError {
  return new PosternError('INVALID_ARGUMENT', 'No such operation is remembered; it may have been forgotten after its time.', {
    fields: [
      {
        path: '/operation_id',
        rule: 'unknown_operation',
        message: 'Use an operation_id of a call this sidecar answered, or leave it out to make a new operation.',
      },
    ],
  });
}

export function otherCallError(operationId: string): PosternError {
  return new PosternError(
    'IDEMPOTENCY_CONFLICT',
    'This operation_id belongs to a call with other arguments; leave it out to make a new operation.',
    {
      operationId,
    },
  );
}

/** `operationId`: of the call that differs in its reason alone. */
export function busyError(operationId: string): PosternError {
  return new PosternError('IDEMPOTENCY_BUSY', 'The same call, with another reason, is running; wait for it with GetOperation.', {
    operationId,
  });
}

/** `operationId`: of the equal call that is in doubt. */
export function heldError(operationId: string): PosternError {
  return new PosternError(
    'OUTCOME_UNKNOWN',
    'An equal call was sent before, and nobody knows whether it took effect. It is not sent again until that is found out; GetOperation tells.',
    { operationId, details: { held_by: operationId } },
  );
}

/** The caller left, or its time was over. */
export function runsOnError(operationId: string, isDispatched: boolean): PosternError {
  if (!isDispatched)
    return new PosternError('DEADLINE_EXCEEDED', 'The time of this call was over before anything was sent.', { operationId });
  return new PosternError(
    'OUTCOME_UNKNOWN',
    'The request was sent, and its outcome had not come when your time was over. It runs on; GetOperation tells.',
    {
      operationId,
      details: { because: 'running' },
    },
  );
}
