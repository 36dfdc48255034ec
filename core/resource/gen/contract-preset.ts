// Generated from crds/ by `npm run generate`. Do not edit.

/**
 * Name of an object in this namespace. Example: `github-triage`.
 */
export type ObjectName = string;
/**
 * Name of the rule; it stands in answers and test coverage. Example: `page-too-deep`.
 */
export type RuleName = string;
/**
 * CEL over status, headers, body, exit, stderr, args, sent, page, now. Example: `status == 410`.
 */
export type Cel = string;
/**
 * The way on, where it is not the usual one of the reason. Example: `Restart`.
 */
export type Then = 'None' | 'NextCursor' | 'RetryAfter' | 'NarrowQuery' | 'RetryWithDeadline' | 'Restart';
/**
 * JSON Pointer, plus `*` (every element or map value) and `[type=Ready]` (the one element whose member equals); `/` alone is the whole document. Example: `/status/conditions/[type=Ready]/status`.
 */
export type Path = string;
/**
 * Name used in `$(next.name)`. Example: `after`.
 */
export type PartName = string;
/**
 * Places to read the value; the first that is there wins. Example: `[{body: /metadata/continue}, {header: x-next-page}]`.
 *
 * @minItems 1
 * @maxItems 8
 */
export type Locators = Locator[];
/**
 * Whether the value must be there while the walk goes on. Default `Required`.
 */
export type Presence = 'Required' | 'Optional';
/**
 * The owner's reason, in a sentence. Example: `id is immutable and the cursor is exclusive`.
 */
export type Because = string;
/**
 * On which pages. Default `EveryPage`.
 */
export type Read = 'EveryPage' | 'FirstPage' | 'LastPage';
/**
 * Why the answer is not all. Example: `SOURCE_UNAVAILABLE`.
 */
export type Reason =
  | 'MORE_PAGES_AVAILABLE'
  | 'RESULT_LIMIT_REACHED'
  | 'TIME_BUDGET_EXCEEDED'
  | 'SOURCE_UNAVAILABLE'
  | 'VISIBILITY_RESTRICTED'
  | 'REMOTE_RATE_LIMITED'
  | 'CURSOR_EXPIRED'
  | 'SNAPSHOT_CHANGED'
  | 'COMPLETENESS_UNPROVEN';
/**
 * A warning of spec.warnings. Example: `index-lag`.
 */
export type WarningName = string;
/**
 * How the number relates to the truth. `Scanned` counts what was looked at. Default `Exact`.
 */
export type Relation = 'Exact' | 'LowerBound' | 'Estimate' | 'Scanned';
/**
 * What it means when the count and what came differ this way. Default `COMPLETENESS_UNPROVEN`. Example: `VISIBILITY_RESTRICTED`.
 */
export type Mismatch =
  | 'MORE_PAGES_AVAILABLE'
  | 'RESULT_LIMIT_REACHED'
  | 'TIME_BUDGET_EXCEEDED'
  | 'SOURCE_UNAVAILABLE'
  | 'VISIBILITY_RESTRICTED'
  | 'REMOTE_RATE_LIMITED'
  | 'CURSOR_EXPIRED'
  | 'SNAPSHOT_CHANGED'
  | 'COMPLETENESS_UNPROVEN';
/**
 * A length of time: number and unit. Example: `20s`.
 */
export type Duration = string;
/**
 * What the value is. `RetryAfter`, the default of a wait: seconds or a date (RFC 9110).
 */
export type TimeUnit = 'RetryAfter' | 'Seconds' | 'Millis' | 'EpochSeconds' | 'EpochMillis' | 'HTTPDate' | 'RateLimitParameter';

export interface ContractPreset {
  apiVersion: 'postern.dev/v1alpha1';
  kind: 'ContractPreset';
  metadata: ObjectMeta;
  /**
   * The manners of one service, written once: headers, outcomes, pager, signals. Immutable; the version is in the name.
   */
  spec: {
    base?: ObjectName;
    /**
     * Merged under the contract: headers and query by key, the body whole.
     */
    http?: {
      headers?: Headers;
      query?: Query;
      body?: Body;
    };
    result?: Result;
    completeness?: Completeness;
  };
}
/**
 * The part of Kubernetes metadata that Postern reads.
 */
