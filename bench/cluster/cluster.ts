/** A real control plane with Postern in it, but for the pods' nodes: CRDs, guards, webhook, one operator as a process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import { parse } from 'yaml';
import { createAuthority } from '#operator/certificate/issue.ts';
import { guardObjects, policies } from '#operator/guard/policies.ts';
import { mountedAuthority } from '#test/operator/certificate/mounted-authority.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import type { OperatorOrders, OperatorPorts } from './operator-process.ts';

export const NAMESPACE = 'postern-system';
/** As the chart gives it. */
const FLAGS = ['--disable-sigusr1', '--max-semi-space-size=4', '--max-old-space-size=320'];

export interface BenchCluster extends AsyncDisposable {
  readonly api: KubeApiserver;
  readonly operator: OperatorPorts & { readonly pid: number };
  readonly caPem: string;
  /** One request as administrator; throws when it is refused. */
  call<Body = unknown>(method: string, path: string, body?: unknown): Promise<Body>;
}

export async function startBenchCluster(scratch: string): Promise<BenchCluster> {
  await using undo = new AsyncDisposableStack();
  const api = undo.use(await startKubeApiserver());
  const call = async <Body>(method: string, path: string, body?: unknown): Promise<Body> => {
    const answer = await api.request<Body>(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body).slice(0, 500)}`);
    return answer.body;
  };
  await install(api, call);
  const ca = await createAuthority(Date.now());
  const folder = undo.use(await mountedAuthority({ 'ca.crt': ca.certificatePem, 'ca.key': ca.keyPem })).folder;
  const operator = await startOperatorProcess(api, folder, scratch);
  undo.defer(() => end(operator.child));
  await addWebhook(call, ca.certificatePem, operator.ports.webhookPort);
  const parts = undo.move();
  return {
    api,
    operator: { ...operator.ports, pid: operator.child.pid ?? 0 },
    caPem: ca.certificatePem,
    call,
    [Symbol.asyncDispose]: () => parts.disposeAsync(),
  };
}

async function install(api: KubeApiserver, call: BenchCluster['call']): Promise<void> {
  await call('POST', '/api/v1/namespaces', { metadata: { name: NAMESPACE } });
  for (const name of readdirSync('crds')) {
    const crd = parse(readFileSync(`crds/${name}`, 'utf8'), { maxAliasCount: -1 });
    await call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  }
  for (const plural of ['actioncontracts', 'credentialbindings', 'agentsessions']) {
    while ((await api.request('GET', `/apis/postern.dev/v1alpha1/${plural}`)).status !== 200) await pause(50);
  }
  for (const guard of policies({ namespace: NAMESPACE, serviceAccount: 'postern-operator' })) {
    // Tokens of the control stream come from kubelets alone, and here is none.
    if (guard.name === 'postern-token') continue;
    for (const object of guardObjects(guard)) {
      const plural = object.kind === 'ValidatingAdmissionPolicy' ? 'validatingadmissionpolicies' : 'validatingadmissionpolicybindings';
      await call('POST', `/apis/admissionregistration.k8s.io/v1/${plural}`, object);
    }
  }
  await call('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name: 'bench-operator' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', name: 'postern-operator', namespace: NAMESPACE }],
  });
}

async function startOperatorProcess(api: KubeApiserver, authority: string, scratch: string) {
  const bundle = join(scratch, 'operator.cjs');
  await build({
    entryPoints: [join(import.meta.dirname, 'operator-process.ts')],
    outfile: bundle,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    minifyWhitespace: true,
    logLevel: 'warning',
  });
  const child = spawn(process.execPath, [...FLAGS, bundle], { env: {}, stdio: ['pipe', 'pipe', 'inherit'] });
  const orders: OperatorOrders = {
    server: api.url,
    ca: api.caPem,
    token: await api.createServiceAccountToken(NAMESPACE, 'postern-operator'),
    env: {
      POSTERN_NAMESPACE: NAMESPACE,
      POSTERN_SERVICE_ACCOUNT: 'postern-operator',
      POSTERN_REPLICA: 'bench-0',
      POSTERN_SERVICE: 'postern-operator',
      POSTERN_SIDECAR_IMAGE: `registry.example.com/postern@sha256:${'a'.repeat(64)}`,
      POSTERN_AUTHORITY: authority,
      POSTERN_CONTROL_PORT: '0',
      POSTERN_WEBHOOK_PORT: '0',
      POSTERN_ADMIN_PORT: '0',
      POSTERN_HOST: '127.0.0.1',
      POSTERN_LOG_LEVEL: process.env.BENCH_LOG ?? 'error',
    },
  };
  child.stdin.write(`${JSON.stringify(orders)}\n`);
  const { value, done } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next();
  if (done === true) throw new Error('the operator ended before it served');
  return { child, ports: JSON.parse(String(value)) as OperatorPorts };
}

async function addWebhook(call: BenchCluster['call'], caPem: string, port: number): Promise<void> {
  await call('POST', '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', {
    metadata: { name: 'postern' },
    webhooks: [
      {
        name: 'pods.postern.dev',
        admissionReviewVersions: ['v1'],
        clientConfig: { url: `https://localhost:${port}/mutate/pods`, caBundle: Buffer.from(caPem).toString('base64') },
        failurePolicy: 'Fail',
        reinvocationPolicy: 'IfNeeded',
        sideEffects: 'None',
        timeoutSeconds: 5,
        namespaceSelector: {
          matchExpressions: [
            { key: 'postern.dev/enforce', operator: 'Exists' },
            { key: 'bench/no-webhook', operator: 'DoesNotExist' },
          ],
        },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' }],
      },
    ],
  });
}

/** By its own signal first: the lease is given away, and nothing is left half written. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await ended;
  clearTimeout(timer);
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Runs `work` for each item, so many at once. */
export async function inParallel<T>(items: readonly T[], width: number, work: (item: T) => Promise<void>): Promise<void> {
  const waiting = [...items];
  const worker = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: width }, worker));
}
