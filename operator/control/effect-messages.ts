/** Messages about effects in the words of operator/approval, and its answers in those of the protocol. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Refusal } from '#operator/approval/refusal.ts';
import type { AskedQuestion, IntendedOperation, SettledOperation } from '#operator/approval/register.ts';
import type { Standing } from '#operator/approval/standing.ts';
import {
  type ApprovalRequest,
  type ApprovalStateSchema,
  type ConnectResponseSchema,
  OperationEnd,
  type OperationIntent,
  type OperationSettled,
  type PlannedOperation as PlannedMessage,
} from '#proto/postern/control/v1/control_pb.ts';

export type Told = NonNullable<MessageInitShape<typeof ConnectResponseSchema>['message']>;

export function askedQuestion({ name, plan, alternatives }: ApprovalRequest): AskedQuestion {
  return { name, plan: planOf(plan), alternatives: alternatives.map(({ name: other, plan: its }) => ({ name: other, plan: planOf(its) })) };
}

export function intendedOperation({ plan, holds, approval }: OperationIntent): IntendedOperation {
  return { plan: planOf(plan), holds, approval };
}

/** Undefined for an end that is none. */
export function settledOperation({ operationId, contract, argumentsDigest, end }: OperationSettled): SettledOperation | undefined {
  const word = ENDS[end];
  return word === undefined ? undefined : { operationId, contract, argsDigest: argumentsDigest, end: word };
}

const ENDS: Readonly<Partial<Record<OperationEnd, SettledOperation['end']>>> = {
  [OperationEnd.DONE]: 'done',
  [OperationEnd.NOT_DONE]: 'notDone',
  [OperationEnd.UNKNOWN]: 'unknown',
};

/** An absent plan is one without facts, which nobody can read. */
function planOf(plan: PlannedMessage | undefined): AskedQuestion['plan'] {
  return { operationId: plan?.operationId ?? '', factsJson: plan?.factsJson ?? new Uint8Array(), cardDigest: plan?.cardDigest ?? '' };
}

/** A used one is over for whoever asks again; the one who used it is not told that. */
export function approvalTold(name: string, answer: Standing | Refusal): Told {
  return { case: 'approval', value: { name, state: stateOf(answer) } };
}

function stateOf(answer: Standing | Refusal): NonNullable<MessageInitShape<typeof ApprovalStateSchema>['state']> {
  switch (answer.kind) {
    case 'refused':
      return { case: 'refused', value: refusedValue(answer) };
    case 'waiting':
      return { case: 'waiting', value: {} };
    case 'approved': {
      const { approver, cardDigest, alternative, reason, atMs } = answer;
      return { case: 'approved', value: { approver, cardDigest, alternative, reason, atMs: BigInt(Math.round(atMs)) } };
    }
    case 'denied':
      return { case: 'denied', value: { approver: answer.approver, reason: answer.reason, atMs: BigInt(Math.round(answer.atMs)) } };
    case 'voided':
      return { case: 'voided', value: { because: answer.because } };
    case 'expired':
    case 'used':
      return { case: 'expired', value: {} };
  }
}

export function verdictTold(operationId: string, answer: 'admitted' | Refusal): Told {
  const verdict =
    answer === 'admitted' ? ({ case: 'admitted', value: {} } as const) : ({ case: 'refused', value: refusedValue(answer) } as const);
  return { case: 'verdict', value: { operationId, verdict } };
}

export function resolutionTold(operationId: string, { end, by }: { readonly end: 'done' | 'notDone'; readonly by: string }): Told {
  return { case: 'resolved', value: { operationId, end: end === 'done' ? OperationEnd.DONE : OperationEnd.NOT_DONE, by } };
}

function refusedValue({ code, message, operationId = '' }: Refusal) {
  return { code, message, operationId };
}
