/** `kubectl postern sessions`: which pods may call now, which no longer, and whether they run the configuration of now. */
import { Command, Option } from 'commander';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { type ClusterOptions, listAll, printRows, withCluster, withClusterFlags } from './cluster-connection.ts';
import { age, type Row } from './table.ts';

interface Options extends ClusterOptions {
  readonly state?: string;
  readonly account?: string;
}

const STATES = ['Pending', 'Active', 'Suspended', 'Revoked', 'Ended'] as const;

export function clusterSessionsCommand(): Command {
  return withClusterFlags(new Command('sessions'))
    .description('List agent sessions: one pod each, its state, its connection, the bundle it runs.')
    .addOption(new Option('--state <state>', 'only those in this state').choices(STATES))
    .option('--account <name>', 'only those of this ServiceAccount')
    .addHelpText('after', '\nExamples:\n  kubectl postern sessions -n triage\n  kubectl postern sessions -A --state Suspended')
    .action((options: Options) =>
      withCluster(options, async (cluster) => {
        const sessions = await listAll<AgentSession>(cluster, KINDS.sessions);
        const wanted = sessions.filter(
          ({ spec, status }) =>
            (options.state === undefined || stateOf(status) === options.state) &&
            (options.account === undefined || spec.serviceAccount === options.account),
        );
        printRows(
          options,
          wanted,
          COLUMNS,
          (session) => sessionRow(session, Date.now()),
          'No session is here: no pod with a sidecar has connected.',
        );
      }),
    );
}

const COLUMNS = ['SESSION', 'ACCOUNT', 'STATE', 'CONNECTED', 'REVISION', 'LAST SEEN', 'NODE', 'BECAUSE'] as const;

export function sessionRow({ metadata, spec, status }: AgentSession, nowMs: number): Row {
  const connected = status?.conditions?.find(({ type }) => type === 'Connected')?.status;
  const behind = status?.conditions?.find(({ type }) => type === 'OnOldRevision')?.status === 'True';
  const revision = status?.appliedRevision?.replace('sha256:', '').slice(0, 12);
  return [
    metadata.name,
    spec.serviceAccount,
    spec.revoked === true && status?.state !== 'Ended' ? 'Revoked' : stateOf(status),
    connected ?? 'Unknown',
    revision === undefined ? undefined : `${revision}${behind ? ' (old)' : ''}`,
    age(status?.lastSeenAt, nowMs),
    spec.node,
    status?.because,
  ];
}

/** Before the leader has looked, a session may not call. */
function stateOf(status: AgentSession['status']): string {
  return status?.state ?? 'Pending';
}
