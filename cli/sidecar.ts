/** `postern sidecar`: serves the actions of contract files, or those an operator sends, until it is told to stop. */
import { Command, InvalidArgumentError, Option } from 'commander';
import type { ControlSettings } from '#sidecar/control/control-settings.ts';
import type { RunningSidecar } from '#sidecar/main.ts';
import { LOG_LEVELS, type LogLevel } from '#sidecar/settings.ts';
import { parseAddress } from './connection.ts';
import { EXIT } from './exit.ts';
import { UsageError } from './report-failure.ts';
import { auditSettings, checkAudit, collect } from './sidecar-audit.ts';
import { untilTold } from './until-told.ts';
import { VERSION } from './version.ts';

interface Options {
  readonly contracts?: readonly string[];
  readonly control?: ControlAddress;
  readonly controlPin?: string;
  readonly controlToken?: string;
  readonly credentials: string;
  readonly listen: string;
  readonly adminListen: string;
  readonly state?: string;
  readonly approvals?: string;
  readonly auditRecipient?: readonly string[];
  readonly audit?: string;
  readonly auditKey?: string;
  readonly auditStore?: string;
  readonly allowLoopback?: boolean;
  readonly logLevel: LogLevel;
}

export function sidecarCommand(): Command {
  return new Command('sidecar')
    .description('Serve the actions of contract files, or those an operator sends, over gRPC.')
    .option('--contracts <PATH...>', 'contract and binding files, or directories with *.yaml below them')
    .option('--control <HOST:PORT>', 'the operator that sends contracts and bindings, instead of --contracts', parseControl)
    .option('--control-pin <sha256:HEX>', "digest of the public key (SPKI) of the operator's CA; no other CA is trusted", parsePin)
    .option('--control-token <FILE>', 'ServiceAccount token with the audience postern-control; read for every connection')
    .requiredOption('--credentials <DIR>', 'credential files: DIR/<secret>/<key>, as Kubernetes mounts them')
    .option('--listen <HOST:PORT>', 'where agents call; a literal address, port 0 takes a free one', parseListen, '127.0.0.1:7717')
    .option(
      '--admin-listen <HOST:PORT>',
      'where /metrics, /livez and /readyz are; in a pod 0.0.0.0:7718, for kubelet and Prometheus',
      parseListen,
      '127.0.0.1:7718',
    )
    .option(
      '--state <DIR>',
      "the sidecar's own keys, the journal of effects and, with --control, the last bundle; without it cursors and evidence end with the process, and nothing that changes the world is called",
    )
    .option(
      '--approvals <SOCKET>',
      "path of a unix socket for postern approvals, approve, deny and resolve; the agent's user must not be able to open it",
    )
    .option('--audit-recipient <age1...>', 'who can read what is recorded (repeatable); without one nothing is recorded', collect)
    .option('--audit <DIR>', 'folder of the audit chain (default: STATE/audit)')
    .option('--audit-key <FILE>', 'key that answers for the chain; made at the first start (default: STATE/audit-key)')
    .option(
      '--audit-store <URL>',
      'where segments go: file:///DIR or s3://BUCKET/PREFIX?region=..&endpoint=.. (default: STATE/audit-archive)',
    )
    .option('--allow-loopback', 'let bindings reach loopback addresses they name literally (development only)')
    .addOption(new Option('--log-level <LEVEL>', 'how much to log, as JSON lines on standard error').choices(LOG_LEVELS).default('info'))
    .addHelpText('after', EXAMPLES)
    .action(serve);
}

async function serve(options: Options): Promise<void> {
  const control = controlOf(options);
  const told = untilTold();
  const sidecar = await start(options, control).catch(explainRefusal);
  // Node would print the fault's message, and that may quote what it failed on (LEAK-09).
  process.on('uncaughtException', (fault) => {
    sidecar.crashed(fault);
    process.exit(EXIT.error);
  });
  await told;
  await sidecar.stop();
}

async function start(options: Options, control: ControlSettings | undefined): Promise<RunningSidecar> {
  const { startSidecar, startControlledSidecar } = await import('#sidecar/main.ts');
  const settings = {
    version: VERSION,
    credentials: options.credentials,
    ...endpoint('host', 'port', options.listen),
    ...endpoint('adminHost', 'adminPort', options.adminListen),
    ...(options.state === undefined ? {} : { state: options.state }),
    ...(options.approvals === undefined ? {} : { approvals: options.approvals }),
    ...auditSettings(options, process.env),
    allowLoopback: options.allowLoopback === true,
    logLevel: options.logLevel,
  };
  if (control !== undefined) return startControlledSidecar(control, settings);
  const { readSidecarObjects } = await import('./sidecar-objects.ts');
  return startSidecar(readSidecarObjects(options.contracts ?? []), settings);
}

