/** How long to wait before the next connection: exponential with full jitter, so that a cluster of sidecars does not come back at once. */
import { limits } from '#core/bounds/limits.ts';

/** `failures`: streams in a row that did not stand; `chance`: in [0, 1). Milliseconds. */
export function retryAfterMs(failures: number, chance: number): number {
  const span = Math.min(limits.controlRetryMsMax, limits.controlRetryMsMin * 2 ** Math.min(failures, 30));
  return limits.controlRetryMsLeast + chance * span;
}
