/**
 * Composition root of the operator: builds its parts, starts them, stops them in reverse.
 *
 * ```
 * every replica   informers -> caches -> webhooks, control streams
 * the leader      caches -> contracts, bindings, sessions, rotations, exposure, caBundle -> status
 * ```
 * The parts know nothing of each other: what one decides goes into the API server as status and comes back through the caches.
 */
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { disarm, runtimeFacts, runtimeProblems } from '#core/runtime/hostile-runtime.ts';
import { createLog, type Log } from '#core/runtime/log.ts';
import { OperatorMetrics } from '#core/runtime/operator-metrics.ts';
import { type Probes, startProbes } from '#core/runtime/probes.ts';
import { AuthorityError } from '#operator/certificate/authority.ts';
import { ServingCertificates } from '#operator/certificate/serving-certificates.ts';
import { ConnectError, type Environment } from '#operator/kube/api-access.ts';
import { emptyCluster } from '#operator/kube/cluster.ts';
import { type Connection, connectInCluster } from '#operator/kube/connect.ts';
import type { InformerObserver } from '#operator/kube/informer.ts';
import { type Informers, startInformers } from '#operator/kube/informers.ts';
import { startAdmission } from './admission.ts';
import { startControl } from './control-port.ts';
import { Leader } from './leader.ts';
import { refuseToListen } from './listen-refusal.ts';
import { noticeTarget } from './notice-target.ts';
import { openAudit } from './open-audit.ts';
import { OwnRelease } from './own-release.ts';
import { objectReadings } from './readings.ts';
import type { ReplicaMeans } from './replica-means.ts';
import type { OperatorSettings } from './settings.ts';
import { StartRefused } from './start-refused.ts';

export { StartRefused };

export interface OperatorOptions {
  readonly settings: OperatorSettings;
  readonly version: string;
  readonly connection: Connection;
  /** Names the API server calls it by, beside that of the Service: for webhooks by URL, where there is no pod network. */
  readonly hosts?: readonly string[];
  readonly clock?: Clock;
  /** Of the process; credentials of the audit's store. Default none. */
  readonly env?: Environment;
}

export interface RunningOperator {
  readonly adminPort: number;
  readonly webhookPort: number;
  readonly controlPort: number;
  readonly isLeading: boolean;
  /** Empty when ready; closed words. */
  notReady(): readonly string[];
  /** Gives the lease away, lets streams and admissions end, then resolves. */
  stop(): Promise<void>;
  /** The last line of the log, for a fault nobody caught; the message of `fault` is not written. */
  crashed(fault: unknown): void;
}

/** The operator of a pod. Throws StartRefused for a hostile runtime, an API server it cannot reach, a CA it cannot use, a port it cannot have. */
export async function startInPod(settings: OperatorSettings, version: string, env: Environment): Promise<RunningOperator> {
  const found = runtimeProblems(runtimeFacts(process));
  if (found.length > 0) throw new StartRefused(found.join('\n'), 'Leave these out of the pod: the chart sets none of them.');
  disarm(process);
  const connection = await connectInCluster({ env }).catch((error: unknown) => {
    if (error instanceof ConnectError) throw new StartRefused(error.message, 'Install the operator by its chart.', error);
    throw error;
  });
  return startOperator({ settings, version, connection, env });
}

