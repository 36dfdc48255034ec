/**
 * Effects on a real API server with the guards: replicas of the operator's end of the control stream, sidecars of protocol 2 as scripts, and
 * people who decide as themselves, by impersonation under RBAC.
 */
import { systemClock } from '#core/bounds/clock.ts';
import type { CompiledContract } from '#core/contract/compiled.ts';
import type { ActionApproval } from '#core/resource/gen/action-approval.ts';
import { CompiledContracts } from '#operator/approval/compiled-contracts.ts';
import type { Asker } from '#operator/approval/judge-plan.ts';
import { holdName } from '#operator/approval/names.ts';
import { Notices, type NoticeTarget } from '#operator/approval/notices.ts';
import { reconcileApproval, watchApprovals } from '#operator/approval/reconcile.ts';
import { ApprovalRegister, type RegisterMeans } from '#operator/approval/register.ts';
import { Controller } from '#operator/kube/controller.ts';
import { EventTeller } from '#operator/kube/events.ts';
import type { KubeObject } from '#operator/kube/records.ts';
import { State } from '#proto/postern/control/v1/control_pb.ts';
import { type Agent, ControlRig, type Replica, type SessionObject } from '#test/operator/control/control-rig.ts';
import { until } from '#test/operator/control/test-sidecar.ts';
import { EffectSidecar, type Plan } from './effect-sidecar.ts';

export type Approval = ActionApproval & KubeObject;

const ORIGIN = 'https://api.example.com';

/** A binding and a contract that deploys, in one namespace, called by `bot` and `other`. */
export function bindingSpec(change: Record<string, unknown> = {}): object {
  return {
    owner: 'release-team',
    secret: { name: 'postern-deploy' },
    contracts: ['deploy-service'],
    destinations: [{ origin: ORIGIN, methods: ['POST'], pathPrefixes: ['/deploy'] }],
    use: { bearer: { key: 'token' } },
    ...change,
  };
}

export function deploySpec(change: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    summary: 'Deploy $(args.version)',
    effect: 'Write',
    credentials: ['deploy'],
    arguments: {
      type: 'object',
      additionalProperties: false,
      required: ['version', 'reason'],
      properties: {
        version: { type: 'string', maxLength: 20, pattern: '^[0-9.]{1,20}$' },
        reason: { type: 'string', minLength: 1, maxLength: 500, 'x-postern-text': { render: 'plain', lines: 5 } },
      },
    },
    http: {
      credential: 'deploy',
      method: 'POST',
      url: `${ORIGIN}/deploy`,
      body: { json: { version: '$(args.version)', reason: '$(args.reason)' } },
    },
    result: { object: '/', as: 'run', fields: [{ name: 'id', presence: 'Optional' }] },
    completeness: undefined,
    idempotency: { mode: 'None' },
    approval: { mode: 'EachCall', expiresAfter: '15m', reason: '/reason' },
    ...change,
  };
}

export class EffectRig implements AsyncDisposable {
  readonly rig: ControlRig;
  readonly near: Replica;
  readonly far: Replica;
  readonly #compiled: CompiledContracts;
  readonly #stops: (() => Promise<void> | void)[] = [];

  private constructor(rig: ControlRig, near: Replica, far: Replica) {
    this.rig = rig;
    this.near = near;
    this.far = far;
    this.#compiled = new CompiledContracts(near.cluster);
  }

  static async start(): Promise<EffectRig> {
    const rig = await ControlRig.start();
    return new EffectRig(rig, await rig.replica(), await rig.replica());
  }

  /** A namespace with contract, binding, and one sidecar of `bot` on each replica. */
  async stage(namespace: string, change: Record<string, unknown> = {}): Promise<Stage> {
    const { rig, near, far } = this;
    await rig.namespace(namespace);
    for (const name of ['bot', 'other']) await rig.account(namespace, name);
    const bindings = `/apis/postern.dev/v1alpha1/namespaces/${namespace}/credentialbindings`;
    const head = { apiVersion: 'postern.dev/v1alpha1', kind: 'CredentialBinding', metadata: { name: 'deploy', namespace } };
    await rig.call('POST', bindings, { ...head, spec: bindingSpec() });
    await rig.contract(namespace, 'deploy-service', ['bot', 'other'], deploySpec(change));
    const stage = new Stage(this, namespace);
    await stage.settle();
    const agents = [await rig.pod(namespace, 'bot-1', 'bot'), await rig.pod(namespace, 'bot-2', 'bot')] as const;
    stage.own = await stage.connect(near, agents[0]);
    stage.twin = await stage.connect(far, agents[1]);
    return stage;
  }

  compiled(namespace: string): CompiledContract {
    const record = this.near.cluster.contracts.get(`${namespace}/deploy-service`);
    const compiled = record === undefined ? undefined : this.#compiled.of(record, Date.now());
    if (compiled === undefined) throw new TypeError('the contract compiles');
    return compiled.contract;
  }

