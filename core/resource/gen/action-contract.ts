// Generated from crds/ by `npm run generate`. Do not edit.

/**
 * The sentence a person reads on the card and an agent reads in the list of actions. Slots of arguments are allowed. Example: `List open issues of $(args.repository)`.
 */
export type Summary = string;
/**
 * The team that answers for this object; alerts name it. Example: `triage-team`.
 */
export type Owner = string;
/**
 * Name of an object in this namespace. Example: `github-triage`.
 */
export type ObjectName = string;
/**
 * HTTP method. Example: `GET`.
 */
export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
/**
 * Literal origin, then path segments that are each literal or one slot. No query here. `$(args.path...)` stands for several segments, each checked alone. Example: `https://api.github.com/repos/$(resolve.repository.owner)/issues`.
 */
export type Url = string;
/**
 * JSON Pointer, plus `*` (every element or map value) and `[type=Ready]` (the one element whose member equals); `/` alone is the whole document. Example: `/status/conditions/[type=Ready]/status`.
 */
export type Path = string;
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
/**
 * An argument, as a JSON Pointer. Example: `/project_ids`.
 */
export type ArgumentPath = string;
/**
 * Name of an argument. Example: `inactive_since`.
 */
export type ArgumentName = string;
/**
 * CEL over `result`, the data of that read. Example: `result.payment.status == 'succeeded'`.
 */
export type ResultCel = string;
/**
 * Accepted, Ready, Suspended, AllFieldsPass, PresetWeakened, SharedServiceAccount, CallersRefused, WarningExpiring.
 *
 * @maxItems 32
 */
export type Conditions = {
  type: string;
  status: 'True' | 'False' | 'Unknown';
  observedGeneration?: number;
  lastTransitionTime: string;
  reason: string;
  message: string;
}[];

/**
 * One action an agent may call by name: its closed arguments, the fixed place it goes to, the credential it uses, and how the remote says "this is not all". The agent sees the name and the arguments, never the destination or the credential.
 */
