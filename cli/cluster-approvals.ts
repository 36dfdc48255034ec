/**
 * `kubectl postern approvals`: what waits for a person in a cluster. Read from the API server alone, so that it answers while the operator
 * is down; what the operator has not written yet is not waited for.
 */
import { Command } from 'commander';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { ActionApproval } from '#core/resource/gen/action-approval.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { type ClusterConnection, type ClusterOptions, listAll, printRows, withCluster, withClusterFlags } from './cluster-connection.ts';
import { renderCards } from './question-cards.ts';
import { UsageError } from './report-failure.ts';
import { cardTitle } from './show-card.ts';
import { age, type Row } from './table.ts';

interface Options extends ClusterOptions {
  readonly all?: boolean;
}

export function clusterApprovalsCommand(): Command {
  return withClusterFlags(new Command('approvals'))
    .description('List what waits for a person: calls to approve or deny, and operations nobody knows the outcome of.')
    .argument('[name]', 'show the card of this question, and its alternatives')
    .option('--all', 'also what is decided, used or expired')
    .addHelpText('after', EXAMPLES)
    .action((name: string | undefined, options: Options) => withCluster(options, (cluster) => show(cluster, name, options)));
}

async function show(cluster: ClusterConnection, name: string | undefined, options: Options): Promise<void> {
  if (name !== undefined) {
    const found = await findApproval(cluster, name);
    process.stdout.write(`${options.output === 'json' ? JSON.stringify(found, null, 2) : renderApproval(found)}\n`);
    return;
  }
  const nowMs = Date.now();
  const approvals = (await listAll<ActionApproval>(cluster, KINDS.approvals)).filter(
    (each) => options.all === true || stateOf(each, nowMs) === 'Waiting',
  );
  printRows(
    options,
    approvals,
    COLUMNS,
    (each) => approvalRow(each, nowMs),
    'Nothing waits for a person here; --all lists what is decided.',
  );
}

const COLUMNS = ['APPROVAL', 'ASKS', 'ACTION', 'ACCOUNT', 'STATE', 'BY', 'AGE', 'EXPIRES IN', 'CARD'] as const;

/** Exported for its test: every cell is the word of somebody who may be lying. */
export function approvalRow(approval: ActionApproval, nowMs: number): Row {
  const { metadata, spec, status } = approval;
  const state = stateOf(approval, nowMs);
  return [
    metadata.name,
    spec.purpose === 'Resolve' ? 'was it done?' : 'may it run?',
    spec.action,
    spec.serviceAccount,
    state,
    status?.decision?.approver,
    age(metadata.creationTimestamp, nowMs),
    state === 'Waiting' ? age(spec.expiresAt, nowMs) : undefined,
    cardTitle(spec.card),
  ];
}

/**
 * Where a question stands, also where no operator has written it: a decision speaks for itself, and time does. An operation that was
 * admitted may still be told done, so it waits only once the operator says so.
 */
export function stateOf({ spec, status }: Pick<ActionApproval, 'spec' | 'status'>, nowMs: number): string {
  const { state, decision } = status ?? {};
  if (state !== undefined && state !== 'Waiting') return state;
  if (decision !== undefined) return decision.verdict;
  if (Date.parse(spec.expiresAt) <= nowMs) return 'Expired';
  return state ?? (spec.purpose === 'Resolve' ? 'UnderWay' : 'Waiting');
}

/** By its name, or by the id of its operation. Throws UsageError. */
export async function findApproval(cluster: ClusterConnection, wanted: string): Promise<ActionApproval> {
  const name = /^op_[a-z0-9]{26}$/.test(wanted) ? wanted.replace('_', '-') : wanted;
  const found = await cluster.client.get<ActionApproval>(KINDS.approvals, { namespace: cluster.namespace, name });
  if (found !== null) return found;
  throw new UsageError(
    `there is no approval ${visibleText(wanted)} in ${cluster.namespace}`,
    'Look at kubectl postern approvals --all; -n names another namespace.',
  );
}

function renderApproval(approval: ActionApproval): string {
  const { metadata, spec, status } = approval;
  const lines = [renderCards(metadata.name, spec)];
  const { approver, verdict, reason } = status?.decision ?? {};
  lines.push('', `state       ${visibleText(stateOf(approval, Date.now()))}`);
  if (verdict !== undefined) lines.push(`decided     ${verdict} by ${visibleText(approver ?? '')}`);
  if (reason !== undefined) lines.push(`because     ${visibleText(reason)}`);
  return lines.join('\n');
}

const EXAMPLES = `
Examples:
  kubectl postern approvals -n release
  kubectl postern approvals -A --all
  kubectl postern approvals -n release op-5jd8s0k2m4n6p8q1r3t5v7w9xy
  kubectl postern approvals -A -o json | jq '.[].metadata.name'

Exit codes: 0 done, 1 error, 2 wrong usage.`;