/** What --control needs and what it excludes; undefined for a sidecar of files. Throws UsageError. */
function controlOf(options: Options): ControlSettings | undefined {
  const { contracts, control, controlPin: pin, controlToken: tokenFile, state } = options;
  checkApprovals(options);
  checkAudit(options);
  if (control === undefined) {
    if (contracts === undefined) throw new UsageError('neither --contracts nor --control is given', 'Name files, or an operator.');
    if (pin !== undefined || tokenFile !== undefined)
      throw new UsageError('--control-pin and --control-token say how to reach an operator', 'Name it with --control, or drop them.');
    return undefined;
  }
  if (contracts !== undefined)
    throw new UsageError('--contracts and --control exclude each other', 'Contracts come from files or from an operator; drop one.');
  if (pin === undefined || tokenFile === undefined)
    throw new UsageError(`--control needs ${pin === undefined ? '--control-pin' : '--control-token'}`, 'Give both beside it.');
  if (state === undefined)
    throw new UsageError(
      '--control needs --state',
      'Name a folder of its own that lives as long as the pod: a second sidecar is told by it.',
    );
  if (options.allowLoopback === true)
    throw new UsageError(
      '--allow-loopback is for development and is refused with --control',
      'In a pod the agent listens on loopback; let bindings name other addresses.',
    );
  return { ...control, pin, tokenFile };
}

/** Throws UsageError. */
function checkApprovals({ approvals, control, state }: Options): void {
  if (approvals === undefined) return;
  if (control !== undefined)
    throw new UsageError(
      '--approvals is for a sidecar without an operator',
      'With --control people decide in the cluster: kubectl postern approvals. Drop the flag.',
    );
  if (state === undefined)
    throw new UsageError('--approvals needs --state', 'Name a folder of its own: what was decided must outlive a restart.');
}

/** Every reason of a refused start, with its place and cure. */
async function explainRefusal(thrown: unknown): Promise<never> {
  const { StartRefused } = await import('#sidecar/start-refused.ts');
  if (!(thrown instanceof StartRefused)) throw thrown;
  const { renderProblem, sortProblems } = await import('./render-problems.ts');
  const reasons = sortProblems(thrown.problems).map(renderProblem);
  throw new UsageError([`the sidecar does not start: ${thrown.message}`, ...reasons].join('\n'), thrown.cure);
}

interface ControlAddress {
  readonly host: string;
  readonly port: number;
}

/** A name or a literal address, and a port. */
function parseControl(text: string): ControlAddress {
  const [, literal6, host, port] = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([A-Za-z0-9.-]{1,253})):(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) < 1 || Number(port) > 65_535)
    throw new InvalidArgumentError('Write a name or an address and a port, such as postern-operator.postern-system.svc:7720.');
  return { host: literal6 ?? host ?? '', port: Number(port) };
}

function parsePin(text: string): string {
  if (!/^sha256:[0-9a-f]{64}$/.test(text)) throw new InvalidArgumentError('Write sha256: and 64 hex digits, in lower case.');
  return text;
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
  postern sidecar --contracts contracts/ --credentials credentials/ --state state/ --approvals /run/postern/approvals.sock
  postern sidecar --contracts contracts/ --credentials credentials/ --state state/ --audit-recipient age1...
  postern sidecar --control postern-operator.postern-system.svc:7720 --control-pin sha256:9f2c... \\
    --control-token /var/run/postern/identity/token --credentials /var/run/postern/credentials --state /var/run/postern/state

With --control it takes calls at once and answers CONTRACT_NOT_READY until its first bundle came; a bundle that --state kept is served
from the start. /startupz is 200 then, or after 15 s, so that an operator that is away holds no pod.
Start it with an empty environment, as with env -i PATH="$PATH": it refuses variables that change what it trusts or runs
(NODE_OPTIONS, proxies, CA files). SIGTERM lets running calls end; a second one ends it at once.
Exit codes: 0 told to stop, 1 a fault of its own, 2 it cannot start.`;
