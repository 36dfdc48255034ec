/**
 * Values that were in use and are not any more, for as long as they are masked. Their number is bounded; `generation`
 * tells a mask that it is out of date.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Secret } from './secret.ts';

export class RetiredSecrets {
  readonly #clock: Clock;
  #values: { readonly secret: Secret; readonly untilMs: number }[] = [];
  #generation = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Changes whenever the set does. */
  get generation(): number {
    const oldest = this.#values[0];
    if (oldest !== undefined && oldest.untilMs <= this.#clock.monotonicMs()) {
      this.#values = this.#values.filter(({ untilMs }) => untilMs > this.#clock.monotonicMs());
      this.#generation += 1;
    }
    return this.#generation;
  }

  /** The newest are kept when there are too many. */
  add(secret: Secret): void {
    this.#values.push({ secret, untilMs: this.#clock.monotonicMs() + limits.secretRetiredMs });
    if (this.#values.length > limits.secretsRetiredMax) this.#values.shift();
    this.#generation += 1;
  }

  list(): readonly Secret[] {
    return this.#values.map(({ secret }) => secret);
  }
}
