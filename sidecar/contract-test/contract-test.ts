/**
 * A ContractTest object, read and expanded: recorded exchanges, and the outcome a contract must make of them.
 *
 * A test is a chain of calls. Each call has exchanges of its own; the second and later ones go on with the cursor
 * the call before them returned. File format: docs/contract-test.md.
 */
import type { JsonValue } from '#core/contract/compiled.ts';
import type { IncompleteCode, Reason, WarningCode } from '#core/error/reasons.ts';

export interface ContractTest {
  readonly name: string;
  readonly namespace: string;
  /** Where it was read from, for reports. */
  readonly file?: string;
  /** metadata.name of an ActionContract. */
  readonly contract: string;
  readonly arguments: Readonly<Record<string, JsonValue>>;
  /** Wall clock at the first call, milliseconds since the Unix epoch. */
  readonly nowMs: number;
  readonly onePage: boolean;
  /** The caller's deadline of each call. */
  readonly deadlineMs?: number;
  /** At least one; the second and later ones are `resume`. */
  readonly calls: readonly RecordedCall[];
}

export interface RecordedCall {
  /** How far the clock moves before this call, milliseconds. */
  readonly afterMs: number;
  readonly exchanges: readonly RecordedExchange[];
  readonly expect: Expectation;
}

/** What is asked for, as a pattern. Members that are not named are not looked at. */
export interface RequestPattern {
  /** Canonical origin; needed only where sources of one contract have different ones. */
  readonly origin?: string;
  readonly method: string;
  /** As on the wire, percent-encoded, without the query. */
  readonly path: string;
  /** Decoded values in order; `null`: the parameter must be absent. */
  readonly query: Readonly<Record<string, readonly string[] | null>>;
  /** Lower-case names; `null`: the header must be absent. */
  readonly headers: Readonly<Record<string, string | null>>;
  /** JSON and form bodies by member, recursively; a string: the whole text. */
  readonly body?: JsonValue;
}

export interface RecordedResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array;
  readonly fault?: 'cut' | 'unframed';
}

export interface RecordedFailure {
  readonly kind: 'failure';
  readonly failure: 'unreachable' | 'timedOut' | 'protocol';
}

export interface RecordedExchange {
  readonly request: RequestPattern;
  readonly answer: RecordedResponse | RecordedFailure;
  /** How far the clock moves before the answer is there, milliseconds. */
  readonly afterMs: number;
}

export type ContinuationKind = 'next_cursor' | 'retry_after' | 'narrow_query' | 'retry_with_deadline' | 'restart' | 'none';

export interface Expectation {
  readonly status: 'ok' | 'partial' | 'error';
  readonly code?: Reason;
  /** As a set, exact. */
  readonly reasons: readonly IncompleteCode[];
  /** As a set, exact. */
  readonly warnings: readonly WarningCode[];
  readonly continuation: ContinuationKind;
  /** Rows this call returned, after de-duplication. */
  readonly items?: number;
  readonly data?: JsonValue;
  readonly omitted?: readonly { readonly path: string; readonly cause: string }[];
  readonly consistency?: 'checked' | 'declared' | 'single_page' | 'unproven';
  readonly retryAfterMs?: number;
  /** Names in `sources` of the reasons, as a set, exact. */
  readonly sources?: readonly string[];
  /** Exchanges that may be left over. */
  readonly unconsumed: number;
}
