/**
 * Operations that are planned, journaled and done at most once: which one a call means, whether it may begin, who waits for it, what it
 * came to. Of any number of callers, in any order, with any restarts between, one begins an operation; all others are told the same.
 *
 *     call -> its operation (by id, or an equal one that waits or runs, or a new plan) -> judged -> begun | joined | told again
 */
import type { PosternError } from '#core/error/postern-error.ts';
import type { Change } from '#sidecar/approval/decider.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import { actedOnError } from './acted-on.ts';
import type { CallContext, ConfirmCall, ExecuteCall, ExecuteResult, OperationView, PlanView, PrepareCall } from './calls.ts';
import { mayRepeat } from './doubt.ts';
import { askedError, runsOnError, unknownOperationError } from './effect-errors.ts';
import { type EffectMeans, endOf, execute } from './execute.ts';
import { Grants } from './grants.ts';
import { changedError, isChanged, judgePlan } from './judge-plan.ts';
import { planOf, shownPlan } from './kept-plan.ts';
import { OperationLookup } from './operation-lookup.ts';
import { operationView, planView } from './operation-view.ts';
import { type Outcome, outcomeJson, recordedOutcome, tell } from './outcome.ts';
import { type EffectPlan, type Plan, targetsOf } from './plan.ts';
import { RunsUnderWay } from './runs-under-way.ts';
import { Settlements } from './settlements.ts';
import { tellUntold } from './untold.ts';

export class Effects {
  readonly #means: EffectMeans;
  readonly #grants: Grants;
  readonly #settlements: Settlements;
  readonly #lookup: OperationLookup;
  readonly #runs: RunsUnderWay;
  readonly #listeners = new Set<(change: Change) => void>();
  readonly #forget: () => void;

  constructor(means: EffectMeans) {
    this.#means = means;
    this.#grants = new Grants(means);
    const planOf = (entry: Entry) => this.#planIfUnchanged(entry);
    this.#settlements = new Settlements(means, planOf);
    this.#lookup = new OperationLookup(means, this.#grants, this.#settlements, planOf);
    this.#runs = new RunsUnderWay(means.clock);
    this.#forget = means.decider.onChange((change) => this.#heard(change));
  }

