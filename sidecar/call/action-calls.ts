/**
 * The calls of one sidecar: list, execute, prepare, confirm, look at operations. Every call takes the same road: a place, a plan, and then
 * either the read's short way - gate, remembered as running, answered - or the journal's (effects.ts). A call that ends before its intent
 * is told to the recorder as refused.
 */
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import type { Decider } from '#sidecar/approval/decider.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { answerRead, type ReadMeans } from './answer-read.ts';
import { Bundle } from './bundle.ts';
import type {
  ActionDescription,
  CallContext,
  Calls,
  ConfirmCall,
  ExecuteCall,
  ExecuteResult,
  OperationPage,
  OperationView,
  PlanView,
  PrepareCall,
} from './calls.ts';
import { describeAction } from './describe.ts';
import { Effects } from './effects.ts';
import { type Passed, passGate } from './gate.ts';
import { isOutcome } from './outcome.ts';
import { isJournaled, type Plan } from './plan.ts';
import { prepare } from './prepare.ts';
import { suspendedError } from './standing.ts';

export interface CallsMeans extends ReadMeans {
  /** What effects stand on; or why there is none: a sentence for CONTRACT_NOT_READY, and for the list of actions. */
  readonly effects: { readonly journal: Journal; readonly decider: Decider } | { readonly none: string };
}

export class ActionCalls implements Calls {
  readonly #bundle: () => Bundle | undefined;
  readonly #means: CallsMeans;
  readonly #effects: Effects | undefined;
  #inFlight = 0;

  /** `bundle` gives the current one, if any; each call pins it once. */
  constructor(bundle: () => Bundle | undefined, means: CallsMeans) {
    this.#bundle = bundle;
    this.#means = means;
    const { effects } = means;
    if (!('none' in effects)) this.#effects = new Effects({ ...means, ...effects, bundle: () => bundle() ?? EMPTY });
  }

  /** Calls running now. */
  get running(): number {
    return this.#inFlight;
  }

  /** Calls are taken from now on: what an earlier process left in doubt is looked after. */
  begin(): void {
    this.#effects?.begin();
  }

  /** After the last call was taken: lets effects end within `graceMs`; the next start finds the others as unknown. */
  async stop(graceMs: number): Promise<void> {
    await this.#effects?.stop(graceMs);
  }

