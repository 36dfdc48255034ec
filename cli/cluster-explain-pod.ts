/**
 * `kubectl postern explain-pod`: has the pod the sidecar or not, why, which Secrets its sidecar mounts, whether the guards hold, what to
 * do. Asks the API server with the person's own rights, and decides with the operator's own functions: the explanation cannot differ from
 * what happened. Works with the operator down.
 */
import { Command, Option } from 'commander';
import { visibleText } from '#core/encoding/visible-text.ts';
import type { ActionContract } from '#core/resource/gen/action-contract.ts';
import type { AgentSession } from '#core/resource/gen/agent-session.ts';
import type { CredentialBinding } from '#core/resource/gen/credential-binding.ts';
import { explainPod, findGuards, type GuardReport } from '#operator/guard/explain.ts';
import type { Finding } from '#operator/guard/judge.ts';
import { bindingRecord, contractRecord, type KubeObject, namespaceRecord, type PodObject, podRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { callerGrants } from '#operator/pod/caller-grants.ts';
import { type PodVerdict, podVerdict } from '#operator/pod/verdict.ts';
import { type ClusterConnection, type ClusterOptions, listAll, withCluster, withClusterFlags } from './cluster-connection.ts';
import { UsageError } from './report-failure.ts';

interface Options extends ClusterOptions {
  readonly operatorNamespace: string;
  readonly operatorAccount: string;
}

/** What `-o json` prints. */
export interface Explanation {
  readonly pod: string;
  readonly namespace: string;
  readonly account: string;
  readonly verdict: PodVerdict;
  /** Why it would be refused if it were made now. */
  readonly findings: readonly Finding[];
  /** What was not judged, and why. */
  readonly notCompared?: string;
  readonly guards: readonly GuardReport[];
  readonly session?: { readonly name: string; readonly state: string; readonly because?: string };
}

export function clusterExplainPodCommand(): Command {
  return withClusterFlags(new Command('explain-pod'), { all: false })
    .argument('<pod>', 'name of the pod')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['table', 'json']).default('table'))
    .option('--operator-namespace <name>', 'namespace Postern is installed in', 'postern-system')
    .option('--operator-account <name>', 'ServiceAccount of the operator', 'postern-operator')
    .description('Say whether a pod has the sidecar, why, which guards hold, and what to do.')
    .addHelpText('after', '\nExamples:\n  kubectl postern explain-pod -n triage triage-bot-7d9f')
    .action((name: string, options: Options) =>
      withCluster(options, async (cluster) => {
        const explanation = await explain(cluster, name, options);
        process.stdout.write(options.output === 'json' ? `${JSON.stringify(explanation, null, 2)}\n` : renderExplanation(explanation));
      }),
    );
}

async function explain(cluster: ClusterConnection, name: string, options: Options): Promise<Explanation> {
  const { client, namespace } = cluster;
  const pod = await client.get<PodObject>(KINDS.pods, { namespace, name });
  if (pod === null)
    throw new UsageError(`there is no pod ${name} in ${namespace}`, 'Look at kubectl get pods; -n names another namespace.');
  const around = await client.get<KubeObject>(KINDS.namespaces, { name: namespace });
  const { enforced } = around === null ? { enforced: false } : namespaceRecord(around);
  const { serviceAccount: account, uid } = podRecord(pod);
  const contracts = (await listAll<ActionContract & KubeObject>(cluster, KINDS.contracts)).map(contractRecord);
  const bindings = new Map(
    (await listAll<CredentialBinding & KubeObject>(cluster, KINDS.bindings)).map((binding) => [
      binding.metadata.name,
      bindingRecord(binding),
    ]),
  );
  const grants = callerGrants(
    contracts.filter(({ callers }) => callers.includes(account)),
    account,
    (binding) => bindings.get(binding),
  );
  const guards = await findGuards(client, { namespace: options.operatorNamespace, serviceAccount: options.operatorAccount });
  const { findings, notCompared } = explainPod(pod as Parameters<typeof explainPod>[0], enforced, guards);
  const session = (await listAll<AgentSession>(cluster, KINDS.sessions)).find(({ spec }) => spec.pod.uid === uid);
  return {
    pod: name,
    namespace,
    account,
    verdict: podVerdict(pod as Parameters<typeof podVerdict>[0], { namespace, enforced, grants, waiting: [] }),
    findings,
    ...(notCompared === undefined ? {} : { notCompared }),
    guards: guards.reports,
    ...(session === undefined ? {} : { session: sessionOf(session) }),
  };
}

function sessionOf({ metadata, spec, status }: AgentSession): NonNullable<Explanation['session']> {
  const state = spec.revoked === true && status?.state !== 'Ended' ? 'Revoked' : (status?.state ?? 'Pending');
  return { name: metadata.name, state, ...(status?.because === undefined ? {} : { because: status.because }) };
}

export function renderExplanation({ pod, account, verdict, findings, notCompared, guards, session }: Explanation): string {
  const broken = guards.filter(({ state }) => state !== 'Holds');
  const lines = [
    `pod ${pod} (account ${account}): ${verdict.injected ? 'has the sidecar' : 'has no sidecar'}`,
    `  why: ${verdict.because}`,
    ...keyLines('mounted in the sidecar', verdict.mounted),
    ...keyLines('granted, and not mounted', verdict.missing),
    ...keyLines('mounted, and not granted any more', verdict.unused),
    session === undefined
      ? `  session: none${verdict.injected ? '; the sidecar has not connected' : ''}`
      : `  session: ${session.name} ${session.state}${session.because === undefined ? '' : `, ${session.because}`}`,
    ...findings.map(({ path, message }) => `  would be refused now: ${path}: ${message}`),
    ...(notCompared === undefined ? [] : [`  not known: ${notCompared}`]),
    broken.length === 0 ? `  guards: all ${guards.length} hold` : `  guards: ${guards.length - broken.length} of ${guards.length} hold`,
    ...broken.map(({ name, state, about, detail }) => `    ${name} ${state}: ${detail}. It refuses: ${about}`),
    ...verdict.cures.map((cure) => `  do: ${cure}`),
  ];
  return `${lines.map(shown).join('\n')}\n`;
}

/** The indent is ours; what follows may quote a pod. */
function shown(line: string): string {
  const text = line.trimStart();
  return line.slice(0, line.length - text.length) + visibleText(text);
}

function keyLines(what: string, secrets: PodVerdict['mounted']): readonly string[] {
  return secrets.map(({ secret, keys }) => `  ${what}: ${secret} (${keys.join(', ')})`);
}
