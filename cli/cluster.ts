/**
 * `kubectl postern`, or `postern cluster`: what people do in a cluster - see the actions, decide over calls, end sessions, announce new secrets, find out why
 * a pod was not injected, check what sessions recorded.
 */
import { Command } from 'commander';
import { clusterActionsCommand } from './cluster-actions.ts';
import { clusterApprovalsCommand } from './cluster-approvals.ts';
import { clusterApproveCommand, clusterDenyCommand } from './cluster-approve.ts';
import { clusterAuditCommand } from './cluster-audit.ts';
import { clusterExplainPodCommand } from './cluster-explain-pod.ts';
import { clusterResolveCommand } from './cluster-resolve.ts';
import { clusterAdmitCommand, clusterRevokeCommand } from './cluster-revoke.ts';
import { clusterRotateCommand } from './cluster-rotate.ts';
import { clusterSessionsCommand } from './cluster-sessions.ts';
import { clusterWarningsCommand } from './cluster-warnings.ts';

export function clusterCommands(): readonly Command[] {
  return [
    clusterActionsCommand(),
    clusterApprovalsCommand(),
    clusterApproveCommand(),
    clusterDenyCommand(),
    clusterResolveCommand(),
    clusterSessionsCommand(),
    clusterRevokeCommand(),
    clusterAdmitCommand(),
    clusterRotateCommand(),
    clusterExplainPodCommand(),
    clusterWarningsCommand(),
    clusterAuditCommand(),
  ];
}

export function clusterCommand(): Command {
  const command = new Command('cluster').description(
    'Actions, approvals, sessions, secrets and pods of a cluster; the same as kubectl postern.',
  );
  for (const subcommand of clusterCommands()) command.addCommand(subcommand);
  return command;
}
