/**
 * One bidirectional streaming method on grpc-js.
 *
 * The handler reads messages at its own pace and waits for each send: at most the library's read-ahead (16 messages) and one
 * message of ours are in memory for a stream whose peer does not read.
 */
import { create, type DescMethod, fromBinary, type Message, toBinary } from '@bufbuild/protobuf';
import { Metadata, type ServerDuplexStream, status } from '@grpc/grpc-js';
import { limits } from '#core/bounds/limits.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { ControlRefusal, statusOfRefusal } from '#core/wire/control-refusal.ts';
import { DETAILS_TRAILER, statusOf } from '#core/wire/status.ts';
import { type CallEnd, newRequestId, type StreamContext } from './grpc-call.ts';
import type { GuardedStream, StreamGuard } from './stream-guard.ts';

type Fields = Record<string, unknown>;

/** A handler without its types. Bytes are a message that is encoded already. */
export type DuplexHandler = (
  messages: AsyncIterable<Message>,
  send: (message: Fields | Uint8Array) => Promise<void>,
  context: StreamContext,
) => Promise<void>;

export class DuplexCall {
  readonly #method: DescMethod;
  readonly #call: ServerDuplexStream<Buffer, Buffer>;
  readonly #stream: GuardedStream;
  readonly #guard: StreamGuard;
  readonly #ended: (end: CallEnd) => void;
  readonly #abort = new AbortController();
  readonly #requestId = newRequestId();
  readonly #startedMs = performance.now();
  #over = false;

  constructor(
    method: DescMethod,
    call: ServerDuplexStream<Buffer, Buffer>,
    stream: GuardedStream,
    guard: StreamGuard,
    ended: (end: CallEnd) => void,
  ) {
    this.#method = method;
    this.#call = call;
    this.#stream = stream;
    this.#guard = guard;
    this.#ended = ended;
  }

  /** Never rejects. */
  async run(handler: DuplexHandler): Promise<void> {
    const { claims, timeoutMs, authorization, peer } = this.#stream;
    const leave = () => this.#left();
    this.#call.once('cancelled', leave);
    // The library is silent when the peer goes away after it has said its last word.
    this.#stream.http2.once('close', leave);
    const context: StreamContext = { requestId: this.#requestId, signal: this.#abort.signal, timeoutMs, claims, authorization, peer };
    try {
      await handler(this.#messages(), (message) => this.#send(message), context);
      this.#over = true;
      this.#call.end();
      this.#closing(status.OK, undefined);
    } catch (thrown) {
      this.#over = true;
      this.#fail(thrown instanceof ControlRefusal ? thrown : PosternError.from(thrown));
    }
  }

  #left(): void {
    if (!this.#over && !this.#abort.signal.aborted) this.#abort.abort(new PosternError('DEADLINE_EXCEEDED', 'The caller has gone.'));
  }

  /** Ends when the caller has said its last word or has gone; throws for bytes that are no message. */
  async *#messages(): AsyncGenerator<Message> {
    try {
      // A handler that has read enough still has to answer: leaving the loop must not destroy the stream.
      for await (const bytes of this.#call.iterator({ destroyOnReturn: false })) yield this.#decode(bytes as Buffer);
    } catch (thrown) {
      if (thrown instanceof PosternError || !this.#abort.signal.aborted) throw thrown;
    }
  }

  #decode(bytes: Buffer): Message {
    try {
      return fromBinary(this.#method.input, bytes);
    } catch (cause) {
      throw new PosternError('INVALID_ARGUMENT', `The request is not a message of ${this.#method.input.typeName}.`, { cause });
    }
  }

  /** Resolves once the peer's window has taken the message; rejects when the caller has gone. */
  #send(message: Fields | Uint8Array): Promise<void> {
    const { signal } = this.#abort;
    if (signal.aborted) return Promise.reject(signal.reason);
    const encoded = message instanceof Uint8Array ? message : toBinary(this.#method.output, create(this.#method.output, message));
    const bytes = Buffer.from(encoded.buffer, encoded.byteOffset, encoded.byteLength);
    return new Promise((resolve, reject) => {
      const gone = () => reject(signal.reason);
      signal.addEventListener('abort', gone, { once: true });
      this.#call.write(bytes, (error: Error | null | undefined) => {
        signal.removeEventListener('abort', gone);
        if (error) reject(error);
        else resolve();
      });
    });
  }

  #fail(error: PosternError | ControlRefusal): void {
    const refused = error instanceof ControlRefusal;
    const { code, message, details } = refused ? statusOfRefusal(error) : statusOf(error.forCall({ requestId: this.#requestId }));
    const metadata = new Metadata();
    metadata.set(DETAILS_TRAILER, Buffer.from(details));
    // What the peer has still to say is not read; without this an error of its stream would be nobody's.
    this.#call.on('error', () => undefined);
    this.#call.emit('error', { code, details: message, metadata });
    this.#closing(code, refused ? undefined : error);
  }

  #closing(code: number, error: PosternError | undefined): void {
    this.#guard.closeAfter(this.#stream.http2, limits.grpcResponseMsMax, 'response_unread');
    const left = this.#abort.signal.aborted;
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
