/**
 * The calls of one sidecar: list, execute, look at operations. Every execute takes the same road: a place, a plan, the
 * gate, remembered as running, the read. A call that ends before its intent is told to the recorder as refused.
 */
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Operation } from '#sidecar/journal/operations.ts';
import type { Bundle } from './bundle.ts';
import type { ActionDescription, CallContext, Calls, ExecuteCall, ExecuteResult, OperationPage } from './calls.ts';
import { describeAction } from './describe.ts';
import { execute, type Means } from './execute.ts';
import { type Passed, passGate } from './gate.ts';
import { prepare } from './prepare.ts';
import { suspendedError } from './standing.ts';

export class ActionCalls implements Calls {
  readonly #bundle: () => Bundle | undefined;
  readonly #means: Means;
  #inFlight = 0;

  /** `bundle` gives the current one, if any; each call pins it once. */
  constructor(bundle: () => Bundle | undefined, means: Means) {
    this.#bundle = bundle;
    this.#means = means;
  }

  /** Calls running now. */
  get running(): number {
    return this.#inFlight;
  }

  list(): readonly ActionDescription[] {
    const { standing } = this.#means;
    const bundle = this.#pinned();
    return bundle.actions().map(({ contract }) => {
      const suspension = bundle.suspension(contract);
      const refused = suspension === undefined ? standing.refusal(contract) : suspendedError(suspension, contract.action);
      return describeAction(contract, refused?.message);
    });
  }

  async execute(call: ExecuteCall, context: CallContext): Promise<ExecuteResult> {
    const started = this.#means.clock.monotonicMs();
    let passed: Passed;
    try {
      this.#takePlace(context.signal);
      passed = passGate(prepare(this.#pinned(), this.#means, call, context.requestId));
      const { operationId, requestId, served } = passed.plan;
      this.#means.operations.begin(operationId, requestId, served.contract.action);
    } catch (thrown) {
      throw this.#refused(call, context, PosternError.from(thrown), started);
    }
    const { resume, served } = passed.plan;
    if (resume !== undefined) this.#means.recorder.cursorUsed(served.contract.action, resume.expired ? 'expired' : 'resumed');
    this.#inFlight += 1;
    try {
      return await execute(passed, this.#means, context);
    } finally {
      this.#inFlight -= 1;
    }
  }

  getOperation(operationId: string, waitMs: number, signal: AbortSignal): Promise<Operation> {
    return this.#means.operations.wait(operationId, Math.min(waitMs, limits.operationWaitMsMax), signal);
  }

  listOperations(): OperationPage {
    const { operations } = this.#means;
    return { operations: operations.list(), dropped: operations.dropped, keptMax: operations.keptMax };
  }

  /**
   * Throws the session's own refusal before one about the bundle. A sidecar without a bundle lists nothing rather than an empty list:
   * that would say that there are no actions.
   */
  #pinned(): Bundle {
    const bundle = this.#bundle();
    if (bundle !== undefined) return bundle;
    throw (
      this.#means.standing.refusal() ??
      new PosternError('CONTRACT_NOT_READY', 'This sidecar has no actions from its operator yet; ask again in a few seconds.')
    );
  }

  /** A call its caller has given up already sends nothing (failure case GRPC-07). */
  #takePlace(signal: AbortSignal): void {
    if (signal.aborted) throw new PosternError('DEADLINE_EXCEEDED', 'The call was cancelled before anything was sent.');
    if (this.#inFlight >= limits.callsInFlightMax) {
      throw new PosternError('LIMIT_EXCEEDED', `More than ${limits.callsInFlightMax} calls are running; call again when some have ended.`, {
        details: { limit: 'calls_in_flight', value: String(limits.callsInFlightMax) },
      });
    }
  }

  #refused(call: ExecuteCall, context: CallContext, error: PosternError, started: number): PosternError {
    const known = this.#bundle()?.has(call.action) === true;
    if (known && error.reason === 'CURSOR_INVALID') this.#means.recorder.cursorUsed(call.action, 'invalid');
    this.#means.recorder.refused(
      { requestId: context.requestId, ...(known ? { action: call.action } : {}) },
      error,
      this.#means.clock.monotonicMs() - started,
    );
    return error.forCall(context);
  }
}
