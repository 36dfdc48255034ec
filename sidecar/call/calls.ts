/**
 * What a caller can ask of the sidecar, as values. The gRPC service decodes into these and encodes from them;
 * any other front (an MCP facade, the command line) would stand on the same interface.
 */
import type { Envelope } from '#core/completeness/envelope.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { Reason } from '#core/error/reasons.ts';
import type { RemoteStatuses } from './remote-statuses.ts';

/** Everything an agent may know of one action before calling it. Never a destination or a credential. */
export interface ActionDescription {
  readonly action: string;
  /** The contract's sentence with argument names in braces: `List open issues of {repository}`. */
  readonly summary: string;
  readonly owner: string;
  readonly effect: 'Read' | 'Write' | 'Destructive';
  readonly ready: boolean;
  /** Why a call answers CONTRACT_NOT_READY; empty when ready. */
  readonly notReady: string;
  /** JSON Schema of the arguments in the closed dialect, with the descriptions of its author. */
  readonly argumentsSchema: JsonValue;
  readonly result: {
    readonly as: string;
    readonly shape: 'items' | 'object' | 'aggregate';
    readonly fields: readonly { readonly name: string; readonly presence: 'Required' | 'Optional' | 'Restricted' }[];
    /** All fields of the remote pass. */
    readonly allFields: boolean;
  };
  readonly approval: 'None' | 'Session' | 'EachCall';
  readonly best: 'Complete' | 'SinglePage' | 'Partial';
  readonly absence: 'provable' | 'never';
  readonly exclusions: readonly string[];
  readonly limits: { readonly pages: number; readonly items: number; readonly bytes: number; readonly timeMs: number };
  /** Name of the action whose evidence this one takes; empty for none. */
  readonly evidenceFrom: string;
  readonly revision: string;
}

export interface ExecuteCall {
  readonly action: string;
  /** UTF-8 JSON text, parsed strictly and once. Empty means `{}`. */
  readonly argumentsJson: Uint8Array;
  readonly cursor?: string;
  readonly onePage: boolean;
  readonly operationId?: string;
  /** The caller's own bound on the whole call; may only shorten the contract's. */
  readonly deadlineMs?: number;
  /** Sealed tokens of earlier answers. Default none. */
  readonly evidence?: readonly string[];
}

export type PrepareCall = Omit<ExecuteCall, 'cursor' | 'onePage'>;

export interface ConfirmCall {
  /** An operation id. */
  readonly planId: string;
  readonly deadlineMs?: number;
}

/** How far the yes of a person is; `notNeeded` also where an earlier yes covers the call. */
export interface ApprovalView {
  readonly state: 'notNeeded' | 'waiting' | 'approved' | 'denied' | 'expired' | 'void' | 'used';
  /** Of the question. */
  readonly name?: string;
  readonly expiresAtMs?: number;
  /** The plan that was chosen instead. */
  readonly chosenPlanId?: string;
}

export interface PlanView {
  readonly planId: string;
  readonly card: string;
  readonly cardDigest: string;
  readonly expiresAtMs: number;
  readonly approval: ApprovalView;
  readonly planDigest: string;
  readonly alternatives: readonly { readonly planId: string; readonly name: string; readonly card: string; readonly cardDigest: string }[];
  /** What will happen, in one sentence; every text of the agent in it is cleaned. */
  readonly summary: string;
}

/** What became of one target of an effect. */
export interface StepView {
  readonly index: number;
  /** JSON of the element it was for; absent where there is one target. */
  readonly elementJson?: string;
  /** `sent`: under way. `refused`: it did not take effect. */
  readonly state: 'done' | 'refused' | 'untouched' | 'unknown' | 'sent';
  readonly error?: { readonly reason: Reason; readonly message: string };
}

/** One call as far as it is remembered. */
export interface OperationView {
  readonly operationId: string;
  readonly requestId: string;
  readonly action: string;
  readonly effect?: 'Read' | 'Write' | 'Destructive';
  readonly state: 'planned' | 'running' | 'done' | 'failed' | 'unknown';
  readonly startedAtMs: number;
  readonly finishedAtMs?: number;
  readonly error?: { readonly reason: Reason; readonly message: string };
  readonly complete?: boolean;
  readonly returned?: number;
  readonly approval?: ApprovalView;
  readonly steps?: readonly StepView[];
  readonly result?: ExecuteResult;
  readonly card?: { readonly text: string; readonly digest: string };
  readonly expiresAtMs?: number;
  readonly resolution?: { readonly verdict: 'done' | 'notDone'; readonly by: 'settle' | 'person'; readonly atMs: number };
}

export interface Progress {
  readonly pages: number;
  readonly items: number;
  readonly source: string;
  /** Set while the walk waits for the remote, in milliseconds. */
  readonly waitingMs?: number;
}

export interface CallContext {
  readonly requestId: string;
  /** Aborted when the caller cancels or its deadline passes. */
  readonly signal: AbortSignal;
  onProgress(progress: Progress): void;
  /** Told how the remote answered. */
  readonly statuses?: RemoteStatuses;
}

export interface ExecuteResult {
  readonly requestId: string;
  readonly operationId: string;
  readonly action: string;
  readonly revision: string;
  readonly envelope: Omit<Envelope, 'data'>;
  /** UTF-8 JSON of the data member; at most limits.resultDataBytesMax. */
  readonly dataJson: Uint8Array;
  readonly evidence?: string;
  /** Of an effect. */
  readonly steps?: readonly StepView[];
}

export interface OperationPage {
  readonly operations: readonly OperationView[];
  /** Records of reads that were dropped because their store is bounded; a list with any is not whole. */
  readonly dropped: number;
  readonly keptMax: number;
  /** Whether effects outlive the process. */
  readonly durable: boolean;
}

export interface Calls {
  list(): readonly ActionDescription[];
  /** Throws PosternError. */
  execute(call: ExecuteCall, context: CallContext): Promise<ExecuteResult>;
  /** Checks, keeps, asks a person where one has to agree; changes nothing. Throws PosternError. */
  prepare(call: PrepareCall, context: CallContext): Promise<PlanView>;
  /** Runs that plan once, or tells what became of it. Throws PosternError. */
  confirm(call: ConfirmCall, context: CallContext): Promise<ExecuteResult>;
  /**
   * Waits up to `waitMs`, at most limits.operationWaitMsMax, for the operation's next change: a decision, or its end. Throws PosternError
   * when the id is not known.
   */
  getOperation(operationId: string, waitMs: number, signal: AbortSignal): Promise<OperationView>;
  listOperations(): OperationPage;
}
