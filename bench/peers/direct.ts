/**
 * `direct.cjs WORKERS CALLS MILLISECONDS ORIGIN TOKEN`: no server at all, undici in a closed loop. Its CPU is that of the client.
 * Prints what the load generator prints.
 */
import { performance } from 'node:perf_hooks';
import { upstreamRead } from './upstream-read.ts';

const [workers = 1, calls = 1, milliseconds = 1] = process.argv.slice(2, 5).map(Number);
const [origin = '', token = ''] = process.argv.slice(5);
const read = upstreamRead(origin, token);

async function drive(callsMax: number, msMax: number): Promise<{ latencies: number[]; tookMs: number }> {
  const latencies: number[] = [];
  const started = performance.now();
  let left = callsMax;
  const worker = async () => {
    for (let begin = performance.now(); left-- > 0 && begin - started < msMax; begin = performance.now()) {
      const bytes = await read('42');
      if (!bytes.includes('item-0001')) throw new Error('not the answer');
      latencies.push(performance.now() - begin);
    }
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return { latencies: latencies.sort((a, b) => a - b), tookMs: performance.now() - started };
}

async function main(): Promise<void> {
  await drive(calls, Math.min(1000, milliseconds));
  const before = process.cpuUsage();
  const { latencies, tookMs } = await drive(calls, milliseconds);
  const { user, system } = process.cpuUsage(before);
  const quantile = (share: number) => (latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? 0) * 1000;
  console.log(
    JSON.stringify({
      calls: latencies.length,
      perSecond: (latencies.length / tookMs) * 1000,
      p50Us: quantile(0.5),
      p99Us: quantile(0.99),
      serverCpuUs: (user + system) / latencies.length,
      serverRssKb: Math.round(process.memoryUsage.rss() / 1024),
      errors: 0,
    }),
  );
  process.exit(0);
}

void main();
