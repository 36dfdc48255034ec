/**
 * What the leader makes of one approval as it stands: its state for everyone to read, when to look again, when to delete it. Pure.
 *
 *   question   Waiting -> Approved -> Used      a person said yes, and it ran (a replica writes Used, before the first byte)
 *                      -> Denied | Expired | Voided
 *   hold       UnderWay -> Waiting -> Resolved  nobody could tell, and a person found out
 *                                  -> Expired   nobody did for limits.holdKeptMs: equal calls are possible again
 */
import { limits } from '#core/bounds/limits.ts';
import { secondTime } from '#operator/kube/micro-time.ts';
import type { ApprovalRecord } from '#operator/kube/records.ts';
import { isQuestion, resolutionOf, standingOf } from './standing.ts';

type Status = NonNullable<ApprovalRecord['status']>;
export type State = NonNullable<Status['state']>;

export interface ApprovalFacts {
  /** Why its session can use it no more; undefined while it can. */
  readonly sessionOver: string | undefined;
  /** Since when its session has no stream, Unix time in milliseconds; undefined while it has one. */
  readonly silentSinceMs: number | undefined;
  /** Revision of the contract now; null when there is no such contract, undefined while it is being judged. */
  readonly revision: string | null | undefined;
}

export interface ApprovalStep {
  readonly state: State;
  /** One sentence for people. */
  readonly message: string;
  /** Whether it can be used: yes, not any more, not yet. */
  readonly usable: 'True' | 'False' | 'Unknown';
  readonly decidedAt?: string;
  /** Milliseconds until something changes by itself; undefined: nothing does. */
  readonly afterMs: number | undefined;
  /** It has ended; when it is deleted is counted from when this was first written. */
  readonly ended: boolean;
  /** A person has a day left. */
  readonly warn: boolean;
}

/** `nowMs`: of the API server. */
export function approvalStep(approval: ApprovalRecord, facts: ApprovalFacts, nowMs: number): ApprovalStep {
  const found = isQuestion(approval) ? questionStep(approval, facts, nowMs) : holdStep(approval, facts, nowMs);
  const decided = approval.status?.decision === undefined ? {} : { decidedAt: approval.status.decidedAt ?? secondTime(nowMs) };
  return { afterMs: undefined, warn: false, ended: found.usable === 'False', ...found, ...decided };
}

type Found = Pick<ApprovalStep, 'state' | 'message' | 'usable'> & { readonly afterMs?: number; readonly warn?: boolean };

function questionStep(approval: ApprovalRecord, facts: ApprovalFacts, nowMs: number): Found {
  const { spec, status } = approval;
  const standing = standingOf(approval, nowMs);
  const over = (state: State, message: string): Found => ({ state, message, usable: 'False' });
  switch (standing.kind) {
    case 'denied':
      return over('Denied', 'A person denied it.');
    case 'used':
      return over('Used', 'It was used; the operation is in usedBy.');
    case 'voided':
      return over('Voided', standing.because);
    case 'expired':
      return over('Expired', status?.decision === undefined ? 'Nobody decided in time.' : 'It was approved and not used in time.');
  }
  const because = facts.sessionOver ?? changed(spec.revision, facts.revision);
  if (because !== undefined) return over('Voided', because);
  const afterMs = Math.max(0, Date.parse(spec.expiresAt) - nowMs);
  if (standing.kind === 'approved')
    return { state: 'Approved', message: 'A person approved it; it was not used yet.', usable: 'True', afterMs };
  return { state: 'Waiting', message: 'It waits for a person with the verb approve on its contract.', usable: 'Unknown', afterMs };
}

function changed(asked: string, now: string | null | undefined): string | undefined {
  if (now === null) return 'The contract was deleted.';
  return now === undefined || now === asked ? undefined : 'The contract, a preset or a binding of it was changed after it was asked.';
}

function holdStep(approval: ApprovalRecord, facts: ApprovalFacts, nowMs: number): Found {
  const { spec, status, createdMs } = approval;
  const resolution = resolutionOf(approval);
  if (resolution !== undefined)
    return {
      state: 'Resolved',
      message: `A person found that it was ${resolution.end === 'done' ? 'done' : 'not done'}.`,
      usable: 'False',
    };
  const leftMs = Date.parse(spec.expiresAt) - nowMs;
  if (status?.state === 'Expired' || leftMs <= 0)
    return { state: 'Expired', message: 'Nobody found out whether it happened; equal calls are possible again.', usable: 'False' };
  const lostMs = lostAtMs(createdMs, facts) - nowMs;
  if (status?.state === 'Waiting' || lostMs <= 0) {
    const warn = leftMs <= limits.holdWarnMs;
    const message =
      'It was sent and nobody knows whether it happened; equal calls wait until a person finds out (kubectl postern resolve).';
    return { state: 'Waiting', message, usable: 'Unknown', warn, afterMs: warn ? leftMs : leftMs - limits.holdWarnMs };
  }
  return { state: 'UnderWay', message: 'It was admitted, and its end is not told yet.', usable: 'Unknown', afterMs: lostMs };
}

/** When a hold without a word counts as a question: soon after its stream is gone, and late for one that stands. */
function lostAtMs(createdMs: number, { sessionOver, silentSinceMs }: ApprovalFacts): number {
  if (silentSinceMs !== undefined) return Math.max(createdMs, silentSinceMs) + limits.holdGraceMs;
  return createdMs + (sessionOver === undefined ? limits.holdUntoldMs : limits.holdGraceMs);
}

/** Unix time in milliseconds at which one that has ended is deleted; undefined while that is not written. */
export function deletedAtMs({ status }: Pick<ApprovalRecord, 'status'>): number | undefined {
  const usable = status?.conditions?.find(({ type }) => type === 'Usable');
  return usable?.status === 'False' ? Date.parse(usable.lastTransitionTime) + limits.approvalKeptMs : undefined;
}
