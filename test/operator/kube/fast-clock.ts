/** A clock that runs `scale` times as fast as the real one, so that half-minute watches end within a test. */
import { type Clock, systemClock } from '#core/bounds/clock.ts';

export function fastClock(scale: number): Clock {
  return {
    wallMs: () => systemClock.wallMs(),
    monotonicMs: () => systemClock.monotonicMs() * scale,
    sleep: (ms, signal) => systemClock.sleep(ms / scale, signal),
    alarm: (ms, ring) => systemClock.alarm(ms / scale, ring),
  };
}

/** Waits until it holds. The limit is generous: it is for a machine under load, not a promise. */
export async function until(holds: () => boolean | Promise<boolean>, what: string, limitMs = 30_000): Promise<void> {
  const endMs = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > endMs) throw new Error(`never came true: ${what}`);
    await systemClock.sleep(10);
  }
}
