/** One method of a service on grpc-js: decode, one turn of patience, run, encode, and every failure as our own status. */
import { create, type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import {
  Metadata,
  type MethodDefinition,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { DETAILS_TRAILER, statusOf } from '#core/wire/status.ts';
import { type CallEnd, type CallInfo, newRequestId } from './grpc-call.ts';
import { DuplexCall, type DuplexHandler } from './grpc-duplex.ts';
import { type GuardedStream, STREAM_HEADER, type StreamGuard } from './stream-guard.ts';

/** A handler without its types: unary ones return the message, streaming ones send it. */
export type MethodHandler = (request: Message, info: CallInfo, send: (message: Fields) => void) => Promise<Fields | undefined>;

/** Members of a message, as `create` takes them. */
type Fields = Record<string, unknown>;

export interface BoundMethod {
  readonly definition: MethodDefinition<Buffer, Buffer>;
  readonly run: (call: LibraryCall, respond?: sendUnaryData<Buffer>) => void;
}

/** `handler` is a DuplexHandler for bidirectional methods. */
export function bindMethod(
  method: DescMethod,
  handler: MethodHandler | DuplexHandler,
  guard: StreamGuard,
  ended: (end: CallEnd) => void,
): BoundMethod {
  if (method.methodKind === 'client_streaming') throw new TypeError('client streaming methods are not served');
  const bidirectional = method.methodKind === 'bidi_streaming';
  const definition: MethodDefinition<Buffer, Buffer> = {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: bidirectional,
    responseStream: method.methodKind !== 'unary',
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  return {
    definition,
    run(call, respond) {
      const stream = guard.find(String(call.metadata.get(STREAM_HEADER)[0] ?? ''));
      // GRPC-07: a reset that came with the request is seen before anything is started for it.
      setImmediate(() => {
        if (call.cancelled || stream === undefined || stream.http2.closed || stream.http2.destroyed) guard.cancelledBeforeDispatch();
        else if (bidirectional) void new DuplexCall(method, call, stream, guard, ended).run(handler as DuplexHandler);
        else void new Call(method, call, respond, stream, guard, ended).run(handler as MethodHandler);
      });
    },
  };
}

function same(bytes: Buffer): Buffer {
  return bytes;
}

type LibraryCall = ServerUnaryCall<Buffer, Buffer> & ServerWritableStream<Buffer, Buffer> & ServerDuplexStream<Buffer, Buffer>;

class Call {
  readonly #method: DescMethod;
  readonly #call: LibraryCall;
  readonly #respond: sendUnaryData<Buffer> | undefined;
  readonly #stream: GuardedStream;
  readonly #guard: StreamGuard;
  readonly #ended: (end: CallEnd) => void;
  readonly #abort = new AbortController();
  readonly #requestId = newRequestId();
  readonly #startedMs = performance.now();
  #over = false;

  constructor(
    method: DescMethod,
    call: LibraryCall,
    respond: sendUnaryData<Buffer> | undefined,
    stream: GuardedStream,
    guard: StreamGuard,
    ended: (end: CallEnd) => void,
  ) {
    this.#method = method;
    this.#call = call;
    this.#respond = respond;
    this.#stream = stream;
    this.#guard = guard;
    this.#ended = ended;
  }

  /** Never rejects. */
  async run(handler: MethodHandler): Promise<void> {
    const { claims, timeoutMs } = this.#stream;
    this.#call.once('cancelled', () => this.#left());
    try {
      const request = this.#decode();
      const info: CallInfo = { requestId: this.#requestId, signal: this.#abort.signal, timeoutMs, claims };
      const result = await handler(request, info, (message) => this.#write(message));
      this.#finish(result);
    } catch (thrown) {
      this.#fail(PosternError.from(thrown));
    }
  }

  /** The library says `cancelled` after a good end too. */
  #left(): void {
    if (!this.#over) this.#abort.abort(new PosternError('DEADLINE_EXCEEDED', 'The caller has gone, or its deadline has passed.'));
  }

  #decode(): Message {
    try {
      return fromBinary(this.#method.input, this.#call.request);
    } catch (cause) {
      throw new PosternError('INVALID_ARGUMENT', `The request is not a message of ${this.#method.input.typeName}.`, { cause });
    }
  }

  #encode(message: Fields): Buffer {
    const bytes = toBinary(this.#method.output, create(this.#method.output, message));
    if (bytes.length > limits.grpcResponseBytesMax) throw new PosternError('INTERNAL', 'The answer does not fit one message.');
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  #write(message: Fields): void {
    if (this.#call.cancelled) return;
    const bytes = this.#encode(message);
    if (!this.#guard.hold(this.#stream.http2, bytes.length))
      throw new PosternError('LIMIT_EXCEEDED', 'Too many answers wait to be read; read them first.');
    this.#call.write(bytes);
  }

  #finish(result: Fields | undefined): void {
    if (this.#respond !== undefined) this.#respond(null, this.#encode(result ?? {}));
    else this.#call.end();
    this.#closing(status.OK, undefined);
  }

  #fail(error: PosternError): void {
    const { code, message, details } = statusOf(error.forCall({ requestId: this.#requestId }));
    const metadata = new Metadata();
    metadata.set(DETAILS_TRAILER, Buffer.from(details));
    const failure = { code, details: message, metadata };
    if (this.#respond !== undefined) this.#respond(failure);
    else this.#call.emit('error', failure);
    this.#closing(code, error);
  }

  #closing(code: number, error: PosternError | undefined): void {
    this.#over = true;
    this.#guard.closeAfter(this.#stream.http2, limits.grpcResponseMsMax, 'response_unread');
    const left = this.#call.cancelled;
    this.#ended({
      method: this.#method.name,
      requestId: this.#requestId,
      durationMs: performance.now() - this.#startedMs,
      code: left ? status.CANCELLED : code,
      claims: this.#stream.claims,
      ...(error === undefined ? {} : { error }),
    });
  }
}