export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  labels?: {
    [k: string]: string;
  };
  annotations?: {
    [k: string]: string;
  };
  [k: string]: unknown;
}
/**
 * Request headers; names are literal. Those the sidecar makes itself (host, authorization, content-length, connection) are refused. Merged by key with the preset's. Example: `{accept: application/json}`.
 */
export interface Headers {
  [k: string]: string;
}
/**
 * Query parameters. An absent optional argument leaves its parameter out; a list repeats it. Merged by key with the preset's. Example: `{state: open, since: "$(args.since)"}`.
 */
export interface Query {
  [k: string]: string;
}
/**
 * Request body, in exactly one form. Example: `{json: {ref: main, inputs: {version: "$(args.version)"}}}`.
 */
export interface Body {
  /**
   * Any JSON; a string that is one slot keeps the JSON type of its value, and an absent optional argument leaves its member out. Example: `{replicas: "$(args.replicas)"}`.
   */
  json?: {
    [k: string]: unknown;
  };
  /**
   * Fields of application/x-www-form-urlencoded. Example: `{amount: "$(args.amount)"}`.
   */
  form?: {
    [k: string]: string;
  };
  /**
   * Text from constants and inert slots only, never free words. Example: `$(constants.query)`.
   */
  text?: string;
  /**
   * Media type sent; by default the one of the form. Example: `application/json-patch+json`.
   */
  contentType?: string;
}
/**
 * What comes back. Example: `{items: [/], as: issues, id: [/number], fields: [{name: number}, {name: title}]}`.
 */
export interface Result {
  /**
   * How the body is read. Default `JSON`.
   */
  decoder?: 'JSON' | 'XML' | 'NDJSON' | 'Lines';
  /**
   * Media types accepted; anything else is REMOTE_PROTOCOL, never an empty list. `none` accepts an answer without the header. Default: those of the decoder. Example: `[application/json]`.
   *
   * @maxItems 16
   */
  contentTypes?: string[];
  /**
   * How `decoder: Lines` makes rows. Example: `{match: "^(?<time>[^ ]+) (?<message>.*)$", unmatched: Keep}`.
   */
  lines?: {
    /**
     * RE2 pattern; named groups become members; without it a row is `{line}`. Example: `^(?<time>[^ ]+) (?<message>.*)$`.
     */
    match?: string;
    /**
     * A line that does not match is kept as `{line}`, dropped, or an error. Default `Keep`.
     */
    unmatched?: 'Keep' | 'Drop' | 'Error';
  };
  /**
   * What an answer is, decided before items are read; the first rule that is true wins, an expression that fails does not match. After them: 2xx Ok, 429 RateLimited, 403 and 404 Denied, 408 and 5xx Unavailable, else Rejected. Example: `[{name: quota, when: "status == 403", is: RateLimited}]`.
   *
   * @maxItems 64
   */
  outcomes?: {
    name: RuleName;
    when: Cel;
    /**
     * What it is. `Pending` polls again, `Empty` is a page without items, `CapReached` is the remote's own end of the walk.
     */
    is:
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
    then?: Then;
  }[];
  /**
   * Paths of the lists of one page, joined. Example: `[/items]`, or `[/]` where the body is the list.
   *
   * @minItems 1
   * @maxItems 8
   */
  items?: Path[];
  /**
   * Path of the one value of an answer without a list. Default `/`. Example: `/incident`.
   */
  object?: string;
  /**
   * What an answer without the list means. `Error`: REMOTE_PROTOCOL. `Empty`: no items. Default `Error`.
   */
  absentItems?: 'Error' | 'Empty';
  /**
   * Member of `data` that holds the result. Example: `issues`. Default `items`.
   */
  as?: string;
  /**
   * Paths that identify an item; used against duplicates and for evidence. Example: `[/repository/full_name, /path]`.
   *
   * @minItems 1
   * @maxItems 4
   */
  id?: Path[];
  /**
   * CEL over `item` (and args): which items are kept; totals and reach count all. Example: `!has(item.pull_request)`.
   */
  where?: string;
  /**
   * The order of the rows; checked on them where consistency is `Keyset`. Example: `{by: /number, direction: Ascending, compare: Number}`.
   */
  order?: {
    by: Path;
    /**
     * Direction of the order.
     */
    direction: 'Ascending' | 'Descending';
    /**
     * How two values are compared.
     */
    compare: 'Text' | 'Number' | 'Time';
  };
  /**
   * What of an item passes to the agent; nothing else does. Example: `[{name: number}, {name: author, path: /user/login}]`.
   *
   * @minItems 1
   * @maxItems 128
   */
  fields?: {
    /**
     * Member of the row. Example: `author`.
     */
    name: string;
    /**
     * Where the value stands in the item. Default: a member of that name. Example: `/user/login`.
     */
    path?: string;
    /**
     * `Required` (default): missing raises PARTIAL_FIELD_SET. `Optional`: may be missing. `Restricted`: missing means not permitted.
     */
    presence?: 'Required' | 'Optional' | 'Restricted';
  }[];
  allFields?: AllFields;
  /**
   * Values over all kept items instead of the rows; complete means computed over the whole scope. Example: `[{name: open, op: Count}]`.
   *
   * @minItems 1
   * @maxItems 16
   */
  aggregate?: {
    /**
     * Member of the result. Example: `open`.
     */
    name: string;
    /**
     * What is computed.
     */
    op: 'Count' | 'Sum' | 'Min' | 'Max';
    path?: Path;
  }[];
}
/**
 * Every field of the remote passes. Shown in status. Example: `{because: a public catalogue without personal data}`.
 */
