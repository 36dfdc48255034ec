/**
 * From a plan that was begun in the journal to its outcome, in this order and no other (design section 6):
 *
 *     journal.begin                        by the caller: of all who ask, one comes here
 *     the target read again                `before` and `recheck`; what it is no longer stops it, and nothing was sent
 *     decider.admit                        the approval is used up; whoever decides knows of the operation
 *     staleness, before and after these    what the plan rests on is another one by now, or its evidence too old (failure case APR-02)
 *     recorder.intent, journal.intent      durable before the first byte (promise P4)
 *     standing asked once more             a revocation that came meanwhile stops it here (failure case APR-12)
 *     send                                 once; from here on nobody's leaving stops it (failure case GRPC-11)
 *     journal.step                         what the reply means, durable
 *     journal.end -> decider.settled -> recorder.outcome
 *
 * With `forEach` everything from the recheck to the step happens for each element in turn; begin, admit and end once.
 */
import { PosternError } from '#core/error/postern-error.ts';
import type { Decider } from '#sidecar/approval/decider.ts';
import { sendEffect, unknownError } from '#sidecar/execute/effect.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import { type ReadMeans, readPlan } from './answer-read.ts';
import { checkBefore } from './before.ts';
import type { Bundle } from './bundle.ts';
import { type Passed, passEffectGate } from './gate.ts';
import { staleness } from './judge-plan.ts';
import { mergeAnswers } from './merge-answers.ts';
import { countSteps, errorWith, type Outcome, outcomeJson } from './outcome.ts';
import { type EffectPlan, type Target, targetsOf } from './plan.ts';
import { readAgain } from './read-again.ts';
import { recheckTarget } from './recheck-target.ts';
import type { CallEnd } from './recorder.ts';
import { RemoteStatuses } from './remote-statuses.ts';
import { Steps, type TargetAnswer } from './steps.ts';

export interface EffectMeans extends ReadMeans {
  readonly journal: Journal;
  readonly decider: Decider;
  /** The newest one, for the reads that the effect rests on. */
  bundle(): Bundle;
}

/** One operation under way. */
export interface Run {
  readonly requestId: string;
  /** Aborted once nobody waits for it any more; heeded until the first byte is sent. */
  readonly abandoned: AbortSignal;
  /** Called right before the first byte: from here on the operation goes to its own end. */
  dispatched(): void;
  /** Throws APPROVAL_EXPIRED where a yes for a range of calls does not cover this one too; see grants.ts. */
  demandGrant(plan: EffectPlan): void;
}

/** How an operation ended, as it is told. `unwritten`: what the journal did not take, and may take later. */
export interface Ended {
  readonly told: Outcome;
  readonly unwritten?: Outcome;
}

/**
 * Resolves with what became of it, once that is durable; never rejects. Where it cannot be made durable the outcome is unknown, whatever
 * the remote said: a restart will find an intent without an end.
 */
export async function execute(plan: EffectPlan, means: EffectMeans, run: Run): Promise<Ended> {
  const startedMs = means.clock.monotonicMs();
  const attempt = new Attempt(plan, means, run);
  const outcome = await attempt.make();
  const ended = await durably(plan, outcome, means, attempt.sent);
  const { told } = ended;
  if (attempt.passed !== undefined) await means.decider.settled(plan.operationId, endOf(told.phase, told.steps));
  try {
    await means.recorder.outcome(plan, { ...callEnd(told), remote: attempt.statuses.counts }, means.clock.monotonicMs() - startedMs);
  } catch {
    // What became of it stands in the journal, and a caller must not be told otherwise because of who listens.
  }
  return ended;
}

class Attempt {
  readonly #plan: EffectPlan;
  readonly #means: EffectMeans;
  readonly #run: Run;
  readonly #steps: Steps;
  /** Aborted at the contract's own limit. */
  readonly #limit = new AbortController();
  readonly #endsMs: number;
  /** Of its own requests; what it rests on has records of its own. */
  readonly statuses = new RemoteStatuses();
  passed: Passed<EffectPlan> | undefined;
  /** Whether a byte may have left. */
  sent = false;
  /** The journal did not take what came of a request. */
  #lost = false;

