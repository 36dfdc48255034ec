/**
 * A real API server with the CRDs and the operator's own rights, as the chart grants them, and replicas of the operator in this process.
 * What people do is done as an administrator.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parse, parseAllDocuments } from 'yaml';
import { createAuthority } from '#operator/certificate/issue.ts';
import { connectionTo } from '#operator/kube/connect.ts';
import type { ContractRecord } from '#operator/kube/records.ts';
import { type RunningOperator, startOperator } from '#operator/main.ts';
import { readOperatorSettings } from '#operator/settings.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { type MountedAuthority, mountedAuthority } from './certificate/mounted-authority.ts';
import { until } from './until.ts';

export type Status = NonNullable<ContractRecord['status']>;
type Plural = 'actioncontracts' | 'credentialbindings' | 'agentsessions';

export interface Stored {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly generation: number;
    readonly resourceVersion: string;
    readonly managedFields: readonly { readonly manager: string; readonly subresource?: string; readonly fieldsV1: object }[];
  };
  readonly spec: object;
  // biome-ignore lint/suspicious/noExplicitAny: of any of our kinds
  readonly status?: any;
}

export class OperatorRig implements AsyncDisposable {
  readonly api: KubeApiserver;
  readonly #authority: MountedAuthority;
  readonly #token: string;
  readonly #replicas: RunningOperator[] = [];

  private constructor(api: KubeApiserver, authority: MountedAuthority, token: string) {
    this.api = api;
    this.#authority = authority;
    this.#token = token;
  }

  static async start(): Promise<OperatorRig> {
    const api = await startKubeApiserver();
    const ca = await createAuthority(Date.now());
    const authority = await mountedAuthority({ 'ca.crt': ca.certificatePem, 'ca.key': ca.keyPem });
    await post(api, '/api/v1/namespaces', { metadata: { name: 'postern' } });
    for (const name of readdirSync('crds')) {
      await post(
        api,
        '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
        parse(readFileSync(`crds/${name}`, 'utf8'), { maxAliasCount: -1 }),
      );
    }
    for (const name of ['actioncontracts', 'credentialbindings', 'agentsessions', 'actionapprovals']) {
      await until(async () => (await api.request('GET', `/apis/postern.dev/v1alpha1/${name}`)).status === 200);
    }
    const token = await api.createServiceAccountToken('postern', 'postern-operator');
    for (const object of operatorRights()) {
      const { kind, metadata } = object;
      const within = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
      await post(api, `/apis/rbac.authorization.k8s.io/v1${within}/${kind.toLowerCase()}s`, object);
    }
    return new OperatorRig(api, authority, token);
  }

  async replica(name = `postern-operator-${this.#replicas.length}`): Promise<RunningOperator> {
    const read = readOperatorSettings({
      POSTERN_NAMESPACE: 'postern',
      POSTERN_SERVICE_ACCOUNT: 'postern-operator',
      POSTERN_REPLICA: name,
      POSTERN_SERVICE: 'postern-operator',
      POSTERN_SIDECAR_IMAGE: `registry.example.com/postern@sha256:${'a'.repeat(64)}`,
      POSTERN_AUTHORITY: this.#authority.folder,
      POSTERN_CONTROL_PORT: '0',
      POSTERN_WEBHOOK_PORT: '0',
      POSTERN_ADMIN_PORT: '0',
      POSTERN_HOST: '127.0.0.1',
      POSTERN_LOG_LEVEL: process.env.POSTERN_TEST_LOG === undefined ? 'error' : 'debug',
    });
    if (!read.ok) throw new Error(read.problems.join('\n'));
    const { url, caPem } = this.api;
    const connection = connectionTo({
      server: url,
      tls: { ca: caPem, rejectUnauthorized: true },
      namespace: 'postern',
      headers: async () => ({ authorization: `Bearer ${this.#token}` }),
    });
    const operator = await startOperator({ settings: read.settings, version: '0.1.0', connection });
    this.#replicas.push(operator);
    return operator;
  }

  /** One request as administrator; throws when it is refused. */
  async call<Body = Stored>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.api.request<Body>(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async namespace(name: string, labels: Readonly<Record<string, string>> = { 'postern.dev/enforce': '' }): Promise<void> {
    await this.call('POST', '/api/v1/namespaces', { metadata: { name, labels } });
  }

  async create(object: { readonly kind: string; readonly metadata: object; readonly spec: object }, namespace: string): Promise<void> {
    const { name } = object.metadata as { readonly name: string };
    const body = { apiVersion: 'postern.dev/v1alpha1', kind: object.kind, metadata: { name, namespace }, spec: object.spec };
    await this.call('POST', `/apis/postern.dev/v1alpha1/namespaces/${namespace}/${pluralOf(object.kind)}`, body);
  }

  get(plural: Plural, namespace: string, name: string): Promise<Stored> {
    return this.call('GET', `/apis/postern.dev/v1alpha1/namespaces/${namespace}/${plural}/${name}`);
  }

  /** The object, once its conditions are these: `{Ready: 'True'}`; `absent` for a condition that is not there. */
  async settled(plural: Plural, namespace: string, name: string, wanted: Readonly<Record<string, string>>): Promise<Stored> {
    let last: Stored | undefined;
    await until(
      async () => {
        last = await this.get(plural, namespace, name);
        const fresh = last.status?.observedGeneration === undefined || last.status.observedGeneration === last.metadata.generation;
        const of = conditions(last);
        return fresh && Object.entries(wanted).every(([type, status]) => (of[type] ?? 'absent') === status);
      },
      () => `${plural}/${name} is ${JSON.stringify(last?.status?.conditions, undefined, 1)}`,
    );
    return last as Stored;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const replica of this.#replicas) await replica.stop();
    await this.api[Symbol.asyncDispose]();
    await this.#authority[Symbol.asyncDispose]();
  }
}

export function conditions({ status }: Stored): Readonly<Record<string, string>> {
  const list: readonly { readonly type: string; readonly status: string }[] = status?.conditions ?? [];
  return Object.fromEntries(list.map(({ type, status: is }) => [type, is]));
}

interface RbacObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** The chart's own file, without its templating. */
function operatorRights(): readonly RbacObject[] {
  const text = readFileSync('charts/postern/templates/operator-rbac.yaml', 'utf8');
  const plain = text
    .replaceAll('{{ .Release.Namespace }}', 'postern')
    .split('\n')
    .filter((line) => !line.includes('{{'))
    .join('\n');
  return parseAllDocuments(plain).map((document) => document.toJS());
}

function pluralOf(kind: string): Plural {
  return `${kind.toLowerCase()}s` as Plural;
}

async function post(api: KubeApiserver, path: string, body: unknown): Promise<void> {
  const answer = await api.request('POST', path, body);
  if (answer.status >= 300) throw new Error(`POST ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
}
