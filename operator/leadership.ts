/**
 * What only the leader does, for one term: it writes what contracts, bindings, sessions and namespaces have become, announces new values of
 * Secrets, keeps the CA in the webhooks and looks whether the guards hold. Every write goes through a client that is fenced by the term,
 * so that a replica that lost the lease without noticing writes nothing.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Log } from '#core/runtime/log.ts';
import type { OperatorMetrics } from '#core/runtime/operator-metrics.ts';
import { callerOf } from '#operator/access/callers.ts';
import { emptyRbac, watchGrants } from '#operator/access/grants.ts';
import { startRbacInformers } from '#operator/access/informers.ts';
import { AccessReviewer } from '#operator/access/reviewer.ts';
import { Notices, type NoticeTarget } from '#operator/approval/notices.ts';
import { reconcileApproval, watchApprovals } from '#operator/approval/reconcile.ts';
import { reconcileBinding } from '#operator/binding/reconcile.ts';
import { watchBindings } from '#operator/binding/watch.ts';
import type { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import { ContractReconciler } from '#operator/contract/reconcile.ts';
import { callersContracts, watchContracts } from '#operator/contract/watch.ts';
import { endLostStream, watchLostStreams } from '#operator/control/lost-stream.ts';
import { ExposureReport, watchExposure } from '#operator/exposure/report.ts';
import { Gathering } from '#operator/gathering.ts';
import type { GuardSettings } from '#operator/guard/policy.ts';
import type { ApiTransport } from '#operator/kube/api-transport.ts';
import { type Key, keyOf } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import { Controller, type ControllerOptions } from '#operator/kube/controller.ts';
import { EventTeller } from '#operator/kube/events.ts';
import type { InformerObserver } from '#operator/kube/informer.ts';
import type { ApprovalRecord } from '#operator/kube/records.ts';
import { rotate, watchRotations } from '#operator/rotation/rotate.ts';
import { RevisionAges } from '#operator/session/old-revision.ts';
import { enqueueSessions, sessionReconcile } from '#operator/session/reconcile.ts';
import { type BrokenGuard, GuardWatch } from './guard-watch.ts';
import { logFields } from './log-fields.ts';
import type { OpenAudit } from './open-audit.ts';
import { WebhookTrust } from './webhook-trust.ts';

export interface LeadershipMeans {
  readonly transport: ApiTransport;
  /** Fenced by the term. */
  readonly client: KubeClient;
  readonly cluster: Cluster;
  readonly certificates: ServingCertificates;
  readonly settings: GuardSettings;
  readonly replica: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: OperatorMetrics;
  readonly observer: InformerObserver;
  /** Who is told that an approval waits; undefined: nobody. */
  readonly notices: NoticeTarget | undefined;
  readonly audit: Pick<OpenAudit, 'headsObjects'>;
}

export class Leadership {
  readonly #means: LeadershipMeans;
  readonly #controllers: Controller[] = [];
  readonly #stops: (() => void | Promise<void>)[] = [];
  readonly #reviewer: AccessReviewer;
  readonly #rbac = emptyRbac();
  readonly #exposure: ExposureReport;
  readonly #events: EventTeller;
  readonly #contracts: Controller;
  readonly #trust: WebhookTrust;
  readonly #guards: GuardWatch;
  readonly #over = new AbortController();

