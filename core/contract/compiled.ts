/**
 * The compiled contract: what the compiler proved, in the form the executor reads.
 *
 * Frozen once built. Every template is parsed, every path and expression is compiled, every default is
 * filled in, presets are merged. Nothing here holds a secret or does I/O.
 * Meanings and defaults: the contract language, section 2.
 */

import type { Locator, Path } from '#core/completeness/path.ts';
import type { Rule } from '#core/completeness/rule.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import type { IncompleteCode, WarningCode } from '#core/error/reasons.ts';
import type { EffectRules } from './effect-rules.ts';
import type { ArgumentsSchema } from './schema.ts';

export type { JsonValue };

/** `sha256:` + 64 hex digits over the merged contract, its presets and binding specs. */
export type Revision = `sha256:${string}`;

export type SlotRoot = 'args' | 'resolve' | 'next' | 'open' | 'source' | 'each' | 'operation' | 'limits' | 'budget' | 'constants';
export type SlotFormat = 'epochSeconds' | 'epochMillis' | 'date' | 'csv' | 'base64' | 'githubPhrase' | 'jqlString';

/** One `$(root.path|format)`. `spread`: `$(args.path...)`, several path segments, each checked alone. */
export interface Slot {
  readonly root: SlotRoot;
  readonly path: readonly string[];
  readonly format?: SlotFormat;
  readonly spread?: true;
  /** As written, for messages. */
  readonly text: string;
}

/** Literal text and slots in order; literals are already unescaped (`$$(` is `$(`). */
export type Template = readonly (string | Slot)[];

export type JsonTemplate =
  | { readonly kind: 'literal'; readonly value: JsonValue }
  /** The whole value is one slot: it keeps the JSON type of what it stands for; absent drops the member. */
  | { readonly kind: 'slot'; readonly slot: Slot }
  | { readonly kind: 'text'; readonly template: Template }
  | { readonly kind: 'list'; readonly items: readonly JsonTemplate[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, JsonTemplate])[] };

export type BodyTemplate =
  | { readonly kind: 'json'; readonly contentType: string; readonly json: JsonTemplate }
  | { readonly kind: 'form'; readonly contentType: string; readonly fields: readonly (readonly [string, Template])[] }
  | { readonly kind: 'text'; readonly contentType: string; readonly text: Template };

export interface RequestTemplate {
  readonly method: string;
  /** Canonical literal origin, `https://host[:port]` or `http://ADDRESS:port`. */
  readonly origin: string;
  /** Path segments after the first `/`; each is one literal, or one slot and nothing else. */
  readonly segments: readonly Template[];
  readonly query: readonly (readonly [string, Template])[];
  /** Lower-case names; never a name from the agent. */
  readonly headers: readonly (readonly [string, Template])[];
  readonly body?: BodyTemplate;
}

export interface HttpTarget {
  readonly kind: 'http';
  /** A literal binding name, or a `resolve` slot all of whose values are in `credentials`. */
  readonly credential: Template;
  readonly request: RequestTemplate;
  readonly open?: RequestTemplate & { readonly values: readonly { readonly name: string; readonly path: Path }[] };
  /** Replaces `request` from page two on (scroll APIs). */
  readonly next?: RequestTemplate;
  readonly close?: RequestTemplate;
}

export interface SshTarget {
  readonly kind: 'ssh';
  readonly credential: string;
  readonly host: Template;
  readonly argv: readonly Template[];
  readonly shell: 'Posix' | 'ForcedCommand';
  readonly stdin?: JsonTemplate;
}

export type OutcomeName =
  | 'Ok'
  | 'Empty'
  | 'Pending'
  | 'RateLimited'
  | 'CursorExpired'
  | 'Denied'
  | 'NotFound'
  | 'CapReached'
  | 'TimedOut'
  | 'Unavailable'
  | 'Rejected';
export type WayOn = 'None' | 'NextCursor' | 'RetryAfter' | 'NarrowQuery' | 'RetryWithDeadline' | 'Restart';

export interface OutcomeRule {
  readonly name: string;
  readonly when: Rule;
  readonly is: OutcomeName;
  readonly then?: WayOn;
}
export interface FieldRule {
  readonly name: string;
  readonly path: Path;
  readonly presence: 'Required' | 'Optional' | 'Restricted';
}
export interface OrderRule {
  readonly by: Path;
  readonly direction: 'Ascending' | 'Descending';
  readonly compare: 'Text' | 'Number' | 'Time';
}

