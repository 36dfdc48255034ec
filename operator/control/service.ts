/**
 * The control service of one replica: who may have a stream, which session it belongs to, and which streams a change concerns.
 *
 *   token, pod, guard -> Hello -> session found or made -> held, or a duplicate -> Welcome -> Bundle -> ...
 *
 * Everything a stream tells comes from this replica's caches, so that a revocation reaches the streams of every replica at once and
 * waits neither for the leader nor for another replica.
 *
 * While the API server is away streams stand and renewals go on, but the lease they grant is counted from its last word: what a sidecar
 * may do without a valid configuration is bounded by the one lease, whether the operator is cut off from the sidecar or from the API
 * server (failure case OPR-24).
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { BidiHandler, StreamContext } from '#core/runtime/grpc-call.ts';
import { AUDIT_SINCE, EFFECTS_SINCE } from '#core/wire/control-protocol.ts';
import { ControlRefusal, type ControlRefusalCode } from '#core/wire/control-refusal.ts';
import type { RefusedBecause } from '#operator/approval/refusal.ts';
import { type Change, type Key, keyOf } from '#operator/kube/cache.ts';
import type { KubeClient } from '#operator/kube/client.ts';
import type { Cluster } from '#operator/kube/cluster.ts';
import type { ApprovalRecord, PodObject, SessionRecord } from '#operator/kube/records.ts';
import type { ConnectRequest, Hello } from '#proto/postern/control/v1/control_pb.ts';
import { type AuditOptions, auditMeans } from './audit-means.ts';
import { Authenticator, type Identity } from './authenticate.ts';
import { BundleStore } from './bundle-store.ts';
import { ByteBudget } from './byte-budget.ts';
import { effectMeans, sessionsConcerned } from './effect-means.ts';
import { chooseProtocol, helloIn } from './protocol.ts';
import { SessionHold } from './session-hold.ts';
import { sessionOf } from './session-object.ts';
import { disconnected, streamStatusOf } from './session-status.ts';
import type { StateVerdict } from './state-verdict.ts';
import { StatusQueue } from './status-queue.ts';
import { ControlStream, type Send, type StreamMeans } from './stream.ts';
import { refusalOf, replaced, sessionEnded } from './stream-end.ts';

/** For metrics and the log. MUST not throw. */
export interface ControlObserver {
  /** Before the welcome, or by its end; `LEFT` is a sidecar that went by itself. */
  ended?(code: ControlRefusalCode | 'LEFT', welcomed: boolean): void;
  /** From the change that made a bundle to its acknowledgement. */
  pushed?(durationMs: number): void;
  writeFailed?(session: Key, error: unknown): void;
  duplicate?(session: Key): void;
  /** A question or an intent was refused. */
  effectRefused?(what: 'question' | 'intent', because: RefusedBecause): void;
}

export interface ControlOptions {
  readonly kube: Pick<KubeClient, 'get' | 'create' | 'apply' | 'patch' | 'delete'>;
  readonly cluster: Cluster;
  readonly clock: Clock;
  /** Name of this replica. */
  readonly replica: string;
  readonly leaseMs: number;
  /** Why a pod may hold no credentials; undefined when it may. */
  judge(pod: PodObject): string | undefined;
  /** What a session may do by the caches of this replica; `acknowledged`: a bundle was, on its stream. */
  stateOf(session: SessionRecord, acknowledged: boolean): StateVerdict;
  /** Unix time in milliseconds by the clock of the API server; default this replica's. */
  readonly serverNowMs?: () => number;
  /** The greatest age of the caches a bundle is made of; infinite while one was never filled. */
  cacheAgeMs(): number;
  /** Between 0 and 1. Default Math.random. */
  readonly random?: () => number;
  readonly observer?: ControlObserver;
  /** Absent: this operator knows no audit. */
  readonly audit?: AuditOptions;
}

type Handler = BidiHandler<ConnectRequest, Parameters<Send>[0] & object>;

export class ControlService {
  readonly #options: ControlOptions;
  readonly #authenticator: Authenticator;
  readonly #means: StreamMeans;
  readonly #streams = new Map<Key, ControlStream>();
  readonly #stops: readonly (() => void)[];
  #draining = false;

