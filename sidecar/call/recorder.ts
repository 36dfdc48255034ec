/**
 * Who is told of a call before its first byte is sent and after its outcome is known. A recorder that throws stops
 * the call: record before act, stop on doubt (design section 2.9).
 */
import type { Envelope } from '#core/completeness/envelope.ts';
import type { PosternError } from '#core/error/postern-error.ts';
import type { Passed } from './gate.ts';
import type { Plan, Target } from './plan.ts';

export type CallEnd =
  | { readonly kind: 'answered'; readonly envelope: Omit<Envelope, 'data'>; readonly bytes: number }
  | { readonly kind: 'failed'; readonly error: PosternError };

export interface ReplayedCall {
  readonly requestId: string;
  readonly operationId: string;
  readonly action: string;
}

export interface Recorder {
  /**
   * MUST resolve before the first byte is sent. A rejection is answered AUDIT_UNAVAILABLE and nothing is sent. `target`: of an effect, told
   * for each of its requests.
   */
  intent(passed: Passed, target?: Target): Promise<void> | void;
  /** What became of a cursor that was given back; told before the call goes on or ends. */
  cursorUsed(action: string, outcome: 'resumed' | 'invalid' | 'expired'): void;
  /** Told once for every call whose intent was asked for, also when that failed. */
  outcome(plan: Plan, end: CallEnd, durationMs: number): Promise<void> | void;
  /** A call was answered with what the journal knows of its operation; nothing was sent. */
  replayed(call: ReplayedCall): void;
  /** A call that ended before its intent: refused arguments, unknown actions. `action` only when it is one we serve. */
  refused(call: { readonly requestId: string; readonly action?: string }, error: PosternError, durationMs: number): void;
}
