/**
 * A server as a child process of a test: fresh folder, free ports on loopback, log in a file,
 * ready when its probe says so, and gone afterwards whatever happens.
 *
 * - Ended by process id, and only what was started here.
 * - A janitor (a `sh` that waits for its standard input to close) ends the servers and removes the
 *   folder when the test process dies in a way that runs no handler, such as SIGKILL. PDEATHSIG
 *   would do half of it (no folder), on Linux only, and fires when the starting *thread* ends.
 * - Handles do not keep the test process alive; a forgotten `await using` leaves nothing behind.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm, rmdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const loopback = '127.0.0.1';

const readyTimeoutMs = 120_000; // SeaweedFS needs 8 s on an idle machine; CI runs files side by side.
const probeTimeoutMs = 3_000;
const pollMs = 50;
const tailBytes = 6000;
// Below the range from which the kernel takes ports of outgoing connections (32768 and up on Linux),
// so that none of these takes a port between our look and the server's bind. Each test process looks
// in a slice of its own, so that two of them never pick the same one at the same time.
const firstPort = 12_000;
const portSlices = 50;
const portsPerSlice = 400;
/** Below it folders are control groups: they go by rmdir, their files with them. */
const cgroupRoot = '/sys/fs/cgroup';

// Each line is "+pid", "-pid" or a path. The folder goes twice: a killed server may still be writing.
const janitorScript = `
pids= strays=
clear() {
  for path in "$@"; do
    case $path in
      ${cgroupRoot}/*) find "$path" -depth -type d -exec rmdir {} + ;;
      *) rm -rf "$path" ;;
    esac
  done 2>/dev/null
}
while read -r word; do
  case $word in
    +*) pids="$pids \${word#+}" ;;
    -*) kept=; for p in $pids; do [ "$p" = "\${word#-}" ] || kept="$kept $p"; done; pids=$kept ;;
    /*) strays="$strays $word" ;;
  esac
done
for p in $pids; do kill -9 "$p" 2>/dev/null; done
rm -rf "$1" 2>/dev/null; sleep 1; clear "$1" $strays
`;

export interface Launch {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Files it makes outside its folder, to be removed with it; absolute, without spaces. */
  readonly strays?: readonly string[];
  /** True once the server serves; a throw counts as "not yet". */
  readonly ready: () => Promise<boolean>;
}

export interface Launched {
  readonly pid: number;
  /** Ends it with SIGKILL, as a crash would, and resolves once it is gone. */
  kill(): Promise<void>;
}

/** The folder and the processes of one started server (which may be two programs). */
export interface Workspace extends AsyncDisposable {
  readonly folder: string;
  /** Resolves once ready. Rejects with the end of the log when the program ends or stays unready. */
  launch(launch: Launch): Promise<Launched>;
  /** Something outside the folder that goes with it; absolute, without spaces. */
  clearLater(path: string): void;
  /** The last lines of every program's log. */
  logTail(): string;
}

export async function openWorkspace(label: string): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), `postern-${label}-`));
  const janitor = startJanitor(folder);
  const children: ChildProcess[] = [];
  const logs: string[] = [];
  const cleared: string[] = [folder];

  const logTail = () => logs.map((path) => `--- ${basename(path)}\n${readFileSync(path, 'utf8').slice(-tailBytes)}`).join('\n');

  return {
    folder,
    logTail,
    async launch({ program, args, env, strays = [], ready }) {
      const log = join(folder, `${basename(program)}.log`);
      const child = await spawnLogged({ program, args, env: { ...process.env, TMPDIR: folder, ...env }, log, cwd: folder });
      children.push(child);
      if (!logs.includes(log)) logs.push(log);
      cleared.push(...strays);
      janitor.stdin?.write([`+${child.pid}`, ...strays, ''].join('\n'));
      child.once('exit', () => janitor.stdin?.write(`-${child.pid}\n`));
      await untilReady(child, ready, () => `${basename(program)}\n${logTail()}`);
      return { pid: child.pid ?? 0, kill: () => kill(child) };
    },
    clearLater(path) {
      cleared.push(path);
      janitor.stdin?.write(`${path}\n`);
    },
    async [Symbol.asyncDispose]() {
      for (const child of children.toReversed()) await kill(child);
      janitor.ref();
      const ended = once(janitor, 'exit');
      for (const path of cleared) await clear(path);
      janitor.stdin?.end();
      janitor.kill('SIGKILL');
      await ended;
    },
  };
}

async function clear(path: string): Promise<void> {
  if (!path.startsWith(`${cgroupRoot}/`)) return rm(path, { recursive: true, force: true, maxRetries: 5 });
  const folders = await readdir(path, { recursive: true, withFileTypes: true }).catch(() => []);
  const deepestFirst = folders
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort((a, b) => b.length - a.length);
  for (const folder of [...deepestFirst, path]) await rmdir(folder).catch(() => undefined);
}

/** Runs `start`; when it throws, ends what it had started and says so in one error. */
export async function startIn<T>(label: string, start: (place: Workspace) => Promise<T>): Promise<T> {
  const place = await openWorkspace(label);
  try {
    return await start(place);
  } catch (error) {
    await place[Symbol.asyncDispose]();
    throw error;
  }
}

/** `count` different TCP ports that nobody listens on. */
export async function freePorts(count: number): Promise<number[]> {
  const slice = firstPort + (process.pid % portSlices) * portsPerSlice;
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = slice + Math.floor(Math.random() * portsPerSlice);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** True when a GET of `url` answers 200; for plain-HTTP probes. */
export async function answers(url: string): Promise<boolean> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status === 200;
}

function startJanitor(folder: string): ChildProcess {
  // Its own process group: a Ctrl-C at the terminal must not end it before it has cleaned up.
  const janitor = spawn('sh', ['-c', janitorScript, 'janitor', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  janitor.unref();
  const { stdin } = janitor;
  stdin.on('error', () => {
    // The janitor is ended on dispose; a late "-pid" then has no reader and needs none.
  });
  (stdin as unknown as { unref?(): void }).unref?.();
  return janitor;
}

interface Spawn {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly log: string;
  readonly cwd: string;
}

async function spawnLogged({ program, args, env, log, cwd }: Spawn): Promise<ChildProcess> {
  // A file, not a pipe: nothing to drain, and nothing that keeps the test process alive.
  const descriptor = openSync(log, 'a');
  try {
    const child = spawn(program, args, { cwd, env, stdio: ['ignore', descriptor, descriptor] });
    await once(child, 'spawn');
    child.unref();
    return child;
  } finally {
    closeSync(descriptor);
  }
}

async function untilReady(child: ChildProcess, ready: () => Promise<boolean>, describe: () => string): Promise<void> {
  const deadline = performance.now() + readyTimeoutMs;
  while (performance.now() < deadline) {
    if (hasEnded(child)) {
      throw new Error(`ended before it was ready (${child.exitCode ?? child.signalCode}): ${describe()}`);
    }
    // A probe that hangs is "not yet" too: some servers accept before they answer.
    const hanging = sleep(probeTimeoutMs, false, { ref: false });
    if (await Promise.race([ready().catch(() => false), hanging])) return;
    await sleep(pollMs);
  }
  throw new Error(`not ready after ${readyTimeoutMs} ms: ${describe()}`);
}

// SIGKILL: the data goes with the folder, and a graceful end takes some servers many seconds.
async function kill(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  child.ref();
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

function hasEnded(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null;
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(false));
    probe.listen(port, loopback, () => probe.close(() => resolve(true)));
  });
}
