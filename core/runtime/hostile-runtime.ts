/**
 * What the sidecar refuses to start with (design section 2.12). Environment variables and flags can turn off TLS checks,
 * load foreign code, send traffic through a proxy or write memory to disk, and whoever writes a pod can set them.
 *
 * Names are refused by family, because every release of Node brings new ones; what is harmless is named.
 */
import { url as inspectorUrl } from 'node:inspector';
import { dirname, isAbsolute, resolve, sep } from 'node:path';

export interface RuntimeFacts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Flags of Node itself. */
  readonly execArgv: readonly string[];
  /** The file that was started. */
  readonly program: string;
  /** `24.21.0` */
  readonly nodeVersion: string;
  readonly inspecting: boolean;
}

/** Every reason not to start, as sentences; empty when there is none. Values of variables are never repeated. */
export function runtimeProblems({ env, execArgv, program, nodeVersion, inspecting }: RuntimeFacts): string[] {
  const problems: string[] = [];
  for (const name of Object.keys(env).sort()) {
    if (isRefused(name) && !(name === COMPILE_CACHE && isBeside(program, env[name] ?? '')))
      problems.push(`The environment variable ${name} must not be set: it changes how this process loads code, trusts or connects.`);
  }
  for (const flag of execArgv) {
    if (!FLAGS.has(flag.split('=', 1)[0] ?? ''))
      problems.push(`Node was started with ${flag.split('=', 1)[0]}, which is not one of ${[...FLAGS].join(', ')}.`);
  }
  if (inspecting) problems.push('The inspector is on: whoever reaches it reads every credential.');
  if (isOlder(nodeVersion, NODE_FLOOR))
    problems.push(`Node ${nodeVersion} is older than ${NODE_FLOOR}, the version Postern is tested with.`);
  return problems;
}

/** The facts of this process. */
export function runtimeFacts(process: Pick<NodeJS.Process, 'env' | 'execArgv' | 'argv' | 'versions'>): RuntimeFacts {
  return {
    env: process.env,
    execArgv: process.execArgv,
    program: process.argv[1] ?? '',
    nodeVersion: process.versions.node,
    inspecting: inspectorUrl() !== undefined,
  };
}

/**
 * Closes what can be opened later: SIGUSR1 would start the inspector, SIGUSR2 or a fatal error could write a report with the
 * whole environment.
 */
export function disarm(process: Disarmable): void {
  // A listener of our own takes the place of the built-in one, also where --disable-sigusr1 was forgotten.
  process.on('SIGUSR1', () => {
    // Nothing to do: the signal means nothing here.
  });
  process.report.reportOnSignal = false;
  process.report.reportOnFatalError = false;
  process.report.reportOnUncaughtException = false;
}

interface Disarmable {
  on(signal: 'SIGUSR1', listener: () => void): unknown;
  readonly report: { reportOnSignal: boolean; reportOnFatalError: boolean; reportOnUncaughtException: boolean };
}

export const NODE_FLOOR = '24.21.0';

/** Families of names; the proxy variables are read in both spellings. */
const REFUSED = [/^NODE_/, /^OPENSSL_/, /^SSL/, /^LD_/, /^DYLD_/, /^GRPC_/i, /_PROXY$/i, /^NO_PROXY$/i, /^UV_USE_/, /^ICU_/];
/** Set by common images and of no effect on safety. */
const HARMLESS = new Set(['NODE_VERSION', 'NODE_ENV', 'NODE_DISABLE_COMPILE_CACHE']);

/** Compiled code is code: only a folder below that of the program itself, where whoever could write could change the program. */
const COMPILE_CACHE = 'NODE_COMPILE_CACHE';

function isBeside(program: string, folder: string): boolean {
  const home = dirname(resolve(program));
  return isAbsolute(folder) && resolve(folder).startsWith(`${home}${sep}`);
}

/**
 * What the kubelet sets for each Service of the pod's namespace unless the pod says no (enableServiceLinks), and a sidecar cannot say it
 * for the pod it is put into: a Service named `node-exporter` must not keep it from starting. No program reads settings of these forms.
 */
const SERVICE_LINK =
  /^[A-Z0-9_]+_(?:SERVICE_HOST|SERVICE_PORT(?:_[A-Z0-9_]+)?|PORT(?:_[0-9]+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?)$/;

function isRefused(name: string): boolean {
  return !HARMLESS.has(name) && !SERVICE_LINK.test(name) && REFUSED.some((family) => family.test(name));
}

const FLAGS = new Set([
  '--max-old-space-size',
  '--max-semi-space-size',
  '--disable-sigusr1',
  '--enable-source-maps',
  '--no-warnings',
  '--disable-warning',
  '--optimize-for-size',
]);

function isOlder(version: string, floor: string): boolean {
  const [a, b] = [version, floor].map((text) => text.split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
    if (difference !== 0) return difference < 0;
  }
  return false;
}
