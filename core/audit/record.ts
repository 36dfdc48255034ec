/**
 * What is recorded: one fact about a session or about one of its calls, as it is read after decryption. Order is by the sequence of the chain;
 * `at` is for people.
 *
 * No secret, token or signed header is in any member, although records are encrypted: who may read them is not who may use a credential.
 * Credentials appear by the name of their binding, destinations by their origin, arguments with every credential in use taken out.
 * Nothing a remote said is in any of them: of an answer its size, its completeness and codes of closed sets.
 */
import type { JsonValue } from '#core/encoding/json-value.ts';
import type { SealedKind } from './frame.ts';

export type AuditRecord =
  | SessionRecord
  | IntentRecord
  | OutcomeRecord
  | RefusedRecord
  | ReplayedRecord
  | ApprovalRecord
  | RequestRecord
  | CountedRecord;

/** As it is in a line: `record` and `at` come first. */
export type WrittenRecord = AuditRecord & {
  /** RFC 3339 with milliseconds, by the writer's clock. */
  readonly at: string;
};

interface Kind<Name extends SealedKind> {
  readonly record: Name;
}

export type Effect = 'Read' | 'Write' | 'Destructive';

export type SessionRecord = Kind<'session'> &
  (
    | {
        /** A process takes calls from here on. */
        readonly event: 'started';
        readonly version: string;
        /** Whether an operator says what is served; without one, files do. */
        readonly operator: boolean;
      }
    | {
        /** Who the operator says that this session belongs to; also when it says something else later. */
        readonly event: 'requester';
        readonly session: string;
        readonly pod: string;
        readonly service_account: string;
        /** `name@sha256:...`, or the name alone. */
        readonly image: string;
        /** `Deployment/release-bot`; empty for a bare pod. */
        readonly controller: string;
      }
    | {
        readonly event: 'bundle';
        /** Absent where files are served. */
        readonly bundle_revision?: string;
        readonly contracts: readonly { readonly contract: string; readonly action: string; readonly revision: string }[];
        /** Contracts that did not fit. */
        readonly contracts_left_out?: number;
      }
    | {
        readonly event: 'state';
        readonly state: 'Pending' | 'Active' | 'Suspended' | 'Revoked' | 'Ended';
        /** Words of a person. */
        readonly because?: string;
      }
    | {
        /** Whether anything is recorded from here on: the operator named no recipients, or some again (AUD-23). */
        readonly event: 'recording';
        readonly on: boolean;
      }
    | {
        /** A segment of this chain cannot be stored elsewhere for its own sake; later ones are. Told again by each process that finds it so. */
        readonly event: 'unshipped';
        readonly segment: number;
        /** The records in it. */
        readonly first_sequence: number;
        readonly last_sequence: number;
        readonly because: 'occupied' | 'damaged' | 'unreadable' | 'refused';
      }
    | { readonly event: 'ended'; readonly because: 'stopped' }
  );

/** Durable before the first byte of an effect; of a read, before its answer. */
export interface IntentRecord extends Kind<'intent'> {
  readonly action: string;
  /** metadata.name and metadata.namespace. */
  readonly contract: string;
  readonly namespace: string;
  readonly revision: string;
  readonly effect: Effect;
  readonly request_id: string;
  readonly operation_id: string;
  /** Canonical. A string that holds a credential in use is masked. */
  readonly arguments?: JsonValue;
  /** Why there are none: `credential` where one is spread over several values, `size` where they do not fit. */
  readonly arguments_left_out?: 'credential' | 'size';
  /** `sha256:`, of the arguments as they were given. */
  readonly arguments_digest: string;
  /** Names of the bindings whose credentials the contract may use. */
  readonly credentials: readonly string[];
  /** `https://host[:port]`, `ssh://host`; a host that an argument chooses is written as in the contract. */
  readonly destinations: readonly string[];
  /** Which request of an effect, from 0; `element` is the one of `forEach`. */
  readonly target?: { readonly index: number; readonly element?: JsonValue };
  /** Name of the approval that is used, and whose yes it was: a name as whoever decides knows it. */
  readonly approval?: string;
  readonly approver?: string;
  readonly plan_digest?: string;
  /** The next part of a walk. */
  readonly resumed?: true;
}

