/**
 * `node bench/wal.ts`: what the write-ahead log costs beside the least that is durable: a loop of append and fdatasync of the same bytes,
 * on the same volume in the same run. Not part of `npm run bench`, which compares whole servers.
 *
 *   node bench/wal.ts [FOLDER]
 */
import { fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '#core/bounds/clock.ts';
import { Wal } from '#sidecar/wal/wal.ts';

const PAYLOAD = Buffer.alloc(512, 'x');
const MEASURE_MS = 2_000;
const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'postern-wal-bench-'));

interface Figures {
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

function figures(times: number[], ms: number): Figures {
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round((times[Math.floor(times.length * share)] ?? 0) * 1_000);
  return { perSecond: Math.round((times.length / ms) * 1_000), p50: at(0.5), p99: at(0.99) };
}

function bare(): Figures {
  const descriptor = openSync(join(folder, 'bare'), 'w');
  const [times, start]: [number[], number] = [[], performance.now()];
  while (performance.now() - start < MEASURE_MS) {
    const at = performance.now();
    writeSync(descriptor, PAYLOAD);
    fdatasyncSync(descriptor);
    times.push(performance.now() - at);
  }
  return figures(times, performance.now() - start);
}

async function log(writers: number): Promise<Figures> {
  const wal = await Wal.open({ folder: join(folder, `log-${writers}`), clock: systemClock, onRecord: () => {} });
  const [times, start]: [number[], number] = [[], performance.now()];
  const write = async () => {
    while (performance.now() - start < MEASURE_MS) {
      const at = performance.now();
      await wal.append(PAYLOAD);
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  const measured = figures(times, performance.now() - start);
  await wal.close();
  return measured;
}

try {
  const base = bare();
  console.log(
    '| append of 512 bytes, durable | per second | p50 us | p99 us | per second / bare | p50 / bare |\n|---|---|---|---|---|---|',
  );
  const row = (name: string, { perSecond, p50, p99 }: Figures) =>
    console.log(
      `| ${name} | ${perSecond} | ${p50} | ${p99} | ${(perSecond / base.perSecond).toFixed(2)} | ${(p50 / base.p50).toFixed(2)} |`,
    );
  row('bare append and fdatasync', base);
  for (const writers of [1, 16, 64]) row(`the log, ${writers} at once`, await log(writers));
} finally {
  rmSync(folder, { recursive: true });
}
