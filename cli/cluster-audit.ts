/** `kubectl postern audit`: chains of sessions against what the operator has witnessed of them, and the key it answers with. */
import { Command } from 'commander';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { type ClusterOptions, listAll, withCluster, withClusterFlags } from './cluster-connection.ts';
import { EXIT } from './exit.ts';

interface VerifyFlags extends ClusterOptions {
  readonly key: readonly string[];
}

export function clusterAuditCommand(): Command {
  const collect = (value: string, before: readonly string[]) => [...before, value];
  const verify = withClusterFlags(new Command('verify'))
    .description('Check every chain that is here, each against the head that was witnessed of its session. Nothing is changed.')
    .argument('<path...>', 'segment files, folders, s3://bucket/prefix')
    .option(
      '--key <key>',
      'verifier key of the authority; a file, or the key itself (repeatable; default: what the sessions show)',
      collect,
      [],
    )
    .addHelpText('after', VERIFY_HELP)
    .action((paths: string[], options: VerifyFlags) =>
      withCluster(options, async (cluster) => {
        const sessions = await listAll<AgentSession>(cluster, KINDS.sessions);
        const { verifySessions } = await import('./cluster-audit-verify.ts');
        await verifySessions(paths, sessions, {
          keys: options.key.length > 0 ? options.key : keysOf(sessions),
          json: options.output === 'json',
          namespace: cluster.all ? undefined : cluster.namespace,
        });
      }),
    );
  const key = withClusterFlags(new Command('key'))
    .description('Print the verifier key of the operator, as the sessions show it: for --key of verify.')
    .addHelpText(
      'after',
      '\nExamples:\n  kubectl postern audit key -n triage > authority.pub\n\nMore than one key: the authority was rotated, and not all sessions have come since.',
    )
    .action((options: ClusterOptions) =>
      withCluster(options, async (cluster) => {
        const keys = keysOf(await listAll<AgentSession>(cluster, KINDS.sessions));
        process.stdout.write(keys.map((text) => `${text}\n`).join(''));
        if (keys.length > 0) return;
        process.stderr.write(
          'error: No session here shows a key.\n  Is the audit on (values: audit.recipients), and has a sidecar connected since?\n',
        );
        process.exitCode = EXIT.error;
      }),
    );
  return new Command('audit')
    .description('Check the chains of sessions, and show whose key answers for them.')
    .addCommand(verify)
    .addCommand(key);
}

/** Distinct, of printable characters: what is shown is copied. */
function keysOf(sessions: readonly AgentSession[]): readonly string[] {
  return [...new Set(sessions.flatMap(({ status }) => status?.audit?.key ?? []))].filter((text) => /^[!-~]+$/.test(text)).sort();
}

const VERIFY_HELP = `
Examples:
  kubectl postern audit verify -n triage s3://audit/prod/triage
  kubectl postern audit verify -A --key authority.pub archive/

Chains of other namespaces are counted and not shown without -A; name a prefix with fewer, and they are not read either.

Exit codes: 0 every chain is whole and reaches its head, 1 one is damaged, shorter, another, or missing, 2 wrong usage.`;
