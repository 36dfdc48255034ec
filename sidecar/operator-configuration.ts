/**
 * The configuration of a sidecar in a cluster: what comes down the control stream is compiled, swapped in whole, kept on disk and
 * acknowledged; what a restart left is served at once.
 *
 * Bundles are compiled one after the other, the newest next; meanwhile the one before is served, and revocations and suspensions of the
 * session overtake the compiler.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Log } from '#core/runtime/log.ts';
import type { SidecarMetrics } from '#core/runtime/metrics.ts';
import { type Bundle as BundleMessage, CredentialState, State } from '#proto/postern/control/v1/control_pb.ts';
import type { Bundle } from '#sidecar/call/bundle.ts';
import { SessionStanding } from '#sidecar/call/standing.ts';
import { compileServed, type ServedBundle } from '#sidecar/compile-bundle.ts';
import type { Configuration } from '#sidecar/configuration.ts';
import { objectsOf } from '#sidecar/control/bundle-objects.ts';
import type { ControlSettings } from '#sidecar/control/control-settings.ts';
import type { KeptBundle } from '#sidecar/control/kept-bundle.ts';
import { systemBootClock } from '#sidecar/control/lease.ts';
import { ControlLink } from '#sidecar/control/link.ts';
import { OperatorAudit } from '#sidecar/control/operator-audit.ts';
import { type Keeper, OperatorDecider } from '#sidecar/control/operator-decider.ts';
import { Reports, reportedWarning } from '#sidecar/control/reports.ts';
import type { Session } from '#sidecar/control/session.ts';
import { ControlState } from '#sidecar/control/state.ts';
import type { OperatorMessage } from '#sidecar/control/stream.ts';
import type { StreamEnd } from '#sidecar/control/stream-end.ts';
import type { CredentialStore } from '#sidecar/credential/store.ts';
import { CredentialReporter, type IdentifiedBinding } from '#sidecar/credential-report.ts';
import type { RemotesMeans } from '#sidecar/execute/open-remotes.ts';
import { bundleEvent, type SessionEvents } from '#sidecar/session-events.ts';

export interface OperatorMeans {
  readonly control: ControlSettings;
  readonly version: string;
  readonly instance: string;
  /** Undefined where nothing can be kept. */
  readonly kept: KeptBundle | undefined;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: SidecarMetrics;
  readonly store: CredentialStore;
  readonly remotes: RemotesMeans;
  /** The journal: what must be told to the operator outlives a restart there. Without one nothing is told twice. */
  readonly keeper?: Keeper;
  /** Hears what is served and how the session stands, for the record. */
  readonly events: SessionEvents;
}

interface Served extends ServedBundle {
  readonly revision: string;
  readonly identified: readonly IdentifiedBinding[];
}

interface Arrived {
  readonly message: BundleMessage;
  /** Makes its lease and its session count. */
  readonly count: () => void;
}

const NOTHING_KEPT: Keeper = { keep: () => Promise.resolve(), kept: () => [], get: () => undefined };

export class OperatorConfiguration implements Configuration {
  readonly standing: SessionStanding;
  readonly decider: OperatorDecider;
  readonly audit: OperatorAudit;
  readonly #means: OperatorMeans;
  readonly #log: Log;
  readonly #state: ControlState;
  readonly #link: ControlLink;
  readonly #reports: Reports;
  readonly #credentials: CredentialReporter;
  readonly #startedMs: number;
  #served: Served | undefined;
  #arrived: Arrived | undefined;
  #applying: Promise<void> | undefined;
  #kept = false;
  #phase: Session['phase'] = 'Pending';
  /** The newest bundle cannot be served: what is served is what the operator no longer says. */
  #behind = false;

  constructor(means: OperatorMeans) {
    const { clock, metrics } = means;
    this.#means = means;
    this.#log = means.log.child({ component: 'control' });
    this.#startedMs = clock.monotonicMs();
    this.#credentials = new CredentialReporter(means.store, () => clock.wallMs());
    this.standing = new SessionStanding({ facts: () => this.#facts(), bundle: () => this.bundle() });
    this.#state = new ControlState({
      clock: systemBootClock(),
      kept: means.kept,
      onChange: () => this.#changed(),
      onKept: (good, fault) => this.#tellKept(good, fault),
      alarm: (ms, ring) => clock.alarm(ms, ring),
      credentials: () => this.#credentials.kept(),
    });
    this.decider = new OperatorDecider({ clock, keeper: means.keeper ?? NOTHING_KEPT, send: (message) => this.#link.send(message) });
    this.audit = new OperatorAudit({ clock, log: this.#log, send: (message) => this.#link.send(message) });
    this.#link = new ControlLink({
      settings: means.control,
      version: means.version,
      instance: means.instance,
      clock,
      log: this.#log,
      bundleRevision: () => this.#served?.revision ?? '',
      onWelcome: ({ session, namespace, protocol }) => {
        this.#state.welcomed(session, namespace);
        this.decider.welcomed(protocol);
        this.audit.welcomed(protocol);
        if (this.#served !== undefined) this.#acknowledge(this.#served);
        this.#reports.begin();
      },
      onMessage: (message) => this.#heard(message),
      onEnd: (end) => this.#ended(end),
    });
    this.#reports = new Reports({
      clock,
      credentials: () => this.#lookAtCredentials(),
      warnings: () => metrics.activeWarnings().map(reportedWarning),
      send: (message) => this.#link.send(message),
    });
    this.#countAtScrape();
  }

  /** Serves what a process before this one kept, if anything. Never throws. */
  async restore(): Promise<void> {
    const kept = await this.#state.restore();
    if (kept === undefined) return;
    this.#credentials.restore(kept.credentials);
    try {
      await this.#serve(kept.bundle);
      this.#state.serves(kept.bundle);
    } catch (fault) {
      this.#log.error('the kept bundle cannot be served', {}, fault);
    }
  }

  bundle(): Bundle | undefined {
    return this.#served?.bundle;
  }

  notReady(): readonly string[] {
    if (this.#served === undefined) return ['bundle'];
    return this.#state.leaseLeftMs === 0 ? ['lease'] : [];
  }

  notStarted(): readonly string[] {
    const waitedMs = this.#means.clock.monotonicMs() - this.#startedMs;
    return this.#served !== undefined || waitedMs >= limits.startupMsMax ? [] : ['bundle'];
  }

  begin(): void {
    this.#link.start();
  }

  async stop(): Promise<void> {
    await this.#link.stop();
    this.#reports.end();
    await this.#applying;
    await this.#state.stop();
  }

  #facts() {
    const { phase, because } = this.#state.session;
    return { phase, because, leaseOver: this.#state.leaseLeftMs === 0 };
  }

  /** Whoever is stopped here is stopped before the next message is read. */
  #changed(): void {
    this.standing.changed();
    const { phase, because } = this.#state.session;
    if (phase !== this.#phase) {
      this.#log.info('session state changed', { status: phase });
      this.#means.events.tell({ record: 'session', event: 'state', state: phase, ...(because === '' ? {} : { because }) });
    }
    this.#phase = phase;
  }

  #heard(message: OperatorMessage): void {
    switch (message.case) {
      case 'bundle':
        this.#offer(message.value);
        break;
      case 'session':
        this.#state.says(message.value);
        break;
      case 'renewal':
        this.#renew(Number(message.value.leaseMs));
        break;
      default:
        this.decider.heard(message);
        this.audit.heard(message);
    }
  }

