/**
 * `kubectl postern rotate`: says that the Secret of a binding has a new value, and waits until every sidecar that mounts it uses that
 * value. The Secret itself is changed by whoever may change it, before this command.
 */
import { Command, Option } from 'commander';
import type { CredentialBinding } from '#core/resource/gen/credential-binding.ts';
import { ANNOTATION } from '#core/resource/names.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { type ClusterConnection, type ClusterOptions, withCluster, withClusterFlags } from './cluster-connection.ts';
import { parseDuration } from './duration.ts';
import { EXIT } from './exit.ts';
import { UsageError } from './report-failure.ts';

interface Options extends ClusterOptions {
  readonly wait: number;
}

const POLL_MS = 500;

export function clusterRotateCommand(): Command {
  return withClusterFlags(new Command('rotate'), { all: false })
    .argument('<binding>', 'name of the CredentialBinding')
    .addOption(
      new Option('--wait <duration>', 'how long to wait for the sidecars, as in 30s').argParser(parseDuration).default(30_000, '30s'),
    )
    .description('Say that the Secret of a binding has a new value, so that its pods read it at once.')
    .addHelpText(
      'after',
      '\nExamples:\n  kubectl create secret generic postern-github -n triage --from-file=token --dry-run=client -o yaml \\\n    | kubectl apply --server-side --force-conflicts -f -\n  kubectl postern rotate -n triage github-triage\n\nExit codes: 0 every sidecar uses the new value, 3 not all of them yet.',
    )
    .action((name: string, options: Options) => withCluster(options, (cluster) => rotate(cluster, name, options)));
}

async function rotate(cluster: ClusterConnection, name: string, { wait }: Options): Promise<void> {
  const ref = { namespace: cluster.namespace, name };
  const before = await read(cluster, name);
  const requested = new Date().toISOString();
  await cluster.client.patch(KINDS.bindings, ref, { metadata: { annotations: { [ANNOTATION.rotateRequested]: requested } } });
  process.stdout.write(`announced on ${name} at ${requested}\n`);
  const deadline = performance.now() + wait;
  let progress = rotationProgress(before, before);
  while (progress.kind === 'waiting' && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    progress = rotationProgress(before, await read(cluster, name));
  }
  process.stdout.write(`${progress.text}\n`);
  if (progress.kind === 'waiting') process.exitCode = EXIT.partial;
}

async function read(cluster: ClusterConnection, name: string): Promise<CredentialBinding> {
  const binding = await cluster.client.get<CredentialBinding>(KINDS.bindings, { namespace: cluster.namespace, name });
  if (binding !== null) return binding;
  throw new UsageError(
    `there is no CredentialBinding ${name} in ${cluster.namespace}`,
    'Look at kubectl get credb; -n names another namespace.',
  );
}

export interface RotationProgress {
  readonly kind: 'done' | 'waiting';
  readonly text: string;
}

/**
 * Done: the operator has announced it, every key has one value among all sidecars, and some key another one than before.
 */
export function rotationProgress(before: CredentialBinding, now: CredentialBinding): RotationProgress {
  if (now === before || now.status?.announcedRevision === before.status?.announcedRevision)
    return { kind: 'waiting', text: 'the operator has not told the pods yet; is it running? (kubectl get lease -n postern-system)' };
  const keys = now.status?.keys ?? [];
  const using = Math.max(0, ...keys.map(({ present = 0 }) => present));
  const mixed = keys.filter(({ values = [], missing = 0, unusable = 0 }) => values.length > 1 || missing > 0 || unusable > 0);
  if (mixed.length > 0) {
    const what = mixed.map(
      ({ key, values = [], missing = 0, unusable = 0 }) =>
        `${key}: ${values.length} values in use, ${missing} missing, ${unusable} unusable`,
    );
    return { kind: 'waiting', text: `not every sidecar uses the new value yet: ${what.join('; ')}` };
  }
  if (using === 0) return { kind: 'done', text: 'announced; no sidecar mounts it now, later ones start with the new value' };
  if (keys.every(({ key, values = [] }) => values[0]?.digest === valueBefore(before, key)))
    return { kind: 'waiting', text: `${countOf(using)} the value from before: was the Secret changed?` };
  return { kind: 'done', text: `${countOf(using)} the new value` };
}

function countOf(sidecars: number): string {
  return sidecars === 1 ? '1 sidecar uses' : `${sidecars} sidecars use`;
}

function valueBefore({ status }: CredentialBinding, wanted: string): string | undefined {
  return status?.keys?.find(({ key }) => key === wanted)?.values?.[0]?.digest;
}