/** `aggregate`: a count or sum computed over all kept items; complete = computed over the whole scope. */
export interface AggregateRule {
  readonly name: string;
  readonly op: 'Count' | 'Sum' | 'Min' | 'Max';
  readonly path?: Path;
}

export interface ResultRules {
  readonly decoder: 'JSON' | 'XML' | 'NDJSON' | 'Lines';
  /** Lower-case media types without parameters; `none` accepts an absent Content-Type. */
  readonly contentTypes: readonly string[];
  readonly lines?: { readonly match?: string; readonly unmatched: 'Keep' | 'Drop' | 'Error' };
  /** Ordered: contract, preset, preset's base; the built-in defaults follow when none matches. */
  readonly outcomes: readonly OutcomeRule[];
  readonly shape: { readonly kind: 'items'; readonly paths: readonly Path[] } | { readonly kind: 'object'; readonly path: Path };
  readonly absentItems: 'Error' | 'Empty';
  readonly as: string;
  readonly id: readonly Path[];
  readonly where?: Rule;
  readonly order?: OrderRule;
  /** `All` needs `allFields: {because}` in the contract. */
  readonly fields: readonly FieldRule[] | 'All';
  readonly aggregate?: readonly AggregateRule[];
}

export interface NextPart {
  readonly name: string;
  readonly from: readonly Locator[];
  readonly initial?: Template;
  readonly presence: 'Required' | 'Optional';
}
export type NextEnd = 'Absent' | 'NullValue' | 'EmptyString' | 'EmptyObject' | 'EmptyList' | 'SameAsSent';

export interface PagingRules {
  readonly mode: 'Walk' | 'SingleResponse';
  readonly next: readonly NextPart[];
  readonly follow?: { readonly from: readonly Locator[]; readonly paths: readonly string[]; readonly vary: readonly string[] };
  readonly counter?: {
    readonly name: string;
    readonly unit: 'Item' | 'Page';
    readonly start: number;
    readonly stride: 'Returned' | 'Requested' | 'Echoed';
    readonly echo?: Locator;
  };
  readonly end: {
    readonly nextIs: readonly NextEnd[];
    readonly flag?: { readonly from: Locator; readonly equals: string; readonly presence: 'Required' | 'Optional' };
    readonly lastPage?: { readonly from: Locator; readonly as: 'Number' | 'Length' };
    readonly marker?: { readonly from: Locator };
    readonly total?: string;
    readonly pageIs: readonly ('Empty' | 'Short')[];
  };
  readonly remainder: 'Pages' | 'Leftovers';
}

export interface ConsistencyRules {
  readonly mode: 'SinglePage' | 'SnapshotKey' | 'SnapshotHandle' | 'Keyset' | 'Declared';
  readonly equal: readonly Locator[];
  readonly when?: Rule;
  readonly because?: string;
}

export interface RequiredRule {
  readonly name: string;
  readonly anyOf: readonly Locator[];
  readonly read: 'EveryPage' | 'FirstPage' | 'LastPage';
  readonly then?: WayOn;
}
export type SignalRule =
  | {
      readonly kind: 'when';
      readonly name: string;
      readonly when: Rule;
      readonly reason: IncompleteCode;
      readonly then?: WayOn;
      readonly sources?: Rule;
    }
  | {
      readonly kind: 'table';
      readonly name: string;
      readonly values: Rule;
      readonly entries: readonly TableEntry[];
      readonly otherwise: IncompleteCode;
    };
