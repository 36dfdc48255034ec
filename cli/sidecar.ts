/** `postern sidecar`: serves the actions of contract files until it is told to stop. */
import { constants } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { LOG_LEVELS, type LogLevel } from '#sidecar/settings.ts';
import { parseAddress } from './connection.ts';
import { EXIT } from './exit.ts';
import { VERSION } from './version.ts';

interface Options {
  readonly contracts: readonly string[];
  readonly credentials: string;
  readonly listen: string;
  readonly adminListen: string;
  readonly state?: string;
  readonly allowLoopback?: boolean;
  readonly logLevel: LogLevel;
}

export function sidecarCommand(): Command {
  return new Command('sidecar')
    .description('Serve the actions of contract files over gRPC.')
    .requiredOption('--contracts <PATH...>', 'contract and binding files, or directories with *.yaml below them')
    .requiredOption('--credentials <DIR>', 'credential files: DIR/<secret>/<key>, as Kubernetes mounts them')
    .option('--listen <HOST:PORT>', 'where agents call; a literal address, port 0 takes a free one', parseListen, '127.0.0.1:7717')
    .option(
      '--admin-listen <HOST:PORT>',
      'where /metrics, /livez and /readyz are; in a pod 0.0.0.0:7718, for kubelet and Prometheus',
      parseListen,
      '127.0.0.1:7718',
    )
    .option('--state <DIR>', "the sidecar's own keys; without it cursors and evidence end with the process")
    .option('--allow-loopback', 'let bindings reach loopback addresses they name literally (development only)')
    .addOption(new Option('--log-level <LEVEL>', 'how much to log, as JSON lines on standard error').choices(LOG_LEVELS).default('info'))
    .addHelpText('after', EXAMPLES)
    .action(serve);
}

async function serve(options: Options): Promise<void> {
  const { startSidecar } = await import('#sidecar/main.ts');
  const { readSidecarObjects } = await import('./sidecar-objects.ts');
  const settings = {
    version: VERSION,
    credentials: options.credentials,
    ...endpoint('host', 'port', options.listen),
    ...endpoint('adminHost', 'adminPort', options.adminListen),
    ...(options.state === undefined ? {} : { state: options.state }),
    allowLoopback: options.allowLoopback === true,
    logLevel: options.logLevel,
  };
  const told = untilTold();
  const sidecar = await startSidecar(readSidecarObjects(options.contracts), settings).catch(explainRefusal);
  // Node would print the fault's message, and that may quote what it failed on (LEAK-09).
  process.on('uncaughtException', (fault) => {
    sidecar.crashed(fault);
    process.exit(EXIT.error);
  });
  await told;
  await sidecar.stop();
}

/** The first signal drains; a second one of an impatient person ends the process at once, also as process 1, where no signal ends it by itself. */
function untilTold(): Promise<void> {
  return new Promise((resolve) => {
    let told = false;
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (told) process.exit(128 + constants.signals[signal]);
        told = true;
        resolve();
      });
    }
  });
}

/** Every reason of a refused start, with its place and cure. */
async function explainRefusal(thrown: unknown): Promise<never> {
  const { StartRefused } = await import('#sidecar/start-refused.ts');
  if (!(thrown instanceof StartRefused)) throw thrown;
  const { renderProblem, sortProblems } = await import('./render-problems.ts');
  const { UsageError } = await import('./report-failure.ts');
  const reasons = sortProblems(thrown.problems).map(renderProblem);
  throw new UsageError([`the sidecar does not start: ${thrown.message}`, ...reasons].join('\n'), thrown.cure);
}

function parseListen(text: string): string {
  try {
    return parseAddress(text);
  } catch {
    throw new InvalidArgumentError('Write a literal address and a port, such as 127.0.0.1:7717 or [::1]:7717; port 0 takes a free one.');
  }
}

function endpoint<Host extends string, Port extends string>(
  host: Host,
  port: Port,
  text: string,
): Record<Host, string> & Record<Port, number> {
  const at = text.lastIndexOf(':');
  const literal = text.slice(0, at).replace(/^\[|\]$/g, '');
  return { [host]: literal, [port]: Number(text.slice(at + 1)) } as Record<Host, string> & Record<Port, number>;
}

const EXAMPLES = `
Examples:
  postern sidecar --contracts contracts/ --credentials credentials/
  postern sidecar --contracts list.yaml binding.yaml --credentials /run/secrets --state /var/lib/postern

Start it with an empty environment, as with env -i PATH="$PATH": it refuses variables that change what it trusts or runs
(NODE_OPTIONS, proxies, CA files). SIGTERM lets running calls end; a second one ends it at once.
Exit codes: 0 told to stop, 1 a fault of its own, 2 it cannot start.`;
