/** `kubectl postern approve` and `deny`: one question, one answer. A yes is about the card that was shown, by its digest. */
import { Command } from 'commander';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { ActionApproval } from '#core/resource/gen/action-approval.ts';
import { findApproval } from './cluster-approvals.ts';
import { type ClusterConnection, type ClusterOptions, withCluster, withClusterFlags } from './cluster-connection.ts';
import { checkOpen, decideAs } from './cluster-decision.ts';
import { type ConfirmOptions, confirmCard } from './confirm-card.ts';
import { EXIT } from './exit.ts';
import { chosenCard, renderCard } from './question-cards.ts';
import { UsageError } from './report-failure.ts';
import { cardTitle } from './show-card.ts';

interface DenyOptions extends ClusterOptions {
  readonly reason?: string;
}

interface ApproveOptions extends DenyOptions, ConfirmOptions {
  readonly alternative?: string;
}

export function clusterApproveCommand(): Command {
  return withClusterFlags(new Command('approve'), { all: false })
    .description('Show the card of a waiting call and let it run, once.')
    .argument('<name>', 'the question, as "kubectl postern approvals" lists it')
    .option('--alternative <name>', 'choose this other call of the card instead')
    .option('--reason <text>', 'why; recorded, and the agent reads it')
    .option('--card-digest <digest>', 'approve without being asked, but only the card of this digest')
    .option('-y, --yes', 'approve without being asked, whatever the card says')
    .addHelpText('after', APPROVE_EXAMPLES)
    .action((name: string, options: ApproveOptions) => withCluster(options, (cluster) => approve(cluster, name, options)));
}

export function clusterDenyCommand(): Command {
  return withClusterFlags(new Command('deny'), { all: false })
    .description('Refuse a waiting call. It never runs, and an equal one is not asked again for ten minutes.')
    .argument('<name>', 'the question, as "kubectl postern approvals" lists it')
    .option('--reason <text>', 'why; recorded, and the agent reads it')
    .addHelpText('after', DENY_EXAMPLES)
    .action((name: string, options: DenyOptions) => withCluster(options, (cluster) => deny(cluster, name, options)));
}

async function approve(cluster: ClusterConnection, name: string, options: ApproveOptions): Promise<void> {
  const { alternative, reason } = options;
  const approval = await question(cluster, name, reason);
  const chosen = chosenCard(approval.spec, alternative);
  process.stdout.write(`${renderCard(chosen)}\n`);
  if (!(await confirmCard(chosen.cardDigest, options))) {
    process.stdout.write('\nNothing was decided.\n');
    process.exitCode = EXIT.error;
    return;
  }
  const approver = await decideAs(cluster, approval, {
    verdict: 'Approved',
    cardDigest: chosen.cardDigest,
    ...(alternative === undefined ? {} : { alternative }),
    ...(reason === undefined ? {} : { reason }),
  });
  process.stdout.write(`\nApproved by ${visibleText(approver)}. It runs when the agent calls again.\n`);
}

async function deny(cluster: ClusterConnection, name: string, { reason }: DenyOptions): Promise<void> {
  const approval = await question(cluster, name, reason);
  const { card, cardDigest } = approval.spec;
  const approver = await decideAs(cluster, approval, { verdict: 'Denied', cardDigest, ...(reason === undefined ? {} : { reason }) });
  process.stdout.write(`Denied by ${visibleText(approver)}: ${cardTitle(card)}\n`);
}

async function question(cluster: ClusterConnection, name: string, reason: string | undefined): Promise<ActionApproval> {
  const approval = await findApproval(cluster, name);
  if (approval.spec.purpose !== 'Call')
    throw new UsageError(`${visibleText(name)} asks whether an operation was done`, 'Answer with kubectl postern resolve.');
  checkOpen(approval, reason);
  return approval;
}

const APPROVE_EXAMPLES = `
Examples:
  kubectl postern approve -n release op-5jd8s0k2m4n6p8q1r3t5v7w9xy
  kubectl postern approve -n release op-5jd8s0k2m4n6p8q1r3t5v7w9xy --alternative listed-only --reason "the list stopped early"
  kubectl postern approve -n release op-5jd8s0k2m4n6p8q1r3t5v7w9xy --card-digest sha256:9f2c...

Without a terminal it decides nothing unless --card-digest or --yes is given. The decision is yours: the API server writes it under
your own user name and asks for the verb approve on the contract.
Exit codes: 0 approved, 1 not approved or an error, 2 wrong usage.`;

const DENY_EXAMPLES = `
Examples:
  kubectl postern deny -n release op-5jd8s0k2m4n6p8q1r3t5v7w9xy
  kubectl postern deny -n release op-5jd8s0k2m4n6p8q1r3t5v7w9xy --reason "wrong environment"

Exit codes: 0 denied, 1 error, 2 wrong usage.`;