/** Durable before the answer of an effect. */
export interface OutcomeRecord extends Kind<'outcome'> {
  /** These four are absent where a start knows of its operation only that it had an intent, which says them. */
  readonly action?: string;
  readonly revision?: string;
  readonly effect?: Effect;
  readonly request_id?: string;
  readonly operation_id: string;
  /** `unknown`: a request left, and nobody can tell whether it took effect; of a read, whether it was answered. */
  readonly status: 'ok' | 'partial' | 'failed' | 'unknown';
  /** Of `failed` and `unknown`; core/error/reasons.ts. */
  readonly code?: string;
  readonly complete?: boolean;
  readonly incomplete_reasons?: readonly string[];
  readonly warnings?: readonly string[];
  readonly rows?: number;
  /** Of the data that was given to the caller. */
  readonly bytes?: number;
  readonly pages?: number;
  /** How often the remote answered with which status: `200`, `exit 1`, or why no answer came; absent where it was not asked. */
  readonly remote?: Readonly<Record<string, number>>;
  /** Of an effect on several. */
  readonly targets?: { readonly done: number; readonly refused: number; readonly untouched: number; readonly unknown: number };
  readonly duration_ms?: number;
  /**
   * How it came to be known later than by its own end: a start that found its intent without an end, the read that tells, or a person,
   * who is named by `by`.
   */
  readonly found?: 'start' | 'read' | 'person';
  readonly by?: string;
}

/** Ended before its intent: nothing was sent. */
export interface RefusedRecord extends Kind<'refused'> {
  /** As it was asked for; what is no name at all is left out. */
  readonly action?: string;
  /** Whether this sidecar serves it. */
  readonly known: boolean;
  readonly code: string;
  /** Rules that the arguments break: closed words. */
  readonly rules?: readonly string[];
  readonly request_id: string;
  readonly operation_id?: string;
  readonly duration_ms: number;
}

/** Answered with what was known of the operation; nothing was sent. */
export interface ReplayedRecord extends Kind<'replayed'> {
  readonly action: string;
  readonly request_id: string;
  readonly operation_id: string;
}

/** One question to a person, and what became of it. */
export interface ApprovalRecord extends Kind<'approval'> {
  readonly event: 'asked' | 'approved' | 'denied' | 'expired' | 'void' | 'used';
  /** Name of the question, and of its ActionApproval. */
  readonly approval: string;
  readonly operation_id?: string;
  readonly action?: string;
  readonly contract?: string;
  readonly revision?: string;
  readonly card_digest?: string;
  readonly plan_digest?: string;
  readonly arguments_digest?: string;
  /** RFC 3339. */
  readonly expires_at?: string;
  readonly decided_at?: string;
  /** A name as whoever decides knows it, and words of that person. */
  readonly approver?: string;
  readonly reason?: string;
  /** What was chosen instead of the call as it was asked for. */
  readonly alternative?: string;
}

/** Another request, or one whose call has its records under another request: a second caller of one operation. */
export interface RequestRecord extends Kind<'request'> {
  readonly method: string;
  /** `OK`, a code of core/error/reasons.ts, or `CANCELLED`. */
  readonly code: string;
  readonly request_id: string;
  readonly duration_ms: number;
}

/** What came too often to be recorded one by one. */
export interface CountedRecord extends Kind<'counted'> {
  /** RFC 3339. */
  readonly since: string;
  /** `what`: `refused`, `replayed`, a method, or `stream` for what the server turned away before it was a request. */
  readonly counts: readonly { readonly what: string; readonly code: string; readonly count: number }[];
}