  /** Another register on the caches of a replica; `broken` stands in for what its API server does. */
  registerOf({ cluster }: Replica, broken: Partial<RegisterMeans['kube']> = {}): ApprovalRegister {
    return new ApprovalRegister({
      kube: { ...this.rig.connection.client, ...broken },
      cluster,
      serverNowMs: () => Date.now(),
      contractOf: (namespace, _, name) => cluster.contracts.get(`${namespace}/${name}`),
    });
  }

  /** The leader's part for approvals, on the caches of a replica. */
  lead({ cluster, name: replica }: Replica, options: { readonly target?: NoticeTarget; readonly aheadMs?: number } = {}) {
    const { client } = this.rig.connection;
    const clock = systemClock;
    const events = new EventTeller({ client, replica, clock });
    const notices: string[] = [];
    const webhook =
      options.target && new Notices({ target: options.target, clock, onNotice: (outcome, status) => notices.push(`${outcome} ${status}`) });
    const became: string[] = [];
    const means = {
      client,
      cluster,
      clock,
      events,
      serverNowMs: () => Date.now() + (options.aheadMs ?? 0),
      onWaiting: (approval: Parameters<Notices['offer']>[0]) => webhook?.offer(approval),
      onBecame: (state: string, purpose: string) => became.push(`${purpose} ${state}`),
    };
    const controller = new Controller({
      name: 'approvals',
      reconcile: (key) => reconcileApproval(key, means),
      keys: () => cluster.approvals.keys(),
    });
    const unwatch = watchApprovals(cluster, (key) => controller.enqueue(key));
    controller.start();
    const stop = async () => {
      unwatch();
      await controller.stop();
      await webhook?.stop();
      await events.settled();
    };
    this.#stops.push(stop);
    return { became, notices, stop };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) await stop();
    await this.rig[Symbol.asyncDispose]();
  }
}

export class Stage {
  readonly effects: EffectRig;
  readonly namespace: string;
  own!: EffectSidecar;
  twin!: EffectSidecar;

  constructor(effects: EffectRig, namespace: string) {
    this.effects = effects;
    this.namespace = namespace;
  }

  get approvals(): string {
    return `/apis/postern.dev/v1alpha1/namespaces/${this.namespace}/actionapprovals`;
  }

  /** Both replicas have what is written now. */
  async settle(): Promise<void> {
    const { rig, near, far } = this.effects;
    const root = `/apis/postern.dev/v1alpha1/namespaces/${this.namespace}`;
    for (const [plural, kind, name] of [
      ['actioncontracts', 'contracts', 'deploy-service'],
      ['credentialbindings', 'bindings', 'deploy'],
    ] as const) {
      const { metadata } = await rig.call<KubeObject>('GET', `${root}/${plural}/${name}`);
      for (const { cluster } of [near, far])
        await until(
          () => cluster[kind].get(`${this.namespace}/${name}`)?.resourceVersion === metadata.resourceVersion,
          `${kind} of a replica`,
        );
    }
  }

  async connect(replica: Replica, agent: Agent): Promise<EffectSidecar> {
    const { rig } = this.effects;
    const sidecar = rig.sidecar(replica, agent, { protocols: [1, 2], instance: agent.uid });
    await until(() => sidecar.contracts?.length === 1, 'a bundle');
    await until(() => sidecar.state === State.ACTIVE, 'active');
    return new EffectSidecar(this, agent, sidecar, replica);
  }

  get(name: string): Promise<Approval> {
    return this.effects.rig.call<Approval>('GET', `${this.approvals}/${name}`);
  }

  async list(): Promise<readonly Approval[]> {
    return (await this.effects.rig.call<{ items: Approval[] }>('GET', this.approvals)).items;
  }

  async exists(name: string): Promise<boolean> {
    return (await this.effects.rig.api.request('GET', `${this.approvals}/${name}`)).status === 200;
  }

  /** As an administrator, whom no policy of the rig stops. */
  async decide(name: string, decision: Record<string, unknown>): Promise<void> {
    const { spec } = await this.get(name);
    const full = { approver: 'ada', cardDigest: spec.cardDigest, ...decision };
    await this.effects.rig.call('PATCH', `${this.approvals}/${name}/status`, { status: { decision: full } });
  }

  askerOf({ metadata, spec }: SessionObject, sidecar: EffectSidecar): Asker {
    const session = { name: metadata.name, uid: metadata.uid };
    return { namespace: this.namespace, serviceAccount: spec.serviceAccount, session, requesters: [sidecar.requester()] };
  }

  hold({ facts }: Plan, serviceAccount = 'bot'): string {
    return holdName({ serviceAccount, contract: facts.contract, argsDigest: facts.argsDigest });
  }
}
