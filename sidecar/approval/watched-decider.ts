/**
 * A decider whose questions are told to whoever keeps a record of them: asked once, decided once, and which call used the yes. Knows nothing
 * of how decisions are made, and changes none.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Decider, Intent, Question, QuestionState } from './decider.ts';

export interface QuestionWatch {
  asked(question: Question): void;
  /** `state` is undefined for a question that is gone; `operationId` is known of those asked in this process. */
  ended(name: string, state: QuestionState | undefined, operationId: string | undefined): void;
  /** The approval of this intent is used up by it, or one use of it. */
  used(intent: Intent): void;
}

interface Waiting {
  readonly operationId: string;
  /** A decider need not speak when time is over. */
  readonly cancel: () => void;
}

export class WatchedDecider implements Decider {
  readonly #decider: Decider;
  readonly #watch: QuestionWatch;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, Waiting>();
  /** Names of the last that were told as ended: a decider may say it again. */
  readonly #ended = new Set<string>();
  readonly requester: Decider['requester'];
  readonly settled: Decider['settled'];
  readonly state: Decider['state'];
  readonly onChange: Decider['onChange'];

  /** Lives as long as the decider: it listens for changes until the end. */
  constructor(decider: Decider, watch: QuestionWatch, clock: Clock) {
    this.#decider = decider;
    this.#watch = watch;
    this.#clock = clock;
    this.requester = () => decider.requester();
    this.settled = (operationId, end) => decider.settled(operationId, end);
    this.state = (name) => decider.state(name);
    this.onChange = (listener) => decider.onChange(listener);
    decider.onChange((change) => {
      if (change.kind === 'question') this.#changed(change.name, change.state);
    });
  }

  async ask(question: Question): Promise<void> {
    await this.#decider.ask(question);
    const { name, operationId, facts } = question;
    if (this.#waiting.has(name) || this.#ended.has(name) || this.#decider.state(name)?.kind !== 'waiting') return;
    const leftMs = Math.max(0, facts.expiresAtMs - this.#clock.wallMs());
    const cancel = this.#clock.alarm(Math.min(leftMs + 1, ALARM_MS_MAX), () => this.#changed(name, this.#decider.state(name)));
    this.#waiting.set(name, { operationId, cancel });
    this.#watch.asked(question);
  }

  async admit(intent: Intent): Promise<void> {
    await this.#decider.admit(intent);
    if (intent.approval === undefined) return;
    this.#changed(intent.approval, this.#decider.state(intent.approval));
    this.#watch.used(intent);
  }

  /** Nothing is told any more. */
  close(): void {
    for (const { cancel } of this.#waiting.values()) cancel();
  }

  #changed(name: string, state: QuestionState | undefined): void {
    if (state?.kind === 'waiting' || this.#ended.has(name)) return;
    const waited = this.#waiting.get(name);
    waited?.cancel();
    this.#waiting.delete(name);
    this.#ended.add(name);
    const [oldest] = this.#ended;
    if (this.#ended.size > limits.approvalsOpenMax * ENDED_KEPT && oldest !== undefined) this.#ended.delete(oldest);
    this.#watch.ended(name, state, waited?.operationId);
  }
}

/** Ended questions remembered for one that may be open. */
const ENDED_KEPT = 10;
/** A longer timer would ring at once. */
const ALARM_MS_MAX = 2 ** 31 - 1;
