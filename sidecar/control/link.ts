/**
 * The link to the operator over the life of a sidecar: one stream after the other, each to another replica where there are several.
 * Nothing ends it but `stop`; a sidecar without an operator serves on while its lease lasts.
 */
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { Log } from '#core/runtime/log.ts';
import type { Welcome } from '#proto/postern/control/v1/control_pb.ts';
import { findAuthority, type Peer, type Pin, pinOf } from './authority.ts';
import type { ControlSettings } from './control-settings.ts';
import { Replicas, type Resolve, systemResolve } from './replicas.ts';
import { retryAfterMs } from './retry.ts';
import { type ControlMessage, type OperatorMessage, PROTOCOLS, runStream } from './stream.ts';
import { ControlFault, type OwnEnd, type StreamEnd, streamEndOf } from './stream-end.ts';
import { readToken } from './token.ts';

export interface LinkOptions {
  readonly settings: ControlSettings;
  /** Of this program. */
  readonly version: string;
  /** Tells this sidecar from every other process of the pod, see the protocol. */
  readonly instance: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly resolve?: Resolve;
  readonly random?: () => number;
  /** Revision of the bundle that is served now; empty for none. */
  bundleRevision(): string;
  /** A stream stands: what the operator must know of now is sent by whoever is told here. */
  onWelcome(welcome: Welcome): void;
  /** MUST return at once. */
  onMessage(message: OperatorMessage): void;
  onEnd(end: StreamEnd): void;
}

export class ControlLink {
  readonly #options: LinkOptions;
  readonly #pin: Pin;
  readonly #replicas: Replicas;
  readonly #random: () => number;
  readonly #stop = new AbortController();
  #ca: string | undefined;
  #send: ((message: ControlMessage) => void) | undefined;
  #running: Promise<void> | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#pin = pinOf(options.settings.pin);
    this.#random = options.random ?? Math.random;
    this.#replicas = new Replicas(options.settings.host, options.resolve ?? systemResolve, this.#random);
  }

  /** A stream stands and was welcomed. */
  get connected(): boolean {
    return this.#send !== undefined;
  }

  start(): void {
    this.#running ??= this.#run();
  }

  /** Says it to the operator where a stream stands; else it is forgotten, and said anew at the next welcome by who cares. */
  send(message: ControlMessage): void {
    this.#send?.(message);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  /** Never rejects. */
  async #run(): Promise<void> {
    const { clock, log, onEnd } = this.#options;
    const { signal } = this.#stop;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const startedMs = clock.monotonicMs();
      const { end, fault } = await this.#once(signal);
      this.#send = undefined;
      onEnd(end);
      if (signal.aborted) return;
      const durationMs = Math.round(clock.monotonicMs() - startedMs);
      if (end === 'closed') log.info('control stream ended', { reason: end, duration_ms: durationMs });
      else log.warn('control stream ended', { reason: end, duration_ms: durationMs }, fault);
      if (durationMs >= limits.controlStableMs) failures = 0;
      await clock.sleep(retryAfterMs(failures, this.#random()), signal).catch(() => {
        // Told to stop while waiting; the loop ends.
      });
    }
  }

  async #once(signal: AbortSignal): Promise<{ end: StreamEnd; fault?: unknown }> {
    const { settings, clock, version, instance, log } = this.#options;
    const deadlineMs = clock.monotonicMs() + limits.controlConnectMsMax;
    const left = () => Math.max(1, deadlineMs - clock.monotonicMs());
    let peer: Peer | undefined;
    let welcomed = false;
    try {
      const token = readToken(settings.tokenFile);
      peer = { host: await within(left(), clock, this.#replicas.next(), 'name_unresolved'), port: settings.port };
      this.#ca ??= await this.#authority(peer, left(), signal);
      const hello = { version, instance, protocols: [...PROTOCOLS], bundleRevision: this.#options.bundleRevision() };
      const { serverName } = this.#pin;
      await runStream(
        { peer, ca: this.#ca, serverName, token, hello, clock, signal, connectMs: left() },
        {
          onWelcome: (welcome, send) => {
            welcomed = true;
            this.#send = send;
            log.info('control stream stands', { session: welcome.session, namespace: welcome.namespace });
            this.#options.onWelcome(welcome);
          },
          onMessage: (message) => this.#options.onMessage(message),
        },
      );
      return { end: signal.aborted ? 'stopped' : 'closed' };
    } catch (thrown) {
      const end = streamEndOf(thrown);
      const fault = thrown instanceof ControlFault ? thrown.cause : thrown;
      if (welcomed || end !== 'unreachable' || peer === undefined || this.#ca === undefined) return { end, fault };
      return { end: await this.#diagnosed(peer, signal), fault };
    }
  }

  #authority(peer: Peer, ms: number, signal: AbortSignal): Promise<string> {
    return untilAborted(ms, this.#options.clock, signal, (both) => findAuthority(peer, this.#pin, this.#options.clock.wallMs(), both));
  }

  /** Why a connection with a CA that was found before did not come to be; and the CA is looked for anew next time. */
  async #diagnosed(peer: Peer, signal: AbortSignal): Promise<StreamEnd> {
    this.#ca = undefined;
    try {
      await this.#authority(peer, limits.controlConnectMsMax, signal);
      return 'unreachable';
    } catch (thrown) {
      return streamEndOf(thrown);
    }
  }
}

/** `promise`, or the fault when it takes too long: name resolution cannot be cancelled. */
async function within<T>(ms: number, clock: Clock, promise: Promise<T>, end: OwnEnd): Promise<T> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = clock.alarm(ms, () => reject(new ControlFault(end)));
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    cancel();
  }
}

async function untilAborted<T>(ms: number, clock: Clock, outer: AbortSignal, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const both = new AbortController();
  const abort = () => both.abort();
  outer.addEventListener('abort', abort, { once: true });
  if (outer.aborted) abort();
  const cancel = clock.alarm(ms, abort);
  try {
    return await run(both.signal);
  } finally {
    cancel();
    outer.removeEventListener('abort', abort);
  }
}
