/**
 * `postern authority`: makes and rotates the operator's own CA. The chart runs `create` as a Job whose ServiceAccount may touch that one
 * Secret; a person runs `rotate`, in a pod of that account or with a kubeconfig. Keys are never printed.
 */
import { Command, Option } from 'commander';
import { systemClock } from '#core/bounds/clock.ts';
import { STAGES, type Stage } from '#operator/certificate/authority-rotation.ts';
import type { AuthorityOutcome, SecretPlace, ShownAuthority } from '#operator/certificate/authority-secret.ts';
import { ConnectError } from '#operator/kube/api-access.ts';
import { connectInCluster } from '#operator/kube/connect.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import { type ClusterOptions, withCluster, withClusterFlags } from './cluster-connection.ts';
import { ClusterRefused, UsageError } from './report-failure.ts';

interface RotateFlags extends ClusterOptions {
  readonly stage: Stage;
  readonly atOnce?: boolean;
  readonly abandon?: boolean;
}

export function authorityCommand(): Command {
  const command = new Command('authority').description("Make and rotate the operator's own CA (Secret postern-authority).");
  command.addCommand(
    withClusterFlags(new Command('create'), { all: false })
      .description('Make the CA where there is none; one that is there stays as it is.')
      .action((flags: ClusterOptions) => withSecret(flags, create)),
  );
  command.addCommand(
    withClusterFlags(new Command('rotate'), { all: false })
      .description('Take one step of the three to a new CA; a step that comes too early is refused.')
      .addOption(new Option('--stage <stage>', 'the step').choices(STAGES).makeOptionMandatory())
      .option('--at-once', 'take the step before its time: sidecars and API servers may lose their trust')
      .option('--abandon', 'with --stage drop: give up a next CA that was not switched to')
      .addHelpText('after', EXAMPLES)
      .action((flags: RotateFlags) => withSecret(flags, (place) => rotate(place, flags))),
  );
  return command;
}

async function create(place: SecretPlace): Promise<AuthorityOutcome> {
  const { ensureAuthority } = await import('#operator/certificate/authority-secret.ts');
  return ensureAuthority(place);
}

async function rotate(place: SecretPlace, { stage, atOnce = false, abandon = false }: RotateFlags): Promise<AuthorityOutcome> {
  const { rotateAuthority } = await import('#operator/certificate/authority-secret.ts');
  return rotateAuthority({ ...place, stage, atOnce, abandon });
}

/** In a pod by its own account, unless a kubeconfig or context is named. */
async function withSecret(flags: ClusterOptions, work: (place: SecretPlace) => Promise<AuthorityOutcome>): Promise<void> {
  const run = async ({ client, namespace }: Pick<SecretPlace, 'client' | 'namespace'>) => {
    const outcome = await work({ client, namespace, clock: systemClock }).catch(explain);
    process.stdout.write(renderOutcome(outcome));
  };
  const person = flags.kubeconfig !== undefined || flags.context !== undefined || process.env.KUBERNETES_SERVICE_HOST === undefined;
  if (person) return withCluster(flags, run);
  try {
    const connection = await connectInCluster({ env: process.env });
    await run({ client: connection.client, namespace: flags.namespace ?? connection.namespace }).finally(() => connection.close());
  } catch (thrown) {
    if (thrown instanceof ConnectError)
      throw new UsageError(thrown.message, 'Run it as the Job of the chart does, or name a --kubeconfig.');
    if (isKubeError(thrown)) throw new ClusterRefused(thrown.message, IN_CLUSTER_CURE, thrown);
    throw thrown;
  }
}

const IN_CLUSTER_CURE = 'The ServiceAccount postern-authority of the chart may do this; another run may have been first (409): look again.';

async function explain(thrown: unknown): Promise<never> {
  const { AuthorityError } = await import('#operator/certificate/authority.ts');
  if (thrown instanceof AuthorityError) throw new ClusterRefused(thrown.message, 'Nothing was changed.', thrown);
  throw thrown;
}

const NAMES: Readonly<Record<ShownAuthority['slot'], string>> = { ca: 'current', next: 'next', previous: 'previous' };

function renderOutcome({ changed, authorities }: AuthorityOutcome): string {
  const lines = authorities.map(({ slot, pin, notAfterMs }) => `${NAMES[slot]}: ${pin}, ends ${new Date(notAfterMs).toISOString()}`);
  return [changed ? 'written' : 'there already, left as it is', ...lines, ''].join('\n');
}

const EXAMPLES = `
Examples:
  postern authority rotate --stage next      # a new CA, trusted beside the current one
  postern authority rotate --stage switch    # 5 minutes later: it signs, new pods pin it
  postern authority rotate --stage drop      # a day later; refused while pods from before the switch are left

Exit codes: 0 done, 1 refused, 2 wrong usage.`;