  constructor(options: ControlOptions) {
    const { cluster, clock, observer } = options;
    this.#options = options;
    this.#authenticator = new Authenticator(options);
    const { controlWritesPerSecond: perSecond, controlWritesAtOnceMax: atOnceMax } = limits;
    this.#means = {
      clock,
      bundles: new BundleStore(cluster, clock),
      budget: new ByteBudget(limits.controlPushBytesMax),
      writes: new StatusQueue({ clock, perSecond, atOnceMax }),
      effects: effectMeans(options),
      audit: options.audit === undefined ? undefined : auditMeans(options.audit),
      stateOf: options.stateOf,
      leaseMs: () => this.#leaseMs(),
      onPushed: (durationMs) => observer?.pushed?.(durationMs),
      onWriteFailed: (session, error) => observer?.writeFailed?.(keyOf(session), error),
    };
    this.#stops = [
      cluster.sessions.onChange((change) => {
        const stream = this.#streams.get(change.key);
        if (stream === undefined || stream.session.uid !== ('now' in change ? change.now : change.was).uid) return;
        if (change.kind === 'deleted') stream.end(new ControlRefusal('NOT_READY', 'The AgentSession was deleted; connect again.'));
        else stream.look(change.now);
      }),
      // Labels of namespaces hardly ever change, and a stream that has nothing to tell goes on waiting.
      cluster.namespaces.onChange(() => {
        for (const stream of this.#streams.values()) stream.touch();
      }),
      cluster.pods.onChange((change) => {
        if (change.kind === 'deleted') this.#podGone(change.was.uid);
      }),
      cluster.approvals.onChange((change) => this.#approvalChanged(change)),
    ];
  }

  /** Streams that were welcomed and stand. */
  get open(): number {
    return this.#streams.size;
  }

  /** Status writes that wait. */
  get waitingWrites(): number {
    return this.#means.writes.length;
  }

  /** The method of the service `postern.control.v1.ControlService`. */
  readonly connect: Handler = async (messages, send, context) => {
    let welcomed = false;
    try {
      const reader = messages[Symbol.asyncIterator]();
      const opened = await this.#open(reader, context);
      welcomed = true;
      await this.#serve(opened, reader, send, context);
      this.#options.observer?.ended?.('LEFT', true);
    } catch (thrown) {
      const error = context.signal.aborted ? undefined : refusalOf(thrown);
      this.#options.observer?.ended?.(error instanceof ControlRefusal ? error.code : 'LEFT', welcomed);
      throw error ?? thrown;
    }
  };

  /** Takes no stream any more and ends those that stand, one after the other over limits.controlDrainMs; resolves when none is left. */
  async drain(): Promise<void> {
    this.#draining = true;
    const { clock, random = Math.random } = this.#options;
    const ends = [...this.#streams.values()].map(async (stream) => {
      await clock.sleep(random() * limits.controlDrainMs);
      await stream.audit?.handOver();
      stream.end(new ControlRefusal('DRAINING', 'This replica stops; connect to another one.'));
    });
    await Promise.all(ends);
    const lastMs = clock.monotonicMs() + limits.controlSendMsMax;
    while (this.#streams.size > 0 && clock.monotonicMs() < lastMs) await clock.sleep(10);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
    this.#means.bundles.stop();
  }

  /** To the one who asked; what a person found out, to every stream of the account. */
  #approvalChanged(change: Change<ApprovalRecord>): void {
    const approval = 'now' in change ? change.now : change.was;
    for (const session of sessionsConcerned(this.#options.cluster, approval)) {
      const effects = this.#streams.get(session)?.effects;
      if (change.kind === 'deleted') effects?.gone(approval);
      else effects?.changed(approval);
    }
  }

  async #open(reader: AsyncIterator<ConnectRequest>, context: StreamContext): Promise<Opened> {
    this.#ready();
    const identity = await this.#authenticator.authenticate(context.authorization, context.peer);
    const hello = helloIn(await this.#first(reader));
    const session = await sessionOf(this.#options.kube, this.#options.cluster, identity);
    const { kube, clock, replica } = this.#options;
    const hold = new SessionHold({ kube, clock, replica, stream: context.requestId }, session);
    const protocol = chooseProtocol(hello);
    if (protocol instanceof ControlRefusal) {
      await this.#tellVersion(hold, hello, protocol);
      throw protocol;
    }
    await this.#claim(hold, hello, context);
    this.#ready();
    return { identity, hold, protocol };
  }

  async #claim(hold: SessionHold, hello: Hello, context: StreamContext): Promise<void> {
    const claim = await hold.claim(hello.instance, hello.version);
    if (claim === 'held') return;
    if (claim === 'gone') throw new ControlRefusal('NOT_READY', 'The AgentSession was deleted; connect again.');
    const refusal = new ControlRefusal(
      'DUPLICATE_SIDECAR',
      'This pod has a sidecar already; the session is suspended until a person looks.',
    );
    this.#authenticator.refused(context.peer);
    this.#options.observer?.duplicate?.(keyOf(hold.session));
    // The cache will say it too; the stream that stands here need not wait for it.
    this.#streams.get(keyOf(hold.session))?.look(hold.session);
    throw refusal;
  }

