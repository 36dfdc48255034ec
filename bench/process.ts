/** Programs of a run: started, watched, ended by their own process id and nothing else. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const START_MS = 30_000;
const END_MS = 5_000;
const OUTPUT_BYTES_MAX = 1 << 20;

export interface Running extends AsyncDisposable {
  readonly pid: number;
}

/** Resolves once `port` takes connections. Its output is dropped, but read: a full pipe would stop it. */
export async function start(command: readonly string[], env: Readonly<Record<string, string>>, port: number): Promise<Running> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const log: string[] = [];
  child.stderr.on('data', (chunk: Buffer) => {
    if (log.length < 20) log.push(chunk.toString('utf8'));
  });
  const deadline = Date.now() + START_MS;
  while (!(await takesConnections(port))) {
    if (child.exitCode !== null || Date.now() > deadline) {
      await end(child);
      throw new Error(`${program} does not listen on ${port}:\n${log.join('')}`);
    }
    await pause(20);
  }
  return { pid: child.pid ?? 0, [Symbol.asyncDispose]: () => end(child) };
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
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  await Promise.race([ended, pause(END_MS, undefined, { ref: false })]);
  child.kill('SIGKILL');
  await ended;
}
