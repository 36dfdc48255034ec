/** `kubectl postern actions`: the contracts of a namespace - what may be called, by whom, and what keeps it from working. */
import { Command } from 'commander';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import type { CredentialBinding } from '#core/resource/gen/credential-binding.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { badCondition } from './cluster-condition.ts';
import { type ClusterConnection, type ClusterOptions, listAll, printRows, withCluster, withClusterFlags } from './cluster-connection.ts';
import type { Row } from './table.ts';

export function clusterActionsCommand(): Command {
  return withClusterFlags(new Command('actions'))
    .description('List the actions agents may call: callers, state, sessions, owner.')
    .addHelpText('after', '\nExamples:\n  kubectl postern actions -n triage\n  kubectl postern actions -A -o json')
    .action((options: ClusterOptions) =>
      withCluster(options, async (cluster) => {
        const contracts = await listAll<ActionContract>(cluster, KINDS.contracts);
        const unready = options.output === 'json' ? new Map() : await unreadyBindings(cluster);
        const rowOf = (contract: ActionContract) => actionRow(contract, unready);
        printRows(options, contracts, COLUMNS, rowOf, 'No contract is here. Write one: docs/cluster.md.');
      }),
    );
}

const COLUMNS = ['ACTION', 'EFFECT', 'READY', 'BEST', 'CALLERS', 'SESSIONS', 'BEHIND', 'OWNER', 'WHY NOT'] as const;

/** By `namespace/name`: what keeps a binding from being used. */
type UnreadyBindings = ReadonlyMap<string, string>;

/** A contract says only whether its bindings are there; whether sidecars find the keys of one, the binding says itself. */
async function unreadyBindings(cluster: ClusterConnection): Promise<UnreadyBindings> {
  const unready = new Map<string, string>();
  try {
    for (const { metadata, status } of await listAll<CredentialBinding>(cluster, KINDS.bindings)) {
      const bad = badCondition(status?.conditions, ['Accepted', 'Ready']);
      if (bad !== undefined) unready.set(`${metadata.namespace}/${metadata.name}`, `binding ${metadata.name}: ${bad}`);
    }
  } catch (error) {
    if (!isKubeError(error, 403)) throw error;
    // An approver may read contracts and no bindings.
    process.stderr.write('You may not list credentialbindings: WHY NOT does not say what a binding lacks.\n');
  }
  return unready;
}

/** The contract's own reason first: it often is the cause of what its bindings say. */
function actionRow({ metadata, spec, status }: ActionContract, unready: UnreadyBindings): Row {
  const bad = badCondition(status?.conditions, ['Accepted', 'Ready'], ['Suspended', 'CallersRefused']);
  const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status;
  const ofBindings = (spec.credentials ?? []).flatMap((name) => unready.get(`${metadata.namespace}/${name}`) ?? []);
  return [
    spec.action,
    spec.effect,
    ready ?? 'Unknown',
    status?.best,
    spec.callers.map(({ serviceAccount }) => serviceAccount).join(','),
    status?.sessions?.current,
    status?.sessions?.behind,
    spec.owner,
    bad === undefined && ready === undefined ? 'the operator has not looked at it yet' : (bad ?? (ofBindings.join('; ') || undefined)),
  ];
}
