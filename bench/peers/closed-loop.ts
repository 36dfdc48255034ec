/** A closed loop of a fixed number of workers, and what the load generator prints of one. */
import { performance } from 'node:perf_hooks';

export interface Loop {
  readonly workers: number;
  readonly callsMax: number;
  readonly msMax: number;
}

interface Driven {
  /** Milliseconds, sorted. */
  readonly latencies: readonly number[];
  readonly tookMs: number;
}

/** `call` gets a number that no other call of this process gets. */
export async function drive(call: (index: number) => Promise<void>, { workers, callsMax, msMax }: Loop): Promise<Driven> {
  const latencies: number[] = [];
  const started = performance.now();
  let left = callsMax;
  const worker = async () => {
    for (let begin = performance.now(); left-- > 0 && begin - started < msMax; begin = performance.now()) {
      next += 1;
      await call(next);
      latencies.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return { latencies: latencies.sort((a, b) => a - b), tookMs: performance.now() - started };
}

let next = 0;

/** `cpuUs`: of whoever is measured, during the loop. */
export function print({ latencies, tookMs }: Driven, cpuUs: number, rssKb: number): void {
  const quantile = (share: number) => (latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0) * 1000;
  console.log(
    JSON.stringify({
      calls: latencies.length,
      perSecond: (latencies.length / tookMs) * 1000,
      p50Us: quantile(0.5),
      p99Us: quantile(0.99),
      serverCpuUs: cpuUs / latencies.length,
      serverRssKb: rssKb,
      errors: 0,
    }),
  );
}
