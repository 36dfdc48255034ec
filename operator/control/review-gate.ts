/** Lets so many act at once and so many wait; the rest is refused at once rather than queued without bound. */
import { ControlRefusal } from '#core/wire/control-refusal.ts';

export class ReviewGate {
  readonly #atOnceMax: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(atOnceMax: number, waitingMax: number) {
    this.#atOnceMax = atOnceMax;
    this.#waitingMax = waitingMax;
  }

  async run<T>(act: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#atOnceMax) {
      if (this.#waiting.length >= this.#waitingMax)
        throw new ControlRefusal('TOO_MANY', 'Too many sidecars connect at once; connect again a little later.');
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    } else this.#running += 1;
    try {
      return await act();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#running -= 1;
      else next();
    }
  }
}
