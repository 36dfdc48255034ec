/**
 * A replica's webhooks in front of a real API server. The configurations are the chart's, but for the address: there is no Service
 * without nodes. The caches are filled by the test; informers have tests of their own.
 */
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { parse } from 'yaml';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { AUTHORITY } from '#core/resource/names.ts';
import { ensureAuthority, type SecretPlace } from '#operator/certificate/authority-secret.ts';
import { CaBundle, type CaBundleReport } from '#operator/certificate/ca-bundle.ts';
import { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import { type Cluster, emptyCluster } from '#operator/kube/cluster.ts';
import { connectionTo } from '#operator/kube/connect.ts';
import type { ContractRecord } from '#operator/kube/records.ts';
import { KINDS } from '#operator/kube/resource-kind.ts';
import { InjectionFactsSource } from '#operator/pod/injection-facts.ts';
import { mutatePod } from '#operator/webhook/mutate-pod.ts';
import { startWebhookServer, type WebhookServer } from '#operator/webhook/server.ts';
import { validateNamespace } from '#operator/webhook/validate-namespace.ts';
import { validateBinding, validateContract } from '#operator/webhook/validate-objects.ts';
import { mountedAuthority } from '#test/operator/certificate/mounted-authority.ts';
import { accessTo } from '#test/operator/kube/real-access.ts';
import { RELEASE, SIZES } from '#test/operator/pod/pods.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';

export const OPERATOR_NAMESPACE = 'postern-system';

export interface Replica extends AsyncDisposable {
  readonly certificates: ServingCertificates;
  readonly server: WebhookServer;
  /** Hands it the Secret as it is now, as the kubelet does minutes after a change. */
  sync(): Promise<void>;
}

export interface WebhookRig extends AsyncDisposable {
  readonly kube: KubeApiserver;
  readonly cluster: Cluster;
  readonly place: SecretPlace;
  readonly replicas: readonly Replica[];
  readonly bundle: CaBundle;
  readonly reports: CaBundleReport[];
  readonly faults: unknown[];
  readonly outcomes: Record<string, number>;
  /** Round robin over the replicas, as a Service does; each call gives an address of its own. */
  front(): Promise<number>;
  /** Pin of the first replica, which is the leader here. */
  readonly pin: string;
}

export interface RigOptions {
  readonly replicas?: number;
  readonly clock?: Clock;
}

export async function startWebhookRig({ replicas: count = 1, clock = systemClock }: RigOptions = {}): Promise<WebhookRig> {
  const stack = new AsyncDisposableStack();
  const kube = stack.use(await startKubeApiserver());
  const connection = connectionTo(accessTo(kube));
  stack.defer(() => connection.close());
  const { client } = connection;
  await createNamespace(kube, OPERATOR_NAMESPACE, {});
  const place = { client, namespace: OPERATOR_NAMESPACE, clock: systemClock };
  await ensureAuthority(place);
  const shared = { kube, cluster: emptyCluster(), faults: [] as unknown[], outcomes: {} as Record<string, number>, clock };
  const replicas: Replica[] = [];
  for (let index = 0; index < count; index += 1) replicas.push(stack.use(await startReplica(shared)));
  const [leader] = replicas;
  if (leader === undefined) throw new TypeError('at least one replica');
  const front = async () => stack.use(await startFront(replicas.map(({ server }) => server.port))).port;
  await createConfigurations(kube, await front());
  const reports: CaBundleReport[] = [];
  const bundle = new CaBundle({
    client,
    clock: systemClock,
    caBundle: () => leader.certificates.caBundle,
    report: (one) => reports.push(one),
  });
  await bundle.check();
  return {
    ...{ kube, cluster: shared.cluster, place, replicas, bundle, reports, faults: shared.faults, outcomes: shared.outcomes, front },
    get pin() {
      return leader.certificates.pin;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function startReplica({
  kube,
  cluster,
  faults,
  outcomes,
  clock,
}: Pick<WebhookRig, 'kube' | 'cluster' | 'faults' | 'outcomes'> & { clock: Clock }): Promise<Replica> {
  const mounted = await mountedAuthority(await secretFiles(kube));
  const certificates = await ServingCertificates.open({ folder: mounted.folder, hosts: ['localhost'], clock });
  const server = await startWebhookServer({
    host: '127.0.0.1',
    port: 0,
    certificates,
    clock: systemClock,
    ready: () => true,
    webhooks: [
      mutatePod({
        facts: new InjectionFactsSource(cluster, systemClock),
        sizes: SIZES,
        releases: () => certificates.pins.map((pin) => ({ ...RELEASE, pin })) as unknown as [typeof RELEASE],
        allowed: () => [],
      }),
      validateContract(cluster, systemClock),
      validateBinding(cluster),
      validateNamespace(cluster),
    ],
    onFault: (webhook, error) => faults.push({ webhook, error }),
    onAnswer: (webhook, outcome) => {
      const key = `${webhook} ${outcome}`;
      outcomes[key] = (outcomes[key] ?? 0) + 1;
    },
  });
  return {
    certificates,
    server,
    async sync() {
      await mounted.mount(await secretFiles(kube));
      await certificates.check();
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await mounted[Symbol.asyncDispose]();
    },
  };
}

async function startFront(ports: readonly number[]): Promise<AsyncDisposable & { readonly port: number }> {
  let turn = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    turn += 1;
    const behind = connect(ports[turn % ports.length] ?? 0, '127.0.0.1');
    for (const one of [socket, behind]) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => open.delete(one));
    }
    socket.pipe(behind).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

export async function createNamespace(kube: KubeApiserver, name: string, labels: Readonly<Record<string, string>>): Promise<void> {
  expectStatus(await kube.request('POST', '/api/v1/namespaces', { metadata: { name, labels } }), 201);
  for (const account of ['default', 'triage-bot']) {
    expectStatus(await kube.request('POST', `/api/v1/namespaces/${name}/serviceaccounts`, { metadata: { name: account } }), 201);
  }
}

/** In the caches: the namespace, and a contract of triage-bot with its binding. */
export function knowNamespace({ cluster }: Pick<WebhookRig, 'cluster'>, name: string): void {
  const common = { uid: name, resourceVersion: '1' };
  cluster.namespaces.put({ ...common, namespace: '', name, labels: {}, annotations: {}, enforced: true, sessionApproval: false });
  const record = { ...common, namespace: name, generation: 1, specJson: '{}' };
  const lastTransitionTime = '2026-01-01T00:00:00Z';
  const status: ContractRecord['status'] = {
    observedGeneration: 1,
    conditions: [{ type: 'Accepted', status: 'True', reason: 'Compiled', message: '', lastTransitionTime }],
    callers: [{ serviceAccount: 'triage-bot' }],
  };
  cluster.contracts.put({ ...record, name: 'list-open-issues', callers: ['triage-bot'], credentials: ['github'], status });
  const secret = {
    secret: 'postern-github',
    secretRevision: undefined,
    rotateRequested: undefined,
    secretVersion: undefined,
    keys: ['token'],
  };
  cluster.bindings.put({ ...record, ...secret, name: 'github', contracts: ['list-open-issues'], status: undefined });
}

export function expectStatus<T extends { readonly status: number; readonly body: unknown }>(answer: T, status: number): T {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer;
}

async function secretFiles(kube: KubeApiserver): Promise<Record<string, string>> {
  const path = `/api/v1/namespaces/${OPERATOR_NAMESPACE}/secrets/${AUTHORITY.secret}`;
  const { body } = expectStatus(await kube.request<{ data: Record<string, string> }>('GET', path), 200);
  return Object.fromEntries(Object.entries(body.data).map(([name, base64]) => [name, Buffer.from(base64, 'base64').toString()]));
}

export const CONFIGURATIONS = '/apis/admissionregistration.k8s.io/v1';

/** A rule as the chart has it: what it does not match, no webhook sees. */
function chartRule(part: string): object {
  const lines = readFileSync('charts/postern/templates/webhooks.yaml', 'utf8').split('\n');
  const found = lines.filter((line) => line.includes(part));
  if (found.length !== 1) throw new Error(`the chart has ${found.length} rules with ${part}`);
  return parse(String(found[0]))[0];
}

async function createConfigurations(kube: KubeApiserver, port: number): Promise<void> {
  const common = { admissionReviewVersions: ['v1'], sideEffects: 'None', timeoutSeconds: 3, matchPolicy: 'Equivalent' };
  const webhook = (name: string, path: string, more: object) => ({
    ...common,
    name: `${name}.postern.dev`,
    clientConfig: { url: `https://localhost:${port}${path}` },
    ...more,
  });
  const metadata = { name: AUTHORITY.webhooks };
  const pods = webhook('pods', '/mutate/pods', {
    failurePolicy: 'Ignore',
    reinvocationPolicy: 'IfNeeded',
    namespaceSelector: { matchExpressions: [{ key: 'postern.dev/enforce', operator: 'Exists' }] },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'], scope: 'Namespaced' }],
  });
  const namespaces = webhook('namespaces', '/validate/namespaces', {
    failurePolicy: 'Fail',
    rules: [chartRule('resources: [namespaces')],
  });
  const own = (plural: string, path: string) =>
    webhook(path, `/validate/${path}`, {
      failurePolicy: 'Fail',
      rules: [{ apiGroups: ['postern.dev'], apiVersions: ['v1alpha1'], operations: ['CREATE', 'UPDATE'], resources: [plural] }],
    });
  const validating = [own('actioncontracts', 'contracts'), own('credentialbindings', 'bindings'), namespaces];
  const kinds = KINDS;
  expectStatus(await kube.request('POST', `${CONFIGURATIONS}/${kinds.mutatingWebhooks.plural}`, { metadata, webhooks: [pods] }), 201);
  expectStatus(await kube.request('POST', `${CONFIGURATIONS}/${kinds.validatingWebhooks.plural}`, { metadata, webhooks: validating }), 201);
}

/** Of the mutating configuration: what `change` makes of its one webhook. */
export async function changeWebhook(kube: KubeApiserver, change: object): Promise<void> {
  const path = `${CONFIGURATIONS}/mutatingwebhookconfigurations/${AUTHORITY.webhooks}`;
  const { body } = expectStatus(await kube.request<{ webhooks: object[] }>('GET', path), 200);
  expectStatus(await kube.request('PUT', path, { ...body, webhooks: body.webhooks.map((one) => ({ ...one, ...change })) }), 200);
}
