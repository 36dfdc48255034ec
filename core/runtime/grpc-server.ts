/**
 * A gRPC server from protobuf-es service descriptors, on grpc-js.
 *
 * - Path `/<typeName>/<Method>`, messages by toBinary and fromBinary: one generator for the whole project.
 * - Requests are decoded here, so that malformed bytes are INVALID_ARGUMENT and not a fault of the library (JSON-25).
 * - A handler starts one turn of the event loop after its request was whole: a call that was reset together with its
 *   request never reaches it (GRPC-07). From then on its `signal` tells it of cancellation and deadline.
 * - Own limits on connections, streams, messages, metadata, time (core/bounds/limits.ts, "grpc").
 * - Metadata of the caller is not passed on: nothing in it means anything (GRPC-15). The operator's server, whose callers prove who
 *   they are, passes `authorization` alone, and only to handlers of bidirectional streams.
 */
import type { IncomingHttpHeaders, ServerHttp2Stream, ServerSessionOptions } from 'node:http2';
import type { Server as NetServer, Socket } from 'node:net';
import type { DescService } from '@bufbuild/protobuf';
import {
  type ConnectionInjector,
  type Metadata,
  Server,
  ServerCredentials,
  type UntypedHandleCall,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { limits } from '#core/bounds/limits.ts';
import { ConnectionRoom } from './connection-room.ts';
import { AGENT_BOUNDS, type GrpcBounds } from './grpc-bounds.ts';
import type { CallEnd, Implementation } from './grpc-call.ts';
import { bindMethod, type MethodHandler } from './grpc-method.ts';
import { connectionName, type GuardEvent, STREAM_HEADER, StreamGuard } from './stream-guard.ts';
import { plainListener, type TlsIdentity, tlsListener } from './tls-listener.ts';

export interface GrpcServerOptions {
  /** Default: AGENT_BOUNDS. */
  readonly bounds?: GrpcBounds;
  /** Default: plaintext, which is for loopback. */
  readonly tls?: TlsIdentity;
  onCallEnd?(end: CallEnd): void;
  onGuardEvent?(event: GuardEvent): void;
}

export class GrpcServer {
  readonly #server: Server;
  readonly #guard: StreamGuard;
  readonly #options: GrpcServerOptions;
  readonly #listener: NetServer;
  readonly #injector: ConnectionInjector;
  /** All that are open, also those that have said nothing yet: the library does not know them. */
  readonly #sockets = new Set<Socket>();

  constructor(options: GrpcServerOptions = {}) {
    const bounds = options.bounds ?? AGENT_BOUNDS;
    this.#options = options;
    this.#guard = new StreamGuard((event) => options.onGuardEvent?.(event), bounds);
    this.#server = new Server({
      'grpc.max_concurrent_streams': bounds.streamsPerConnectionMax,
      'grpc.max_receive_message_length': bounds.requestBytesMax,
      'grpc.max_send_message_length': bounds.responseBytesMax,
      'grpc.keepalive_time_ms': bounds.keepaliveMs,
      'grpc.keepalive_timeout_ms': bounds.keepaliveTimeoutMs,
      'grpc.max_connection_idle_ms': limits.grpcIdleMsMax,
      // Channelz is a debug surface, and loopback is no boundary (GRPC-01, GRPC-19).
      'grpc.enable_channelz': 0,
    });
    allowResets(this.#server);
    admitBefore(this.#server, this.#guard);
    this.#injector = this.#server.createConnectionInjector(ServerCredentials.createInsecure());
    const accept = (socket: Socket) => this.#injector.injectConnection(socket);
    this.#listener = options.tls === undefined ? plainListener(accept) : tlsListener(options.tls, accept);
    this.#listener.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
    const crowded = () => options.onGuardEvent?.('too_many_connections');
    if (options.tls === undefined) this.#listener.maxConnections = bounds.connectionsMax;
    else keepRoom(this.#listener, this.#guard, bounds.connectionsMax, crowded);
    this.#listener.on('drop', crowded);
  }

  /** Calls running now. */
  get open(): number {
    return this.#guard.open;
  }

  add<Service extends DescService>(service: Service, implementation: Implementation<Service>): void {
    const definitions: Record<string, ReturnType<typeof bindMethod>['definition']> = {};
    const functions: UntypedServiceImplementation = {};
    for (const method of service.methods) {
      const handler: unknown = implementation[method.localName as keyof Implementation<Service>];
      const bound = bindMethod(method, handler as MethodHandler, this.#guard, (end) => this.#options.onCallEnd?.(end));
      definitions[method.localName] = bound.definition;
      functions[method.localName] = bound.run as UntypedHandleCall;
    }
    this.#server.addService(definitions, functions);
  }

  /** Adds a service by its paths alone; its code is loaded by whoever made the functions. */
  addRaw(definitions: Parameters<Server['addService']>[0], functions: UntypedServiceImplementation): void {
    this.#server.addService(definitions, functions);
  }

  /** For functions added by `addRaw`, once they have answered all: closes the stream when nobody reads the answers. */
  answered(call: { readonly metadata: Metadata }): void {
    const stream = this.#guard.find(String(call.metadata.get(STREAM_HEADER)[0] ?? ''));
    if (stream !== undefined) this.#guard.closeAfter(stream.http2, limits.grpcResponseMsMax, 'response_unread');
  }

  /** Resolves with the port once connections are accepted. `host` is a literal address. */
  listen(host: string, port: number): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#listener.once('error', reject);
      this.#listener.listen({ host, port, exclusive: true }, () => {
        this.#listener.off('error', reject);
        // A connection that cannot be accepted - no file descriptor is left - must not end the calls of the others.
        this.#listener.on('error', () => this.#options.onGuardEvent?.('too_many_connections'));
        const address = this.#listener.address();
        if (address === null || typeof address === 'string') throw new TypeError('a TCP address was expected');
        resolve(address.port);
      });
    });
  }

  /**
   * Resolves once connections are accepted on a unix socket that nobody but its owner (and root) may open. Its mode is 0600 from its
   * first moment: a chmod after the making would leave others time to connect. Rejects with EADDRINUSE where the path is taken. The
   * file is removed by `close`.
   */
  listenOnSocket(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#listener.once('error', reject);
      // Binding happens inside this call, not after it; nothing else of this process makes a file meanwhile.
      const before = process.umask(0o177);
      try {
        this.#listener.listen({ path }, () => {
          this.#listener.off('error', reject);
          this.#listener.on('error', () => this.#options.onGuardEvent?.('too_many_connections'));
          resolve();
        });
      } finally {
        process.umask(before);
      }
    });
  }

  /**
   * Takes no new connections, lets running calls end within `graceMs`, then closes what is left. Connections without a call are told to
   * go and have limits.grpcIdleCloseMsMax for it: the library waits for ever for a peer that never said a word, and anybody who holds one
   * such connection would hold up our end.
   */
  async close(graceMs: number): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()));
    // Not forceShutdown: it knows connections only where channelz is on, and would leave these open.
    this.#injector.drain(graceMs);
    const shut = new Promise<void>((resolve) => this.#server.tryShutdown(() => resolve()));
    const cuts = [
      setTimeout(() => this.#cut(this.#guard.connections()), Math.min(graceMs, limits.grpcIdleCloseMsMax)),
      setTimeout(() => this.#cut(new Set()), graceMs),
    ];
    await Promise.all([shut, closed]);
    for (const cut of cuts) clearTimeout(cut);
  }

  #cut(spared: ReadonlySet<string>): void {
    for (const socket of this.#sockets) if (!spared.has(connectionName(socket))) socket.destroy();
  }
}

/** On a network anybody may connect, and must not keep all others out; behind loopback all are one peer. */
function keepRoom(listener: NetServer, guard: StreamGuard, max: number, onClosed: () => void): void {
  const room = new ConnectionRoom(max, onClosed);
  room.watch(listener);
  guard.watch(room);
}

/**
 * Every RST_STREAM counts against the allowance of nghttp2, also that of a caller who has its answer and goes; at more calls than that a
 * second a caller that does no harm would be cut off. The guard counts those who leave before. There is no public option of the library.
 */
function allowResets(server: Server): void {
  const { commonServerOptions: options }: { commonServerOptions?: ServerSessionOptions } = server as object;
  if (typeof options !== 'object') throw new TypeError('grpc-js has no server options of the expected name');
  options.streamResetBurst = limits.grpcResetFramesBurst;
  options.streamResetRate = limits.grpcResetFramesPerSecond;
}

type StreamHandler = (interceptors: unknown[], stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;

/**
 * Puts the guard in front of the library's own stream handler. There is no public place before headers are read;
 * the version is pinned, and this throws at the start should the name be gone.
 */
function admitBefore(server: Server, guard: StreamGuard): void {
  const hooks: { _streamHandler?: StreamHandler } = server as object;
  const original = hooks._streamHandler;
  if (typeof original !== 'function') throw new TypeError('grpc-js has no stream handler of the expected name');
  hooks._streamHandler = function guarded(interceptors, stream, headers) {
    if (guard.admit(stream, headers)) original.call(server, interceptors, stream, headers);
  };
}
