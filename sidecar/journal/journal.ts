/**
 * Operations that change the world, remembered before they do. Durable where there is a folder for it, and honest about it where not.
 *
 * Every promise below resolves once the record is on disk; a rejection is AUDIT_UNAVAILABLE and means that nothing may be sent.
 */
import type { JsonValue } from '#core/encoding/json-value.ts';
import type { Entry, OperationRecord } from './entry.ts';

export interface Journal {
  /** Whether it outlives the process. */
  readonly durable: boolean;
  /** A new operation, phase planned. Throws IDEMPOTENCY_CONFLICT for an id that is taken by another plan, LIMIT_EXCEEDED when full. */
  plan(record: OperationRecord): Promise<Entry>;
  /**
   * planned -> running. Of all callers, in this process and after every restart, one gets `begun`; to every other it says what is there.
   * After a crash between this and the first intent it can be begun again, since nothing was sent.
   *
   * The record is the use of `approval`: see Uses. An operation that was begun counts, also where it stopped before anything was sent.
   */
  begin(operationId: string, approval?: string): Promise<'begun' | Entry>;
  /**
   * unknown and not resolved -> running, for an operation whose remote knows a repetition: Natural, or Key within its ttl. As with
   * `begin`, of all callers one gets `begun`. Its steps stay; an intent is written again for each that is sent again.
   */
  again(operationId: string): Promise<'begun' | Entry>;
  /** MUST be awaited before the first byte of that request. After a crash, an intent without an end is `unknown`. */
  intent(operationId: string, index: number): Promise<void>;
  step(operationId: string, index: number, state: 'done' | 'notDone' | 'unknown'): Promise<void>;
  /** running -> an end; or planned -> failed. */
  end(operationId: string, phase: 'done' | 'failed' | 'unknown', outcome: JsonValue): Promise<void>;
  /** unknown -> done | failed. Throws INVALID_ARGUMENT when it is not unknown. */
  resolve(operationId: string, verdict: 'done' | 'notDone', by: string): Promise<Entry>;
  /** Anything else that must outlive a restart, by name: questions, decisions, grants. Null forgets it. */
  keep(name: string, value: JsonValue | null): Promise<void>;
  kept(prefix: string): readonly (readonly [string, JsonValue])[];
  /** Operations that were begun with this approval, while anything is kept under a name that ends in `/` and its name. */
  uses(approval: string): number;
  get(operationId: string): Entry | undefined;
  /** Newest first. */
  list(): readonly Entry[];
  /** An operation of this contract and these arguments that is running, or unknown and not resolved. */
  held(contract: string, argsDigest: string): Entry | undefined;
  /** Resolves at the next change of phase of that operation, after `waitMs`, or rejects when `signal` aborts. */
  changed(operationId: string, waitMs: number, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
