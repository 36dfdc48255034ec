/** One run: everything is started, warmed and driven in turns, then started cold. */
import { availableParallelism } from 'node:os';
import { type Prepared, prepare } from './prepare.ts';
import { output, type Running, residentKb, start } from './process.ts';
import { type Point, type Results, report, type Start } from './report.ts';
import { type Target, targetsOf, type Upstream } from './targets.ts';
import { driveWrites, WRITERS } from './writes.ts';

export interface Plan {
  readonly rounds: number;
  readonly measureMs: number;
  /** Before each measurement. */
  readonly warmMs: number;
  /** Once per server, so that its code is compiled before the first round. */
  readonly firstWarmMs: number;
  readonly starts: number;
}

export interface BenchOptions {
  readonly plan: Plan;
  readonly only: readonly string[] | undefined;
  readonly scratch: string;
  readonly token: string;
}

const UPSTREAM_PORT = 19200;
const IN_FLIGHT = [1, 16, 64] as const;
const CALLS_MAX = 20_000;
const GRACE_MS = 60_000;

export async function runBench({ plan, only, scratch, token }: BenchOptions): Promise<{ text: string; results: Results }> {
  const wanted = (name: string) => only === undefined || only.includes(name);
  say('building');
  const prepared = await prepare(scratch, wanted('fastmcp'));
  const upstream: Upstream = { port: UPSTREAM_PORT, token };
  await using _upstream = await start([prepared.upstream, `127.0.0.1:${UPSTREAM_PORT}`, token], {}, UPSTREAM_PORT);
  const targets = targetsOf(prepared, upstream).filter(({ name }) => wanted(name));
  const driven = await driveAll({ plan, prepared, upstream, targets, direct: wanted('direct') });
  const writes = wanted('writes') ? await driveWrites(plan, prepared, upstream, say) : undefined;
  const cold: Record<string, readonly Start[]> = {};
  for (const target of targets.filter((each) => each.cold)) {
    say(`cold starts of ${target.name}`);
    cold[target.name] = await coldStarts(prepared, target, plan.starts);
  }
  const results: Results = { ...driven, cold, emptyNode: await emptyNode(plan.starts), ...(writes === undefined ? {} : { writes }) };
  const what = { direct: 'undici direct (no server)', ...WRITERS, ...Object.fromEntries(targets.map(({ name, what }) => [name, what])) };
  return { text: report(results, what), results };
}

interface Drive {
  readonly plan: Plan;
  readonly prepared: Prepared;
  readonly upstream: Upstream;
  readonly targets: readonly Target[];
  readonly direct: boolean;
}

/** Short turns in every round, so that a disturbance of the machine meets neighbours and not one target alone. */
async function driveAll(drive: Drive): Promise<Pick<Results, 'points' | 'idleKb'>> {
  const { plan, prepared, targets } = drive;
  const points: Record<string, Record<number, Point[]>> = {};
  const idleKb: Record<string, number> = {};
  await using servers = new AsyncDisposableStack();
  const running = new Map<string, Running>();
  for (const target of targets) {
    const server = servers.use(await start(target.command, target.env, target.port));
    running.set(target.name, server);
    await load(prepared, target, { workers: 1, calls: 1, ms: 1_000, warmMs: 0, pid: 0 });
    idleKb[target.name] = residentKb(server.pid);
    await load(prepared, target, { workers: 16, calls: 1, ms: 1_000, warmMs: plan.firstWarmMs, pid: 0 });
  }
  const keep = (name: string, workers: number, point: Point) => {
    const byWorkers = points[name] ?? {};
    points[name] = { ...byWorkers, [workers]: [...(byWorkers[workers] ?? []), point] };
    if (point.errors > 0) say(`${name}: ${point.errors} errors, the last: ${point.firstError}`);
  };
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const workers of IN_FLIGHT) {
      say(`round ${round} of ${plan.rounds}, ${workers} in flight`);
      if (drive.direct) keep('direct', workers, await loadDirect(drive, workers));
      for (const target of targets) {
        const pid = running.get(target.name)?.pid ?? 0;
        keep(
          target.name,
          workers,
          await load(prepared, target, { workers, calls: CALLS_MAX, ms: plan.measureMs, warmMs: plan.warmMs, pid }),
        );
      }
    }
  }
  return { points, idleKb };
}

interface Load {
  readonly workers: number;
  readonly calls: number;
  readonly ms: number;
  readonly warmMs: number;
  readonly pid: number;
}

async function load({ loadgen }: Prepared, target: Target, { workers, calls, ms, warmMs, pid }: Load): Promise<Point> {
  const flags = ['-c', workers, '-n', calls, '-d', `${ms}ms`, '-warm', `${warmMs}ms`, '-pid', pid].map(String);
  return JSON.parse(await output([loadgen, ...target.call, ...flags], goEnvironment(), ms + warmMs + GRACE_MS));
}

async function loadDirect({ prepared, upstream, plan }: Drive, workers: number): Promise<Point> {
  const args = [workers, CALLS_MAX, plan.measureMs, `http://127.0.0.1:${upstream.port}`, upstream.token].map(String);
  return JSON.parse(await output([process.execPath, prepared.peer('direct'), ...args], {}, plan.measureMs + GRACE_MS));
}

async function coldStarts({ loadgen }: Prepared, target: Target, starts: number): Promise<readonly Start[]> {
  const command = [loadgen, '-cold', String(starts), ...target.call, '--', ...target.command];
  return JSON.parse(await output(command, { ...goEnvironment(), ...target.env }, starts * GRACE_MS));
}

/** The floor: Node that starts and does nothing. Its memory is what it says of itself at the end. */
async function emptyNode(starts: number): Promise<readonly Start[]> {
  const found: Start[] = [];
  for (let index = 0; index < starts; index += 1) {
    const began = performance.now();
    await output([process.execPath, '-e', '0'], {}, GRACE_MS);
    const ms = performance.now() - began;
    found.push({ ms, rssKb: Number(await output([process.execPath, '-p', 'process.memoryUsage.rss() / 1024'], {}, GRACE_MS)) });
  }
  return found;
}

function goEnvironment(): Record<string, string> {
  return { GOMAXPROCS: String(availableParallelism()) };
}

function say(text: string): void {
  console.error(`bench: ${text}`);
}
