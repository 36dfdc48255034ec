/**
 * The completeness envelope (design section 5), as a value. The wire form is proto/postern/v1/completeness.proto.
 *
 * Invariant, property-tested: complete <=> no reasons <=> status `ok`.
 */

import type { JsonValue } from '#core/contract/compiled.ts';
import type { IncompleteCode, WarningCode } from '#core/error/reasons.ts';

export interface IncompleteReason {
  readonly code: IncompleteCode;
  /** Our own sentence; upstream text never. */
  readonly message: string;
  readonly origin: 'sidecar' | 'upstream';
  /** Which limit stopped the walk, with its value: `{pages: 10}`, `{items: 500}`, `{bytes: ..}`, `{time_ms: ..}`, `{message_bytes: ..}`, `{total: 1000}`. */
  readonly limit?: Readonly<Record<string, number>>;
  readonly sources?: readonly string[];
  /** Name of the contract's rule that found it. */
  readonly rule?: string;
}

export interface RaisedWarning {
  readonly code: WarningCode;
  readonly name?: string;
  readonly message: string;
  readonly source?: string;
  /** RFC 3339; the observed revision or time of stale data. */
  readonly observed_at?: string;
  readonly observed_age_ms?: number;
  readonly fields?: readonly string[];
  /** Sanitized, capped text of the upstream, for UPSTREAM_NOTICE. */
  readonly detail?: string;
  readonly owner?: string;
  /** RFC 3339 day. */
  readonly expires_at?: string;
}

export interface OmittedField {
  readonly path: string;
  readonly cause: 'NOT_REQUESTED' | 'NOT_PERMITTED' | 'SOURCE_FAILED' | 'ABSENT' | 'UNKNOWN';
}

export type Continuation =
  | {
      readonly kind: 'next_cursor';
      readonly cursor: string;
      readonly expires_at?: string;
      readonly snapshot: 'frozen' | 'moving';
      readonly invalidated_by: readonly string[];
    }
  | {
      readonly kind: 'retry_after';
      readonly retry_after_ms: number;
      readonly retry_at: string;
      readonly cursor?: string;
      readonly expires_at?: string;
    }
  | { readonly kind: 'narrow_query'; readonly arguments: readonly string[] }
  | { readonly kind: 'retry_with_deadline'; readonly deadline_ms: number }
  | { readonly kind: 'restart' }
  | { readonly kind: 'none' };

export interface Scope {
  readonly resource: string;
  readonly visibility: string;
  readonly exclusions: readonly string[];
  readonly absence: 'provable' | 'never';
  readonly snapshot?: string;
  readonly consistency: 'checked' | 'declared' | 'single_page' | 'unproven';
}

export interface SourceState {
  readonly name: string;
  readonly state: 'complete' | 'partial' | 'unavailable' | 'denied' | 'rate_limited' | 'expired' | 'not_asked';
  readonly returned: number;
  readonly snapshot?: string;
}

export interface Completeness {
  readonly complete: boolean;
  readonly truncated: boolean;
  readonly incomplete_reasons: readonly IncompleteReason[];
  readonly continuation: Continuation;
  readonly scope: Scope;
  readonly page: {
    readonly returned: number;
    readonly requested_size?: number;
    readonly ordering?: string;
    /** The whole walk from its first page, over all calls. `at_least`/`about`: what totals say. */
    readonly walk: { readonly returned: number; readonly calls: number; readonly pages: number };
    readonly at_least?: number;
    readonly about?: number;
  };
  readonly sources: readonly SourceState[];
  readonly budget: { readonly deadline_ms: number; readonly spent_ms: number; readonly waited_ms: number };
}

export interface Envelope {
  readonly status: 'ok' | 'partial';
  readonly completeness: Completeness;
  readonly warnings: readonly RaisedWarning[];
  readonly omitted_fields: readonly OmittedField[];
  /** The member `as` of data holds this: rows, one object, or aggregates. */
  readonly data: Readonly<Record<string, JsonValue>>;
}