  list(): readonly ActionDescription[] {
    const { standing } = this.#means;
    const bundle = this.#pinned();
    return bundle.actions().map(({ contract }) => {
      const suspension = bundle.suspension(contract);
      const refused = suspension === undefined ? standing.refusal(contract) : suspendedError(suspension, contract.action);
      return describeAction(contract, refused?.message ?? (isJournaled(contract) ? this.#noEffects : undefined));
    });
  }

  async execute(call: ExecuteCall, context: CallContext): Promise<ExecuteResult> {
    const started = this.#means.clock.monotonicMs();
    const plan = this.#told(call, context, started, () => this.#planned(call, context));
    if (isJournaled(plan.served.contract)) {
      return this.#inPlace(call, context, started, (effects) => effects.execute(plan, call, context));
    }
    const passed = this.#told(call, context, started, () => this.#passed(plan));
    const { resume, served } = plan;
    if (resume !== undefined) this.#means.recorder.cursorUsed(served.contract.action, resume.expired ? 'expired' : 'resumed');
    this.#inFlight += 1;
    try {
      return await answerRead(passed, this.#means, context);
    } finally {
      this.#inFlight -= 1;
    }
  }

  async prepare(prepared: PrepareCall, context: CallContext): Promise<PlanView> {
    const started = this.#means.clock.monotonicMs();
    const call = { ...prepared, onePage: false };
    const plan = this.#told(call, context, started, () => this.#planned(call, context));
    if (!isJournaled(plan.served.contract)) {
      const error = new PosternError('INVALID_ARGUMENT', 'This action changes nothing and asks nobody; it has no plan. Execute it.');
      throw this.#refused(call, context, error, started);
    }
    return this.#inPlace(call, context, started, (effects) => effects.prepare(plan, call, context));
  }

  async confirm(call: ConfirmCall, context: CallContext): Promise<ExecuteResult> {
    const started = this.#means.clock.monotonicMs();
    const action = this.#effects?.actionOf(call.planId) ?? '';
    return this.#inPlace({ action }, context, started, (effects) => effects.confirm(call, context));
  }

  async getOperation(operationId: string, waitMs: number, signal: AbortSignal): Promise<OperationView> {
    const bounded = Math.min(waitMs, limits.operationWaitMsMax);
    return (await this.#effects?.get(operationId, bounded, signal)) ?? this.#means.operations.wait(operationId, bounded, signal);
  }

  listOperations(): OperationPage {
    const { operations, effects } = this.#means;
    const all = [...(this.#effects?.list() ?? []), ...operations.list()];
    return {
      operations: all.sort((one, other) => other.startedAtMs - one.startedAtMs),
      dropped: operations.dropped,
      keptMax: operations.keptMax,
      durable: !('none' in effects) && effects.journal.durable,
    };
  }

  get #noEffects(): string | undefined {
    return 'none' in this.#means.effects ? this.#means.effects.none : undefined;
  }

  /** The checks of every call, before anything is kept. */
  #planned(call: ExecuteCall, { requestId, signal }: CallContext): Plan {
    this.#takePlace(signal);
    return prepare(this.#pinned(), this.#means, call, requestId);
  }

  #passed(plan: Plan): Passed {
    const passed = passGate(plan);
    this.#means.operations.begin(plan.operationId, plan.requestId, plan.served.contract.action);
    return passed;
  }

  /** Runs what is journaled, among the calls that are counted. */
  async #inPlace<Result>(
    call: Pick<ExecuteCall, 'action'>,
    context: CallContext,
    started: number,
    run: (effects: Effects) => Promise<Result>,
  ): Promise<Result> {
    this.#inFlight += 1;
    try {
      // Only after its place is counted: a confirm has none yet.
      if (this.#inFlight > limits.callsInFlightMax) throw tooManyError();
      if (context.signal.aborted) throw new PosternError('DEADLINE_EXCEEDED', CANCELLED);
      if (this.#effects === undefined) throw new PosternError('CONTRACT_NOT_READY', this.#noEffects ?? '');
      return await run(this.#effects);
    } catch (thrown) {
      const error = PosternError.from(thrown);
      throw isOutcome(error) ? error : this.#refused(call, context, error, started);
    } finally {
      this.#inFlight -= 1;
    }
  }

  #told<Result>(call: ExecuteCall, context: CallContext, started: number, check: () => Result): Result {
    try {
      return check();
    } catch (thrown) {
      throw this.#refused(call, context, PosternError.from(thrown), started);
    }
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
    if (signal.aborted) throw new PosternError('DEADLINE_EXCEEDED', CANCELLED);
    if (this.#inFlight >= limits.callsInFlightMax) throw tooManyError();
  }

  #refused(call: Pick<ExecuteCall, 'action'>, context: CallContext, error: PosternError, started: number): PosternError {
    const known = this.#bundle()?.has(call.action) === true;
    if (known && error.reason === 'CURSOR_INVALID') this.#means.recorder.cursorUsed(call.action, 'invalid');
    this.#means.recorder.refused(
      { requestId: context.requestId, asked: call.action, ...(known ? { action: call.action } : {}) },
      error,
      this.#means.clock.monotonicMs() - started,
    );
    return error.forCall(context);
  }
}

const EMPTY = new Bundle([]);
const CANCELLED = 'The call was cancelled before anything was sent.';

function tooManyError(): PosternError {
  return new PosternError('LIMIT_EXCEEDED', `More than ${limits.callsInFlightMax} calls are running; call again when some have ended.`, {
    details: { limit: 'calls_in_flight', value: String(limits.callsInFlightMax) },
  });
}
