/**
 * A replica's webhooks in front of a real API server. The configurations are the chart's, but for the address: there is no Service
 * without nodes. The caches are filled by the test; informers have tests of their own.
 */
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

export interface WebhookRig extends AsyncDisposable {
  readonly kube: KubeApiserver;
  readonly cluster: Cluster;
  readonly place: SecretPlace;
  readonly certificates: ServingCertificates;
  readonly server: WebhookServer;
  readonly bundle: CaBundle;
  readonly reports: CaBundleReport[];
  readonly faults: unknown[];
  readonly outcomes: Record<string, number>;
  /** What the kubelet does after a Secret changed, and the replica's look at it. */
  syncAuthority(): Promise<void>;
  setFailurePolicy(policy: 'Ignore' | 'Fail'): Promise<void>;
}

export async function startWebhookRig(clock: Clock = systemClock): Promise<WebhookRig> {
  const stack = new AsyncDisposableStack();
  const kube = stack.use(await startKubeApiserver());
  const connection = connectionTo(accessTo(kube));
  stack.defer(() => connection.close());
  const { client } = connection;
  await createNamespace(kube, OPERATOR_NAMESPACE, {});
  const place = { client, namespace: OPERATOR_NAMESPACE, clock };
  await ensureAuthority({ ...place, clock: systemClock });
  const mounted = stack.use(await mountedAuthority(await secretFiles(kube)));
  const certificates = await ServingCertificates.open({ folder: mounted.folder, hosts: ['localhost'], clock });
  const cluster = emptyCluster();
  const faults: unknown[] = [];
  const outcomes: Record<string, number> = {};
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
  stack.defer(() => server.close());
  await createConfigurations(kube, server.port);
  const reports: CaBundleReport[] = [];
  const bundle = new CaBundle({ client, clock: systemClock, caBundle: () => certificates.caBundle, report: (one) => reports.push(one) });
  await bundle.check();
  return {
    ...{ kube, cluster, place, certificates, server, bundle, reports, faults, outcomes },
    async syncAuthority() {
      await mounted.mount(await secretFiles(kube));
      await certificates.check();
      await bundle.check();
    },
    setFailurePolicy: (policy) => setFailurePolicy(kube, policy),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
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
  const secret = { secret: 'postern-github', secretRevision: undefined, rotateRequested: undefined, keys: ['token'] };
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
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['namespaces'], scope: 'Cluster' }],
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

async function setFailurePolicy(kube: KubeApiserver, failurePolicy: string): Promise<void> {
  const path = `${CONFIGURATIONS}/mutatingwebhookconfigurations/${AUTHORITY.webhooks}`;
  const { body } = expectStatus(await kube.request<{ webhooks: object[] }>('GET', path), 200);
  expectStatus(await kube.request('PUT', path, { ...body, webhooks: body.webhooks.map((one) => ({ ...one, failurePolicy })) }), 200);
}