  /** Where a person can see it: a sidecar that is refused looks like one that is not there. */
  async #tellVersion(hold: SessionHold, { version }: Hello, { code, message }: ControlRefusal): Promise<void> {
    const reason = code === 'SIDECAR_TOO_OLD' ? 'SidecarTooOld' : 'SidecarTooNew';
    hold.change((_, nowMs) => disconnected({ ...streamStatusOf(hold.session.status), version }, reason, message, nowMs));
    await hold.write();
  }

  async #serve(
    { identity, hold, protocol }: Opened,
    reader: AsyncIterator<ConnectRequest>,
    send: Send,
    context: StreamContext,
  ): Promise<void> {
    const { namespace, name } = hold.session;
    const key = keyOf(hold.session);
    const stream = new ControlStream(this.#means, hold, send, context.signal);
    this.#streams.get(key)?.end(replaced());
    this.#streams.set(key, stream);
    const account = keyOf({ namespace, name: hold.session.spec.serviceAccount });
    if (protocol >= EFFECTS_SINCE) stream.speakOfEffects(this.#options.cluster.approvals.by('account', account));
    stream.speakOfAudit(protocol >= AUDIT_SINCE);
    const known = this.#options.cluster.sessions.get(key);
    if (known !== undefined) stream.look(known);
    const cancel = this.#proveAgain(stream, identity.expiresMs);
    const heartbeatMs = BigInt(limits.controlHeartbeatMs);
    try {
      await stream.run(reader, { message: { case: 'welcome', value: { session: name, namespace, protocol, heartbeatMs } } });
    } finally {
      cancel();
      if (this.#streams.get(key) === stream) {
        this.#streams.delete(key);
        if (!this.#draining) this.#release(hold);
      }
    }
  }

  /** A stream lives no longer than the token it was opened with, and the pod is judged again when it comes back. */
  #proveAgain(stream: ControlStream, expiresMs: number): () => void {
    const { clock, random = Math.random } = this.#options;
    const restMs = Math.min(expiresMs - clock.wallMs(), limits.controlProofMsMax);
    // Pods that started together must not come back together; the kubelet has renewed a token long before nine tenths of its life.
    return clock.alarm(restMs * (0.9 + 0.1 * random()), () =>
      stream.end(new ControlRefusal('TOKEN_EXPIRED', 'The token of this stream expires; connect again with the present one.')),
    );
  }

  #release(hold: SessionHold): void {
    this.#means.writes.request(() =>
      hold
        .release('StreamClosed', 'The sidecar has no stream to the operator.')
        .catch((error: unknown) => this.#options.observer?.writeFailed?.(keyOf(hold.session), error)),
    );
  }

  async #first(reader: AsyncIterator<ConnectRequest>): Promise<ConnectRequest | undefined> {
    const { promise, reject } = Promise.withResolvers<never>();
    const cancel = this.#options.clock.alarm(limits.controlHelloMsMax, () =>
      reject(new ControlRefusal('PROTOCOL_BROKEN', `Send Hello within ${limits.controlHelloMsMax} ms.`)),
    );
    try {
      const first = await Promise.race([reader.next(), promise]);
      return first.done === true ? undefined : first.value;
    } finally {
      cancel();
    }
  }

  #ready(): void {
    if (this.#draining) throw new ControlRefusal('DRAINING', 'This replica stops; connect to another one.');
    if (this.#options.cacheAgeMs() > limits.controlStaleMs)
      throw new ControlRefusal('NOT_READY', 'This replica does not know the cluster as it is now; connect to another one.');
    if (this.#streams.size >= limits.controlStreamsMax)
      throw new ControlRefusal('TOO_MANY', `This replica has ${limits.controlStreamsMax} streams; connect to another one.`);
  }

  #leaseMs(): number {
    const ageMs = this.#options.cacheAgeMs();
    return Math.max(0, Math.round(this.#options.leaseMs - (ageMs > limits.controlStaleMs ? ageMs : 0)));
  }

  #podGone(uid: string): void {
    for (const { namespace, name } of this.#options.cluster.sessions.by('pod', uid))
      this.#streams.get(keyOf({ namespace, name }))?.end(sessionEnded(), { state: 'Ended', because: 'Its pod has ended.' });
  }
}

interface Opened {
  readonly identity: Identity;
  readonly hold: SessionHold;
  readonly protocol: number;
}