  constructor(means: LeadershipMeans) {
    const { client, cluster, clock, log, replica } = means;
    this.#means = means;
    this.#events = new EventTeller({ client, replica, clock });
    this.#trust = new WebhookTrust({ ...means, events: this.#events });
    this.#guards = new GuardWatch(means);
    this.#exposure = new ExposureReport({ client, cluster, clock, events: this.#events });
    this.#reviewer = new AccessReviewer({
      client,
      clock,
      callerOf: (key) => callerOf(key, cluster, this.#rbac),
      onVerdict: (account) => {
        for (const key of callersContracts(account, cluster)) this.#contracts.enqueue(key);
      },
      onFailed: (account, error) => log.warn('the rights of a caller could not be reviewed', logFields(account), error),
    });
    this.#contracts = this.#addContracts();
    this.#addBindings();
    this.#addSessions();
    this.#addStreams();
    this.#addRotation();
    this.#addExposure();
    this.#addApprovals();
  }

  start(term: AbortSignal): void {
    const { transport, clock, observer, audit } = this.#means;
    const rbac = this.#rbac;
    this.#stops.push(watchGrants(rbac, (subjects) => this.#reviewer.note(subjects)));
    this.#stops.push(startRbacInformers({ transport, rbac, clock, observer }));
    this.#reviewer.start();
    for (const controller of this.#controllers) controller.start();
    const signal = AbortSignal.any([term, this.#over.signal]);
    const running = Promise.all([this.#trust.run(signal), this.#guards.run(signal), audit.headsObjects()?.run(signal)]);
    this.#stops.push(async () => void (await running));
  }

  /** Resolves when nothing of it runs any more. For the end of the term, or before the lease is given away. */
  async stop(): Promise<void> {
    this.#over.abort(new Error('the leader stops'));
    for (const stop of this.#stops.reverse()) await stop();
    await Promise.all(this.#controllers.map((controller) => controller.stop()));
    await this.#reviewer.stop();
    await this.#events.settled();
  }

  /** Objects waiting, by controller. */
  queues(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#controllers.map(({ name, length }) => [name, length]));
  }

  unguarded(): Readonly<Record<string, number>> {
    return this.#exposure.counts();
  }

  /** Accounts that get nothing, as `namespace/account`. */
  refusedCallers(): readonly Key[] {
    return this.#reviewer.refused;
  }

  /** By kind of webhook configuration: whether its CA has another writer. */
  contestedTrust(): Readonly<Record<string, boolean>> {
    return this.#trust.contested();
  }

  brokenGuards(): readonly BrokenGuard[] {
    return this.#guards.broken();
  }

  #addContracts(): Controller {
    const { client, cluster, clock, log } = this.#means;
    const reconciler = new ContractReconciler({
      client,
      cluster,
      clock,
      rights: this.#reviewer,
      onFault: (key, thrown) => log.error('the compiler fails on a contract', logFields(key), thrown),
    });
    const controller = this.#add(
      'contracts',
      (key) => reconciler.reconcile(key),
      () => cluster.contracts.keys(),
    );
    const soon = this.#gathering(limits.statusGatherMs, controller);
    this.#stops.push(watchContracts(cluster, { now: (key) => controller.enqueue(key), soon: (key) => soon.note(key) }));
    return controller;
  }

  #addBindings(): void {
    const { client, cluster, clock } = this.#means;
    const controller = this.#add(
      'bindings',
      (key) => reconcileBinding(key, { client, cluster, clock }),
      () => cluster.bindings.keys(),
    );
    const soon = this.#gathering(limits.statusGatherMs, controller);
    this.#stops.push(watchBindings(cluster, { now: (key) => controller.enqueue(key), soon: (key) => soon.note(key) }));
  }

  #addSessions(): void {
    const { client, cluster, clock } = this.#means;
    const ages = new RevisionAges(cluster, clock, (accounts) => {
      for (const account of accounts) later.note(account);
    });
    this.#stops.push(() => ages.stop());
    const reconcile = sessionReconcile({ client, cluster, clock, events: this.#events, revisionAgeMs: (contract) => ages.ageMs(contract) });
    const controller = this.#add('sessions', reconcile, () => cluster.sessions.keys());
    // By then those that took a new revision have said so.
    const later = new Gathering(clock, limits.sessionBehindMs, (account) => {
      for (const session of cluster.sessions.by('account', account)) controller.enqueue(keyOf(session));
    });
    this.#stops.push(() => later.stop());
    this.#stops.push(enqueueSessions(cluster, (key) => controller.enqueue(key)));
  }

  #addStreams(): void {
    const { client, cluster, clock, settings, replica } = this.#means;
    const means = { client, cluster, clock, namespace: settings.namespace, replica };
    const controller = this.#add(
      'streams',
      (key) => endLostStream(key, means),
      () => cluster.sessions.keys(),
    );
    this.#stops.push(watchLostStreams(means, (key) => controller.enqueue(key)));
  }

  #addRotation(): void {
    const { client, cluster, log, metrics } = this.#means;
    const onRotated = (outcome: 'announced' | 'failed', pods: number) => {
      metrics.rotated(outcome);
      log.info('a new value of a Secret was announced', { status: outcome, count: pods });
    };
    const controller = this.#add(
      'rotations',
      async (key) => {
        await rotate(key, { client, cluster, onRotated });
        return undefined;
      },
      () => cluster.bindings.keys(),
    );
    this.#stops.push(watchRotations(cluster, (key) => controller.enqueue(key)));
  }

  #addExposure(): void {
    const { cluster } = this.#means;
    const controller = this.#add(
      'exposure',
      (name) => this.#exposure.reconcile(name),
      () => cluster.namespaces.keys(),
    );
    const soon = this.#gathering(limits.exposureGatherMs, controller);
    this.#stops.push(watchExposure(cluster, (name) => soon.note(name)));
  }

  #addApprovals(): void {
    const { client, cluster, clock, log, metrics, transport, notices: target } = this.#means;
    const onNotice = (outcome: 'sent' | 'failed', status: number) => {
      metrics.noticed(outcome);
      if (outcome !== 'sent') log.warn('the approval webhook was not told of an approval', { reason: outcome, status: String(status) });
    };
    const notices = target === undefined ? undefined : new Notices({ target, clock, onNotice });
    if (notices !== undefined) this.#stops.push(() => notices.stop());
    const means = {
      client,
      cluster,
      clock,
      events: this.#events,
      serverNowMs: () => transport.serverNowMs?.() ?? clock.wallMs(),
      onWaiting: (approval: ApprovalRecord) => notices?.offer(approval),
      onBecame: (state: string, purpose: string) => metrics.approvalBecame(purpose.toLowerCase(), state.toLowerCase()),
    };
    const controller = this.#add(
      'approvals',
      (key) => reconcileApproval(key, means),
      () => cluster.approvals.keys(),
    );
    this.#stops.push(watchApprovals(cluster, (key) => controller.enqueue(key)));
  }

  #gathering(ms: number, controller: Controller): Gathering {
    const gathering = new Gathering(this.#means.clock, ms, (key) => controller.enqueue(key));
    this.#stops.push(() => gathering.stop());
    return gathering;
  }

  #add(name: string, reconcile: ControllerOptions['reconcile'], keys: ControllerOptions['keys']): Controller {
    const { clock, log, metrics } = this.#means;
    const controller = new Controller({
      name,
      reconcile,
      keys,
      clock,
      observer: {
        reconciled: (controllerName, outcome, durationMs) => metrics.reconciled(controllerName, outcome, durationMs),
        failed: (component, key, error, failures) =>
          log.warn('an object could not be looked at; it is tried again', { component, ...logFields(key), count: failures }, error),
      },
    });
    this.#controllers.push(controller);
    return controller;
  }
}
