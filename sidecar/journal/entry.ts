/** One operation as the journal keeps it. */
import type { JsonValue } from '#core/encoding/json-value.ts';

/**
 * `planned`: nothing sent, may be waiting for a person. `running`: somebody took it; intents may be out. The other three are ends.
 *
 *   planned -> running -> done | failed | unknown -> (resolved) done | failed
 *   planned -> failed                                 (denied, expired, void, refused before anything was sent)
 */
export type Phase = 'planned' | 'running' | 'done' | 'failed' | 'unknown';

/** Written once, when it is planned. */
export interface OperationRecord {
  readonly operationId: string;
  readonly requestId: string;
  /** The action, and metadata.name of its contract. */
  readonly action: string;
  readonly contract: string;
  readonly revision: string;
  readonly argsDigest: string;
  readonly planDigest: string;
  readonly effect: 'Read' | 'Write' | 'Destructive';
  readonly idempotency: 'None' | 'Natural' | 'Key';
  readonly plannedAtMs: number;
  /** Past it, wall clock, the plan is not begun any more. */
  readonly expiresAtMs: number;
  /** What the caller of the journal needs to make its plan again; at most limits.journalPlanBytesMax as JSON. */
  readonly plan: JsonValue;
}

/** One request of an operation: the only one, or one for each element of a forEach. */
export interface Step {
  readonly index: number;
  /** `sent`: the intent is durable and nothing is known of what came. */
  readonly state: 'sent' | 'done' | 'notDone' | 'unknown';
}

export interface Entry {
  readonly record: OperationRecord;
  readonly phase: Phase;
  /** Name of the approval that was used. */
  readonly approval?: string;
  /** Which use of that approval it is, from 1: of two calls at once one is the last that it covers. */
  readonly use?: { readonly approval: string; readonly nth: number };
  readonly steps: readonly Step[];
  readonly endedAtMs?: number;
  /** What was told to the caller; at most limits.journalOutcomeBytesMax as JSON. */
  readonly outcome?: JsonValue;
  /** A start found it running: the process died before the word about its outcome, so there is none. Planned: before its first request. */
  readonly interrupted?: true;
  readonly resolution?: { readonly verdict: 'done' | 'notDone'; readonly by: string; readonly atMs: number };
}
