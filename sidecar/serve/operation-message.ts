/** Results, plans and operations as messages of postern.v1. */
import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { completenessMessage, omittedFieldMessage, warningMessage } from '#core/wire/completeness-message.ts';
import { present } from '#core/wire/field.ts';
import {
  Approval_State,
  type ApprovalSchema,
  type Operation,
  Operation_State,
  OperationSchema,
  type PrepareResponseSchema,
  Result_Status,
  type ResultSchema,
  Step_State,
  type StepSchema,
} from '#proto/postern/v1/action_pb.ts';
import type { ApprovalView, ExecuteResult, OperationView, PlanView, StepView } from '#sidecar/call/calls.ts';
import { EFFECT } from './message.ts';

const STATE = {
  planned: Operation_State.PLANNED,
  running: Operation_State.RUNNING,
  done: Operation_State.DONE,
  failed: Operation_State.FAILED,
  unknown: Operation_State.UNKNOWN,
} as const;
const STEP = {
  done: Step_State.DONE,
  refused: Step_State.REFUSED,
  untouched: Step_State.UNTOUCHED,
  unknown: Step_State.UNKNOWN,
  sent: Step_State.SENT,
} as const;
const APPROVAL = {
  notNeeded: Approval_State.NOT_NEEDED,
  waiting: Approval_State.WAITING,
  approved: Approval_State.APPROVED,
  denied: Approval_State.DENIED,
  expired: Approval_State.EXPIRED,
  void: Approval_State.VOID,
  used: Approval_State.USED,
} as const;

export function resultMessage(result: ExecuteResult): MessageInitShape<typeof ResultSchema> {
  const { envelope } = result;
  return {
    status: envelope.status === 'ok' ? Result_Status.OK : Result_Status.PARTIAL,
    requestId: result.requestId,
    operationId: result.operationId,
    action: result.action,
    revision: result.revision,
    data: result.dataJson,
    completeness: completenessMessage(envelope.completeness),
    warnings: envelope.warnings.map(warningMessage),
    omittedFields: envelope.omitted_fields.map(omittedFieldMessage),
    evidence: result.evidence ?? '',
    steps: (result.steps ?? []).map(stepMessage),
  };
}

export function planMessage(plan: PlanView): MessageInitShape<typeof PrepareResponseSchema> {
  return {
    planId: plan.planId,
    card: plan.card,
    cardDigest: plan.cardDigest,
    expiresAt: timeOf(plan.expiresAtMs),
    approval: approvalMessage(plan.approval),
    planDigest: plan.planDigest,
    alternatives: plan.alternatives.map((choice) => ({ ...choice })),
    summary: plan.summary,
  };
}

export function operationMessage(operation: OperationView): Operation {
  const { error, approval, result, card, resolution, effect } = operation;
  return create(OperationSchema, {
    operationId: operation.operationId,
    requestId: operation.requestId,
    action: operation.action,
    state: STATE[operation.state],
    startedAt: timeOf(operation.startedAtMs),
    finishedAt: timeOf(operation.finishedAtMs),
    steps: (operation.steps ?? []).map(stepMessage),
    expiresAt: timeOf(operation.expiresAtMs),
    ...present({
      error: error === undefined ? undefined : { code: error.reason, message: error.message },
      complete: operation.complete,
      returned: operation.returned,
      effect: effect === undefined ? undefined : EFFECT[effect],
      approval: approval === undefined ? undefined : approvalMessage(approval),
      result: result === undefined ? undefined : resultMessage(result),
      card: card?.text,
      cardDigest: card?.digest,
      resolution:
        resolution === undefined
          ? undefined
          : { done: resolution.verdict === 'done', resolvedAt: timeOf(resolution.atMs), by: resolution.by },
    }),
  });
}

function approvalMessage({ state, name, expiresAtMs, chosenPlanId }: ApprovalView): MessageInitShape<typeof ApprovalSchema> {
  return { state: APPROVAL[state], name: name ?? '', expiresAt: timeOf(expiresAtMs), chosenPlanId: chosenPlanId ?? '' };
}

function stepMessage({ index, elementJson, state, error }: StepView): MessageInitShape<typeof StepSchema> {
  return {
    index,
    elementJson: elementJson ?? '',
    state: STEP[state],
    ...(error === undefined ? {} : { error: { code: error.reason, message: error.message } }),
  };
}

/** RFC 3339; empty for none. */
function timeOf(ms: number | undefined): string {
  return ms === undefined ? '' : new Date(ms).toISOString();
}
