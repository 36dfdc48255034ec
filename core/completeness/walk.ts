/**
 * The pure state machine of a walk over one source: exchanges in, rows and the next step out.
 * `SourceWalk` is plain JSON: it is what a cursor seals, so that `complete` speaks for the walk from its first page.
 */
import type { CompiledContract, JsonValue } from '#core/contract/compiled.ts';
import type { Completeness, Continuation, Envelope } from './envelope.ts';
import type { Exchange } from './exchange.ts';

// SIGNATURES (agreed; the engine's owner replaces this file's bodies and adds fields where marked)

/** Plain JSON, versioned, at most limits.cursorBytesMax once sealed. More fields are the engine's own. */
export interface SourceWalk {
  readonly source: string;
  /** Values of `$(next.NAME)` for the next request; absent names leave their parameter out. */
  readonly next: Readonly<Record<string, JsonValue>>;
  /** Followed URL for the next request (path and query only), when `paging.follow` is used. */
  readonly follow?: string;
  /** Values of `$(open.NAME)`. */
  readonly open: Readonly<Record<string, JsonValue>>;
  readonly pages: number;
  readonly done: boolean;
}

export type Row = Readonly<Record<string, JsonValue>>;

export type Step =
  | { readonly kind: 'page' }
  /** Outcome Pending: send the same request again after this wait. */
  | { readonly kind: 'poll'; readonly afterMs: number }
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
  /** Seals the walk; called only when the continuation needs a cursor. */
  seal(walks: readonly SourceWalk[]): { cursor: string; expiresAt?: string };
}

export type Folded =
  | { readonly kind: 'envelope'; readonly envelope: Envelope }
  /** No page was decoded: the error of design section 10, with completeness for its details. */
  | {
      readonly kind: 'error';
      readonly reason: import('#core/error/reasons.ts').Reason;
      readonly message: string;
      readonly completeness: Completeness;
      readonly retryAfterMs?: number;
    };

export declare function startWalk(
  contract: CompiledContract,
  source: string,
  open: Readonly<Record<string, JsonValue>>,
  args: WalkContext['args'],
): SourceWalk;
export declare function takePage(context: WalkContext, walk: SourceWalk, exchange: Exchange): PageTaken;
export declare function stopWalk(context: WalkContext, walk: SourceWalk, stop: OwnStop): SourceWalk;
export declare function foldWalks(
  context: WalkContext,
  walks: readonly SourceWalk[],
  rows: ReadonlyMap<string, readonly Row[]>,
  facts: RunFacts,
): Folded;
export type { Continuation };
