/** An operation, a plan and their steps as JSON documents: what `postern operation -o json` prints. Members are absent where nothing is known. */
import {
  type Approval,
  Approval_State,
  Effect,
  type Operation,
  Operation_State,
  type PrepareResponse,
} from '#proto/postern/v1/action_pb.ts';
import { type AnswerDocument, answerDocument } from './answer-document.ts';
import { present } from './field.ts';
import { type StepDocument, stepDocument, wordOf } from './step-document.ts';

export interface ApprovalDocument {
  readonly state: string;
  readonly name?: string;
  readonly expires_at?: string;
  readonly chosen_plan_id?: string;
}

export interface OperationDocument {
  readonly operation_id: string;
  readonly request_id: string;
  readonly action: string;
  readonly effect?: string;
  readonly state: string;
  readonly started_at: string;
  readonly finished_at?: string;
  readonly expires_at?: string;
  readonly approval?: ApprovalDocument;
  readonly error?: { readonly code: string; readonly message: string };
  readonly complete?: boolean;
  readonly returned?: number;
  readonly steps?: readonly StepDocument[];
  readonly resolution?: { readonly done: boolean; readonly resolved_at: string; readonly by: string };
  readonly card?: string;
  readonly card_digest?: string;
  readonly result?: AnswerDocument;
}

export function operationDocument(operation: Operation): OperationDocument {
  const { steps, resolution, error, effect, approval, result } = operation;
  return {
    operation_id: operation.operationId,
    request_id: operation.requestId,
    action: operation.action,
    state: wordOf(Operation_State, operation.state),
    started_at: operation.startedAt,
    ...present({
      effect: effect === Effect.UNSPECIFIED ? undefined : wordOf(Effect, effect),
      finished_at: operation.finishedAt || undefined,
      expires_at: operation.expiresAt || undefined,
      approval: approval === undefined ? undefined : approvalDocument(approval),
      error: error === undefined ? undefined : { code: error.code, message: error.message },
      complete: operation.complete,
      returned: operation.returned,
      steps: steps.length === 0 ? undefined : steps.map(stepDocument),
      resolution: resolution === undefined ? undefined : { done: resolution.done, resolved_at: resolution.resolvedAt, by: resolution.by },
      card: operation.card || undefined,
      card_digest: operation.cardDigest || undefined,
      result: result === undefined ? undefined : answerDocument(result),
    }),
  };
}

/** What Prepare answers. */
export function planDocument(plan: PrepareResponse) {
  const { approval } = plan;
  return {
    plan_id: plan.planId,
    summary: plan.summary,
    card: plan.card,
    card_digest: plan.cardDigest,
    plan_digest: plan.planDigest,
    expires_at: plan.expiresAt,
    ...present({ approval: approval === undefined ? undefined : approvalDocument(approval) }),
    alternatives: plan.alternatives.map(({ planId, name, card, cardDigest }) => ({ plan_id: planId, name, card, card_digest: cardDigest })),
  };
}

function approvalDocument({ state, name, expiresAt, chosenPlanId }: Approval): ApprovalDocument {
  return {
    state: wordOf(Approval_State, state),
    ...present({ name: name || undefined, expires_at: expiresAt || undefined, chosen_plan_id: chosenPlanId || undefined }),
  };
}