  /** Once calls can be made: what an earlier process left in doubt is read after. */
  begin(): void {
    for (const operationId of tellUntold(this.#means)) this.#settlements.later(operationId);
  }

  /** Operations under way here. */
  get running(): number {
    return this.#runs.size;
  }

  async execute(plan: Plan, call: ExecuteCall, context: CallContext): Promise<ExecuteResult> {
    const entry = await this.#lookup.operationOf(plan, call, context.signal);
    return this.#proceed(entry.record.operationId, context, call.deadlineMs);
  }

  async prepare(plan: Plan, call: PrepareCall, context: CallContext): Promise<PlanView> {
    const entry = await this.#lookup.operationOf(plan, call, context.signal);
    const kept = this.#planIfUnchanged(entry);
    if (entry.phase === 'planned' && kept !== undefined && this.#judge(kept).kind === 'ask') await this.#ask(kept);
    return planView(entry, this.#questionOf(entry));
  }

  async confirm({ planId, deadlineMs }: ConfirmCall, context: CallContext): Promise<ExecuteResult> {
    this.#entry(planId);
    return this.#proceed(planId, context, deadlineMs);
  }

  /** Of an operation that is remembered. */
  actionOf(operationId: string): string | undefined {
    return this.#means.journal.get(operationId)?.record.action;
  }

  /** Undefined for an id that is none of ours. Waits for the next change of what is not decided, or not over. */
  async get(operationId: string, waitMs: number, signal: AbortSignal): Promise<OperationView | undefined> {
    await this.#writeEnd(operationId);
    await this.#settlements.now(operationId);
    const entry = this.#means.journal.get(operationId);
    if (entry === undefined) return undefined;
    if (waitMs > 0 && this.#isOpen(entry)) await this.#changed(entry, waitMs, signal);
    return this.#view(this.#means.journal.get(operationId) ?? entry, true);
  }

  /** Newest first. */
  list(): readonly OperationView[] {
    return this.#means.journal.list().map((entry) => this.#view(entry, false));
  }

  /** Lets what runs end within `graceMs`; what does not is found as unknown by the next start. */
  async stop(graceMs: number): Promise<void> {
    this.#forget();
    await this.#settlements.stop();
    await this.#runs.idle(graceMs);
  }

  /** The one road to an outcome, for every front and every repetition. */
  async #proceed(operationId: string, context: CallContext, deadlineMs: number | undefined): Promise<ExecuteResult> {
    if (this.#runs.has(operationId)) return this.#wait(operationId, context, deadlineMs);
    const entry = this.#entry(operationId);
    const plan = entry.phase === 'unknown' ? this.#planIfUnchanged(entry) : undefined;
    if (mayRepeat(entry, plan, this.#means.clock.wallMs())) {
      this.#run(plan, context.requestId, () => this.#means.journal.again(operationId));
    } else if (entry.phase === 'planned') {
      await this.#mayBegin(entry);
      // Somebody else may have begun it while a question was asked.
      if (!this.#runs.has(operationId)) this.#beginRun(entry, context.requestId);
    } else {
      await this.#writeEnd(operationId);
      await this.#settlements.now(operationId);
      // Somebody else may have sent it once more meanwhile.
      if (this.#runs.has(operationId)) return this.#wait(operationId, context, deadlineMs);
      this.#means.recorder.replayed({ requestId: context.requestId, operationId, action: entry.record.action });
      return tell(this.#outcome(this.#entry(operationId)), context.requestId);
    }
    return this.#wait(operationId, context, deadlineMs);
  }

  /** Resolves where the plan may begin now; throws why not, and ends a plan that never may again. */
  async #mayBegin(entry: Entry): Promise<void> {
    const plan = this.#planIfUnchanged(entry);
    const verdict = plan === undefined ? { kind: 'over' as const, error: changedError() } : this.#judge(plan);
    if (verdict.kind === 'go' && plan !== undefined) {
      // Without whoever decides nothing begins: what began and was not admitted has failed, and the yes it had is lost.
      this.#means.decider.requester();
      return this.#lookup.refuseBeside(plan);
    }
    if (verdict.kind === 'ask' && plan !== undefined) await this.#ask(plan);
    if (verdict.kind !== 'over') throw askedError(shownPlan(entry), entry);
    await this.#over(entry, verdict.error);
    throw verdict.error.forCall(entry.record);
  }

  #beginRun(entry: Entry, requestId: string): void {
    const { operationId } = entry.record;
    const plan = this.#planOrVoid(entry);
    const approval = plan.needs.kind === 'person' ? plan.needs.question : undefined;
    this.#run(plan, requestId, () => this.#means.journal.begin(operationId, approval));
  }

  /** `take`: journal.begin, or journal.again: of all who ask, in every process, one begins. */
  #run(plan: EffectPlan, requestId: string, take: () => Promise<'begun' | Entry>): void {
    this.#runs.start(plan.operationId, async (run) => {
      const taken = await take();
      if (taken !== 'begun') return this.#outcome(taken);
      const { told: outcome, unwritten } = await execute(plan, this.#means, {
        requestId,
        abandoned: run.abandoned,
        dispatched: () => {
          run.dispatched();
          if (plan.needs.kind === 'person') this.#means.doubtful.beginAnew();
        },
        demandGrant: (begun) => this.#grants.demand(begun),
      });
      if (unwritten !== undefined) this.#runs.keep(plan.operationId, { told: outcome, unwritten });
      if (outcome.phase === 'unknown') this.#settlements.later(plan.operationId);
      return outcome;
    });
  }

  /** What the journal could not take when an operation ended, it may take now. */
  async #writeEnd(operationId: string): Promise<void> {
    const { unwritten } = this.#runs.unwritten(operationId) ?? {};
    if (unwritten === undefined) return;
    try {
      await this.#means.journal.end(operationId, unwritten.phase, outcomeJson(unwritten));
    } catch {
      return;
    }
    this.#runs.written(operationId);
    await this.#means.decider.settled(operationId, endOf(unwritten.phase, unwritten.steps));
  }

  /** Waits as one of those who asked. Who leaves after the send is told that it runs on. */
  async #wait(operationId: string, context: CallContext, deadlineMs: number | undefined): Promise<ExecuteResult> {
    const ended = await this.#runs.wait(operationId, context.signal, deadlineMs);
    if (ended !== 'left') return tell(ended, context.requestId);
    throw runsOnError(operationId, this.#runs.isDispatched(operationId)).forCall(context);
  }

  #judge(plan: EffectPlan) {
    const { clock, decider, journal } = this.#means;
    const question = plan.needs.kind === 'person' ? decider.state(plan.needs.question) : undefined;
    const actedOn = actedOnError(plan, journal);
    return judgePlan(plan, { nowMs: clock.wallMs(), question, actedOn, revision: (name) => this.#revision(name) });
  }

  async #ask(plan: EffectPlan): Promise<void> {
    if (plan.needs.kind !== 'person') return;
    await this.#grants.offer(plan);
    const { operationId, facts, card, cardDigest } = plan;
    const alternatives = plan.alternatives.map((choice) => ({ ...choice, facts: shownPlan(this.#entry(choice.operationId)).facts }));
    await this.#means.decider.ask({ name: plan.needs.question, operationId, facts, card, cardDigest, alternatives });
  }

  /** planned -> failed. Should that not be written, the next caller comes to the same judgement. */
  async #over(entry: Entry, error: PosternError): Promise<void> {
    const { operationId } = entry.record;
    const shown = shownPlan(entry);
    const steps = targetsOf(shown.facts.args, shown.each).map(({ index }) => ({ index, state: 'untouched' as const }));
    await this.#means.journal.end(operationId, 'failed', outcomeJson({ phase: 'failed', steps, error }));
    const state = this.#questionOf(entry);
    if (error.reason === 'APPROVAL_DENIED' && state?.kind === 'decided') this.#lookup.denied(entry, state.decision);
  }

  #entry(operationId: string): Entry {
    const entry = this.#means.journal.get(operationId);
    if (entry === undefined) throw unknownOperationError();
    return entry;
  }

  #outcome(entry: Entry): Outcome {
    const unwritten = this.#runs.unwritten(entry.record.operationId);
    if (unwritten !== undefined && entry.phase === 'running') return unwritten.told;
    const { facts, each } = shownPlan(entry);
    return recordedOutcome(entry, targetsOf(facts.args, each));
  }

  #planIfUnchanged(entry: Entry): EffectPlan | undefined {
    const served = this.#means.bundle().byContract(entry.record.contract);
    if (served === undefined || isChanged(shownPlan(entry), (name) => this.#revision(name))) return undefined;
    return planOf(entry, served);
  }

  #planOrVoid(entry: Entry): EffectPlan {
    const plan = this.#planIfUnchanged(entry);
    if (plan === undefined) throw changedError().forCall(entry.record);
    return plan;
  }

  #revision(contract: string): string | undefined {
    return this.#means.bundle().byContract(contract)?.contract.revision;
  }

  #questionOf(entry: Entry) {
    const { needs } = shownPlan(entry);
    return needs.kind === 'person' ? this.#means.decider.state(needs.question) : undefined;
  }

  #view(entry: Entry, whole: boolean): OperationView {
    const isOpen = entry.phase === 'planned' || this.#runs.has(entry.record.operationId);
    const outcome = isOpen ? undefined : this.#outcome(entry);
    return operationView(entry, { outcome, question: this.#questionOf(entry), whole });
  }

  #isOpen(entry: Entry): boolean {
    if (entry.phase === 'running') return true;
    const question = this.#questionOf(entry);
    return entry.phase === 'planned' && (question === undefined || question.kind === 'waiting');
  }

  async #changed(entry: Entry, waitMs: number, signal: AbortSignal): Promise<void> {
    const { needs } = shownPlan(entry);
    const stop = new AbortController();
    const either = AbortSignal.any([signal, stop.signal]);
    const decided = new Promise<void>((resolve) => {
      const listener = (change: Change) => {
        if (change.kind === 'question' && needs.kind === 'person' && change.name === needs.question) resolve();
      };
      this.#listeners.add(listener);
      either.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
    });
    const moved = this.#means.journal.changed(entry.record.operationId, waitMs, either);
    try {
      await Promise.race([moved, decided]);
    } finally {
      // The one that lost the race rejects because we stop it.
      moved.catch(() => {});
      stop.abort();
    }
  }

  #heard(change: Change): void {
    if (change.kind === 'resolved') void this.#resolved(change);
    for (const listener of this.#listeners) listener(change);
  }

  /** A person found out. Whoever decides may have written it already, or may say it again. */
  async #resolved({ operationId, verdict, by }: Change & { kind: 'resolved' }): Promise<void> {
    const entry = this.#means.journal.get(operationId);
    // Whoever decides at this sidecar has written it before it says so.
    if (entry !== undefined && entry.resolution?.by !== 'settle') this.#means.recorder.found(entry.record, { verdict, by: { person: by } });
    if (entry?.phase !== 'unknown') return;
    try {
      await this.#means.journal.resolve(operationId, verdict, by);
    } catch {
      // It was resolved meanwhile, or the journal is unusable and says so to every call.
    }
  }
}
