/** Helm and kubectl as a person runs them, against a real API server, and the chart as it is rendered. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { programPath } from '#test/servers/build.ts';
import type { ProgramName } from '#test/servers/programs.ts';

export const chart = join(import.meta.dirname, '../../charts/postern');
export const namespace = 'postern-system';
/** What a person must say. */
export const required = [
  '--set',
  'image.repository=registry.example.com/platform/postern',
  '--set',
  `image.digest=sha256:${'0'.repeat(64)}`,
];
/** Everything that is off by default. */
export const everything = [
  ...required,
  '--set=watcher.enabled=true',
  '--set=metrics.monitors.enabled=true',
  '--set=alerts.enabled=true',
  '--set=dashboards.enabled=true',
  '--set=roles.aggregate=true',
  `--set-json=audit.recipients=["age1${'q'.repeat(58)}"]`,
  '--set=audit.store.url=s3://audit/postern?region=eu-central-1',
  '--set=audit.store.secret=audit-store',
];

export interface Run {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export async function run(
  program: ProgramName,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Run> {
  const path = await programPath(program);
  return new Promise((resolve) => {
    const child = execFile(path, args, { env: { ...process.env, ...env }, maxBuffer: 64 << 20 }, (error, stdout, stderr) => {
      const code = (error as { code?: unknown } | null)?.code;
      resolve({ status: error === null ? 0 : typeof code === 'number' ? code : 1, stdout, stderr });
    });
    child.stdin?.end(input);
  });
}

/** The chart as `helm template` renders it. */
export async function rendered(args: readonly string[]): Promise<readonly KubeObject[]> {
  const { status, stdout, stderr } = await run('helm', ['template', 'postern', chart, '-n', namespace, ...args]);
  if (status !== 0) throw new Error(stderr);
  return objectsIn(stdout);
}

export function objectsIn(yaml: string): readonly KubeObject[] {
  const documents = parseAllDocuments(yaml, { merge: true });
  if (!Array.isArray(documents)) return [];
  return documents.map((document) => document.toJS({ maxAliasCount: -1 }) as KubeObject | null).filter((object) => object !== null);
}

export interface Tools extends Disposable {
  /** The environment with a kubeconfig of the admin; its home is a folder of its own. */
  readonly env: Readonly<Record<string, string>>;
  /** Throws with what it said when it fails. */
  helm(...args: readonly string[]): Promise<string>;
  kubectl(...args: readonly string[]): Promise<string>;
  /** With a document on standard input. Resolves also when it fails. */
  kubectlWith(input: string, ...args: readonly string[]): Promise<Run>;
}

export function toolsFor({ url, caPem, adminToken }: { url: string; caPem: string; adminToken: string }): Tools {
  const folder = mkdtempSync(join(tmpdir(), 'postern-tools-'));
  const kubeconfig = join(folder, 'kubeconfig');
  const cluster = { server: url, 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user: { token: adminToken } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  const env = { KUBECONFIG: kubeconfig, HOME: folder, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
  const orThrow = async (program: ProgramName, args: readonly string[]) => {
    const { status, stdout, stderr } = await run(program, args, env);
    if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}${stdout}`);
    return stdout;
  };
  return {
    env,
    helm: (...args) => orThrow('helm', args),
    kubectl: (...args) => orThrow('kubectl', args),
    kubectlWith: (input, ...args) => run('kubectl', args, env, input),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