export async function startOperator({
  settings,
  version,
  connection,
  hosts = [],
  clock = systemClock,
  env = {},
}: OperatorOptions): Promise<RunningOperator> {
  const log = createLog({ level: settings.logLevel });
  const metrics = new OperatorMetrics(clock, version);
  const certificates = await openCertificates(settings, hosts, clock, log);
  const cluster = emptyCluster();
  const audit = await openAudit({ settings, cluster, certificates, clock, log, metrics, env });
  const means: ReplicaMeans = { settings, connection, cluster, certificates, clock, log, metrics, audit };
  const observer = informerObserver(metrics, log);
  let stopping = false;
  await using undo = new AsyncDisposableStack();
  const ended = new AbortController();
  const release = new OwnRelease({ ...means, client: connection.client });
  const running = Promise.all([certificates.run(ended.signal), release.run(ended.signal), audit.run(ended.signal)]);
  undo.defer(async () => {
    ended.abort(new Error('the operator stops'));
    await running;
    await audit.close();
  });

  const late: { informers?: Informers; probes?: Probes } = {};
  undo.defer(async () => {
    await late.informers?.stop();
    await late.probes?.close();
  });
  const isSynced = () => late.informers?.ages().every(({ synced }) => synced) === true;
  const admission = await startAdmission(means, release, () => isSynced() && release.isAllowed);
  undo.defer(() => admission.close());
  const control = await startControl(means, release, () => oldestMs(late.informers));
  undo.defer(() => control.close());
  // After the parts have subscribed to the caches: the first list comes as changes.
  const informers = startInformers({ transport: connection.transport, cluster, clock, observer });
  late.informers = informers;

  const leader = new Leader(means, observer, noticeTarget(settings));
  undo.defer(() => leader.stop());
  const missing = () => [...(isSynced() ? [] : ['caches']), ...(release.isAllowed ? [] : ['guard'])];
  const notReady = () => [...(stopping ? ['stopping'] : []), ...missing(), ...(leader.hasLeader ? [] : ['leader'])];
  const probes = await startProbes({
    host: settings.host,
    port: settings.adminPort,
    notReady,
    notStarted: missing,
    metrics: () => metrics.exposition(),
  }).catch(refuseToListen('POSTERN_ADMIN_PORT', settings.adminPort));
  late.probes = probes;
  // A leader that does not know the cluster yet would take away what the one before granted.
  void informers.synced.then(() => (stopping ? undefined : leader.start()));
  readAtScrape(means, informers, leader, control);
  log.info('serving', { address: `${settings.host}:${control.port}`, admin_address: `${settings.host}:${probes.port}`, version });
  const parts = undo.move();
  return {
    adminPort: probes.port,
    webhookPort: admission.port,
    controlPort: control.port,
    get isLeading() {
      return leader.isLeading;
    },
    notReady,
    stop: async () => {
      stopping = true;
      log.info('stopping', { count: control.open });
      await parts.disposeAsync();
      await connection.close();
      log.info('stopped');
      log.flush();
    },
    crashed: (fault) => {
      log.error('a fault of its own ends the operator', {}, fault);
      log.flush();
    },
  };
}

async function openCertificates(
  settings: OperatorSettings,
  others: readonly string[],
  clock: Clock,
  log: Log,
): Promise<ServingCertificates> {
  const { authority: folder, service, namespace } = settings;
  try {
    const hosts = [`${service}.${namespace}.svc`, ...others];
    return await ServingCertificates.open({ folder, hosts, clock, onProblem: () => log.error('the mounted CA cannot be used') });
  } catch (error) {
    if (!(error instanceof AuthorityError)) throw error;
    throw new StartRefused(error.message, `Mount the Secret postern-authority at ${folder}; "postern authority create" makes it.`, error);
  }
}

function informerObserver(metrics: OperatorMetrics, log: Log): InformerObserver {
  return {
    relisted: (kind, cause) => metrics.relisted(kind, cause),
    missed: (kind, count) => log.warn('a list found what no watch had told', { object: kind, count }),
    unreadable: (kind) => log.warn('an object or a line of a watch could not be read', { object: kind }),
    failed: (kind, error) => log.warn('a watch failed; it is tried again', { object: kind, reason: error.reason }),
  };
}

/** Milliseconds since the quietest cache heard of its kind. */
function oldestMs(informers: Informers | undefined): number {
  return Math.max(...(informers?.ages() ?? []).map(({ ageSeconds }) => ageSeconds * 1000), informers === undefined ? Infinity : 0);
}

function readAtScrape(
  { metrics, cluster, certificates, clock, audit }: ReplicaMeans,
  informers: Informers,
  leader: Leader,
  control: { open: number },
): void {
  metrics.read({
    leading: () => leader.isLeading,
    informers: () => informers.ages().map((state) => ({ ...state, ageSeconds: Math.min(state.ageSeconds, Number.MAX_SAFE_INTEGER) })),
    queues: () => leader.term?.queues() ?? {},
    streams: () => control.open,
    unguarded: () => leader.term?.unguarded() ?? {},
    refusedCallers: () =>
      (leader.term?.refusedCallers() ?? []).map((key) => ({
        namespace: key.slice(0, key.indexOf('/')),
        account: key.slice(key.indexOf('/') + 1),
      })),
    certificates: () => certificates.expiriesMs(),
    contestedTrust: () => leader.term?.contestedTrust() ?? {},
    brokenGuards: () => leader.term?.brokenGuards() ?? [],
    headsWrittenMs: () => (leader.isLeading ? audit.headsWrittenMs : undefined),
    ...(audit.options.watch === undefined ? {} : { auditStore: () => audit.options.watch ?? { state: 'unprobed', warnings: [] } }),
    ...objectReadings(
      cluster,
      () => leader.isLeading,
      () => clock.wallMs(),
    ),
  });
}
