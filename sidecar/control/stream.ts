/**
 * One control stream, from dialling to its end: hello, welcome, then whatever the operator says.
 *
 * - Everything up to the welcome has one deadline, limits.controlConnectMsMax.
 * - From then on any message is a heartbeat. A stream without one for limits.controlHeartbeatsMissedMax heartbeats is dead: TCP alone
 *   would not notice a peer that vanished for a quarter of an hour (failure case OPR-04).
 * - Messages are handed on in order and at once; nothing here waits for what they cause, so that a revocation never stands behind the
 *   compilation of a bundle.
 */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Clock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { type BidiStream, connect } from '#core/runtime/grpc-client.ts';
import {
  type ConnectRequestSchema,
  type ConnectResponse,
  ControlService,
  type HelloSchema,
  type Welcome,
} from '#proto/postern/control/v1/control_pb.ts';
import type { Peer } from './authority.ts';
import { ControlFault } from './stream-end.ts';

/** Versions of the protocol that are spoken here. */
export const PROTOCOLS: readonly number[] = [1, 2, 3];

export type ControlMessage = NonNullable<MessageInitShape<typeof ConnectRequestSchema>['message']>;
export type OperatorMessage = Exclude<ConnectResponse['message'], { case: 'welcome' | undefined }>;

export interface Dial {
  readonly peer: Peer;
  /** PEM of the only CA that is trusted. */
  readonly ca: string;
  readonly serverName: string;
  readonly token: string;
  readonly hello: MessageInitShape<typeof HelloSchema>;
  readonly clock: Clock;
  /** Aborted to end the stream. */
  readonly signal: AbortSignal;
  /** Milliseconds left of limits.controlConnectMsMax. */
  readonly connectMs: number;
}

export interface StreamEvents {
  /** `send` may be used until the stream ends; after that it does nothing. */
  onWelcome(welcome: Welcome, send: (message: ControlMessage) => void): void;
  onMessage(message: OperatorMessage): void;
}

/** Resolves when the operator ended the stream well or `signal` was aborted; throws ControlFault or PosternError otherwise. */
export async function runStream(dial: Dial, events: StreamEvents): Promise<void> {
  const { peer, ca, serverName, token, signal, clock } = dial;
  // A listener added later would never hear of it, and the stream would outlive whoever wants to stop.
  if (signal.aborted) return;
  const address = peer.host.includes(':') ? `[${peer.host}]:${peer.port}` : `${peer.host}:${peer.port}`;
  const connection = connect(address, {
    tls: { ca, serverName },
    receiveBytesMax: limits.controlBundleBytesMax + limits.controlBundleFrameBytesMax,
  });
  const stream = connection.client(ControlService).connect({ authorization: `Bearer ${token}` });
  const watch = new Watch(clock, () => stream.cancel());
  const leave = () => stream.cancel();
  signal.addEventListener('abort', leave, { once: true });
  try {
    watch.within(dial.connectMs, 'not_welcomed');
    stream.send({ message: { case: 'hello', value: dial.hello } });
    await listen(stream, watch, events);
  } catch (thrown) {
    if (!signal.aborted) throw watch.fault ?? thrown;
  } finally {
    watch.stop();
    signal.removeEventListener('abort', leave);
    connection.close();
  }
}

type Stream = BidiStream<MessageInitShape<typeof ConnectRequestSchema>, ConnectResponse>;

async function listen(stream: Stream, watch: Watch, events: StreamEvents): Promise<void> {
  let silenceMs: number | undefined;
  for await (const { message } of stream) {
    if (message.case === 'welcome') {
      if (silenceMs !== undefined) throw new ControlFault('protocol_broken');
      if (!PROTOCOLS.includes(message.value.protocol)) throw new ControlFault('version_unsupported');
      silenceMs = silenceOf(message.value);
      events.onWelcome(message.value, (own) => stream.send({ message: own }));
    } else if (silenceMs === undefined) {
      throw new ControlFault('protocol_broken');
    } else if (message.case !== undefined) {
      // What a newer operator adds is a heartbeat and no more.
      events.onMessage(message);
    }
    watch.within(silenceMs, 'silent');
  }
}

function silenceOf({ heartbeatMs }: Welcome): number {
  const heartbeat = Math.min(limits.controlHeartbeatMsMax, Math.max(limits.controlHeartbeatMsMin, Number(heartbeatMs)));
  return heartbeat * limits.controlHeartbeatsMissedMax;
}

/** A deadline that is put off by every sign of life. */
class Watch {
  readonly #clock: Clock;
  readonly #cut: () => void;
  #cancel = () => {};
  /** Set once a deadline was missed: the end of the stream is ours then, whatever the library calls it. */
  fault: ControlFault | undefined;

  constructor(clock: Clock, cut: () => void) {
    this.#clock = clock;
    this.#cut = cut;
  }

  within(ms: number, end: 'silent' | 'not_welcomed'): void {
    this.#cancel();
    this.#cancel = this.#clock.alarm(ms, () => {
      this.fault = new ControlFault(end);
      this.#cut();
    });
  }

  stop(): void {
    this.#cancel();
  }
}
