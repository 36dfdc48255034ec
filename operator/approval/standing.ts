/** Where a question stands, as a value: what is told to the one who asks, and what the leader writes for everyone. */
import { limits } from '#core/bounds/limits.ts';
import type { ApprovalRecord } from '#operator/kube/records.ts';

export type Standing =
  | { readonly kind: 'waiting' }
  | {
      readonly kind: 'approved';
      readonly approver: string;
      readonly cardDigest: string;
      readonly alternative: string;
      readonly reason: string;
      /** Unix time in milliseconds. */
      readonly atMs: number;
    }
  | { readonly kind: 'denied'; readonly approver: string; readonly reason: string; readonly atMs: number }
  | { readonly kind: 'expired' }
  | { readonly kind: 'voided'; readonly because: string }
  | { readonly kind: 'used' };

type Judged = Pick<ApprovalRecord, 'spec' | 'status'>;

/** Of a question of purpose Call. `nowMs`: of the API server. */
export function standingOf({ spec, status }: Judged, nowMs: number): Standing {
  const { state, decision } = status ?? {};
  const atMs = Date.parse(status?.decidedAt ?? '') || nowMs;
  if (decision?.verdict === 'Denied') return { kind: 'denied', approver: decision.approver, reason: decision.reason ?? '', atMs };
  if (state === 'Voided') return { kind: 'voided', because: voidedBecause(status) };
  if (state === 'Used') return { kind: 'used' };
  if (state === 'Expired' || Date.parse(spec.expiresAt) <= nowMs) return { kind: 'expired' };
  if (decision?.verdict !== 'Approved') return { kind: 'waiting' };
  const { approver, cardDigest, alternative = '', reason = '' } = decision;
  return { kind: 'approved', approver, cardDigest, alternative, reason, atMs };
}

function voidedBecause(status: ApprovalRecord['status']): string {
  const usable = status?.conditions?.find(({ type }) => type === 'Usable');
  return usable?.message ?? 'What was asked is not so any more.';
}

export function isQuestion({ spec }: Judged): boolean {
  return spec.purpose === 'Call';
}

/** Waits for a person; also a hold that nobody could settle. */
export function isWaiting(approval: Judged, nowMs: number): boolean {
  if (isQuestion(approval)) return standingOf(approval, nowMs).kind === 'waiting';
  return approval.status?.state === 'Waiting' && approval.status.decision === undefined;
}

/** What a person found out; undefined while nobody has. */
export function resolutionOf({ spec, status }: Judged): { readonly end: 'done' | 'notDone'; readonly by: string } | undefined {
  const { verdict, approver = '' } = status?.decision ?? {};
  if (spec.purpose !== 'Resolve' || (verdict !== 'Done' && verdict !== 'NotDone')) return undefined;
  return { end: verdict === 'Done' ? 'done' : 'notDone', by: approver };
}

/** Whether a name that is taken may be taken by the next equal call: a person has decided, or nobody did for as long as it is kept. */
export function isOver(hold: Judged, nowMs: number): boolean {
  return resolutionOf(hold) !== undefined || hold.status?.state === 'Expired' || Date.parse(hold.spec.expiresAt) <= nowMs;
}

/** The same call was denied so recently that it is not asked again; milliseconds left, 0 when it may be. */
export function coolDownMs(questions: Iterable<Judged>, contract: string, argsDigest: string, nowMs: number): number {
  let leftMs = 0;
  for (const { spec, status } of questions) {
    if (spec.contract !== contract || spec.argumentsDigest !== argsDigest || status?.decision?.verdict !== 'Denied') continue;
    const deniedMs = Date.parse(status.decidedAt ?? '') || nowMs;
    leftMs = Math.max(leftMs, deniedMs + limits.approvalCooldownMs - nowMs);
  }
  return leftMs;
}
