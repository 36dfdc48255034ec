/**
 * `kubectl postern revoke` and `admit`: the two decisions a person takes over sessions. Both are one-way; revoking acts on the sidecar
 * in under a second, also in the middle of a walk, and pods that follow a revoked one start suspended.
 */
import { Command } from 'commander';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import { isKubeError } from '#operator/kube/kube-error.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { type ClusterConnection, type ClusterOptions, listAll, withCluster, withClusterFlags } from './cluster-connection.ts';
import { UsageError } from './report-failure.ts';

interface Options extends ClusterOptions {
  readonly account?: string;
}

export function clusterRevokeCommand(): Command {
  return withClusterFlags(new Command('revoke'), { all: false })
    .argument('[sessions...]', 'names of sessions, or pod/NAME')
    .option('--account <name>', 'every session of this ServiceAccount that has not ended')
    .description('End the right of sessions to call, at once and for good.')
    .addHelpText(
      'after',
      '\nExamples:\n  kubectl postern revoke -n triage pod/triage-bot-7d9f\n  kubectl postern revoke -n triage --account triage-bot',
    )
    .action((names: readonly string[], options: Options) => withCluster(options, (cluster) => decide(cluster, names, options, REVOKE)));
}

export function clusterAdmitCommand(): Command {
  return withClusterFlags(new Command('admit'), { all: false })
    .argument('<sessions...>', 'names of sessions, or pod/NAME')
    .description('Let sessions call: where the namespace asks for it, or after a suspension.')
    .addHelpText('after', '\nExamples:\n  kubectl postern admit -n triage triage-bot-7d9f-0b6f1c2d')
    .action((names: readonly string[], options: Options) => withCluster(options, (cluster) => decide(cluster, names, options, ADMIT)));
}

interface Decision {
  readonly field: 'revoked' | 'admitted';
  readonly done: string;
}

export const REVOKE: Decision = { field: 'revoked', done: 'revoked' };
const ADMIT: Decision = { field: 'admitted', done: 'admitted' };
/** A pod that starts while an account is revoked makes its session after the list. */
const LOOKS_MAX = 5;

/** Every session of the account, or those that are named; exported for its test. */
export async function decide(cluster: ClusterConnection, names: readonly string[], options: Options, decision: Decision): Promise<void> {
  const failures: unknown[] = [];
  const seen = new Set<string | undefined>();
  let sessions = chosen(await listAll<AgentSession>(cluster, KINDS.sessions), names, options.account);
  for (let looks = 1; sessions.length > 0 && looks <= LOOKS_MAX; looks += 1) {
    for (const session of sessions) {
      seen.add(session.metadata.uid);
      // One that fails keeps none of the others its right to call; a session that has been deleted since has none.
      await decideOne(cluster, session, decision).catch((failure: unknown) => {
        process.stdout.write(`${session.metadata.name} ${isKubeError(failure, 404) ? 'is gone' : `NOT ${decision.done}`}\n`);
        if (!isKubeError(failure, 404)) failures.push(failure);
      });
    }
    if (options.account === undefined) break;
    const now = await listAll<AgentSession>(cluster, KINDS.sessions);
    sessions = ofAccount(now, options.account).filter(({ metadata, spec }) => !seen.has(metadata.uid) && spec[decision.field] !== true);
  }
  if (failures.length > 0) throw failures[0];
}

function ofAccount(sessions: readonly AgentSession[], account: string): readonly AgentSession[] {
  return sessions.filter(({ spec, status }) => spec.serviceAccount === account && status?.state !== 'Ended');
}

async function decideOne(cluster: ClusterConnection, { metadata, spec }: AgentSession, decision: Decision): Promise<void> {
  const { name, namespace = cluster.namespace } = metadata;
  if (spec[decision.field] === true) {
    process.stdout.write(`${name} was ${decision.done} before\n`);
    return;
  }
  await cluster.client.patch(KINDS.sessions, { name, namespace }, { spec: { [decision.field]: true } });
  if (decision === REVOKE) await keepRecord(cluster, { name, namespace });
  process.stdout.write(`${name} ${decision.done} (pod ${spec.pod.name}, account ${spec.serviceAccount})\n`);
}

/**
 * Without an owner it outlives its pod, also where the pod is deleted before an operator has seen the revocation: the record is what keeps
 * the pods that follow suspended. The revocation stands without it, and the operator does the same when it can; so what refuses this - an
 * older policy, a cluster where it needs the right to delete - is no failure.
 */
async function keepRecord({ client }: ClusterConnection, ref: { readonly name: string; readonly namespace: string }): Promise<void> {
  try {
    await client.patch(KINDS.sessions, ref, { metadata: { ownerReferences: null } });
  } catch (failure) {
    if (!isKubeError(failure)) throw failure;
  }
}

/** Throws UsageError for a name that is not there: a typo must not look like a revocation. */
export function chosen(sessions: readonly AgentSession[], names: readonly string[], account: string | undefined): readonly AgentSession[] {
  if (names.length === 0 && account === undefined)
    throw new UsageError('no session is named', 'Name sessions (kubectl postern sessions lists them), pod/NAME, or --account NAME.');
  const found = account === undefined ? [] : [...ofAccount(sessions, account)];
  if (account !== undefined && found.length === 0)
    throw new UsageError(`no session of account ${account} is here that has not ended`, 'Look at kubectl postern sessions -A.');
  for (const name of names) {
    const wanted = name.startsWith('pod/')
      ? sessions.filter(({ spec, status }) => spec.pod.name === name.slice('pod/'.length) && status?.state !== 'Ended')
      : sessions.filter(({ metadata }) => metadata.name === name);
    if (wanted.length === 0)
      throw new UsageError(`there is no session ${name}`, 'Look at kubectl postern sessions; -n names another namespace.');
    found.push(...wanted);
  }
  return [...new Set(found)];
}
