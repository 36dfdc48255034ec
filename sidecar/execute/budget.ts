/**
 * What one call may still spend: pages, items, decoded bytes, bytes of the answer, time. Shared by all sources
 * of the call, because the contract's limits are per call. A limit that is met is named in the answer.
 */

import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { OwnStop } from '#core/completeness/walk.ts';
import type { ReadLimits } from '#core/contract/compiled.ts';

export class Budget {
  readonly deadlineMs: number;
  readonly #contract: ReadLimits;
  readonly #clock: Clock;
  readonly #startedMs: number;
  #pages = 0;
  #items = 0;
  #bytes = 0;
  #answerBytes = 0;
  #waitedMs = 0;

  /** `callerDeadlineMs` may only shorten the contract's time. */
  constructor(contract: ReadLimits, clock: Clock, callerDeadlineMs: number | undefined) {
    this.#contract = contract;
    this.#clock = clock;
    this.#startedMs = clock.monotonicMs();
    this.deadlineMs = Math.min(contract.timeMs, callerDeadlineMs ?? contract.timeMs);
  }

  get spentMs(): number {
    return Math.max(0, Math.round(this.#clock.monotonicMs() - this.#startedMs));
  }

  get waitedMs(): number {
    return Math.round(this.#waitedMs);
  }

  get timeLeftMs(): number {
    return this.deadlineMs - (this.#clock.monotonicMs() - this.#startedMs);
  }

  get bytesLeft(): number {
    return Math.max(0, this.#contract.bytes - this.#bytes);
  }

  get answerBytesLeft(): number {
    return Math.max(0, limits.resultDataBytesMax - this.#answerBytes);
  }

  get pages(): number {
    return this.#pages;
  }

  get items(): number {
    return this.#items;
  }

  timeStop(): OwnStop {
    return { limit: 'time_ms', value: this.deadlineMs };
  }

  /** Why a request or a wait was aborted: our time, or the caller. */
  interruption(): OwnStop {
    return this.timeLeftMs <= 0 ? this.timeStop() : { limit: 'cancelled' };
  }

  messageStop(): OwnStop {
    return { limit: 'message_bytes', value: limits.resultDataBytesMax };
  }

  /** The limit that forbids another page now, or null. Time first: it is the one the caller feels. */
  stop(): OwnStop | null {
    if (this.timeLeftMs <= 0) return this.timeStop();
    if (this.#pages >= this.#contract.pages) return { limit: 'pages', value: this.#contract.pages };
    if (this.#items >= this.#contract.items) return { limit: 'items', value: this.#contract.items };
    if (this.#bytes >= this.#contract.bytes) return { limit: 'bytes', value: this.#contract.bytes };
    if (this.answerBytesLeft === 0) return this.messageStop();
    return null;
  }

  /** How many of `rows` still fit `limits.items`. */
  itemsThatFit(rows: number): number {
    return Math.min(rows, Math.max(0, this.#contract.items - this.#items));
  }

  get itemsLimit(): number {
    return this.#contract.items;
  }

  askedPage(): void {
    this.#pages += 1;
  }

  took(spent: { readonly items: number; readonly bytes: number; readonly answerBytes: number }): void {
    this.#items += spent.items;
    this.#bytes += spent.bytes;
    this.#answerBytes += spent.answerBytes;
  }

  waited(ms: number): void {
    this.#waitedMs += ms;
  }
}