  constructor(plan: EffectPlan, means: EffectMeans, run: Run) {
    this.#plan = plan;
    this.#means = means;
    this.#run = run;
    this.#steps = new Steps(targetsOf(plan.args, plan.each), means.journal.get(plan.operationId)?.steps ?? []);
    this.#endsMs = means.clock.monotonicMs() + plan.served.contract.completeness.limits.timeMs;
  }

  async make(): Promise<Outcome> {
    const cancelAlarm = this.#means.clock.alarm(this.#timeLeftMs, () => this.#limit.abort());
    try {
      await readAgain(this.#plan, { bundle: this.#means.bundle(), signal: this.#early }, this.#means);
      await checkBefore(this.#plan, { bundle: this.#means.bundle(), signal: this.#early }, this.#means);
      for (const target of this.#steps.open()) {
        if (!(await this.#take(target))) break;
      }
    } catch (thrown) {
      // Before the first intent of the target at hand: it, and all after it, are as they were.
      this.#steps.stopped(PosternError.from(thrown));
    } finally {
      cancelAlarm();
    }
    return this.#outcome();
  }

  /** False when the operation stops here. */
  async #take(target: Target): Promise<boolean> {
    const { journal, recorder } = this.#means;
    const { operationId } = this.#plan;
    const goesOn = this.#plan.served.contract.effects.forEach?.onFailure === 'Continue';
    this.#refuseLate();
    const seen = await recheckTarget(this.#plan, target, { bundle: this.#means.bundle(), signal: this.#early }, this.#means);
    if (seen.kind === 'refused') {
      this.#steps.answered(target, { kind: 'notDone', error: seen.error });
      return goesOn;
    }
    this.passed ??= await this.#admit();
    this.#refuseLate();
    await recorded(recorder.intent(this.passed, { target, ...this.#approver }));
    await journal.intent(operationId, target.index);
    const told = this.#refusal() ?? (await this.#send(target, seen.ifMatch));
    const answer = await this.#journaled(target, this.#steps.known(target, told));
    this.#steps.answered(target, answer);
    return answer.kind === 'done' || (goesOn && !this.#lost && this.#refusal() === undefined);
  }

  get #approver(): { readonly approver?: string } {
    const { needs } = this.#plan;
    const state = needs.kind === 'person' ? this.#means.decider.state(needs.question) : undefined;
    return state?.kind === 'decided' ? { approver: state.decision.approver } : {};
  }

  async #admit(): Promise<Passed<EffectPlan>> {
    const { decider } = this.#means;
    return passEffectGate(this.#plan, async (plan) => {
      const { contract } = plan.served;
      const { mode } = contract.effects.idempotency;
      this.#run.demandGrant(plan);
      await decider.admit({
        operationId: plan.operationId,
        contract: contract.name,
        action: contract.action,
        revision: contract.revision,
        argsDigest: plan.argsDigest,
        planDigest: plan.planDigest,
        facts: plan.facts,
        holds: contract.effect !== 'Read' && mode !== 'Natural',
        inDoubt: this.#means.journal.get(plan.operationId)?.steps.some(({ state }) => state === 'unknown') === true,
        ...(plan.needs.kind === 'person' ? { approval: plan.needs.question } : {}),
      });
    });
  }

  async #send(target: Target, ifMatch: string | undefined): Promise<TargetAnswer> {
    const { served, args, operationId } = this.#plan;
    const { contract } = served;
    this.sent = true;
    this.#run.dispatched();
    if (contract.effect === 'Read') return this.#read();
    let remote: ReturnType<typeof served.remote>;
    try {
      remote = this.statuses.watch(served.remote(args, undefined));
    } catch (thrown) {
      return { kind: 'notDone', error: PosternError.from(thrown) };
    }
    return sendEffect(
      {
        contract,
        args,
        operationId,
        ...(target.element === undefined ? {} : { element: target.element }),
        ...(ifMatch === undefined ? {} : { ifMatch }),
      },
      { clock: this.#means.clock, remote, signal: this.#limit.signal, deadlineMs: contract.completeness.limits.timeMs },
    );
  }

  /** What failed of a read was not done: it changes nothing. */
  async #read(): Promise<TargetAnswer> {
    const context = { requestId: this.#run.requestId, signal: this.#limit.signal, onProgress: () => {}, statuses: this.statuses };
    try {
      return { kind: 'done', result: await readPlan(this.#plan, this.#means, context) };
    } catch (thrown) {
      return { kind: 'notDone', error: PosternError.from(thrown) };
    }
  }

  /** What cannot be written down is not known: a restart would find an intent without an end. */
  async #journaled({ index }: Target, answer: TargetAnswer): Promise<TargetAnswer> {
    try {
      await this.#means.journal.step(this.#plan.operationId, index, answer.kind);
      return answer;
    } catch (cause) {
      this.#lost = true;
      return { kind: 'unknown', error: unknownError('The request was sent, and what came of it could not be recorded.', cause) };
    }
  }

  /** Why nothing may be sent now, as the answer of a target. */
  #refusal(): Extract<TargetAnswer, { kind: 'notDone' }> | undefined {
    const error = this.#means.standing.of(this.#plan.served.contract).refusal() ?? (this.#isAbandoned ? abandonedError() : undefined);
    return error === undefined ? undefined : { kind: 'notDone', error };
  }

  get #isAbandoned(): boolean {
    return !this.sent && this.#run.abandoned.aborted;
  }

  #refuseLate(): void {
    const refused = this.#refusal();
    if (refused !== undefined) throw refused.error;
    const revision = (name: string) => this.#means.bundle().byContract(name)?.contract.revision;
    const stale = staleness(this.#plan, { nowMs: this.#means.clock.wallMs(), revision });
    if (stale !== undefined) throw stale;
    if (this.#limit.signal.aborted)
      throw new PosternError('DEADLINE_EXCEEDED', 'The time of this call was used up before the request was sent.');
  }

  get #timeLeftMs(): number {
    return Math.max(0, this.#endsMs - this.#means.clock.monotonicMs());
  }

  /** Until the first byte is sent. */
  get #early(): AbortSignal {
    return this.sent ? this.#limit.signal : AbortSignal.any([this.#limit.signal, this.#run.abandoned]);
  }

  #outcome(): Outcome {
    const { served, operationId, each } = this.#plan;
    const { requestId } = this.#run;
    const { action, revision } = served.contract;
    const steps = this.#steps.views();
    const error = this.#steps.error();
    if (error === undefined) {
      const answer = mergeAnswers(served.contract, this.#steps.answers(), each !== undefined);
      return { phase: 'done', steps, result: { requestId, operationId, action, revision, ...answer, steps } };
    }
    const counted = each === undefined ? error : errorWith(error, { ...error.operation, targets: countSteps(steps) });
    return {
      phase: steps.some(({ state }) => state === 'unknown') ? 'unknown' : 'failed',
      steps,
      error: counted.forCall({ requestId, operationId }),
    };
  }
}

async function recorded(intent: Promise<void> | void): Promise<void> {
  try {
    await intent;
  } catch (cause) {
    throw new PosternError('AUDIT_UNAVAILABLE', 'The record of this call cannot be kept, so nothing was sent.', { cause });
  }
}

/** `sent`: whether anything may have left. If not, it failed, whether or not that can be written. */
async function durably(plan: EffectPlan, outcome: Outcome, { journal }: EffectMeans, sent: boolean): Promise<Ended> {
  try {
    await journal.end(plan.operationId, outcome.phase, outcomeJson(outcome));
    return { told: outcome };
  } catch (cause) {
    if (!sent || outcome.phase === 'unknown') return { told: outcome, unwritten: outcome };
    const error = unknownError('The request was sent, and what came of it could not be recorded.', cause);
    return { told: { phase: 'unknown', steps: outcome.steps, error: error.forCall(plan) }, unwritten: outcome };
  }
}

/** For whoever holds equal calls back: of several targets one that took effect is an effect. */
export function endOf(phase: Outcome['phase'], steps: readonly { readonly state: string }[]): 'done' | 'notDone' | 'unknown' {
  if (phase === 'unknown') return 'unknown';
  return steps.some(({ state }) => state === 'done') ? 'done' : 'notDone';
}

function callEnd(outcome: Outcome): CallEnd {
  if (outcome.phase !== 'done') return { kind: 'failed', error: outcome.error };
  const { envelope, dataJson } = outcome.result;
  return { kind: 'answered', envelope, bytes: dataJson.byteLength };
}

/** Everybody who asked for it has gone before anything was sent (failure case GRPC-07). */
function abandonedError(): PosternError {
  return new PosternError('DEADLINE_EXCEEDED', 'The call was cancelled before anything was sent.');
}
