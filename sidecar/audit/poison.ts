/** Segments that cannot be shipped for their own sake. They stay where they are, are tried again rarely, and hold up nobody. */
import { limits } from '#core/bounds/limits.ts';

/**
 * `occupied`: the store has other bytes under its name. `damaged`: its bytes on this disk are no longer those that were closed.
 * `unreadable`, `refused`: this disk does not give it, the store does not take it, and the next one was shipped.
 */
export type PoisonKind = 'occupied' | 'damaged' | 'unreadable' | 'refused';

export class PoisonedSegments {
  readonly #byNumber = new Map<number, { kind: PoisonKind; retryAtMs: number }>();

  get size(): number {
    return this.#byNumber.size;
  }

  /** True when that was not known yet. */
  mark(number: number, kind: PoisonKind, nowMs: number): boolean {
    const known = this.#byNumber.get(number)?.kind === kind;
    this.#byNumber.set(number, { kind, retryAtMs: nowMs + limits.auditPoisonRetryMs });
    return !known;
  }

  /** True when it was one. */
  clear(number: number): boolean {
    return this.#byNumber.delete(number);
  }

  has(number: number): boolean {
    return this.#byNumber.has(number);
  }

  /** Poisoned, and its time has not come. */
  rests(number: number, nowMs: number): boolean {
    return (this.#byNumber.get(number)?.retryAtMs ?? nowMs) > nowMs;
  }

  /** Until the next one is to be tried; Infinity without any. */
  nextMs(nowMs: number): number {
    return [...this.#byNumber.values()].reduce(
      (least, { retryAtMs }) => Math.min(least, Math.max(0, retryAtMs - nowMs)),
      Number.POSITIVE_INFINITY,
    );
  }
}
