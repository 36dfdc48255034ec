/** The program as a process: exit code and streams as the shell sees them. */
import { spawn } from 'node:child_process';
import { join } from 'node:path';

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export const program = join(import.meta.dirname, '..', '..', 'cli', 'postern.mjs');

/** With an environment of PATH and `env` only: a sidecar refuses much of what a shell carries. */
export function runPostern(args: readonly string[], env: NodeJS.ProcessEnv = {}, stdin = ''): Promise<Ran> {
  return run(process.execPath, [program, ...args], env, stdin);
}

export function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv, stdin = ''): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { env: { PATH: process.env.PATH ?? '', ...env } });
    let out = '';
    let err = '';
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
    });
    child.stderr.on('data', (chunk) => {
      err += String(chunk);
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out, err }));
    child.stdin.end(stdin);
  });
}
