/**
 * A gRPC client from protobuf-es service descriptors, for the command line, the quickstart and tests.
 *
 * One literal address, no name resolution through proxies, no retries (GRPC-16): a repeated call would be a second call.
 * Every failure is a PosternError with what the server put into its details.
 */
import {
  create,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type Message,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Client, credentials, Metadata, type ServiceError, status } from '@grpc/grpc-js';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { DETAILS_TRAILER, errorFromStatus } from '#core/wire/status.ts';

export interface RequestOptions {
  /** Deadline of the call in milliseconds. Default: none. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

/** One function per method, by its name in TypeScript. Rejects with PosternError. */
export type GrpcClient<Service extends DescService> = {
  readonly [Name in keyof Service['method']]: Service['method'][Name] extends DescMethodUnary<infer Input, infer Output>
    ? (request: MessageInitShape<Input>, options?: RequestOptions) => Promise<MessageShape<Output>>
    : Service['method'][Name] extends DescMethodServerStreaming<infer Input, infer Output>
      ? (request: MessageInitShape<Input>, options?: RequestOptions) => AsyncIterable<MessageShape<Output>>
      : never;
};

export interface Connection {
  /** A client of one service over this connection. */
  client<Service extends DescService>(service: Service): GrpcClient<Service>;
  close(): void;
}

/** Connects when first used. `address` is `127.0.0.1:PORT`. */
export function connect(address: string): Connection {
  const channel = new Client(address, credentials.createInsecure(), {
    'grpc.enable_http_proxy': 0,
    'grpc.enable_retries': 0,
    'grpc.service_config_disable_resolution': 1,
    'grpc.max_receive_message_length': limits.grpcResponseBytesMax,
    'grpc.primary_user_agent': 'postern',
  });
  return {
    client<Service extends DescService>(service: Service) {
      const functions: Record<string, unknown> = {};
      for (const method of service.methods) {
        if (method.methodKind === 'unary') functions[method.localName] = unary(channel, method);
        if (method.methodKind === 'server_streaming') functions[method.localName] = serverStreaming(channel, method);
      }
      return functions as GrpcClient<Service>;
    },
    close: () => channel.close(),
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
    return new PosternError('REMOTE_UNAVAILABLE', 'No sidecar answers at this address.', { cause: thrown });
  return errorFromStatus(thrown.code, thrown.details, undefined);
}

function isServiceError(thrown: unknown): thrown is ServiceError {
  return thrown instanceof Error && 'code' in thrown && 'details' in thrown && 'metadata' in thrown;
}
