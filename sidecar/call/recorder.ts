/**
 * Who is told of a call before its first byte is sent and after its outcome is known. A recorder that throws stops
 * the call: record before act, stop on doubt (design section 2.9).
 */
import type { Envelope } from '#core/completeness/envelope.ts';
import type { PosternError } from '#core/error/postern-error.ts';
import type { OperationRecord } from '#sidecar/journal/entry.ts';
import type { Passed } from './gate.ts';
import type { Plan, Target } from './plan.ts';

export type CallEnd = (
  | { readonly kind: 'answered'; readonly envelope: Omit<Envelope, 'data'>; readonly bytes: number }
  | { readonly kind: 'failed'; readonly error: PosternError }
) & {
  /** How often the remote answered with which status; absent where it was not asked. */
  readonly remote?: Readonly<Record<string, number>> | undefined;
};

export interface ReplayedCall {
  readonly requestId: string;
  readonly operationId: string;
  readonly action: string;
}

/** One request of an effect. */
export interface SentStep {
  readonly target: Target;
  /** Whose yes it rests on, as whoever decides names that person; untrusted text. */
  readonly approver?: string;
}

/** A call that ended before its intent. */
export interface RefusedCall {
  readonly requestId: string;
  /** Only when it is one we serve. */
  readonly action?: string;
  /** As it was asked for; untrusted text that may hold anything. */
  readonly asked: string;
}

export interface Recorder {
  /** Why records are not taken at the moment: a read is not sent then before its intent is kept. */
  readonly fault?: string | undefined;
  /**
   * Of an effect: MUST resolve before the first byte is sent; told for each of its requests. Of a read: before its rows are given. A rejection
   * is answered AUDIT_UNAVAILABLE, with nothing sent or nothing given.
   */
  intent(passed: Passed, step?: SentStep): Promise<void> | void;
  /** What became of a cursor that was given back; told before the call goes on or ends. */
  cursorUsed(action: string, outcome: 'resumed' | 'invalid' | 'expired'): void;
  /** Told once for every call whose intent was asked for, also when that failed. An effect is answered once it has resolved. */
  outcome(plan: Plan, end: CallEnd, durationMs: number): Promise<void> | void;
  /** A call was answered with what the journal knows of its operation; nothing was sent. */
  replayed(call: ReplayedCall): void;
  /** Refused arguments, unknown actions, no standing, no yes of a person. */
  refused(call: RefusedCall, error: PosternError, durationMs: number): void;
  /** What became of an effect was found out later than by its own end. */
  found(operation: OperationRecord, found: FoundOutcome): void;
}

export interface FoundOutcome {
  /** `notDone`: nothing of it took effect. */
  readonly verdict: 'done' | 'notDone' | 'unknown';
  /** A start that found it without an end, the read that tells, or a person, whose name is untrusted text. */
  readonly by: 'start' | 'read' | { readonly person: string };
}