export interface AllFields {
  /**
   * Why nothing needs to be kept back. Example: `a public catalogue without personal data`.
   */
  because: string;
}
/**
 * How the remote says that this is not all. Example: `{preset: github-rest-v1, limits: {pages: 10}, scope: {...}}`.
 */
export interface Completeness {
  /**
   * How the next page is asked for. A list says one of next, follow, counter or `mode: SingleResponse`. Example: `{next: [{name: page, from: [{link: next, query: page}]}], end: {nextIs: [Absent]}}`.
   */
  paging?: {
    /**
     * `SingleResponse`: this source has no second page. Default `Walk`.
     */
    mode?: 'Walk' | 'SingleResponse';
    /**
     * Values taken from a page and sent back through `$(next.name)`. Example: `[{name: continue, from: [{body: /metadata/continue}]}]`.
     *
     * @minItems 1
     * @maxItems 8
     */
    next?: {
      name: PartName;
      from: Locators;
      /**
       * Value for the first page. Example: `$(open.pit)`.
       */
      initial?: string;
      presence?: Presence;
    }[];
    /**
     * Follow a whole URL: same origin, own path or one of `paths`, other query values unchanged. Prefer next with `{link: next, query: after}`. Example: `{from: [{body: "/@odata.nextLink"}], vary: ["$skiptoken"]}`.
     */
    follow?: {
      from: Locators;
      /**
       * Other literal paths the URL may have. Example: `[/v2/items]`.
       *
       * @maxItems 8
       */
      paths?: string[];
      /**
       * Query parameters that may differ. Example: `[after]`.
       *
       * @minItems 1
       * @maxItems 16
       */
      vary: string[];
    };
    /**
     * A number we count up ourselves, as `$(next.name)`. Example: `{name: offset, unit: Item, start: 0, stride: Returned}`.
     */
    counter?: {
      name: PartName;
      /**
       * An offset of items or a page number.
       */
      unit: 'Item' | 'Page';
      /**
       * Number of the first item or page. Default 0. Example: `1`.
       */
      start?: number;
      /**
       * By how much an Item counter grows: items that came, the page size asked for, or a number the answer echoes. Default `Returned`.
       */
      stride?: 'Returned' | 'Requested' | 'Echoed';
      echo?: Locator;
    };
    /**
     * What ends a walk; nothing else does. All but pageIs are two-sided: if two disagree, the answer is COMPLETENESS_UNPROVEN. Example: `{nextIs: [Absent, EmptyString]}`.
     */
    end?: {
      /**
       * Forms of a next value that mean the end. Example: `[Absent]`.
       *
       * @minItems 1
       * @maxItems 6
       */
      nextIs?: ('Absent' | 'NullValue' | 'EmptyString' | 'EmptyObject' | 'EmptyList' | 'SameAsSent')[];
      /**
       * A value that says the end, compared as text. Example: `{from: {body: /has_more}, equals: "false"}`.
       */
      flag?: {
        from: Locator;
        /**
         * Its text at the end. Example: `"false"`.
         */
        equals: string;
        presence?: Presence;
      };
      /**
       * The number of pages, or the list of them. Example: `{from: {body: /total_pages}, as: Number}`.
       */
      lastPage?: {
        from: Locator;
        /**
         * A number or the length of a list.
         */
        as: 'Number' | 'Length';
      };
      /**
       * A last record that says all came. Example: `{from: {body: /summary}}`.
       */
      marker?: {
        from: Locator;
      };
      /**
       * A rule of totals; the walk ends when so many came. Example: `total`.
       */
      total?: string;
      /**
       * Pages that end the walk: an empty one, or one shorter than asked for. One-sided. Example: `[Empty]`.
       *
       * @minItems 1
       * @maxItems 2
       */
      pageIs?: ('Empty' | 'Short')[];
    };
    /**
     * `Leftovers`: the next value is what a batch left undone, and stopping there is a rate limit. Default `Pages`.
     */
    remainder?: 'Pages' | 'Leftovers';
  };
  /**
   * Why several pages belong together. `SnapshotKey`: equal keys on every page. `SnapshotHandle`: read under the handle of http.open. `Keyset`: rows sorted by result.order, checked. `Declared`: the owner answers for it, and the answer says so. `SinglePage` (default): more than one page is COMPLETENESS_UNPROVEN. Example: `{mode: SnapshotKey, equal: [{body: /metadata/resourceVersion}]}`.
   */
  consistency?: {
    /**
     * The basis.
     */
    mode: 'SinglePage' | 'SnapshotKey' | 'SnapshotHandle' | 'Keyset' | 'Declared';
    equal?: Locators;
    when?: Cel;
    because?: Because;
  };
  /**
   * Values without which an answer proves nothing. Example: `[{name: total, anyOf: [{body: /total_count}]}]`.
   *
   * @maxItems 32
   */
  required?: {
    name: RuleName;
    anyOf: Locators;
    read?: Read;
    then?: Then;
  }[];
  /**
   * The answer is usable but not all; once seen, it stays for the walk. Example: `[{name: timed-out, when: "body.timed_out", reason: TIME_BUDGET_EXCEEDED}]`.
   *
   * @maxItems 64
   */
  signals?: {
    name: RuleName;
    when?: Cel;
    reason?: Reason;
    then?: Then;
    /**
     * CEL that gives the names of the sources concerned. Example: `body.failed_regions`.
     */
    sources?: string;
    /**
     * Codes of the remote, each with its meaning. Example: `{values: "body.warnings.map(w, w.code)", entries: [...], otherwise: COMPLETENESS_UNPROVEN}`.
     */
    table?: {
      /**
       * CEL that gives a list of texts. Example: `body.warnings`.
       */
      values: string;
      /**
       * What each text means; the first that fits wins. Example: `[{match: partial, reason: SOURCE_UNAVAILABLE}, {prefix: info, ignore: advice on query style}]`.
       *
       * @maxItems 128
       */
      entries: {
        /**
         * The whole text. Example: `partial`.
         */
        match?: string;
        /**
         * How the text begins. Example: `PromQL info`.
         */
        prefix?: string;
        reason?: Reason;
        warning?: WarningName;
        /**
         * Why the text says nothing about this result. Example: `advice on query style`.
         */
        ignore?: string;
      }[];
      otherwise: Reason;
    };
  }[];
  /**
   * All of it, but to be read with care. Without `when` it is always raised. Example: `[{name: index-lag, warning: index-lag}]`.
   *
   * @maxItems 64
   */
  notices?: {
    name: RuleName;
    when?: Cel;
    warning: WarningName;
    /**
     * Fields of the result it concerns. Example: `[replies]`.
     *
     * @maxItems 32
     */
    fields?: string[];
  }[];
  /**
   * What the remote says there is, compared with what came. Example: `[{name: total, from: {body: /total_count}, relation: Exact}]`.
   *
   * @maxItems 16
   */
  totals?: {
    name: RuleName;
    from: Locator;
    relation?: Relation;
    relationFrom?: Locator;
    /**
     * What the text at relationFrom means. Example: `{eq: Exact, gte: LowerBound}`.
     */
    relations?: {
      [k: string]: Relation;
    };
    /**
     * What it counts: kept items, or all that came. Default `RawItems`.
     */
    counts?: 'Items' | 'RawItems';
    read?: Read;
    /**
     * Whether the number must stay the same during the walk; a moving one is SNAPSHOT_CHANGED. Default `Ignored`.
     */
    constant?: 'Required' | 'Ignored';
    when?: Cel;
    onFewer?: Mismatch;
    onMore?: Mismatch;
    then?: Then;
  }[];
  /**
   * What the remote can ever give; the walk stops before asking beyond it. Example: `{total: 1000, pageSize: 100, narrowBy: [text]}`.
   */
  reach?: {
    /**
     * Items the remote gives of one question at most, however many it counts. Example: `1000`.
     */
    total?: number;
    /**
     * The largest offset the remote takes; bounds paging.counter. Example: `10000`.
     */
    offset?: number;
    /**
     * The largest page the remote gives. Example: `100`.
     */
    pageSize?: number;
    /**
     * Items kept of one answer: what fullPage and probe compare with. Example: `500`.
     */
    items?: number;
    /**
     * `Limit`: a full page may hide more, so it counts as a limit reached (Loki, Tempo); `Ignore` (default): the remote states its end.
     */
    fullPage?: 'Limit' | 'Ignore';
    /**
     * The request asks for more than `items`: if more came, there is more than is kept. Example: `{extra: 1, drop: First}`.
     */
    probe?: {
      /**
       * How many more than `items` the request asks for; it tells a reader, the request says it itself. Example: `1`.
       */
      extra: number;
      /**
       * Which end is dropped. Default `Last`.
       */
      drop?: 'First' | 'Last';
    };
    /**
     * Arguments that make the question smaller. Example: `[since, until]`.
     *
     * @maxItems 16
     */
    narrowBy?: string[];
  };
  /**
   * Life of a cursor of the remote. Example: `{ttl: 5m, onExpiry: Fail}`.
   */
  cursor?: {
    /**
     * How long the remote keeps a cursor. Default `5m`. Example: `30m`.
     */
    ttl?: string;
    /**
     * `Fail` (default) answers CURSOR_EXPIRED. `ContinueInconsistent` goes on and ends as SNAPSHOT_CHANGED.
     */
    onExpiry?: 'Fail' | 'ContinueInconsistent';
    resumeFrom?: Locator;
    /**
     * Whether a write of this session voids the cursor. Default `Keep`.
     */
    afterMutation?: 'Keep' | 'Invalidate';
  };
  /**
   * Polls the main request while its outcome is Pending. Example: `{interval: 1s, rowsWhilePending: Return}`.
   */
  job?: {
    /**
     * Time between two polls, at least `100ms`. Default `1s`. Example: `5s`.
     */
    interval?: string;
    /**
     * What is done with rows of an unfinished job. Default `Discard`.
     */
    rowsWhilePending?: 'Return' | 'Discard';
  };
  /**
   * How long to wait when told to. Example: `{waits: [{from: {header: retry-after}, unit: RetryAfter}, {fixed: 60s}], ceiling: 1h}`.
   */
  rateLimit?: {
    /**
     * `WithinBudget`: the sidecar waits itself if the call's time allows. Default `Never`.
     */
    wait?: 'Never' | 'WithinBudget';
    /**
     * The first that is present wins. Example: `[{from: {header: retry-after}, unit: RetryAfter}, {fixed: 60s}]`.
     *
     * @maxItems 8
     */
    waits?: {
      from?: Locator;
      cel?: Cel;
      fixed?: Duration;
      unit?: TimeUnit;
    }[];
    /**
     * The shortest wait, whatever the remote says; at least `100ms`. Default `1s`. Example: `5s`.
     */
    floor?: string;
    /**
     * The longest wait, whatever the remote says. Default `1h`. Example: `10m`.
     */
    ceiling?: string;
  };
  /**
   * The age of the data; older than maxAge raises the warning. Example: `[{name: cache, from: {header: age}, unit: Seconds, maxAge: 60s, warning: cached}]`.
   *
   * @maxItems 8
   */
  freshness?: {
    name: RuleName;
    from: Locator;
    unit: TimeUnit;
    maxAge: Duration;
    warning: WarningName;
  }[];
  /**
   * What `all` means. Example: `{resource: open issues, visibility: issues the triage app may read, absence: Provable}`.
   */
  scope?: {
    /**
     * What is listed; slots of arguments are allowed. Example: `open issues of $(args.repository)`.
     */
    resource?: string;
    /**
     * What the credential can see at all. Example: `repositories the triage app may read`.
     */
    visibility?: string;
    /**
     * What is never in the answer. Example: `[pull requests]`.
     *
     * @maxItems 32
     */
    exclusions?: string[];
    /**
     * Whether `not in a complete answer` proves `does not exist`. Default `Never`.
     */
    absence?: 'Provable' | 'Never';
    /**
     * Fewer items than this prove nothing and give COMPLETENESS_UNPROVEN. Example: `1`.
     */
    floor?: number;
  };
  /**
   * Fan-out: the same request to several places, each with its own walk and state. Example: `{list: [{name: eu, values: {namespace: shop-eu}}]}`.
   */
  sources?: {
    /**
     * One slot of a list argument that chooses sources; absent means all. Example: `$(args.namespaces)`.
     */
    select?: string;
    /**
     * The sources. Example: `[{name: eu, values: {namespace: shop-eu}}]`.
     *
     * @minItems 1
     * @maxItems 64
     */
    list: {
      /**
       * Name of the source; it stands in answers, and select chooses by it. Example: `eu-west`.
       */
      name: string;
      /**
       * Values used as `$(source.name)`. Example: `{namespace: checkout-prod}`.
       */
      values?: {};
      credential?: ObjectName;
      /**
       * Literal origin that replaces the one of http.url. Example: `https://eu.example.com`.
       */
      origin?: string;
    }[];
  };
  /**
   * The sidecar's own limits of one call, named in the answer when met. Example: `{pages: 10, items: 500, bytes: 8Mi, time: 20s, pageSize: 100}`.
   */
  limits?: {
    /**
     * Answers read. Default 10. Example: `20`.
     */
    pages?: number;
    /**
     * Rows returned. Default 1000. Example: `500`.
     */
    items?: number;
    /**
     * Decoded bytes read. Default `8Mi`. Example: `16Mi`.
     */
    bytes?: string;
    /**
     * Time of one call, but for approval; a caller's deadline may only shorten it. Default `30s`. Example: `20s`.
     */
    time?: string;
    /**
     * Items asked for per page, as `$(limits.pageSize)`. Example: `100`.
     */
    pageSize?: number;
    /**
     * Sources asked at the same time. Default 4. Example: `2`.
     */
    parallel?: number;
  };
  /**
   * `Return` (default) gives what came, marked. `Fail` answers RESULT_INCOMPLETE.
   */
  onIncomplete?: 'Return' | 'Fail';
}
/**
 * Where a value is read in an answer. Example: `{body: /metadata/continue}` or `{link: next, query: page}`.
 */
export interface Locator {
  body?: Path;
  /**
   * Name of a response header. Example: `x-next-page`.
   */
  header?: string;
  /**
   * Relation of a Link header (RFC 8288). Example: `next`.
   */
  link?: string;
  /**
   * Attributes the link must have. Example: `{results: "true"}`.
   */
  where?: {
    [k: string]: string;
  };
  /**
   * One parameter taken out of the link. Example: `after`.
   */
  query?: string;
  lastItem?: Path;
}