export interface TableEntry {
  readonly test: { readonly kind: 'match' | 'prefix'; readonly text: string };
  readonly gives:
    | { readonly kind: 'reason'; readonly reason: IncompleteCode }
    | { readonly kind: 'warning'; readonly warning: string }
    | { readonly kind: 'ignore' };
}
/** `when` absent: always raised. `warning` names an entry of `warnings`. */
export interface NoticeRule {
  readonly name: string;
  readonly when?: Rule;
  readonly warning: string;
  readonly fields: readonly string[];
}
export type TotalRelation = 'Exact' | 'LowerBound' | 'Estimate' | 'Scanned';
export interface TotalRule {
  readonly name: string;
  readonly from: Locator;
  readonly relation: TotalRelation;
  readonly relationFrom?: Locator;
  readonly relations: Readonly<Record<string, TotalRelation>>;
  readonly counts: 'Items' | 'RawItems';
  readonly read: 'EveryPage' | 'FirstPage' | 'LastPage';
  readonly constant: 'Required' | 'Ignored';
  readonly when?: Rule;
  readonly onFewer: IncompleteCode;
  readonly onMore: IncompleteCode;
  readonly then?: WayOn;
}
export interface ReachRules {
  readonly total?: number;
  readonly offset?: number;
  readonly pageSize?: number;
  readonly items?: number;
  readonly fullPage: 'Limit' | 'Ignore';
  readonly probe?: { readonly extra: number; readonly drop: 'First' | 'Last' };
  readonly narrowBy: readonly string[];
}
export interface CursorRules {
  readonly ttlMs: number;
  readonly onExpiry: 'Fail' | 'ContinueInconsistent';
  readonly resumeFrom?: Locator;
  readonly afterMutation: 'Keep' | 'Invalidate';
}
export interface JobRules {
  readonly intervalMs: number;
  readonly rowsWhilePending: 'Return' | 'Discard';
}
export type TimeUnit = 'RetryAfter' | 'Seconds' | 'Millis' | 'EpochSeconds' | 'EpochMillis' | 'HTTPDate' | 'RateLimitParameter';
export type WaitSource =
  | { readonly kind: 'from'; readonly from: Locator; readonly unit: TimeUnit }
  | { readonly kind: 'cel'; readonly cel: Rule; readonly unit: TimeUnit }
  | { readonly kind: 'fixed'; readonly ms: number };
export interface RateLimitRules {
  readonly wait: 'Never' | 'WithinBudget';
  readonly waits: readonly WaitSource[];
  readonly floorMs: number;
  readonly ceilingMs: number;
}
export interface FreshnessRule {
  readonly name: string;
  readonly from: Locator;
  readonly unit: TimeUnit;
  readonly maxAgeMs: number;
  readonly warning: string;
}
export interface ScopeRules {
  readonly resource: Template;
  readonly visibility: string;
  readonly exclusions: readonly string[];
  readonly absence: 'Provable' | 'Never';
  readonly floor?: number;
}
export interface SourceRules {
  readonly name: string;
  readonly values: Readonly<Record<string, JsonValue>>;
  readonly credential?: string;
  readonly origin?: string;
}
/** The sidecar's own limits, per call; bytes are decoded bytes; time is all but waiting for approval. */
export interface ReadLimits {
  readonly pages: number;
  readonly items: number;
  readonly bytes: number;
  readonly timeMs: number;
  readonly pageSize?: number;
  readonly parallel: number;
}

export interface CompletenessRules {
  readonly paging: PagingRules;
  readonly consistency: ConsistencyRules;
  readonly required: readonly RequiredRule[];
  readonly signals: readonly SignalRule[];
  readonly notices: readonly NoticeRule[];
  readonly totals: readonly TotalRule[];
  readonly reach?: ReachRules;
  readonly cursor: CursorRules;
  readonly job?: JobRules;
  readonly rateLimit: RateLimitRules;
  readonly freshness: readonly FreshnessRule[];
  readonly scope?: ScopeRules;
  /** Absent: one unnamed source. `select` names the array argument whose labels choose sources. */
  readonly sources?: { readonly select?: string; readonly list: readonly SourceRules[] };
  readonly limits: ReadLimits;
  readonly onIncomplete: 'Return' | 'Fail';
}

/** A warning the contract or its preset may raise; every one has an owner and an expiry (day, UTC). */
export interface DeclaredWarning {
  readonly name: string;
  readonly code: WarningCode;
  readonly owner: string;
  readonly expires: string;
  readonly message: string;
}

export interface CompiledContract {
  readonly name: string;
  readonly namespace: string;
  readonly action: string;
  readonly summary: Template;
  readonly owner: string;
  readonly effect: 'Read' | 'Write' | 'Destructive';
  readonly callers: readonly string[];
  readonly credentials: readonly string[];
  readonly suspended?: { readonly because: string };
  readonly arguments: ArgumentsSchema;
  /** argument -> label -> member -> value */
  readonly resolve: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, JsonValue>>>>>>;
  readonly constants: Readonly<Record<string, JsonValue>>;
  readonly target: HttpTarget | SshTarget;
  readonly result: ResultRules;
  readonly completeness: CompletenessRules;
  readonly warnings: Readonly<Record<string, DeclaredWarning>>;
  readonly effects: EffectRules;
  readonly presets: readonly { readonly name: string; readonly digest: string }[];
  /** The best an answer of this contract can be: shown by lint, ListActions and the printer column. */
  readonly best: 'Complete' | 'SinglePage' | 'Partial';
  readonly revision: Revision;
  /** Why a call answers CONTRACT_NOT_READY; absent when it can be called. */
  readonly notReady?: string;
}

export type { Problem } from './problem.ts';
