/** What the leader does about one session, from facts alone. */
import { limits } from '#core/bounds/limits.ts';
import { secondTime } from '#operator/kube/micro-time.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { type SessionFacts, type SessionVerdict, sessionState } from './state.ts';

/** The leader's part of the status. */
export interface LeaderStatus {
  readonly state: SessionVerdict['state'];
  readonly because?: string;
  readonly imageDigest?: string;
  readonly startedAt?: string;
  readonly endedAt?: string;
}

export interface SessionStep {
  readonly status: LeaderStatus;
  /**
   * First take the pod away as its owner. Else the garbage collector would delete the session with the pod, and with it the memory that
   * keeps the next pod of this controller suspended.
   */
  readonly outlivesPod: boolean;
  /** Milliseconds until it is to be deleted; 0: now. Undefined before its end. */
  readonly deleteInMs: number | undefined;
}

export interface SessionInput {
  readonly session: SessionRecord;
  readonly facts: SessionFacts;
  /** Of the agent's image, once it has started. */
  readonly imageDigest: string | undefined;
}

export function sessionStep({ session: { status }, facts, imageDigest }: SessionInput, nowMs: number): SessionStep {
  const verdict = sessionState(facts);
  const { state, because } = verdict;
  const started = status?.startedAt ?? (facts.acknowledged ? secondTime(nowMs) : undefined);
  const ended = status?.endedAt ?? (state === 'Ended' ? secondTime(nowMs) : undefined);
  const digest = status?.imageDigest ?? imageDigest;
  const was = status?.state;
  return {
    status: {
      state,
      ...(because === undefined ? {} : { because }),
      ...(digest === undefined ? {} : { imageDigest: digest }),
      ...(started === undefined ? {} : { startedAt: started }),
      ...(ended === undefined ? {} : { endedAt: ended }),
    },
    outlivesPod: facts.revoked && was !== 'Revoked' && was !== 'Ended',
    deleteInMs: ended === undefined ? undefined : Math.max(0, Date.parse(ended) + limits.sessionKeptMs - nowMs),
  };
}
