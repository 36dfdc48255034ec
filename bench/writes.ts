/**
 * Writes: a bare POST through undici beside the same POST as a sidecar's effect, journaled on disk: without a person, recorded in an audit
 * chain beside, and under a yes that a person gave once. One client program drives all of them in turns.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_FLAGS } from '#build.ts';
import type { Prepared } from './prepare.ts';
import { sidecarFiles } from './prepare.ts';
import { output, start } from './process.ts';
import { median, type Point } from './report.ts';
import type { Plan } from './run.ts';
import { auditFlags, type Upstream } from './targets.ts';

export interface Writes {
  /** Who, calls in flight, one point a round. */
  readonly points: Readonly<Record<string, Readonly<Record<number, readonly Point[]>>>>;
  /** Median of one small append and fdatasync where the journal is: the floor of every durable step. */
  readonly syncUs: number;
}

export const WRITERS = {
  post: 'undici POST (no server)',
  note: 'Postern effect',
  recorded: 'Postern effect, audit on',
  approved: 'Postern effect, approved',
} as const;
type Writer = keyof typeof WRITERS;

const IN_FLIGHT = [1, 16] as const;
const PORT = 19207;
const AUDITED_PORT = 19208;
/** The journal keeps so many operations, and a yes covers no more. */
const CALLS_MAX = 300;
const GRACE_MS = 60_000;

export async function driveWrites(plan: Plan, prepared: Prepared, upstream: Upstream, say: (text: string) => void): Promise<Writes> {
  const socket = join(prepared.scratch, 'approvals.sock');
  const state = join(prepared.scratch, 'state');
  const flags = ['--listen', `127.0.0.1:${PORT}`, '--admin-listen', '127.0.0.1:19217', '--state', state, '--approvals', socket];
  const files = sidecarFiles(prepared.scratch, upstream.port, upstream.token);
  const command = [process.execPath, ...NODE_FLAGS, prepared.postern, 'sidecar', ...files, ...flags, '--log-level', 'warn'];
  await using sidecar = await start(command, { NODE_COMPILE_CACHE: prepared.cache }, PORT);
  const audited = ['--listen', `127.0.0.1:${AUDITED_PORT}`, '--admin-listen', '127.0.0.1:19218', ...auditFlags(prepared.scratch, 'write')];
  const auditedCommand = [process.execPath, ...NODE_FLAGS, prepared.postern, 'sidecar', ...files, ...audited, '--log-level', 'warn'];
  await using auditedSidecar = await start(auditedCommand, { NODE_COMPILE_CACHE: prepared.cache }, AUDITED_PORT);
  const load = async (writer: Writer, workers: number, warmMs: number): Promise<Point> => {
    const [target, extra, pid] = {
      post: [`http://127.0.0.1:${upstream.port}`, upstream.token, '0'],
      note: [`127.0.0.1:${PORT}`, '', String(sidecar.pid)],
      recorded: [`127.0.0.1:${AUDITED_PORT}`, '', String(auditedSidecar.pid)],
      approved: [`127.0.0.1:${PORT}`, socket, String(sidecar.pid)],
    }[writer];
    const args = [writer, workers, CALLS_MAX, plan.measureMs, warmMs, target, extra, pid].map(String);
    return JSON.parse(await output([process.execPath, prepared.peer('write'), ...args], {}, plan.measureMs + warmMs + GRACE_MS));
  };
  const points: Record<string, Record<number, Point[]>> = {};
  for (const writer of ['note', 'recorded', 'approved'] as const) await load(writer, 16, plan.warmMs);
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const workers of IN_FLIGHT) {
      say(`writes: round ${round} of ${plan.rounds}, ${workers} in flight`);
      for (const writer of Object.keys(WRITERS) as Writer[]) {
        const byWorkers = points[writer] ?? {};
        points[writer] = { ...byWorkers, [workers]: [...(byWorkers[workers] ?? []), await load(writer, workers, plan.warmMs / 4)] };
      }
    }
  }
  return { points, syncUs: syncCost(prepared.scratch) };
}

function syncCost(directory: string): number {
  const fd = openSync(join(directory, 'sync-probe'), 'w');
  try {
    const bytes = Buffer.alloc(400, 1);
    const took = Array.from({ length: 200 }, () => {
      const began = performance.now();
      writeSync(fd, bytes);
      fdatasyncSync(fd);
      return (performance.now() - began) * 1000;
    });
    return median(took);
  } finally {
    closeSync(fd);
  }
}