  /**
   * A refusal is the operator's word too, and what it says of the session counts. A pod that is refused for what it is keeps its lease:
   * a replica that knows one release less must not end the calls of a cluster.
   */
  #ended(end: StreamEnd): void {
    this.#reports.end();
    this.decider.ended();
    this.audit.ended();
    this.#means.metrics.controlEnded(end);
    if (end === 'DUPLICATE_SIDECAR') this.#state.says({ state: State.SUSPENDED, because: 'Another process of the pod has its session.' });
    if (end === 'SESSION_ENDED') this.#state.says({ state: State.ENDED, because: '' });
  }

  /** A renewal is for the newest bundle: where that cannot be served, the one before it ends with the lease it has. */
  #renew(leaseMs: number): void {
    this.#state.renews(this.#behind ? Math.min(leaseMs, this.#state.leaseLeftMs) : leaseMs);
  }

  #offer(message: BundleMessage): void {
    const count = this.#state.arrives(message);
    if (this.#applying === undefined && this.#served?.revision === message.revision) {
      this.#behind = false;
      count();
      this.#acknowledge(this.#served);
      return;
    }
    this.#arrived = { message, count };
    this.#applying ??= this.#apply();
  }

  /** Never rejects. */
  async #apply(): Promise<void> {
    for (let next = this.#arrived; next !== undefined; next = this.#arrived) {
      this.#arrived = undefined;
      try {
        const served = await this.#serve(next.message);
        this.#behind = false;
        next.count();
        this.#acknowledge(served);
        if (this.#link.connected) this.#reports.look();
      } catch (fault) {
        this.#behind = true;
        this.#log.error('a bundle cannot be served; the one before it is, while its lease lasts', {}, fault);
      }
    }
    this.#applying = undefined;
  }

  async #serve(message: BundleMessage): Promise<Served> {
    const { objects, uids } = objectsOf(message, this.#state.session.namespace);
    const compiled = await compileServed(objects, this.#means.remotes, this.#served?.remotes);
    const served = {
      ...compiled,
      revision: message.revision,
      identified: compiled.bindings.map((binding) => ({ binding, uid: uids.get(binding.name) ?? '' })),
    };
    this.#served = served;
    this.#means.metrics.serve(compiled.bundle.actions().map(({ contract }) => contract));
    this.standing.changed();
    this.#means.events.tell(bundleEvent(compiled.bundle, message.revision));
    this.#log.info('a bundle is served', { revision: message.revision, count: compiled.bundle.actions().length });
    for (const outcome of compiled.outcomes) {
      if ('refused' in outcome)
        this.#log.warn('a contract is refused', { contract: outcome.contract, rule: outcome.refused.replaceAll('-', '_') });
    }
    return served;
  }

  #acknowledge({ revision, outcomes }: Served): void {
    this.#link.send({ case: 'ack', value: { bundleRevision: revision, contracts: [...outcomes] } });
  }

  #lookAtCredentials() {
    return this.#credentials.look(this.#served?.identified ?? []);
  }

  #tellKept(good: boolean, fault?: unknown): void {
    this.#kept = good;
    if (good) this.#log.debug('what the operator said is kept on disk');
    else this.#log.warn('what the operator said cannot be kept on disk; a restart will have to ask again', {}, fault);
  }

  #countAtScrape(): void {
    this.#means.metrics.control(() => {
      const secrets = new Map(this.#served?.bindings.map(({ name, spec }) => [name, spec.secret.name]));
      const outcomes = this.#served?.outcomes ?? [];
      return {
        connected: this.#link.connected,
        leaseMs: this.#state.leaseLeftMs,
        state: this.#state.session.phase,
        kept: this.#kept,
        refused: outcomes.filter((outcome) => 'refused' in outcome).length,
        credentials: this.#lookAtCredentials()
          .filter(({ state }) => state === CredentialState.PRESENT)
          .map(({ binding, key, sinceMs }) => ({ secret: secrets.get(binding) ?? '', key, sinceMs: Number(sinceMs) })),
      };
    });
  }
}
