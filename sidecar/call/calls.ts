/**
 * What a caller can ask of the sidecar, as values. The gRPC service decodes into these and encodes from them;
 * any other front (an MCP facade, the command line) would stand on the same interface.
 */
import type { Envelope } from '#core/completeness/envelope.ts';
import type { JsonValue } from '#core/contract/compiled.ts';
import type { Operation } from '#sidecar/journal/operations.ts';

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
}

export interface OperationPage {
  readonly operations: readonly Operation[];
  /** Records that were dropped because the store is bounded; a list with any is not whole. */
  readonly dropped: number;
  readonly keptMax: number;
}

export interface Calls {
  list(): readonly ActionDescription[];
  /** Throws PosternError. */
  execute(call: ExecuteCall, context: CallContext): Promise<ExecuteResult>;
  /** Waits up to `waitMs`, at most limits.operationWaitMsMax, for a running operation to end. Throws PosternError when the id is not known. */
  getOperation(operationId: string, waitMs: number, signal: AbortSignal): Promise<Operation>;
  listOperations(): OperationPage;
}
