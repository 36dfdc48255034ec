/** Questions and intents in the words of the control protocol, and its answers in ours. */
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import type { CardFacts } from '#core/approval/card-facts.ts';
import { encodeCardFacts } from '#core/approval/decode-card-facts.ts';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { REASONS, type Reason } from '#core/error/reasons.ts';
import {
  type ApprovalRequest,
  ApprovalRequestSchema,
  type ApprovalState,
  type OperationIntentSchema,
  type PlannedOperationSchema,
  type Refused,
} from '#proto/postern/control/v1/control_pb.ts';
import type { Intent, Question, QuestionState } from '#sidecar/approval/decider.ts';

/** Throws LIMIT_EXCEEDED for one the operator would not read. */
export function approvalRequest({ name, alternatives, ...plan }: Question): ApprovalRequest {
  const request = create(ApprovalRequestSchema, {
    name,
    plan: plannedOperation(plan),
    alternatives: alternatives.map(({ name: alternative, ...other }) => ({ name: alternative, plan: plannedOperation(other) })),
  });
  // The frame around it: two tags and two lengths.
  if (toBinary(ApprovalRequestSchema, request).length + 16 > limits.controlMessageBytesMax) throw tooLarge();
  return request;
}

export function operationIntent({ operationId, facts, holds, approval }: Intent): MessageInitShape<typeof OperationIntentSchema> {
  return { plan: plannedOperation({ operationId, facts, cardDigest: '' }), holds, approval: approval ?? '' };
}

interface Planned {
  readonly operationId: string;
  readonly facts: CardFacts;
  readonly cardDigest: string;
}

function plannedOperation({ operationId, facts, cardDigest }: Planned): MessageInitShape<typeof PlannedOperationSchema> {
  return { operationId, factsJson: encodeCardFacts(facts), cardDigest };
}

function tooLarge(): PosternError {
  return new PosternError(
    'LIMIT_EXCEEDED',
    `The facts of this operation are too large to be shown to a person (${limits.controlMessageBytesMax} bytes with all choices). Call with less at once.`,
  );
}

/** Undefined for a refusal, and for a state a newer operator knows. */
export function questionStateOf({ state }: ApprovalState): QuestionState | undefined {
  switch (state.case) {
    case 'waiting':
      return { kind: 'waiting' };
    case 'approved': {
      const { approver, cardDigest, alternative, reason, atMs } = state.value;
      const chosen = alternative === '' ? {} : { alternative };
      return { kind: 'decided', decision: { verdict: 'approved', approver, cardDigest, ...chosen, reason, atMs: Number(atMs) } };
    }
    case 'denied': {
      const { approver, reason, atMs } = state.value;
      return { kind: 'decided', decision: { verdict: 'denied', approver, reason, atMs: Number(atMs) } };
    }
    case 'expired':
      return { kind: 'expired' };
    case 'voided':
      return { kind: 'void', because: state.value.because };
    default:
      return undefined;
  }
}

/** A code that is not known here is a refusal all the same. */
export function refusalOf({ code, message, operationId }: Refused): PosternError {
  const reason: Reason = Object.hasOwn(REASONS, code) ? (code as Reason) : 'CONTRACT_NOT_READY';
  const text = message === '' ? 'The operator refused this operation.' : message;
  return new PosternError(reason, text, operationId === '' ? {} : { details: { operation_id: operationId } });
}