export interface ActionContract {
  apiVersion: 'postern.dev/v1alpha1';
  kind: 'ActionContract';
  metadata: ObjectMeta;
  /**
   * What the action may do, where it goes, and what its answers mean.
   */
  spec: {
    /**
     * The name the agent calls: metadata.name with `_` for `-`. Example: `list_open_issues`.
     */
    action: string;
    summary: Summary;
    owner: Owner;
    /**
     * What a call can do. `Read` changes nothing; `Write` changes something that can be changed back; `Destructive` cannot be undone and needs an approval of every call unless said otherwise.
     */
    effect: 'Read' | 'Write' | 'Destructive';
    /**
     * Required for `effect: Read` with another method than GET or HEAD: why the request changes nothing. Example: `_search reads; the point in time it opens expires after two minutes`.
     */
    readOnlyBecause?: string;
    /**
     * Who may call. Example: `[{serviceAccount: triage-bot}]`.
     *
     * @minItems 1
     * @maxItems 50
     */
    callers: {
      /**
       * A ServiceAccount of this namespace; every pod that runs as it may call. Example: `triage-bot`.
       */
      serviceAccount: string;
    }[];
    /**
     * Every CredentialBinding this contract may use. Whoever writes the contract needs the verb `use` on each; a binding named elsewhere in the contract and not here is an error. Example: `[github-triage]`.
     *
     * @minItems 1
     * @maxItems 8
     */
    credentials: ObjectName[];
    suspended?: Suspended;
    /**
     * Closed JSON Schema of what the agent may pass. Small dialect: type, description, enum; objects: properties, required, additionalProperties: false (always); text: pattern (anchored, RE2), format, minLength, maxLength, x-postern-max-bytes; numbers: minimum, maximum; lists: items, minItems, maxItems, uniqueItems; and for free text `x-postern-text: {render: plain | markdown | jiraWiki, mentions: refuse | escape, lines: 5}`. Example: `{type: object, additionalProperties: false, required: [repository], properties: {repository: {type: string, enum: [storefront, billing]}}}`.
     */
    arguments: {};
    /**
     * Fixed values behind the labels of an enum argument: argument -> label -> member -> value, used as `$(resolve.argument.member)`. The labels must equal the enum. The agent never sees the values. Example: `{repository: {storefront: {owner: acme, repo: storefront}}}`.
     */
    resolve?: {
      [k: string]: {
        [k: string]: {};
      };
    };
    /**
     * Fixed values used as `$(constants.name)`. They are never searched for slots, so big literal texts (a GraphQL query) belong here. Example: `{projection: "sk, total_cents, #s"}`.
     */
    constants?: {};
    /**
     * The request. Literal text and slots: `$(args.x)`, `$(resolve.x.y)`, `$(next.x)`, `$(constants.x)`, `$(limits.pageSize)`. Example: `{credential: github-triage, method: GET, url: "https://api.github.com/user"}`.
     */
    http?: {
      /**
       * The binding whose credential is attached: a name listed in spec.credentials, or one `$(resolve.argument.member)` all of whose values are. Example: `github-triage`.
       */
      credential: string;
      method: Method;
      url: Url;
      query?: Query;
      headers?: Headers;
      body?: Body;
      /**
       * A request sent once before the first page; its values feed `$(open.name)`. Example: `{method: POST, url: "https://es.example.com/logs/_pit", query: {keep_alive: 2m}, values: {pit: /id}}`.
       */
      open?: {
        method: Method;
        url: Url;
        query?: Query;
        headers?: Headers;
        body?: Body;
        /**
         * What is kept of the answer: name -> path. Example: `{pit: /id}`.
         */
        values: {
          [k: string]: string;
        };
      };
      next?: Request;
      close?: Close;
    };
    /**
     * The command. Example: `{credential: web-logs, host: "$(resolve.host.address)", argv: [tail, -n, "501", --, "$(resolve.service.log)"], shell: Posix}`.
     */
    ssh?: {
      credential: ObjectName;
      /**
       * A literal host, or one slot whose every value resolves to a fixed host. Example: `$(resolve.host.address)`.
       */
      host: string;
      /**
       * The command as words; the first is a literal program, each other word one literal or one slot. Example: `[systemctl, restart, --, "$(resolve.service.unit)"]`.
       *
       * @minItems 1
       * @maxItems 64
       */
      argv: string[];
      /**
       * `Posix`: words are quoted for a POSIX shell. `ForcedCommand`: the server runs its own command and reads JSON on stdin.
       */
      shell: 'Posix' | 'ForcedCommand';
      /**
       * JSON given on standard input. Example: `{service: "$(args.service)"}`.
       */
      stdin?: {
        [k: string]: unknown;
      };
    };
    /**
     * A read of the target before the card is made: the card shows before -> after, and Confirm refuses if the before has changed. Example: `{contract: get-deployment, arguments: {name: "$(args.deployment)"}, fields: [{name: replicas, after: "$(args.replicas)"}]}`.
     */
    prepare?: {
      contract: ObjectName;
      arguments: CallArguments;
      /**
       * Values shown on the card. Example: `[{name: replicas, after: "$(args.replicas)"}]`.
       *
       * @minItems 1
       * @maxItems 16
       */
      fields: {
        /**
         * Label on the card. Example: `replicas`.
         */
        name: string;
        path?: Path;
        /**
         * What it will be. Example: `$(args.replicas)`.
         */
        after?: string;
      }[];
    };
    result?: Result;
    completeness?: Completeness;
    /**
     * One request per element of a list argument with `uniqueItems: true`, 1 to 100 elements; each has its own record, recheck and outcome. Example: `{argument: /project_ids, order: Sequential, onFailure: Stop}`.
     */
    forEach?: {
      argument: ArgumentPath;
      /**
       * One after the other.
       */
      order: 'Sequential';
      /**
       * What happens to the rest when one fails.
       */
      onFailure: 'Stop' | 'Continue';
    };
    /**
     * The read that must precede. Example: `{from: list-inactive-projects, ids: /project_ids, claim: Listed, maxAge: 10m, match: [{argument: inactive_since, evidenceArgument: inactive_since}]}`.
     */
    evidence?: {
      from: ObjectName;
      ids: ArgumentPath;
      /**
       * `Listed`: every id was in the answer. `Absent`: none was, and absence was provable.
       */
      claim: 'Listed' | 'Absent';
      maxAge: Duration;
      /**
       * What an incomplete answer leads to. Default `Refuse`.
       */
      onIncomplete?: 'Refuse' | 'RequestReview';
      /**
       * For every argument of the read a constant or an argument of this action; else the agent would choose the question. Example: `[{argument: inactive_since, evidenceArgument: inactive_since}]`.
       *
       * @maxItems 32
       */
      match: {
        evidenceArgument: ArgumentName;
        argument?: ArgumentName;
        /**
         * A fixed value. Example: `all`.
         */
        constant?: {
          [k: string]: unknown;
        };
      }[];
      /**
       * `Checked` (default): a Declared consistency is not enough.
       */
      proof?: 'Checked' | 'Declared';
    };
    /**
     * Reads again right before the effect; false stops it. Example: `{contract: get-payment, arguments: {payment: "$(args.payment)"}, expect: "result.payment.status == 'succeeded'"}`.
     */
    recheck?: {
      contract: ObjectName;
      arguments: CallArguments;
      expect: ResultCel;
    };
    /**
     * What sending twice does; without this block `None`. Example: `{mode: Key, header: idempotency-key, ttl: 24h}`.
     */
    idempotency?: {
      /**
       * `None`: twice is twice. `Natural`: twice is once. `Key`: the remote keeps a key for ttl.
       */
      mode: 'None' | 'Natural' | 'Key';
      /**
       * Header that carries the key. Example: `idempotency-key`.
       */
      header?: string;
      body?: Path;
      /**
       * Form field that carries the key. Example: `idempotency_key`.
       */
      form?: string;
      /**
       * How long the remote keeps the key, from `1m` to `744h`; past it an unknown outcome needs a person. Example: `24h`.
       */
      ttl?: string;
      /**
       * The read that decides an unknown outcome. Example: `{contract: find-deploy-run, after: 60s, arguments: {operation: "$(operation.id)"}, done: "size(result.runs) == 1", notDone: "size(result.runs) == 0"}`.
       */
      settle?: {
        contract: ObjectName;
        arguments: CallArguments;
        after?: Duration;
        done: ResultCel;
        notDone?: ResultCel;
      };
    };
    /**
     * Whether a person must agree. Without this block `EachCall` for Destructive and for evidence that claims Absent, else `None`. Example: `{mode: EachCall, expiresAfter: 15m, reason: /reason}`.
     */
    approval?: {
      /**
       * `Session`: once for a stated range of calls; only for Read and idempotent Write.
       */
      mode: 'None' | 'Session' | 'EachCall';
      /**
       * Calls one Session approval covers. Default `20`. Example: `5`.
       */
      calls?: number;
      /**
       * Arguments that may differ between them; none that decides where a call goes or what it is proven by. Example: `[/reason]`.
       *
       * @maxItems 16
       */
      vary?: ArgumentPath[];
      /**
       * How long a question waits for a person, from `1m` to `24h`. Default `15m`. Example: `30m`.
       */
      expiresAfter?: string;
      reason?: ArgumentPath;
      because?: Because;
    };
    /**
     * Every warning this contract or its preset may raise, each with someone who answers for it and a day it must be renewed by. Example: `[{name: index-lag, code: STALE_INDEX, owner: tools, expires: "2027-06-30", message: The index lags behind writes}]`.
     *
     * @maxItems 64
     */
    warnings?: {
      /**
       * Name by which rules raise it. Example: `index-lag`.
       */
      name: string;
      /**
       * What kind of care. Example: `STALE_INDEX`.
       */
      code:
        | 'STALE_INDEX'
        | 'PARTIAL_FIELD_SET'
        | 'DEFAULT_SCOPE_APPLIED'
        | 'DEPRECATED_FIELD'
        | 'VALUE_NORMALIZED'
        | 'ORDER_REPLACED'
        | 'UPSTREAM_NOTICE'
        | 'CREDENTIAL_REFLECTED';
      owner: Owner;
      /**
       * Day (UTC), at most a year ahead; past it the warning forbids evidence and its alert fires. Example: `"2027-06-30"`.
       */
      expires: string;
      /**
       * What an agent should know. Example: `Replies in threads are not part of this list`.
       */
      message: string;
    }[];
  };
  /**
   * Written by the operator only.
   */
  status?: {
    /**
     * The generation this status speaks of.
     */
    observedGeneration?: number;
    /**
     * Digest of the compiled contract, its presets and bindings. Example: `sha256:9f2c...`.
     */
    revision?: string;
    /**
     * The best an answer of this action can be.
     */
    best?: 'Complete' | 'SinglePage' | 'Partial';
    /**
     * What the compiler filled in, by path.
     */
    defaults?: {};
    /**
     * Workloads under each caller; more than one shares its rights.
     *
     * @maxItems 50
     */
    callers?: {
      /**
       * The caller.
       */
      serviceAccount: string;
      /**
       * Why no pod of this account gets the contract. Example: `it may create pods`.
       */
      refused?: string;
      /**
       * What made the pods that run as it.
       *
       * @maxItems 100
       */
      workloads?: {
        /**
         * Its kind. Example: `Deployment`.
         */
        kind: string;
        /**
         * Its name.
         */
        name: string;
        /**
         * Its pods now.
         */
        pods?: number;
      }[];
    }[];
    /**
     * Warnings that answers carry now, over all sessions; written at most once a minute.
     *
     * @maxItems 100
     */
    warnings?: {
      /**
       * Example: `STALE_INDEX`.
       */
      code: string;
      /**
       * Team that answers for it.
       */
      owner: string;
      /**
       * Sessions whose answers carry it.
       */
      sessions?: number;
      /**
       * First raised.
       */
      firstSeen?: string;
      /**
       * Last raised.
       */
      lastSeen?: string;
      /**
       * Until when it must be renewed or removed.
       */
      expires?: string;
    }[];
    /**
     * Sessions that run this revision, and those that still run an older one.
     */
    sessions?: {
      /**
       * Sessions that run this revision.
       */
      current?: number;
      /**
       * Sessions that still run an older one.
       */
      behind?: number;
    };
    conditions?: Conditions;
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
 * Kill switch: while it stands, every call answers SESSION_SUSPENDED. Example: `{because: wrong totals since the upgrade}`.
 */
export interface Suspended {
  /**
   * Why; people and agents read it. Example: `wrong totals since the upgrade`.
   */
  because: string;
}
/**
 * Query parameters. An absent optional argument leaves its parameter out; a list repeats it. Merged by key with the preset's. Example: `{state: open, since: "$(args.since)"}`.
 */
export interface Query {
  [k: string]: string;
}
/**
 * Request headers; names are literal. Those the sidecar makes itself (host, authorization, content-length, connection) are refused. Merged by key with the preset's. Example: `{accept: application/json}`.
 */
export interface Headers {
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
 * Replaces the request from page two on (scroll APIs). Example: `{method: POST, url: "https://es.example.com/_search/scroll"}`.
 */
export interface Request {
  method: Method;
  url: Url;
  query?: Query;
  headers?: Headers;
  body?: Body;
}
/**
 * A request sent after the walk, best effort; skipped while a cursor is handed out. Example: `{method: DELETE, url: "https://es.example.com/_pit", body: {json: {id: "$(next.pit)"}}}`.
 */
export interface Close {
  method: Method;
  url: Url;
  query?: Query;
  headers?: Headers;
  body?: Body;
}
/**
 * Arguments of the read, with slots. Example: `{project_id: "$(each)"}`.
 */
export interface CallArguments {}
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
   * A ContractPreset merged under this contract; its digest is part of the revision. Example: `github-rest-v1`.
   */
  preset?: string;
  /**
   * Rules of the preset that are dropped; shown as condition PresetWeakened. Example: `[{list: signals, name: anonymous, because: a public repository}]`.
   *
   * @maxItems 32
   */
  without?: {
    /**
     * The named list the rule stands in.
     */
    list: 'outcomes' | 'next' | 'required' | 'signals' | 'notices' | 'totals' | 'freshness';
    name: RuleName;
    /**
     * Why it may be dropped. Example: `the repositories are public, so an anonymous answer is the same`.
     */
    because: string;
  }[];
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
