/**
 * Finds out what became of operations whose outcome is unknown, where their contract names a read that tells (`idempotency.settle`): when
 * somebody asks, and by itself a bounded number of times. An answer that does not tell leaves the operation as it is, for a person.
 */
import { limits } from '#core/bounds/limits.ts';
import { type SettleVerdict, settle } from '#core/completeness/recheck.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { slotValues } from '#sidecar/execute/effect.ts';
import type { Entry } from '#sidecar/journal/entry.ts';
import type { EffectMeans } from './execute.ts';
import { makeOwnRead } from './own-reads.ts';
import { type EffectPlan, type Target, targetsOf } from './plan.ts';

export class Settlements {
  readonly #means: EffectMeans;
  /** The plan of an operation under the contract as it is served now; undefined when that is another one. */
  readonly #planOf: (entry: Entry) => EffectPlan | undefined;
  readonly #alarms = new Map<string, () => void>();
  readonly #underWay = new Map<string, Promise<void>>();
  readonly #stop = new AbortController();

  constructor(means: EffectMeans, planOf: (entry: Entry) => EffectPlan | undefined) {
    this.#means = means;
    this.#planOf = planOf;
  }

  /** Reads after it by itself, at most limits.settleTriesMax times. Beyond limits.settlesMax operations it waits for somebody to ask. */
  later(operationId: string, tries = 0): void {
    const entry = this.#means.journal.get(operationId);
    const afterMs = entry === undefined ? undefined : this.#afterMs(entry);
    if (afterMs === undefined || tries >= limits.settleTriesMax || this.#stop.signal.aborted) return;
    if (this.#alarms.has(operationId) || this.#alarms.size >= limits.settlesMax) return;
    const waitMs = Math.max(limits.settleWaitMsMin, afterMs) * 2 ** tries;
    const cancel = this.#means.clock.alarm(waitMs, () => {
      this.#alarms.delete(operationId);
      void this.now(operationId).then(() => this.later(operationId, tries + 1));
    });
    this.#alarms.set(operationId, cancel);
  }

  /** Reads after it once, if it is unknown and its time has come. Several askers share one read. Never rejects. */
  now(operationId: string): Promise<void> {
    const underWay = this.#underWay.get(operationId);
    if (underWay !== undefined) return underWay;
    const entry = this.#means.journal.get(operationId);
    const afterMs = entry === undefined ? undefined : this.#afterMs(entry);
    const endedMs = entry?.endedAtMs ?? 0;
    if (entry === undefined || afterMs === undefined || this.#means.clock.wallMs() < endedMs + afterMs) return Promise.resolve();
    const settling = this.#settle(entry)
      // It stays unknown: the next asker reads again.
      .catch(() => {})
      .finally(() => this.#underWay.delete(operationId));
    this.#underWay.set(operationId, settling);
    return settling;
  }

  /** Resolves once no read of it is under way. */
  async stop(): Promise<void> {
    this.#stop.abort();
    for (const cancel of this.#alarms.values()) cancel();
    this.#alarms.clear();
    await Promise.all(this.#underWay.values());
  }

  /** Undefined: nothing to find out, or nothing that tells. */
  #afterMs(entry: Entry): number | undefined {
    if (entry.phase !== 'unknown' || entry.resolution !== undefined) return undefined;
    return this.#planOf(entry)?.served.contract.effects.idempotency.settle?.afterMs;
  }

  async #settle(entry: Entry): Promise<void> {
    const plan = this.#planOf(entry);
    if (plan === undefined) return;
    const doubtful = targetsOf(plan.args, plan.each).filter(({ index }) => isInDoubt(entry, index));
    const verdicts = new Set<SettleVerdict['kind']>();
    // One after the other: a read for each, and the remote is not flooded because of us.
    for (const target of doubtful) verdicts.add((await this.#ask(plan, target)).kind);
    const [verdict, ...others] = verdicts;
    // Of several targets some done and some not is for a person: the journal's word is about the whole operation.
    if (verdict === undefined || verdict === 'unknown' || others.length > 0) return;
    const { operationId } = entry.record;
    // It was sent once more meanwhile: what was read before that says nothing of it.
    if (this.#means.journal.get(operationId) !== entry) return;
    await this.#means.journal.resolve(operationId, verdict, 'settle');
    this.#means.recorder.found(entry.record, { verdict, by: 'read' });
    await this.#means.decider.settled(operationId, verdict);
  }

  async #ask(plan: EffectPlan, { element }: Target): Promise<SettleVerdict> {
    const { contract } = plan.served;
    const rules = contract.effects.idempotency.settle;
    if (rules === undefined) throw new PosternError('INTERNAL', 'There is no read that tells.');
    const values = slotValues(
      { contract, args: plan.args, operationId: plan.operationId, ...(element === undefined ? {} : { element }) },
      contract.completeness.limits.timeMs,
    );
    const read = { requestId: plan.requestId, bundle: this.#means.bundle(), read: rules, values, signal: this.#stop.signal };
    const { answer } = await makeOwnRead(read, this.#means);
    return settle(answer, rules, { args: plan.args, nowMs: this.#means.clock.wallMs() });
  }
}

function isInDoubt({ steps }: Entry, index: number): boolean {
  const state = steps.find((step) => step.index === index)?.state;
  return state === 'unknown' || state === 'sent';
}
