/**
 * The questions of this sidecar in memory, as they stand in the journal: each with its decision. Names in the journal:
 * `approval/question/NAME`, `approval/decision/NAME` (written once). What used one, the journal counts by itself, for as long as the
 * question is kept.
 *
 * A folder that was made anew has none of them, so nothing is carried over (APR-13). Whoever can write the state folder can forge them:
 * it holds the keys of the session too.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { JsonValue } from '#core/encoding/json-value.ts';
import type { Journal } from '#sidecar/journal/journal.ts';
import type { Decision, Question } from './decider.ts';

export interface KeptQuestion {
  readonly question: Question;
  /** Monotonic; past it nothing of this question works. */
  readonly deadlineMs: number;
  readonly decision?: Decision;
  /** Monotonic moment of the decision, for the cool-down. */
  readonly decidedMs?: number;
}

const PREFIX = 'approval/';
/** Of what is kept. Another release's form is not read: a question is asked again rather than misread. */
const FORM = 1;

export class KeptQuestions {
  readonly #journal: Journal;
  readonly #clock: Clock;
  /** In the order of their asking. */
  readonly #byName = new Map<string, KeptQuestion>();

  constructor(journal: Journal, clock: Clock) {
    this.#journal = journal;
    this.#clock = clock;
    const kept = new Map(journal.kept(PREFIX));
    for (const [name, value] of kept) {
      if (name.startsWith(QUESTION) && isOfForm(value)) this.#restore(value, kept);
    }
  }

  get(name: string): KeptQuestion | undefined {
    return this.#byName.get(name);
  }

  all(): readonly KeptQuestion[] {
    return [...this.#byName.values()];
  }

  /** Resolves once it is on disk; only then it exists. */
  async ask(question: Question): Promise<void> {
    const { askedAtMs, expiresAtMs } = question.facts;
    await this.#journal.keep(QUESTION + question.name, { form: FORM, question: asJson(question) });
    this.#byName.set(question.name, { question, deadlineMs: this.#deadline(askedAtMs, expiresAtMs) });
    await this.#forgetOld();
  }

  /** Resolves once it is on disk. The caller makes sure that there is none yet. */
  async decide(name: string, decision: Decision): Promise<void> {
    await this.#journal.keep(DECISION + name, asJson(decision));
    const kept = this.#byName.get(name);
    if (kept !== undefined) this.#byName.set(name, { ...kept, decision, decidedMs: this.#clock.monotonicMs() });
  }

  #restore(value: { readonly question: Question }, kept: ReadonlyMap<string, JsonValue>): void {
    const { question } = value;
    const { name, facts } = question;
    const decision = kept.get(DECISION + name) as unknown as Decision | undefined;
    this.#byName.set(name, {
      question,
      deadlineMs: this.#deadline(facts.askedAtMs, facts.expiresAtMs),
      ...(decision === undefined ? {} : { decision, decidedMs: this.#moment(decision.atMs) }),
    });
  }

  /**
   * What is left by the wall clock, and never more than its whole life: within a process the monotonic clock counts from there, so that a
   * wall clock that is put back lengthens nothing (APR-11).
   */
  #deadline(askedAtMs: number, expiresAtMs: number): number {
    const left = Math.min(expiresAtMs - this.#clock.wallMs(), expiresAtMs - askedAtMs);
    return this.#clock.monotonicMs() + left;
  }

  /** A moment of the past by the wall clock on the monotonic one. */
  #moment(wallMs: number): number {
    return this.#clock.monotonicMs() - Math.max(0, this.#clock.wallMs() - wallMs);
  }

  /** The oldest that are over: by number, so that questions that end quickly do not fill the journal, and by age. */
  async #forgetOld(): Promise<void> {
    const now = this.#clock.monotonicMs();
    const over = this.all().filter(({ deadlineMs }) => deadlineMs <= now);
    const tooMany = Math.max(0, over.length - limits.approvalsOverKeptMax);
    for (const [index, { question, deadlineMs }] of over.entries()) {
      if (index >= tooMany && now - deadlineMs < limits.journalKeptMs) continue;
      this.#byName.delete(question.name);
      for (const prefix of [DECISION, QUESTION]) await this.#journal.keep(prefix + question.name, null);
    }
  }
}

const QUESTION = `${PREFIX}question/`;
const DECISION = `${PREFIX}decision/`;

/** Ours, written by `ask`: the journal's own checksums say that it is whole. */
function isOfForm(value: JsonValue): value is JsonValue & { readonly question: Question } {
  return typeof value === 'object' && value !== null && 'form' in value && value.form === FORM && 'question' in value;
}

/** Facts, questions and decisions are plain data. */
function asJson(value: Question | Decision): JsonValue {
  return value as unknown as JsonValue;
}
