/**
 * A gRPC client from protobuf-es service descriptors, for the command line, the control stream of a sidecar, the quickstart and tests.
 *
 * One literal address, no name resolution through proxies, no retries (GRPC-16): a repeated call would be a second call.
 * Every failure is a PosternError with what the server put into its details.
 *
 * With `tls` exactly the given certificates are trusted, never those of the system or of a variable; TLS 1.3 only, because both ends
 * are ours. Sessions are not resumed: a resumed one would skip the look at the certificate.
 */
import { checkServerIdentity, createSecureContext } from 'node:tls';
import {
  create,
  type DescMethod,
  type DescMethodBiDiStreaming,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { type ChannelOptions, Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { DETAILS_TRAILER, errorFromStatus } from '#core/wire/status.ts';

export interface RequestOptions {
  /** Deadline of the call in milliseconds. Default: none. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

export interface StreamOptions {
  /** Value of the metadata `authorization`. A secret. */
  readonly authorization?: string;
}

/** A bidirectional stream. Iterating ends when the server ended it well, and throws PosternError otherwise. */
export interface BidiStream<Input, Output> extends AsyncIterable<Output> {
  /** Kept in memory until the server takes it: for senders that say little. Does nothing once the stream has ended. */
  send(message: Input): void;
  /** The last word: the server may end the stream now. */
  end(): void;
  /** Ends it at once; iterating throws. */
  cancel(): void;
}

/** One function per method, by its name in TypeScript. Rejects with PosternError. */
export type GrpcClient<Service extends DescService> = {
  readonly [Name in keyof Service['method']]: Service['method'][Name] extends DescMethodUnary<infer Input, infer Output>
    ? (request: MessageInitShape<Input>, options?: RequestOptions) => Promise<MessageShape<Output>>
    : Service['method'][Name] extends DescMethodServerStreaming<infer Input, infer Output>
      ? (request: MessageInitShape<Input>, options?: RequestOptions) => AsyncIterable<MessageShape<Output>>
      : Service['method'][Name] extends DescMethodBiDiStreaming<infer Input, infer Output>
        ? (options?: StreamOptions) => BidiStream<MessageInitShape<Input>, MessageShape<Output>>
        : never;
};

export interface Connection {
  /** A client of one service over this connection. */
  client<Service extends DescService>(service: Service): GrpcClient<Service>;
  close(): void;
}

/** Whom to trust as the server. */
export interface TlsTrust {
  /** PEM; a chain must end in one of them. */
  readonly ca: string;
  /** Sent as SNI; the certificate must be for this name. */
  readonly serverName: string;
}

export interface ConnectionOptions {
  /** Default: plaintext, which is for loopback. */
  readonly tls?: TlsTrust;
  /** Largest message taken from the server. Default: limits.grpcResponseBytesMax. */
  readonly receiveBytesMax?: number;
}

/** Connects when first used. `address` is `127.0.0.1:PORT` or `[::1]:PORT`. */
export function connect(address: string, { tls, receiveBytesMax = limits.grpcResponseBytesMax }: ConnectionOptions = {}): Connection {
  const channel = new Client(address, tls === undefined ? credentials.createInsecure() : tlsCredentials(tls.ca), {
    'grpc.enable_http_proxy': 0,
    'grpc.enable_retries': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.max_receive_message_length': receiveBytesMax,
    'grpc.primary_user_agent': 'postern',
    // A connection of its own: one that another trust opened to the same address must not be shared.
    'grpc.use_local_subchannel_pool': 1,
    ...(tls === undefined ? {} : tlsOptions(tls.serverName)),
  });
  return {
    client<Service extends DescService>(service: Service) {
      const functions: Record<string, unknown> = {};
      for (const method of service.methods) {
        if (method.methodKind === 'unary') functions[method.localName] = unary(channel, method);
        if (method.methodKind === 'server_streaming') functions[method.localName] = serverStreaming(channel, method);
        if (method.methodKind === 'bidi_streaming') functions[method.localName] = bidirectional(channel, method);
      }
      return functions as GrpcClient<Service>;
    },
    close: () => channel.close(),
  };
}

function tlsCredentials(ca: string) {
  return credentials.createFromSecureContext(createSecureContext({ ca, minVersion: 'TLSv1.3' }), {
    checkServerIdentity,
    rejectUnauthorized: true,
  });
}

function tlsOptions(serverName: string): ChannelOptions {
  return {
    'grpc.ssl_target_name_override': serverName,
    'grpc.default_authority': serverName,
    'grpc.keepalive_time_ms': limits.controlKeepaliveMs,
    'grpc.keepalive_timeout_ms': limits.controlKeepaliveTimeoutMs,
  };
}

type Fields = Record<string, unknown>;

function unary(channel: Client, method: DescMethod) {
  return (request: Fields, options: RequestOptions = {}): Promise<Message> =>
    new Promise((resolve, reject) => {
      const call = channel.makeUnaryRequest(
        pathOf(method),
        encoder(method),
        decoder(method),
        request,
        new Metadata(),
        deadlineOf(options),
        (error, value) => {
          if (error !== null) reject(errorOf(error));
          else if (value !== undefined) resolve(value);
        },
      );
      options.signal?.addEventListener('abort', () => call.cancel(), { once: true });
    });
}

function serverStreaming(channel: Client, method: DescMethod) {
  return async function* stream(request: Fields, options: RequestOptions = {}): AsyncGenerator<Message> {
    const call = channel.makeServerStreamRequest(
      pathOf(method),
      encoder(method),
      decoder(method),
      request,
      new Metadata(),
      deadlineOf(options),
    );
    const cancel = () => call.cancel();
    options.signal?.addEventListener('abort', cancel, { once: true });
    try {
      for await (const message of call) yield message as Message;
    } catch (thrown) {
      throw errorOf(thrown);
    } finally {
      options.signal?.removeEventListener('abort', cancel);
      call.cancel();
    }
  };
}

function bidirectional(channel: Client, method: DescMethod) {
  return ({ authorization }: StreamOptions = {}): BidiStream<Fields, Message> => {
    const metadata = new Metadata();
    if (authorization !== undefined) metadata.set('authorization', authorization);
    const call = channel.makeBidiStreamRequest(pathOf(method), encoder(method), decoder(method), metadata);
    let over = false;
    // Errors come out of the iteration; between two turns of it they would be nobody's and end the process.
    call.on('error', () => {
      over = true;
    });
    return {
      send: (message) => {
        if (!over) call.write(message);
      },
      end: () => call.end(),
      cancel: () => call.cancel(),
      async *[Symbol.asyncIterator]() {
        try {
          for await (const message of call) yield message as Message;
        } catch (thrown) {
          throw errorOf(thrown);
        } finally {
          over = true;
          call.cancel();
        }
      },
    };
  };
}

function pathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

function encoder(method: DescMethod) {
  return (fields: Fields): Buffer => Buffer.from(toBinary(method.input, create(method.input, fields)));
}

function decoder(method: DescMethod) {
  return (bytes: Buffer): Message => fromBinary(method.output, bytes);
}

function deadlineOf({ timeoutMs }: RequestOptions): { deadline?: number } {
  return timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
}

function errorOf(thrown: unknown): PosternError {
  if (!isServiceError(thrown)) return PosternError.from(thrown);
  const details = thrown.metadata?.get(DETAILS_TRAILER)[0];
  if (Buffer.isBuffer(details)) return errorFromStatus(thrown.code, thrown.details, details);
  if (thrown.code === status.UNAVAILABLE)
    return new PosternError('REMOTE_UNAVAILABLE', 'Nobody answers at this address.', { cause: thrown });
  return errorFromStatus(thrown.code, thrown.details, undefined);
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  return thrown instanceof Error && 'code' in thrown && 'details' in thrown && 'metadata' in thrown;
}
