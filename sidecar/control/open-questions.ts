/**
 * Questions to the operator that wait for their answer, over whatever stream stands: a stream that breaks loses none, because each is said
 * again on the next one under the same key and means the same.
 */
import type { Clock } from '#core/bounds/clock.ts';
import type { ControlMessage } from './stream.ts';

export interface OpenQuestionsOptions {
  readonly clock: Clock;
  /** Longest wait for an answer. */
  readonly waitMs: number;
  /** Forgotten where no stream stands. */
  say(message: ControlMessage): void;
  /** What the waiting are rejected with once it took too long. */
  late(): Error;
}

interface Open<Answer> {
  readonly message: ControlMessage;
  readonly answer: PromiseWithResolvers<Answer>;
  readonly cancel: () => void;
}

export class OpenQuestions<Answer> {
  readonly #options: OpenQuestionsOptions;
  readonly #open = new Map<string, Open<Answer>>();

  constructor(options: OpenQuestionsOptions) {
    this.#options = options;
  }

  /** The answer to this very question; who asks it while it waits gets the same one. */
  ask(key: string, message: ControlMessage): Promise<Answer> {
    const asked = this.#open.get(key);
    if (asked !== undefined) return asked.answer.promise;
    const answer = Promise.withResolvers<Answer>();
    // Whoever stopped waiting must not make a late refusal a fault of the process.
    answer.promise.catch(() => undefined);
    const { clock, waitMs, late, say } = this.#options;
    const cancel = clock.alarm(waitMs, () => this.refuse(key, late()));
    this.#open.set(key, { message, answer, cancel });
    say(message);
    return answer.promise;
  }

  /** Nothing for a key nobody waits for: an answer that came too late. */
  answer(key: string, answer: Answer): void {
    this.#take(key)?.answer.resolve(answer);
  }

  refuse(key: string, error: Error): void {
    this.#take(key)?.answer.reject(error);
  }

  refuseAll(error: () => Error): void {
    for (const key of [...this.#open.keys()]) this.refuse(key, error());
  }

  /** A new stream stands: everything again, in the order it was asked. */
  sayAgain(): void {
    for (const { message } of this.#open.values()) this.#options.say(message);
  }

  #take(key: string): Open<Answer> | undefined {
    const open = this.#open.get(key);
    if (open === undefined) return undefined;
    this.#open.delete(key);
    open.cancel();
    return open;
  }
}
