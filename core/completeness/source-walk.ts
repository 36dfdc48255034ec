/**
 * The state of a walk over one source, and what goes in and out of it.
 *
 * `SourceWalk` is plain JSON: it is what a cursor seals, so that `complete` speaks for the walk from its first
 * page. Everything the verdict needs is in it; nothing of the remote's text is, but cursors, ids as digests, and
 * sanitized details of warnings.
 */
import type { CompiledContract, JsonValue, TotalRelation, WayOn } from '#core/contract/compiled.ts';
import type { IncompleteCode, Reason } from '#core/error/reasons.ts';
import type { Completeness, Envelope, OmittedField, RaisedWarning } from './envelope.ts';

/** Plain JSON, versioned, at most limits.cursorBytesMax once sealed. */
export interface SourceWalk {
  readonly version: 1;
  readonly source: string;
  /** Values of `$(next.NAME)` for the next request; absent names leave their parameter out. */
  readonly next: Readonly<Record<string, JsonValue>>;
  /** Digests of the last requests of this walk, joined; see trail.ts. */
  readonly trail?: string;
  /** Followed URL for the next request (path and query only), when `paging.follow` is used. */
  readonly follow?: string;
  /** Values of `$(open.NAME)`. */
  readonly open: Readonly<Record<string, JsonValue>>;
  /** Wall-clock milliseconds of the first page, or of the handle's opening: evidence is as old as its oldest row. */
  readonly sinceMs?: number;
  /** Answers classified Ok or Empty and decoded. */
  readonly pages: number;
  /** No further request belongs to this walk. */
  readonly done: boolean;
  /** Answers decoded in this call, a Pending one included; 0 in a walk that was just resumed. */
  readonly callPages: number;
  /** Items as the remote counted them, duplicates included: the position of an offset. */
  readonly rawItems: number;
  /** Distinct items before `where`. */
  readonly distinctItems: number;
  /** Distinct items after `where`, over all calls. */
  readonly keptItems: number;
  /** The ids seen, each with its mark, joined; see identity.ts. */
  readonly ids: string;
  /** More ids than a cursor carries: the oldest were forgotten, and what they stood for is no longer recognized. */
  readonly idsDropped: boolean;
  readonly reasons: readonly Finding[];
  readonly warnings: readonly RaisedWarning[];
  readonly omitted: readonly OmittedField[];
  readonly totals: Readonly<Record<string, SeenTotal>>;
  /** The last `lastPage` the remote told; metadata may come with the first page only. */
  readonly lastPage?: number;
  readonly basis: SeenBasis;
  readonly aggregates: Readonly<Record<string, number>>;
  /** Digest of the last page's raw items: the progress guard of handles that do not change. */
  readonly pageDigest?: string;
  /**
   * The page at which a limit cut; it is read again. What was returned of it: its first `rows` where items have no ids,
   * else the last `ids` of the walk's ids. `stuck`: no row of it fitted a whole call.
   */
  readonly held?: { readonly rows: number; readonly ids: number; readonly digest: string; readonly stuck?: true };
  /** The last answer said: not finished yet. */
  readonly pending: boolean;
  /** What the rule that called it pending says about the way on. */
  readonly pendingWayOn?: WayOn;
  /** Why this call stopped asking; cleared when the walk goes on. */
  readonly failure?: Failure;
  readonly stop?: OwnStop;
}

/** One reason the walk is not all. Sticky: later pages do not take it back. */
export interface Finding {
  readonly code: IncompleteCode;
  readonly message: string;
  readonly origin: 'sidecar' | 'upstream';
  readonly rule?: string;
  readonly wayOn?: WayOn;
  /** Parts of this source the remote named, sanitized. */
  readonly parts?: readonly string[];
  /** Concluded from the remote's end, and concluded anew when the last page is read again. */
  readonly atEnd?: true;
}

export interface SeenTotal {
  /** What the remote said last. */
  readonly value: number;
  /** The most it ever said in this walk: a total that shrinks does not excuse what was missing before. */
  readonly highest: number;
  /** The most it ever said as an exact count or a lower bound. */
  readonly atLeast?: number;
  readonly relation: TotalRelation;
}

/** What the pages had in common so far. */
export interface SeenBasis {
  /** Texts of the `equal` locators on the first page. */
  readonly keys?: readonly string[];
  /** Order key of the last raw item. */
  readonly lastKey?: string | number;
  /** Whether `consistency.when` and the check held on every page. */
  readonly broken: boolean;
}

export type FailureKind =
  | 'RateLimited'
  | 'CursorExpired'
  | 'Denied'
  | 'NotFound'
  | 'CapReached'
  | 'TimedOut'
  | 'Unavailable'
  | 'Rejected'
  | 'Credential'
  | 'Locked'
  | 'Redirect'
  | 'Protocol'
  | 'TooLarge'
  | 'EgressDenied'
  | 'Untrusted'
  | 'HostKey';

export interface Failure {
  readonly kind: FailureKind;
  /** Name of the outcome rule; absent for the fixed and default ones. */
  readonly rule?: string;
  /** Our own words where they say more than the kind does. */
  readonly message?: string;
  readonly wayOn?: WayOn;
  /** How long the remote asked us to wait, bounded by floor and ceiling. */
  readonly retryAfterMs?: number;
}

export type Row = Readonly<Record<string, JsonValue>>;

export type Step =
  | { readonly kind: 'page' }
  /** Outcome Pending: send the same request again after this wait. `rows` are what to give if the wait does not fit (`rowsWhilePending: Return`); they are replaced by the next answer. */
  | { readonly kind: 'poll'; readonly afterMs: number; readonly rows: readonly Row[] }
  /** Rate limited and `rateLimit.wait: WithinBudget`: wait, then send the same request again. */
  | { readonly kind: 'wait'; readonly afterMs: number }
  | { readonly kind: 'stop' };

/** A limit of our own that ended the walk before the remote did. */
export type OwnStop =
  | { readonly limit: 'pages' | 'items' | 'bytes' | 'time_ms' | 'message_bytes'; readonly value: number }
  /** The caller asked for a single page: only MORE_PAGES_AVAILABLE. */
  | { readonly limit: 'one_page' }
  | { readonly limit: 'cancelled' };

export interface WalkContext {
  readonly contract: CompiledContract;
  readonly args: Readonly<Record<string, JsonValue>>;
  readonly nowMs: number;
}

export interface PageTaken {
  readonly walk: SourceWalk;
  readonly rows: readonly Row[];
  readonly step: Step;
}

/** What the executor knows and the engine does not. */
export interface RunFacts {
  readonly deadlineMs: number;
  readonly spentMs: number;
  readonly waitedMs: number;
  readonly calls: number;
  readonly summaryResource: string;
  /** Seals the walks; called only when the continuation needs a cursor. */
  seal(walks: readonly SourceWalk[]): { cursor: string; expiresAt?: string };
}

export type Folded =
  | { readonly kind: 'envelope'; readonly envelope: Envelope }
  /** No page was decoded: the error of design section 10, with completeness for its details. */
  | {
      readonly kind: 'error';
      readonly reason: Reason;
      readonly message: string;
      readonly completeness: Completeness;
      readonly retryAfterMs?: number;
    };
