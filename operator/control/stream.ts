/**
 * One sidecar's stream, from its welcome to its end. What it must be told is not queued: there are marks - the state differs, a bundle
 * is wanted, a renewal is due - and when the peer takes a message, the newest is made. So a slow reader costs one message, and a change
 * that was overtaken is never sent.
 *
 * The state goes before everything: a revocation does not wait for a bundle that waits for room.
 */
import { isDeepStrictEqual } from 'node:util';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { limits } from '#core/bounds/limits.ts';
import { Rate } from '#core/bounds/rate.ts';
import { ControlRefusal } from '#core/wire/control-refusal.ts';
import type { ApprovalRecord, SessionRecord } from '#operator/kube/records.ts';
import type { Ack, ConnectRequest, ConnectResponseSchema, SessionState } from '#proto/postern/control/v1/control_pb.ts';
import type { AuditExchange } from './audit-exchange.ts';
import { bundleMessage } from './bundle.ts';
import type { BundleStore, StoredBundle } from './bundle-store.ts';
import type { ByteBudget } from './byte-budget.ts';
import type { EffectExchange } from './effect-exchange.ts';
import { Exchanges, type ExchangesMeans } from './exchanges.ts';
import type { SessionHold } from './session-hold.ts';
import { type ReporterMeans, SessionReporter } from './session-reporter.ts';
import { acknowledged, bundleSize, conditionOf, credentialsReported, warningsReported } from './session-status.ts';
import { type StateVerdict, sameState, sessionStateOf } from './state-verdict.ts';
import { replaced, sessionEnded } from './stream-end.ts';

export interface StreamMeans extends ReporterMeans, ExchangesMeans {
  readonly bundles: BundleStore;
  readonly budget: ByteBudget;
  /** What the session may do, by the caches of this replica. `acknowledged`: a bundle was, on this stream. */
  stateOf(session: SessionRecord, acknowledged: boolean): StateVerdict;
  /** How long a sidecar may act from now without another word. */
  leaseMs(): number;
  /** From the change that made a bundle to its acknowledgement. */
  onPushed(durationMs: number): void;
}

type Response = MessageInitShape<typeof ConnectResponseSchema>;
export type Send = (message: Response | Uint8Array) => Promise<void>;

interface Push {
  readonly bundle: StoredBundle;
  readonly sentMs: number;
}

export class ControlStream {
  readonly #means: StreamMeans;
  readonly #hold: SessionHold;
  readonly #send: Send;
  readonly #signal: AbortSignal;
  readonly #rate: Rate;
  readonly #reporter: SessionReporter;
  readonly #startedMs: number;
  readonly #duplicateAtStart: unknown;
  readonly #watch: ReturnType<BundleStore['watch']>;
  readonly #exchanges: Exchanges;
  #told: SessionState | undefined;
  #wanted = true;
  #pushing = false;
  /** The last bundle sent, and whether its acknowledgement is waited for. */
  #pushed: Push | undefined;
  #unacknowledged = false;
  #acknowledged = false;
  #renewAtMs = 0;
  #end: Error | 'closed' | undefined;
  #last: StateVerdict | undefined;
  #wake: () => void = () => undefined;

