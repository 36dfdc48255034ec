/** Waits between tries: doubled each time, and cut by chance so that many clients that failed together do not come back together. */
import { limits } from '#core/bounds/limits.ts';

export interface BackoffRange {
  readonly minMs: number;
  readonly maxMs: number;
}

const KUBE_RANGE: BackoffRange = { minMs: limits.kubeBackoffMsMin, maxMs: limits.kubeBackoffMsMax };

/** Wait after the `failures`-th failure in a row (1 is the first): between half and all of the doubled minimum, at most `maxMs`. */
export function backoffMs(failures: number, random: () => number = Math.random, { minMs, maxMs }: BackoffRange = KUBE_RANGE): number {
  const whole = Math.min(maxMs, minMs * 2 ** Math.min(Math.max(failures, 1) - 1, 30));
  return whole * (0.5 + random() / 2);
}

/** `Retry-After` in either of its forms as milliseconds from now, cut to limits.kubeRetryAfterMsMax; undefined for anything else. */
export function retryAfterMs(header: string | undefined, wallMs: number): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(header) ? Number(header) * 1000 : Date.parse(header) - wallMs;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), limits.kubeRetryAfterMsMax);
}
