/** What a team applies in the cluster tests: a Secret, a binding, contracts, an agent. */
import type { Images } from '#test/servers/images.ts';

type Fields = Readonly<Record<string, unknown>>;
const dayMs = 86_400_000;

export const triage = 'triage';
export const account = 'triage-bot';

export function namespace(name: string, labels: Fields = {}): Fields {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { 'postern.dev/enforce': 'true', ...labels } } };
}

export function serviceAccount(name: string, inNamespace = triage): Fields {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace: inNamespace } };
}

export function secret(values: Readonly<Record<string, string>>, { name = 'postern-issues', inNamespace = triage } = {}): Fields {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: inNamespace }, stringData: values };
}

export interface BindingOptions {
  readonly name?: string;
  readonly inNamespace?: string;
  readonly origin: string;
  /** Default: the address of the node alone. */
  readonly addresses?: readonly string[];
  readonly contracts?: readonly string[];
  readonly spec?: Fields;
}

export function binding({ name = 'issues', inNamespace = triage, origin, addresses, contracts, spec = {} }: BindingOptions): Fields {
  return {
    apiVersion: 'postern.dev/v1alpha1',
    kind: 'CredentialBinding',
    metadata: { name, namespace: inNamespace },
    spec: {
      owner: 'tracker-team',
      secret: { name: 'postern-issues' },
      contracts: contracts ?? ['list-issues'],
      destinations: [
        { origin, methods: ['GET'], pathPrefixes: ['/v1/'], ca: { key: 'ca.crt' }, addresses: addresses ?? ['172.30.0.1/32'] },
      ],
      use: { bearer: { key: 'token' } },
      ...spec,
    },
  };
}

export interface ContractOptions {
  readonly name?: string;
  readonly inNamespace?: string;
  readonly credential?: string;
  readonly origin: string;
  readonly caller?: string;
  readonly spec?: Fields;
}

export function contract({
  name = 'list-issues',
  inNamespace = triage,
  credential = 'issues',
  origin,
  caller = account,
  spec = {},
}: ContractOptions): Fields {
  return {
    apiVersion: 'postern.dev/v1alpha1',
    kind: 'ActionContract',
    metadata: { name, namespace: inNamespace },
    spec: {
      action: name.replaceAll('-', '_'),
      summary: 'List the issues of $(args.project)',
      owner: 'triage-team',
      effect: 'Read',
      callers: [{ serviceAccount: caller }],
      credentials: [credential],
      arguments: {
        type: 'object',
        additionalProperties: false,
        required: ['project'],
        properties: { project: { type: 'string', enum: ['storefront', 'billing'], description: 'Whose issues' } },
      },
      http: { credential, method: 'GET', url: `${origin}/v1/$(args.project)/issues`, query: { page: '$(next.page)' } },
      result: { items: ['/items'], as: 'issues', id: ['/number'], fields: [{ name: 'number' }, { name: 'title' }] },
      completeness: {
        paging: { next: [{ name: 'page', from: [{ body: '/next' }] }], end: { nextIs: ['NullValue'] } },
        consistency: { mode: 'Declared', because: 'issues are appended and never move' },
        freshness: [{ name: 'index-age', from: { body: '/indexed_at' }, unit: 'EpochSeconds', maxAge: '10m', warning: 'stale-index' }],
        limits: { pages: 50, items: 500, time: '30s' },
        scope: { resource: 'issues of $(args.project)', visibility: 'all issues', absence: 'Provable' },
      },
      warnings: [
        {
          name: 'stale-index',
          code: 'STALE_INDEX',
          owner: 'search-team',
          expires: new Date(Date.now() + 10 * dayMs).toISOString().slice(0, 10),
          message: 'The index is rebuilt by hand and may be behind',
        },
      ],
      ...spec,
    },
  };
}

export interface AgentOptions {
  readonly labels?: Fields;
  readonly container?: Fields;
  readonly spec?: Fields;
}

/** Spec and metadata of a pod whose container `agent` has a shell, and waits. */
export function agentPod(
  images: Images,
  { labels = {}, container = {}, spec = {} }: AgentOptions = {},
): { metadata: Fields; spec: Fields } {
  return {
    metadata: { labels: { app: 'agent', ...labels } },
    spec: {
      serviceAccountName: account,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'agent', image: images.agent.reference, imagePullPolicy: 'Never', command: ['sleep', '100000'], ...container }],
      ...spec,
    },
  };
}

export function deployment(images: Images, options: AgentOptions & { readonly name?: string; readonly inNamespace?: string } = {}): Fields {
  const { name = 'agent', inNamespace = triage } = options;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: inNamespace },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: agentPod(images, { ...options, labels: { app: name, ...options.labels } }),
    },
  };
}

export function pod(images: Images, name: string, options: AgentOptions & { readonly inNamespace?: string } = {}): Fields {
  const { metadata, spec } = agentPod(images, { ...options, labels: { app: name, ...options.labels } });
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, name, namespace: options.inNamespace ?? triage }, spec };
}
