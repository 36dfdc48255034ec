/**
 * postern.v1.ActionService: decode, call, encode. No decision is made here.
 *
 * The deadline of a call is the shorter of the request's own and of the gRPC deadline less a margin, so that a walk cut by
 * time still has time to say so; the contract's own time bounds it in any case.
 */
import { limits } from '#core/bounds/limits.ts';
import type { CallInfo, Implementation } from '#core/runtime/grpc-call.ts';
import type { ActionService, ExecuteRequest } from '#proto/postern/v1/action_pb.ts';
import type { Calls, ExecuteCall, Progress } from '#sidecar/call/calls.ts';
import { actionMessage } from './message.ts';
import { operationMessage, planMessage, resultMessage } from './operation-message.ts';

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
    async prepare(request, info) {
      const { requestId, signal } = info;
      const deadlineMs = deadlineOf(request.deadlineMs, info.timeoutMs);
      const call = {
        action: request.action,
        argumentsJson: request.argumentsJson,
        ...(request.evidence.length === 0 ? {} : { evidence: request.evidence }),
        ...(request.operationId === '' ? {} : { operationId: request.operationId }),
        ...(deadlineMs === undefined ? {} : { deadlineMs }),
      };
      return planMessage(await calls.prepare(call, { requestId, signal, onProgress: () => {} }));
    },
    async confirm({ planId, deadlineMs: asked }, info, send) {
      const { requestId, signal } = info;
      const deadlineMs = deadlineOf(asked, info.timeoutMs);
      const onProgress = (progress: Progress) => send(progressEvent(progress));
      const call = { planId, ...(deadlineMs === undefined ? {} : { deadlineMs }) };
      const result = await calls.confirm(call, { requestId, signal, onProgress });
      send({ event: { case: 'result', value: resultMessage(result) } });
    },
    async getOperation({ operationId, waitMs }, { signal }) {
      return { operation: operationMessage(await calls.getOperation(operationId, waitMs, signal)) };
    },
    async listOperations() {
      const { operations, dropped, keptMax, durable } = calls.listOperations();
      return { operations: operations.map(operationMessage), dropped, keptMax, durable };
    },
  };
}

function executeCall(request: ExecuteRequest, info: CallInfo): ExecuteCall {
  const deadlineMs = deadlineOf(request.deadlineMs, info.timeoutMs);
  return {
    action: request.action,
    argumentsJson: request.argumentsJson,
    onePage: request.onePage,
    ...(request.evidence.length === 0 ? {} : { evidence: request.evidence }),
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

/** Of Execute and of Confirm. */
function progressEvent({ pages, items, source, waitingMs }: Progress) {
  return { event: { case: 'progress' as const, value: { pages, items, source, waitingMs: Math.round(waitingMs ?? 0) } } };
}
