/** Replicas of the operator with their own caches of a real API server, and sidecars as pods of it, without nodes. */
import { readdirSync, readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';
import { parse } from 'yaml';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { SIDECAR } from '#core/resource/names.ts';
import { CONTROL_BOUNDS } from '#core/runtime/grpc-bounds.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import type { AuditOptions } from '#operator/control/audit-means.ts';
import { ControlService } from '#operator/control/service.ts';
import { judgePod } from '#operator/guard/judge.ts';
import { allowedRelease } from '#operator/guard/sidecar-release.ts';
import { type Cluster, emptyCluster } from '#operator/kube/cluster.ts';
import { type Connection, connectionTo } from '#operator/kube/connect.ts';
import { Controller } from '#operator/kube/controller.ts';
import { type Informers, startInformers } from '#operator/kube/informers.ts';
import type { SessionRecord } from '#operator/kube/records.ts';
import { stateForStream } from '#operator/session/facts.ts';
import { RevisionAges } from '#operator/session/old-revision.ts';
import { enqueueSessions, sessionReconcile } from '#operator/session/reconcile.ts';
import { ControlService as ControlServiceMethods } from '#proto/postern/control/v1/control_pb.ts';
import { accessTo } from '#test/operator/kube/real-access.ts';
import { RELEASE, SIZES } from '#test/operator/pod/pods.ts';
import { createAuthority } from '#test/servers/certificates.ts';
import { type KubeApiserver, startKubeApiserver } from '#test/servers/kube-apiserver.ts';
import { contractSpec, type PodDraft, podDraft } from './drafts.ts';
import { type SidecarOptions, TestSidecar, until } from './test-sidecar.ts';

export const SERVER_NAME = 'ca-0123456789abcdef0123456789abcdef.postern.invalid';

export interface ReplicaOptions {
  readonly clock?: Clock;
  /** Milliseconds the caches are old, instead of what they are. */
  readonly cacheAgeMs?: () => number;
  readonly leaseMs?: number;
  readonly random?: () => number;
  readonly audit?: AuditOptions;
}

export interface Replica extends AsyncDisposable {
  readonly name: string;
  readonly service: ControlService;
  readonly cluster: Cluster;
  readonly address: string;
  /** Codes that streams ended with. */
  readonly ends: string[];
  readonly pushes: number[];
  /** Drains, then closes the port. */
  stop(): Promise<void>;
}

export interface Agent {
  readonly namespace: string;
  readonly name: string;
  readonly account: string;
  readonly uid: string;
  /** For the audience of the control stream. */
  readonly token: string;
}

/** One cluster for the tests of a file. */
export class ControlRig implements AsyncDisposable {
  readonly api: KubeApiserver;
  readonly connection: Connection;
  readonly #tls: { readonly ca: string; readonly context: SecureContext };
  readonly #closers: (() => Promise<void> | void)[] = [];
  #replicas = 0;

  private constructor(api: KubeApiserver, tls: { readonly ca: string; readonly context: SecureContext }) {
    this.api = api;
    this.connection = connectionTo(accessTo(api));
    this.#tls = tls;
  }

  static async start(): Promise<ControlRig> {
    const authority = await createAuthority();
    const leaf = await authority.issue({ commonName: 'operator', hosts: [SERVER_NAME] });
    const context = createSecureContext({ cert: leaf.certificatePem, key: leaf.keyPem, minVersion: 'TLSv1.3' });
    const rig = new ControlRig(await startKubeApiserver(), { ca: authority.caPem, context });
    for (const name of readdirSync('crds')) {
      await rig.call('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', parse(readFileSync(`crds/${name}`, 'utf8')));
    }
    for (const plural of ['actioncontracts', 'credentialbindings', 'agentsessions', 'actionapprovals']) {
      await until(async () => (await rig.api.request('GET', `/apis/postern.dev/v1alpha1/${plural}`)).status === 200);
    }
    return rig;
  }

  /** One request as administrator; throws when it is refused. */
  async call<Body = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.api.request<Body>(method, path, body);
    if (answer.status >= 300) throw new Error(`${method} ${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async namespace(name: string, labels: Readonly<Record<string, string>> = {}): Promise<void> {
    await this.call('POST', '/api/v1/namespaces', { metadata: { name, labels: { 'postern.dev/enforce': '', ...labels } } });
  }

  async account(namespace: string, name: string): Promise<void> {
    await this.call('POST', `/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name } });
  }

  /** A guarded pod on a node nobody runs, with a token bound to it. */
  async pod(namespace: string, name: string, account: string, change: (pod: PodDraft) => void = () => {}): Promise<Agent> {
    const pod = podDraft(namespace, name, account);
    change(pod);
    const { metadata } = await this.call<{ metadata: { uid: string } }>('POST', `/api/v1/namespaces/${namespace}/pods`, pod);
    const agent = { namespace, name, account, uid: metadata.uid };
    return { ...agent, token: await this.token(agent) };
  }

  async token({ namespace, name, account, uid }: Omit<Agent, 'token'>, audience: string = SIDECAR.audience): Promise<string> {
    const body = {
      spec: { audiences: [audience], expirationSeconds: 3600, boundObjectRef: { kind: 'Pod', apiVersion: 'v1', name, uid } },
    };
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`;
    return (await this.call<{ status: { token: string } }>('POST', path, body)).status.token;
  }

  async deletePod({ namespace, name }: Pick<Agent, 'namespace' | 'name'>): Promise<void> {
    await this.call('DELETE', `/api/v1/namespaces/${namespace}/pods/${name}`, { gracePeriodSeconds: 0 });
  }

  /** A contract and the status the leader would give it. */
  async contract(namespace: string, name: string, callers: readonly string[], change: Record<string, unknown> = {}): Promise<void> {
    const path = `/apis/postern.dev/v1alpha1/namespaces/${namespace}/actioncontracts`;
    const known = await this.api.request('GET', `${path}/${name}`);
    const spec = contractSpec(name, callers, change);
    if (known.status === 404) await this.call('POST', path, { ...object('ActionContract', namespace, name), spec });
    else await this.call('PATCH', `${path}/${name}`, { spec });
    await this.accept(namespace, name, callers);
  }

  async accept(namespace: string, name: string, callers: readonly string[], refused: Readonly<Record<string, string>> = {}): Promise<void> {
    const path = `/apis/postern.dev/v1alpha1/namespaces/${namespace}/actioncontracts/${name}`;
    const { metadata } = await this.call<{ metadata: { generation: number } }>('GET', path);
    const accepted = {
      type: 'Accepted',
      status: 'True',
      reason: 'Accepted',
      message: 'It is.',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    await this.call('PATCH', `${path}/status`, {
      status: {
        observedGeneration: metadata.generation,
        callers: callers.map((serviceAccount) => ({
          serviceAccount,
          ...(refused[serviceAccount] && { refused: refused[serviceAccount] }),
        })),
        conditions: [accepted],
      },
    });
  }

  async session(agent: Agent): Promise<SessionObject> {
    const path = `/apis/postern.dev/v1alpha1/namespaces/${agent.namespace}/agentsessions`;
    const { items } = await this.call<{ items: SessionObject[] }>('GET', path);
    const found = items.find(({ spec }) => spec.pod.uid === agent.uid);
    if (found === undefined) throw new Error(`${agent.name} has no session`);
    return found;
  }

  async patchSession(agent: Agent, spec: object): Promise<void> {
    const { metadata } = await this.session(agent);
    await this.call('PATCH', `/apis/postern.dev/v1alpha1/namespaces/${agent.namespace}/agentsessions/${metadata.name}`, { spec });
  }

  async replica(options: ReplicaOptions = {}): Promise<Replica> {
    this.#replicas += 1;
    const name = `operator-${this.#replicas}`;
    const cluster = emptyCluster();
    const clock = options.clock ?? systemClock;
    const connection = connectionTo(accessTo(this.api));
    const ends: string[] = [];
    const pushes: number[] = [];
    let informers: Informers | undefined;
    const releases = [allowedRelease(RELEASE, SIZES)];
    const service = new ControlService({
      kube: connection.client,
      cluster,
      clock,
      replica: name,
      leaseMs: options.leaseMs ?? 3_600_000,
      judge: (pod) => {
        const [finding] = judgePod(pod as unknown as Parameters<typeof judgePod>[0], releases);
        return finding === undefined ? undefined : `${finding.path}: ${finding.message}`;
      },
      stateOf: (session, acknowledged) => stateForStream(cluster, session, acknowledged),
      cacheAgeMs: options.cacheAgeMs ?? (() => Math.max(...(informers?.ages() ?? []).map(({ ageSeconds }) => ageSeconds * 1000))),
      random: options.random ?? (() => 0.02),
      ...(options.audit === undefined ? {} : { audit: options.audit }),
      observer: { ended: (code) => ends.push(code), pushed: (ms) => pushes.push(ms) },
    });
    informers = startInformers({ transport: connection.transport, cluster });
    await informers.synced;
    const server = new GrpcServer({
      bounds: CONTROL_BOUNDS,
      tls: { contextFor: (asked) => (asked === SERVER_NAME ? this.#tls.context : undefined) },
    });
    server.add(ControlServiceMethods, { connect: service.connect });
    const port = await server.listen('127.0.0.1', 0);
    let stopped: Promise<void> | undefined;
    const stop = async () => {
      await service.drain();
      service.stop();
      await server.close(1_000);
      await informers?.stop();
      await connection.close();
    };
    const replica: Replica = {
      name,
      service,
      cluster,
      address: `127.0.0.1:${port}`,
      ends,
      pushes,
      stop: () => {
        stopped ??= stop();
        return stopped;
      },
      [Symbol.asyncDispose]: () => replica.stop(),
    };
    this.#closers.push(() => replica.stop());
    return replica;
  }

  /** The leader's part for sessions, on the caches of a replica. */
  lead({ cluster }: Replica, clock: Clock = systemClock): { readonly told: string[]; stop(): Promise<void> } {
    const told: string[] = [];
    const events = { tell: (about: { name: string }, { reason }: { reason: string }) => void told.push(`${reason} ${about.name}`) };
    const revisionAgeMs = () => limits.sessionBehindMs;
    const reconcile = sessionReconcile({ client: this.connection.client, cluster, clock, events, revisionAgeMs });
    const controller = new Controller({ name: 'sessions', reconcile, keys: () => [...cluster.sessions.values()].map(keyOfRecord) });
    const ages = new RevisionAges(cluster, clock, (accounts) => {
      for (const account of accounts)
        for (const session of cluster.sessions.by('account', account)) controller.enqueue(keyOfRecord(session));
    });
    const unsubscribe = enqueueSessions(cluster, (key) => controller.enqueue(key));
    controller.start();
    const stop = async () => {
      unsubscribe();
      ages.stop();
      await controller.stop();
    };
    this.#closers.push(stop);
    return { told, stop };
  }

  /** Connects as the sidecar of a pod does. */
  sidecar(replica: Replica, agent: Pick<Agent, 'token'>, options: SidecarOptions = {}): TestSidecar {
    const sidecar = new TestSidecar(
      connect(replica.address, { tls: { ca: this.#tls.ca, serverName: SERVER_NAME }, receiveBytesMax: CONTROL_BOUNDS.responseBytesMax }),
      agent.token,
      options,
    );
    this.#closers.push(() => sidecar.leave());
    return sidecar;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
    await this.connection.close();
    await this.api[Symbol.asyncDispose]();
  }
}

export interface SessionObject {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly ownerReferences?: readonly { readonly uid: string }[];
    readonly finalizers?: readonly string[];
  };
  readonly spec: SessionRecord['spec'];
  readonly status?: NonNullable<SessionRecord['status']>;
}

function object(kind: string, namespace: string, name: string): object {
  return { apiVersion: 'postern.dev/v1alpha1', kind, metadata: { name, namespace } };
}

function keyOfRecord({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}
