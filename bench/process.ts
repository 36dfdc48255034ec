/** Programs of a run: started, watched, ended by their own process id and nothing else. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const START_MS = 30_000;
const END_MS = 5_000;
const OUTPUT_BYTES_MAX = 1 << 20;

/** A run that fails or is stopped leaves none of them behind: the next one would find its port taken. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));

export interface Running extends AsyncDisposable {
  readonly pid: number;
}

/**
 * Resolves once the program takes connections on `port`. Throws when somebody else does already (he would be measured in its place), when it
 * ends first, or takes too long; it is ended then. Its output is dropped, but read: a full pipe would stop it.
 */
export async function start(command: readonly string[], env: Readonly<Record<string, string>>, port: number): Promise<Running> {
  const [program = '', ...args] = command;
  if (await takesConnections(port)) throw new Error(`${program} cannot listen on ${port}: another program does; end it, and run again`);
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  running.add(child);
  const log: string[] = [];
  child.once('exit', () => running.delete(child));
  child.stderr.on('data', (chunk: Buffer) => {
    if (log.length < 20) log.push(chunk.toString('utf8'));
  });
  try {
    await listening(child, port);
  } catch (error) {
    await end(child);
    throw new Error(`${program} does not listen on ${port}:\n${log.join('')}`, { cause: error });
  }
  return { pid: child.pid ?? 0, [Symbol.asyncDispose]: () => end(child) };
}

/** Rejects when the program could not be started, has ended, or START_MS are over. */
async function listening(child: ChildProcess, port: number): Promise<void> {
  const unstarted = Promise.withResolvers<never>();
  child.once('error', unstarted.reject);
  const deadline = Date.now() + START_MS;
  for (let taken = false; !taken; ) {
    taken = await Promise.race([takesConnections(port), unstarted.promise]);
    // Judged after the port: whoever took it while the program was failing is not the program.
    if (hasEnded(child)) throw new Error(`ended with ${child.exitCode ?? child.signalCode}`);
    if (!taken && Date.now() > deadline) throw new Error(`not within ${START_MS} ms`);
    if (!taken) await Promise.race([pause(20), unstarted.promise]);
  }
}

function hasEnded(child: ChildProcess): boolean {
  return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/** Standard output of a program that ends by itself within `timeoutMs`. */
export async function output(command: readonly string[], env: Readonly<Record<string, string>>, timeoutMs: number): Promise<string> {
  const [program = '', ...args] = command;
  const { stdout } = await promisify(execFile)(program, args, { env, timeout: timeoutMs, maxBuffer: OUTPUT_BYTES_MAX });
  return stdout;
}

/** Resident memory in KiB. */
export function residentKb(pid: number): number {
  return Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await Promise.race([ended, pause(END_MS, undefined, { ref: false })]);
  child.kill('SIGKILL');
  await ended;
}
