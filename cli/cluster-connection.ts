/**
 * How the cluster commands reach a cluster: the person's kubeconfig, the flags people know from `kubectl`. Nothing here holds a right of
 * its own: what a command may do is what RBAC and the guards let this person do.
 */
import { type Command, Option } from 'commander';
import { ConnectError } from '#operator/kube/api-access.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import { connectByKubeconfig } from '#operator/kube/connect.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import type { ResourceKind } from '#operator/kube/resource-kind.ts';
import { ClusterRefused, UsageError } from './report-failure.ts';
import { type Row, renderTable } from './table.ts';

export interface ClusterOptions {
  readonly namespace?: string;
  readonly allNamespaces?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output?: 'table' | 'json';
}

export interface ClusterConnection {
  readonly client: KubeClient;
  /** Of `--namespace`, else of the context. */
  readonly namespace: string;
  readonly all: boolean;
}

/** `all: false` for commands that act: acting on every namespace at once is no slip of a flag. */
export function withClusterFlags(command: Command, { all = true }: { readonly all?: boolean } = {}): Command {
  command.option('-n, --namespace <name>', 'namespace (default: that of the context)');
  if (all) {
    command.option('-A, --all-namespaces', 'every namespace');
    command.addOption(new Option('-o, --output <format>', 'how to print').choices(['table', 'json']).default('table'));
  }
  return command
    .option('--context <name>', 'context of the kubeconfig (default: the current one)')
    .option('--kubeconfig <file>', 'kubeconfig file (default: KUBECONFIG, else ~/.kube/config)');
}

/** Runs `work` against the cluster of the flags. Refusals of the API server become ClusterRefused: they are no fault of this program. */
export async function withCluster(options: ClusterOptions, work: (cluster: ClusterConnection) => Promise<void>): Promise<void> {
  try {
    const { kubeconfig, context } = options;
    const { client, namespace, close } = await connectByKubeconfig({
      env: process.env,
      ...(kubeconfig === undefined ? {} : { kubeconfig }),
      ...(context === undefined ? {} : { context }),
    });
    try {
      await work({ client, namespace: options.namespace ?? namespace, all: options.allNamespaces === true });
    } finally {
      await close();
    }
  } catch (thrown) {
    if (isKubeError(thrown)) throw new ClusterRefused(thrown.message, cureOf(thrown.status), thrown);
    if (thrown instanceof ConnectError)
      throw new UsageError(thrown.message, 'Name another kubeconfig with --kubeconfig or KUBECONFIG, another context with --context.');
    throw thrown;
  }
}

/** Postern's roles are of its own kinds: whoever lacks pods has all five of them in vain. */
const FORBIDDEN =
  'Ask for the role: docs/cluster.md lists what each of the five roles may do. Pods and namespaces are in none of them: ask for view in the namespace.';

function cureOf(status: number): string {
  if (status === 0) return 'Check --context and that the cluster is reachable (kubectl version).';
  if (status === 401) return 'Log in again: the credential of this context is not valid.';
  if (status === 403) return FORBIDDEN;
  if (status === 404) return 'Check the name and -n; is Postern installed (kubectl get crd actioncontracts.postern.dev)?';
  return 'The sentence above is the API server’s reason.';
}

export async function listAll<T extends { readonly metadata: { readonly name: string; readonly namespace?: string } }>(
  { client, namespace, all }: ClusterConnection,
  kind: ResourceKind,
): Promise<readonly T[]> {
  const byKey = new Map<string, T>();
  for await (const object of client.list<T>(kind, all ? {} : { namespace })) {
    byKey.set(`${object.metadata.namespace}/${object.metadata.name}`, object);
  }
  return [...byKey.keys()].sort().map((key) => byKey.get(key) as T);
}

interface Listed {
  readonly namespace?: string;
  readonly metadata?: { readonly namespace?: string };
}

/** A table, or with `-o json` the objects as they are. `empty` is said on standard error, so that a pipe gets nothing. */
export function printRows<T extends object>(
  { output, allNamespaces }: ClusterOptions,
  objects: readonly T[],
  columns: readonly string[],
  rowOf: (object: T) => Row,
  empty: string,
): void {
  if (output === 'json') {
    process.stdout.write(`${JSON.stringify(objects, null, 2)}\n`);
    return;
  }
  if (objects.length === 0) {
    process.stderr.write(`${empty}\n`);
    return;
  }
  const namespaceOf = (object: Listed) => object.namespace ?? object.metadata?.namespace;
  const table =
    allNamespaces === true
      ? renderTable(
          ['NAMESPACE', ...columns],
          objects.map((object) => [namespaceOf(object as Listed), ...rowOf(object)]),
        )
      : renderTable(columns, objects.map(rowOf));
  process.stdout.write(`${table}\n`);
}
