/**
 * postern.v1.ActionService: decode, call, encode. No decision is made here.
 *
 * The deadline of a call is the shorter of the request's own and of the gRPC deadline less a margin, so that a walk cut by
 * time still has time to say so; the contract's own time bounds it in any case.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { CallInfo, Implementation } from '#core/runtime/grpc-call.ts';
import { completenessMessage, omittedFieldMessage, warningMessage } from '#core/wire/completeness-message.ts';
import { type ActionService, type ExecuteRequest, type ExecuteResponseSchema, Result_Status } from '#proto/postern/v1/action_pb.ts';
import type { Calls, ExecuteCall, ExecuteResult, Progress } from '#sidecar/call/calls.ts';
import { actionMessage, operationMessage } from './message.ts';

export function actionService(calls: Calls): Implementation<typeof ActionService> {
  return {
    async listActions() {
      return { actions: calls.list().map(actionMessage) };
    },
    async execute(request, info, send) {
      const { requestId, signal } = info;
      const onProgress = (progress: Progress) => send(progressEvent(progress));
      const result = await calls.execute(executeCall(request, info), { requestId, signal, onProgress });
      send({ event: { case: 'result', value: resultMessage(result) } });
    },
    async prepare() {
      throw notServedYet();
    },
    async confirm() {
      throw notServedYet();
    },
    async getOperation({ operationId, waitMs }, { signal }) {
      return { operation: operationMessage(await calls.getOperation(operationId, waitMs, signal)) };
    },
    async listOperations() {
      const { operations, dropped, keptMax } = calls.listOperations();
      return { operations: operations.map(operationMessage), dropped, keptMax };
    },
  };
}

function executeCall(request: ExecuteRequest, info: CallInfo): ExecuteCall {
  const deadlineMs = deadlineOf(request.deadlineMs, info.timeoutMs);
  return {
    action: request.action,
    argumentsJson: request.argumentsJson,
    onePage: request.onePage,
    ...(request.cursor === '' ? {} : { cursor: request.cursor }),
    ...(request.operationId === '' ? {} : { operationId: request.operationId }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
}

/** `asked`: the request's own, 0 for none. `waited`: how long the caller's gRPC deadline lets us answer. */
function deadlineOf(asked: number, waited: number | undefined): number | undefined {
  const margin = waited === undefined ? 0 : Math.min(limits.answerMarginMsMax, waited * ANSWER_MARGIN_SHARE);
  const bounds = [...(asked > 0 ? [asked] : []), ...(waited === undefined ? [] : [waited - margin])];
  return bounds.length === 0 ? undefined : Math.max(1, Math.round(Math.min(...bounds)));
}

/** Share of a short gRPC deadline that is kept for the answer. */
const ANSWER_MARGIN_SHARE = 0.1;

type ExecuteEvent = MessageInitShape<typeof ExecuteResponseSchema>;

function progressEvent({ pages, items, source, waitingMs }: Progress): ExecuteEvent {
  return {
    event: {
      case: 'progress',
      value: { pages, items, source, waitingMs: Math.round(waitingMs ?? 0) },
    },
  };
}

function resultMessage(result: ExecuteResult) {
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
  };
}

function notServedYet(): PosternError {
  return new PosternError('CONTRACT_NOT_READY', 'This release serves reads by Execute; plans and approvals are not served yet.');
}
