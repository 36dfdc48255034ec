/**
 * `node bench/audit-append.ts`: what a record of the audit costs beside the least that is durable: a loop of append and fdatasync of as many
 * bytes as one record takes in the chain, on the same volume in the same run. Not part of `npm run bench`, which compares whole servers.
 *
 *   node bench/audit-append.ts [FOLDER]
 */
import { generateKeyPairSync } from 'node:crypto';
import { fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bech32 } from '@scure/base';
import { systemClock } from '#core/bounds/clock.ts';
import { AuditChain } from '#sidecar/audit/chain.ts';

const MEASURE_MS = 2_000;
const ROUNDS = 3;
const TEXT = JSON.stringify({ text: 'x'.repeat(500) });
const folder = mkdtempSync(join(process.argv[2] ?? tmpdir(), 'postern-audit-bench-'));
const recipient = bech32.encodeFromBytes(
  'age',
  generateKeyPairSync('x25519').publicKey.export({ format: 'der', type: 'spki' }).subarray(-32),
);

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

function bare(bytes: number, round: number): Figures {
  const payload = Buffer.alloc(bytes, 'x');
  const descriptor = openSync(join(folder, `bare-${round}`), 'w');
  const [times, start]: [number[], number] = [[], performance.now()];
  while (performance.now() - start < MEASURE_MS) {
    const at = performance.now();
    writeSync(descriptor, payload);
    fdatasyncSync(descriptor);
    times.push(performance.now() - at);
  }
  return figures(times, performance.now() - start);
}

/** Everything is shipped at once, to nowhere, so that the room never ends. */
async function openChain(name: string): Promise<AuditChain> {
  const chain = await AuditChain.open({
    folder: join(folder, name),
    clock: systemClock,
    authority: { certify: () => new Promise(() => {}) },
    terms: { origin: 'postern.dev/audit/bench', recipients: [recipient] },
  });
  chain.onClosed(() => {
    for (const segment of chain.closed()) void chain.shipped(segment);
  });
  return chain;
}

async function frameBytes(): Promise<number> {
  const chain = await openChain('size');
  const { frame } = await chain.append({ kind: 'intent', text: TEXT });
  await chain.close();
  return frame.length;
}

async function appends(writers: number, round: number): Promise<Figures> {
  const chain = await openChain(`chain-${writers}-${round}`);
  const [times, start]: [number[], number] = [[], performance.now()];
  const write = async () => {
    while (performance.now() - start < MEASURE_MS) {
      const at = performance.now();
      await chain.append({ kind: 'intent', text: TEXT });
      times.push(performance.now() - at);
    }
  };
  await Promise.all(Array.from({ length: writers }, write));
  const measured = figures(times, performance.now() - start);
  await chain.close();
  return measured;
}

try {
  const bytes = await frameBytes();
  console.log(
    `| a record of ${bytes} bytes, durable | per second | p50 us | p99 us | per second / bare | p50 / bare |\n|---|---|---|---|---|---|`,
  );
  for (let round = 1; round <= ROUNDS; round += 1) {
    const base = bare(bytes, round);
    const row = (name: string, { perSecond, p50, p99 }: Figures) =>
      console.log(
        `| ${name} | ${perSecond} | ${p50} | ${p99} | ${(perSecond / base.perSecond).toFixed(2)} | ${(p50 / base.p50).toFixed(2)} |`,
      );
    row('bare append and fdatasync', base);
    for (const writers of [1, 16, 64]) row(`the chain, ${writers} at once`, await appends(writers, round));
  }
} finally {
  rmSync(folder, { recursive: true });
}