  constructor(means: StreamMeans, hold: SessionHold, send: Send, signal: AbortSignal) {
    this.#means = means;
    this.#hold = hold;
    this.#send = send;
    this.#signal = signal;
    this.#rate = new Rate(means.clock, limits.controlMessagesBurst, limits.controlMessagesPerSecond);
    this.#reporter = new SessionReporter(means, hold, (refusal) => this.end(refusal));
    const own = this;
    this.#exchanges = new Exchanges(means, {
      get session() {
        return own.session;
      },
      state: () => this.#verdict().state,
      wake: () => this.#wake(),
    });
    this.#startedMs = means.clock.monotonicMs();
    this.#duplicateAtStart = conditionOf(hold.session.status, 'DuplicateSidecar');
    const { namespace, spec } = hold.session;
    this.#watch = means.bundles.watch(namespace, spec.serviceAccount, () => this.#want());
  }

  get session(): SessionRecord {
    return this.#hold.session;
  }

  /** `approvals`: of its account, as known now. */
  speakOfEffects(approvals: Iterable<ApprovalRecord>): EffectExchange {
    return this.#exchanges.speakOfEffects(approvals);
  }

  get effects(): EffectExchange | undefined {
    return this.#exchanges.effects;
  }

  speakOfAudit(speaks: boolean): void {
    this.#exchanges.speakOfAudit(speaks, this.#hold, this.#reporter);
  }

  get audit(): AuditExchange | undefined {
    return this.#exchanges.audit;
  }

  /** Until the peer leaves or `end` is called; then throws what it was called with. */
  async run(messages: AsyncIterator<ConnectRequest>, welcome: Response): Promise<void> {
    const wake = () => this.#wake();
    this.#signal.addEventListener('abort', wake);
    try {
      await this.#deliver(welcome);
      void this.#read(messages);
      this.#reporter.start();
      while (!this.#signal.aborted && (await this.#step())) {
        // Each step sends one message, or waits until there is one.
      }
    } finally {
      this.#signal.removeEventListener('abort', wake);
      this.#reporter.stop();
      this.#exchanges.stop();
      this.#watch.stop();
    }
  }

  /** Ends it soon, after the peer was told `last`. The first call counts. */
  end(refusal: Error, last?: StateVerdict): void {
    this.#last ??= last;
    this.#end ??= refusal;
    this.#wake();
  }

  /** What it tells may be another now: its session, its namespace or time has changed. */
  touch(): void {
    this.#wake();
  }

  /** The session as the cache has it now. */
  look(session: SessionRecord): void {
    this.#hold.look(session);
    const { status } = this.#hold.session;
    const duplicate = conditionOf(status, 'DuplicateSidecar');
    if (this.#hold.lost) this.end(replaced());
    else if (status?.state === 'Ended') this.end(sessionEnded(), { state: 'Ended', because: status.because });
    else if (duplicate?.status === 'True' && !isDeepStrictEqual(duplicate, this.#duplicateAtStart))
      this.end(new ControlRefusal('DUPLICATE_SIDECAR', 'A second sidecar connected for this pod; the session is suspended.'));
    this.#wake();
  }

  #want(): void {
    this.#wanted = true;
    this.#wake();
  }

  /** False when there is nothing more to do. */
  async #step(): Promise<boolean> {
    const nowMs = this.#means.clock.monotonicMs();
    const state = this.#state();
    // The first bundle brings the state with it.
    if (this.#told !== undefined && !sameState(this.#told, state)) {
      this.#told = state;
      await this.#deliver({ message: { case: 'session', value: state } });
      return true;
    }
    if (this.#end !== undefined) {
      if (this.#end === 'closed') return false;
      throw this.#end;
    }
    const message = this.#exchanges.next();
    if (message !== undefined) {
      await this.#deliver({ message });
      return true;
    }
    if (this.#wanted && !this.#pushing && this.#mayPush(nowMs)) {
      this.#pushing = true;
      void this.#push();
      return true;
    }
    if (this.#pushed !== undefined && nowMs >= this.#renewAtMs) {
      this.#renewAtMs = nowMs + limits.controlHeartbeatMs;
      await this.#deliver({ message: { case: 'renewal', value: { leaseMs: BigInt(this.#means.leaseMs()) } } });
      return true;
    }
    await this.#idle(nowMs);
    return true;
  }

  #state(): SessionState {
    return sessionStateOf(this.#verdict());
  }

  #verdict(): StateVerdict {
    return this.#last ?? this.#means.stateOf(this.#hold.session, this.#acknowledged);
  }

  #mayPush(nowMs: number): boolean {
    return !this.#unacknowledged || nowMs - (this.#pushed?.sentMs ?? 0) >= limits.controlAckMsMax;
  }

  /** Waits for room, then sends what is the newest then. */
  async #push(): Promise<void> {
    const { budget, clock } = this.#means;
    try {
      await budget.use(this.#watch.current().content.encoded.length, this.#signal, async () => {
        const bundle = this.#watch.current();
        this.#wanted = false;
        const sentMs = clock.monotonicMs();
        this.#reporter.change((status, nowMs) => bundleSize(status, bundle.content.leftOut, nowMs));
        if (bundle.content.revision === this.#pushed?.bundle.content.revision) return;
        this.#pushed = { bundle, sentMs };
        this.#unacknowledged = true;
        this.#told = this.#state();
        this.#renewAtMs = sentMs + limits.controlHeartbeatMs;
        await this.#deliver(bundleMessage(bundle.content, this.#told, this.#means.leaseMs()));
      });
    } catch (thrown) {
      this.end(thrown instanceof Error ? thrown : new TypeError('a push failed'));
    }
    this.#pushing = false;
    this.#wake();
  }

  /** A peer that takes nothing is given up: what it does not take is held in memory. */
  async #deliver(message: Response | Uint8Array): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const refusal = () => reject(new ControlRefusal('READER_TOO_SLOW', 'A message was not read in time; connect again.'));
    const cancel = this.#means.clock.alarm(limits.controlSendMsMax, refusal);
    try {
      await Promise.race([this.#send(message), promise]);
    } finally {
      cancel();
    }
  }

  #idle(nowMs: number): Promise<void> {
    const renewInMs = this.#pushed === undefined ? limits.controlHeartbeatMs : this.#renewAtMs - nowMs;
    const pushInMs = this.#wanted && !this.#pushing ? (this.#pushed?.sentMs ?? nowMs) + limits.controlAckMsMax - nowMs : renewInMs;
    return new Promise((resolve) => {
      const cancel = this.#means.clock.alarm(Math.max(1, Math.min(renewInMs, pushInMs)), resolve);
      this.#wake = () => {
        cancel();
        resolve();
      };
    });
  }

  /** Never rejects. */
  async #read(messages: AsyncIterator<ConnectRequest>): Promise<void> {
    try {
      for (let next = await messages.next(); next.done !== true; next = await messages.next()) {
        this.#take(next.value);
      }
      this.#end ??= 'closed';
    } catch (thrown) {
      this.#end ??= thrown instanceof Error ? thrown : new TypeError('a message could not be read');
    }
    this.#wake();
  }

  #take({ message }: ConnectRequest): void {
    if (this.#exchanges.take(message)) return;
    if (!this.#rate.take()) throw new ControlRefusal('TOO_MANY', 'Too many messages; send what changed, when it changed.');
    if (message.case === 'ack') this.#takeAck(message.value);
    else if (message.case === 'credentials') this.#reporter.change((status) => credentialsReported(status, message.value));
    else if (message.case === 'warnings') this.#reporter.change((status) => warningsReported(status, message.value));
    else throw new ControlRefusal('PROTOCOL_BROKEN', 'A message of this kind does not come here.');
  }

  /** Of a bundle that was overtaken an acknowledgement says nothing any more. */
  #takeAck(ack: Ack): void {
    const pushed = this.#pushed;
    if (pushed === undefined || ack.bundleRevision !== pushed.bundle.content.revision) return;
    const { clock, onPushed } = this.#means;
    if (this.#unacknowledged) onPushed(clock.monotonicMs() - Math.max(pushed.bundle.seenMs, this.#startedMs));
    this.#unacknowledged = false;
    this.#acknowledged = true;
    this.#reporter.change((status) => acknowledged(status, ack));
    this.#wake();
  }
}
