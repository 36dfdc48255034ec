/**
 * Time comes in as a value, so that no test or example rots on a date.
 * Wall time is for people and for the remote; every wait and deadline is monotonic,
 * because a wall clock may jump (failure case AUD-17).
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  wallMs(): number;
  /** Monotonic milliseconds from an arbitrary start. */
  monotonicMs(): number;
  /** Resolves after `ms`, or rejects with `signal.reason` when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls `ring` once after `ms`, unless cancelled by the function it returns; for deadlines that are hardly ever met. */
  alarm(ms: number, ring: () => void): () => void;
}

export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      const onAbort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', onAbort);
        resolve();
      }, ms);
      signal?.addEventListener('abort', onAbort, { once: true });
    }),
  alarm: (ms, ring) => {
    const timer = setTimeout(ring, ms);
    return () => clearTimeout(timer);
  },
};
