/** A disk that fails or does not answer, under a sidecar that runs: strace, attached to it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Stage } from './stage.ts';

const straced = spawnSync('strace', ['-V']).error === undefined && process.getuid?.() === 0;
/** For `skip`. */
export const NO_STRACE = straced ? false : 'strace, and the right to attach it to another process, are not here';

/** Every write of the log in a folder meets `fault` once this resolves, until the returned function does. */
export async function attachFault({ sidecar }: Stage, log: string, fault: string): Promise<() => Promise<void>> {
  const names = Array.from({ length: 50 }, (_, index) => String(index + 1).padStart(10, '0'));
  const paths = [log, ...names.flatMap((name) => [`${log}/${name}.wal`, `${log}/${name}.new`])];
  const injected = ['-e', 'trace=pwrite64', '-e', `inject=pwrite64:${fault}`, ...paths.flatMap((path) => ['-P', path])];
  const child = spawn('strace', ['-f', '-o', '/dev/null', ...injected, '-p', String(sidecar.pid)], { stdio: ['ignore', 'ignore', 'pipe'] });
  const attached = Promise.withResolvers<void>();
  const said: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    said.push(line);
    if (line.includes('attached')) attached.resolve();
  });
  const ended = once(child, 'exit').then(() => attached.reject(new Error(said.join('\n'))));
  await attached.promise;
  return async () => {
    child.kill('SIGINT');
    await ended;
  };
}
