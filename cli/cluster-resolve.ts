/** `kubectl postern resolve`: a person says what became of an operation whose outcome nobody knows. */
import { Command } from 'commander';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { ActionApproval } from '#core/resource/gen/action-approval.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { stateOf } from './cluster-approvals.ts';
import { type ClusterConnection, type ClusterOptions, listAll, withCluster, withClusterFlags } from './cluster-connection.ts';
import { checkOpen, decideAs } from './cluster-decision.ts';
import { UsageError } from './report-failure.ts';
import { showCard } from './show-card.ts';

interface Options extends ClusterOptions {
  readonly done?: boolean;
  readonly notDone?: boolean;
  readonly reason?: string;
}

export function clusterResolveCommand(): Command {
  return withClusterFlags(new Command('resolve'), { all: false })
    .description('Say whether an operation of unknown outcome took effect. Equal calls are held back until then.')
    .argument('<operation>', 'its id, or the name "kubectl postern approvals" lists')
    .option('--done', 'it took effect: the agent is told so, and nothing is sent again')
    .option('--not-done', 'it did not: an equal call may be made again')
    .option('--reason <text>', 'how you know; kept with the decision, and not shown to the agent')
    .addHelpText('after', EXAMPLES)
    .action((operation: string, options: Options) => withCluster(options, (cluster) => resolve(cluster, operation, options)));
}

async function resolve(cluster: ClusterConnection, operation: string, { done, notDone, reason }: Options): Promise<void> {
  if ((done === true) === (notDone === true))
    throw new UsageError('say either --done or --not-done', 'Look at the remote first: --not-done lets the effect be made once more.');
  const held = chosenHold(await listAll<ActionApproval>(cluster, KINDS.approvals), operation);
  checkOpen(held, reason);
  const { card, cardDigest } = held.spec;
  process.stdout.write(`${showCard(card)}\n\n`);
  const verdict = done === true ? 'Done' : 'NotDone';
  const approver = await decideAs(cluster, held, { verdict, cardDigest, ...(reason === undefined ? {} : { reason }) });
  process.stdout.write(`${done === true ? 'Done' : 'Not done'}, says ${visibleText(approver)}.\n`);
}

/** By operation or name; exported for its test. Throws UsageError. */
export function chosenHold(approvals: readonly ActionApproval[], wanted: string): ActionApproval {
  const named = approvals.find(({ metadata }) => metadata.name === wanted);
  if (named !== undefined && named.spec.purpose !== 'Resolve')
    throw new UsageError(`${visibleText(wanted)} asks whether a call may run`, 'Answer with kubectl postern approve or deny.');
  const holds = approvals.filter(({ spec }) => spec.purpose === 'Resolve');
  const found = named ?? holds.find(({ spec }) => spec.operationId === wanted);
  if (found !== undefined) return found;
  const nowMs = Date.now();
  const waiting = holds.filter((each) => stateOf(each, nowMs) === 'Waiting').map(({ spec }) => visibleText(spec.operationId ?? ''));
  throw new UsageError(
    `no operation ${visibleText(wanted)} of unknown outcome is here`,
    waiting.length === 0 ? 'There is none; -n names another namespace.' : `These are: ${waiting.join(', ')}.`,
  );
}

const EXAMPLES = `
Examples:
  kubectl postern resolve -n release op_5jd8s0k2m4n6p8q1r3t5v7w9xy --done
  kubectl postern resolve -n release op_5jd8s0k2m4n6p8q1r3t5v7w9xy --not-done --reason "the tracker has no such ticket"

Exit codes: 0 told, 1 error, 2 wrong usage.`;
