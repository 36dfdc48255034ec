/**
 * What refused attempts cost their sender: a token that was refused is not reviewed again, and an address whose attempts keep failing
 * waits. Accepted attempts are free, since a thousand sidecars behind one translated address come back together.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { ControlRefusal } from '#core/wire/control-refusal.ts';

interface Failures {
  /** Left before the address must wait, as of `atMs`. */
  left: number;
  atMs: number;
}

export class Attempts {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #refused = new Map<string, { readonly refusal: ControlRefusal; readonly untilMs: number }>();
  readonly #sources = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The refusal this token got before, while it still holds. */
  refusalOf(token: string): ControlRefusal | undefined {
    const key = digest(token);
    const known = this.#refused.get(key);
    if (known === undefined) return undefined;
    if (known.untilMs > this.#clock.monotonicMs()) return known.refusal;
    this.#refused.delete(key);
    return undefined;
  }

  /** Whether an attempt from this address may cost the API server something. */
  mayTry(source: string): boolean {
    return this.#failuresOf(source).left >= 1;
  }

  /** An attempt from this address was refused. */
  failed(source: string): void {
    const failures = this.#failuresOf(source);
    failures.left -= 1;
    this.#sources.delete(source);
    this.#sources.set(source, failures);
    dropOldest(this.#sources, limits.controlSourcesMax);
  }

  /** This token will be refused again, for `keepMs`. */
  remember(token: string, refusal: ControlRefusal, keepMs: number): void {
    this.#refused.set(digest(token), { refusal, untilMs: this.#clock.monotonicMs() + keepMs });
    dropOldest(this.#refused, limits.controlRefusedTokensMax);
  }

  #failuresOf(source: string): Failures {
    const nowMs = this.#clock.monotonicMs();
    const known = this.#sources.get(source);
    if (known === undefined) return { left: limits.controlFailuresBurst, atMs: nowMs };
    const regained = (nowMs - known.atMs) / limits.controlFailureMs;
    return { left: Math.min(limits.controlFailuresBurst, known.left + regained), atMs: nowMs };
  }
}

/** Tokens are secrets: what is kept must not be one. */
function digest(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

function dropOldest(entries: Map<string, unknown>, sizeMax: number): void {
  for (const key of entries.keys()) {
    if (entries.size <= sizeMax) return;
    entries.delete(key);
  }
}
