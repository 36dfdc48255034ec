/** A cluster with Postern in it, as its documentation says to install it, and a namespace whose agent may list issues. */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Ran, run } from '#test/cli/run-postern.ts';
import { programPath } from '#test/servers/build.ts';
import { type CommandResult, type Node, startNode } from '#test/servers/node.ts';
import { type Pod, podReady, until } from '#test/servers/pods.ts';
import { type IssueTracker, startIssueTracker } from './issue-tracker.ts';
import { type AgentOptions, account, binding, contract, deployment, namespace, secret, serviceAccount, triage } from './objects.ts';

const root = join(import.meta.dirname, '..', '..');
export const system = 'postern-system';
export const firstToken = 'the-first-value-of-the-token';

export interface Stage extends AsyncDisposable {
  readonly node: Node;
  readonly tracker: IssueTracker;
  helm(...args: readonly string[]): Promise<Ran>;
  /** `kubectl postern ...` as admin. */
  postern(...args: readonly string[]): Promise<Ran>;
  /** `kubectl apply`; rejects with what was said when something is refused. */
  apply(...objects: readonly unknown[]): Promise<void>;
  /** The pod of the Deployment `agent` that is there and Ready. */
  agent(): Promise<Pod>;
  /** A shell in the agent container. */
  shell(pod: string, script: string): Promise<CommandResult>;
  /** One call with the command line tool in the agent container. */
  call(pod: string, action: string, args?: unknown): Promise<Answer>;
}

/** Of `postern call -o json`: an answer or an error. */
export interface Answer {
  readonly code: number;
  readonly status?: 'ok' | 'partial';
  readonly data?: { readonly issues?: readonly unknown[] };
  readonly warnings?: readonly { readonly code: string; readonly owner: string }[];
  readonly error?: { readonly code: string; readonly message: string };
}

export async function startStage(): Promise<Stage> {
  const stack = new AsyncDisposableStack();
  try {
    const node = stack.use(await startNode());
    const tracker = stack.use(await startIssueTracker(firstToken));
    const helm = await programPath('helm');
    const env = { KUBECONFIG: node.kubeconfig, HOME: tmpdir() };
    const shell = (pod: string, script: string) => node.kubectl(['exec', '-n', triage, pod, '-c', 'agent', '--', 'sh', '-c', script]);
    return {
      node,
      tracker,
      helm: (...args) => run(helm, args, env),
      postern: (...args) => run(process.execPath, [join(root, 'cli', 'kubectl-postern.mjs'), ...args], env),
      apply: (...objects) => apply(node, objects),
      agent: () => agentOf(node),
      shell,
      async call(pod, action, args = { project: 'storefront' }) {
        const { code, stdout, stderr } = await shell(pod, `node /postern/postern.cjs call ${action} '${JSON.stringify(args)}' -o json`);
        try {
          return { code, ...(JSON.parse(stdout) as Omit<Answer, 'code'>) };
        } catch {
          throw new Error(`no answer (exit code ${code}): ${stdout}${stderr}`);
        }
      },
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** The chart's values for images that are on the node already. */
export function chartValues({ images }: Node): readonly string[] {
  const [repository = '', digest = ''] = images.postern.reference.split('@');
  const values = { 'image.repository': repository, 'image.digest': digest, 'image.pullPolicy': 'Never', 'sidecar.pullPolicy': 'Never' };
  return Object.entries(values).flatMap(([name, value]) => ['--set', `${name}=${value}`]);
}

/** Resolves once the operator serves. */
export async function install(stage: Stage, ...more: readonly string[]): Promise<void> {
  const chart = join(root, 'charts', 'postern');
  const wait = ['--wait', '--timeout', '2m'];
  const release = ['install', 'postern', chart, '--namespace', system, '--create-namespace'];
  const result = await stage.helm(...release, ...chartValues(stage.node), ...wait, ...more);
  if (result.code !== 0) throw new Error(`helm install: ${result.err}\n${await systemLogs(stage.node)}`);
}

/** Secret, binding, contract, account and agent, in one apply: the order never matters. Resolves once the agent may call. */
export async function applyTriage(stage: Stage, options: AgentOptions = {}): Promise<Pod> {
  const { node, tracker } = stage;
  await stage.apply(namespace(triage), serviceAccount(account));
  await stage.apply(
    contract({ origin: tracker.origin }),
    secret({ token: tracker.token, 'ca.crt': tracker.caPem }),
    binding({ origin: tracker.origin }),
  );
  await conditionIs(node, 'actioncontracts', 'list-issues', 'Ready', 'True');
  await stage.apply(deployment(node.images, options));
  const pod = await stage.agent();
  await until('the first answer', async () => ((await stage.call(pod.metadata.name, 'list_issues')).status === 'ok' ? true : undefined));
  return pod;
}

interface Conditioned {
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[] };
}

export async function conditionIs(node: Node, plural: string, name: string, type: string, status: string): Promise<void> {
  const path = `/apis/postern.dev/v1alpha1/namespaces/${triage}/${plural}/${name}`;
  let last: unknown;
  await until(`${plural}/${name} ${type}=${status}`, async () => {
    const { body } = await node.request<Conditioned>('GET', path);
    last = body.status;
    return body.status?.conditions?.some((condition) => condition.type === type && condition.status === status) ? true : undefined;
  }).catch(async (error: Error) => {
    throw new Error(`${error.message}: ${JSON.stringify(last)}\n${await systemLogs(node)}`);
  });
}

export async function systemLogs(node: Node): Promise<string> {
  const pods = await node.kubectl(['get', 'pods,jobs', '-n', system, '-o', 'wide']);
  const events = await node.kubectl(['get', 'events', '-n', system]);
  const logs = await node.kubectl([
    'logs',
    '-n',
    system,
    '-l',
    'app.kubernetes.io/name=postern',
    '--tail=40',
    '--prefix',
    '--ignore-errors',
  ]);
  return [pods, events, logs]
    .map(({ stdout, stderr }) => `${stdout}${stderr}`)
    .join('\n')
    .slice(-12_000);
}

async function apply(node: Node, items: readonly unknown[]): Promise<void> {
  const list = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
  const { code, stderr } = await node.kubectl(['apply', '-f', '-'], list);
  if (code !== 0) throw new Error(stderr);
}

async function agentOf(node: Node): Promise<Pod> {
  const path = `/api/v1/namespaces/${triage}/pods?labelSelector=app%3Dagent`;
  const name = await until('a pod of the agent', async () => {
    const { body } = await node.request<{ items: (Pod & { metadata: { deletionTimestamp?: string } })[] }>('GET', path);
    return body.items.find(({ metadata }) => metadata.deletionTimestamp === undefined)?.metadata.name;
  });
  return podReady(node, triage, name);
}
