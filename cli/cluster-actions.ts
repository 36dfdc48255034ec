/** `kubectl postern actions`: the contracts of a namespace - what may be called, by whom, and what keeps it from working. */
import { Command } from 'commander';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { badCondition } from './cluster-condition.ts';
import { type ClusterOptions, listAll, printRows, withCluster, withClusterFlags } from './cluster-connection.ts';
import type { Row } from './table.ts';

export function clusterActionsCommand(): Command {
  return withClusterFlags(new Command('actions'))
    .description('List the actions agents may call: callers, state, sessions, owner.')
    .addHelpText('after', '\nExamples:\n  kubectl postern actions -n triage\n  kubectl postern actions -A -o json')
    .action((options: ClusterOptions) =>
      withCluster(options, async (cluster) => {
        const contracts = await listAll<ActionContract>(cluster, KINDS.contracts);
        printRows(options, contracts, COLUMNS, actionRow, 'No contract is here. Write one: docs/cluster.md.');
      }),
    );
}

const COLUMNS = ['ACTION', 'EFFECT', 'READY', 'BEST', 'CALLERS', 'SESSIONS', 'BEHIND', 'OWNER', 'WHY NOT'] as const;

export function actionRow({ spec, status }: ActionContract): Row {
  const bad = badCondition(status?.conditions, ['Accepted', 'Ready'], ['Suspended', 'CallersRefused']);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  return [
    spec.action,
    spec.effect,
    ready ?? 'Unknown',
    status?.best,
    spec.callers.map(({ serviceAccount }) => serviceAccount).join(','),
    status?.sessions?.current,
    status?.sessions?.behind,
    spec.owner,
    bad === undefined && ready === undefined ? 'the operator has not looked at it yet' : bad,
  ];
}
