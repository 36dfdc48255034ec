/**
 * A decider whose questions are counted: asked, decided, and those that wait. Knows nothing of how decisions are made, and changes none.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { ApprovalOutcome, EffectMetrics } from '#core/runtime/effect-metrics.ts';
import type { Decider, Question, QuestionState } from './decider.ts';

interface Waiting {
  readonly action: string;
  readonly askedMs: number;
}

export class CountedDecider implements Decider {
  readonly #decider: Decider;
  readonly #metrics: EffectMetrics;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  readonly requester: Decider['requester'];
  readonly admit: Decider['admit'];
  readonly settled: Decider['settled'];
  readonly onChange: Decider['onChange'];

  /** Lives as long as the decider: it listens for changes until the end. */
  constructor(decider: Decider, metrics: EffectMetrics, clock: Clock) {
    this.#decider = decider;
    this.#metrics = metrics;
    this.#clock = clock;
    this.requester = () => decider.requester();
    this.admit = (intent) => decider.admit(intent);
    this.settled = (operationId, end) => decider.settled(operationId, end);
    this.onChange = (listener) => decider.onChange(listener);
    decider.onChange((change) => {
      if (change.kind === 'question') this.#changed(change.name, change.state);
    });
    metrics.waiting(() => this.#count());
  }

  async ask(question: Question): Promise<void> {
    await this.#decider.ask(question);
    // The same question again is the same question.
    if (this.#waiting.has(question.name) || this.#decider.state(question.name)?.kind !== 'waiting') return;
    const { action } = question.facts;
    this.#waiting.set(question.name, { action, askedMs: this.#clock.monotonicMs() });
    this.#metrics.asked(action);
  }

  state(name: string): QuestionState | undefined {
    const state = this.#decider.state(name);
    this.#changed(name, state);
    return state;
  }

  #changed(name: string, state: QuestionState | undefined): void {
    const waited = this.#waiting.get(name);
    if (waited === undefined || state?.kind === 'waiting') return;
    this.#waiting.delete(name);
    this.#metrics.decided(waited.action, outcomeOf(state), this.#clock.monotonicMs() - waited.askedMs);
  }

  /** A decider need not speak when time is over: every question that is thought to wait is looked at. */
  #count(): { readonly count: number; readonly oldestMs: number } {
    for (const name of this.#waiting.keys()) this.#changed(name, this.#decider.state(name));
    const asked = [...this.#waiting.values()].map(({ askedMs }) => askedMs);
    return { count: asked.length, oldestMs: asked.length === 0 ? 0 : this.#clock.monotonicMs() - Math.min(...asked) };
  }
}

function outcomeOf(state: QuestionState | undefined): ApprovalOutcome {
  if (state?.kind === 'decided') return state.decision.verdict;
  return state?.kind === 'expired' ? 'expired' : 'void';
}
