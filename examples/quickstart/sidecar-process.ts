/** Starts the sidecar as a process of its own with an empty environment, and keeps what it logs. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

export interface SidecarProcess extends AsyncDisposable {
  /** Where agents call. */
  readonly address: string;
  /** Where metrics and probes are. */
  readonly adminPort: number;
  readonly pid: number;
  /** Everything it logged so far. */
  log(): string;
}

export interface SidecarProcessOptions {
  readonly contracts: readonly string[];
  readonly credentials: string;
  /** Also written here when given. */
  readonly logFile?: string;
  /** Further flags of `postern sidecar`. */
  readonly flags?: readonly string[];
  /** Flags of Node itself. */
  readonly nodeFlags?: readonly string[];
  /** A command that becomes the sidecar's: it gets Node and everything after it as its last words. */
  readonly under?: readonly string[];
}

const program = join(import.meta.dirname, '..', '..', 'cli', 'postern.mjs');

/** Resolves once it serves; rejects with its log when it does not start. */
export async function startSidecarProcess(options: SidecarProcessOptions): Promise<SidecarProcess> {
  const [command = process.execPath, ...words] = [...(options.under ?? []), process.execPath];
  const child = spawn(
    command,
    [
      ...words,
      ...(options.nodeFlags ?? []),
      program,
      'sidecar',
      '--contracts',
      ...options.contracts,
      '--credentials',
      options.credentials,
      '--listen',
      '127.0.0.1:0',
      '--admin-listen',
      '127.0.0.1:0',
      '--allow-loopback',
      ...(options.flags ?? ['--log-level', 'debug']),
    ],
    // Empty on purpose: the sidecar refuses variables that change what it trusts or runs.
    { env: {}, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const lines: string[] = [];
  const serving = await untilServing(child, lines, options.logFile);
  return {
    ...serving,
    pid: child.pid ?? 0,
    log: () => lines.join('\n'),
    [Symbol.asyncDispose]: () => ended(child),
  };
}

function untilServing(child: ChildProcess, lines: string[], logFile: string | undefined): Promise<{ address: string; adminPort: number }> {
  const { stderr } = child;
  if (stderr === null) throw new TypeError('the log of the sidecar is not piped');
  if (logFile !== undefined) stderr.pipe(createWriteStream(logFile));
  return new Promise((resolve, reject) => {
    createInterface({ input: stderr }).on('line', (line) => {
      lines.push(line);
      if (!line.includes('"message":"serving"')) return;
      const { address, admin_address }: { address: string; admin_address: string } = JSON.parse(line);
      resolve({ address, adminPort: Number(admin_address.split(':').at(-1)) });
    });
    child.once('error', reject);
    child.once('exit', (code) => setImmediate(() => reject(new Error(`the sidecar ended with ${code}:\n${lines.join('\n')}`))));
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) {
      resolve();
      return;
    }
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}
