/** What a served method and its server say to each other. */
import { randomFillSync } from 'node:crypto';
import type {
  DescMethodBiDiStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  DescService,
  MessageInitShape,
  MessageShape,
} from '@bufbuild/protobuf';
import type { PosternError } from '#core/error/postern-error.ts';

/** What a handler may know of its call beside the request. */
export interface CallInfo {
  /** `req_` and 26 of `[a-z2-7]`; in logs and in error details. */
  readonly requestId: string;
  /** Aborted when the caller has gone or its deadline has passed. */
  readonly signal: AbortSignal;
  /** Milliseconds the caller waits, counted from the arrival of the call; clamped. Undefined: no deadline was sent. */
  readonly timeoutMs: number | undefined;
  /** Names of identity-like metadata that was sent and is ignored; a fixed list, safe to log. */
  readonly claims: readonly string[];
}

/** What a handler of a bidirectional stream may know beside the messages. */
export interface StreamContext extends CallInfo {
  /** Metadata `authorization` as it was sent; undefined where the server passes none on (core/runtime/grpc-bounds.ts). A secret. */
  readonly authorization: string | undefined;
  /** Address of the peer without its port, as the kernel knows it. */
  readonly peer: string;
}

/** One function per method, by its name in TypeScript. Throws PosternError. */
export type Implementation<Service extends DescService> = {
  readonly [Name in keyof Service['method']]: Service['method'][Name] extends DescMethodUnary<infer Input, infer Output>
    ? (request: MessageShape<Input>, info: CallInfo) => Promise<MessageInitShape<Output>>
    : Service['method'][Name] extends DescMethodServerStreaming<infer Input, infer Output>
      ? (request: MessageShape<Input>, info: CallInfo, send: (message: MessageInitShape<Output>) => void) => Promise<void>
      : Service['method'][Name] extends DescMethodBiDiStreaming<infer Input, infer Output>
        ? BidiHandler<MessageShape<Input>, MessageInitShape<Output>>
        : never;
};

/**
 * `messages` ends when the caller has said its last word or has gone (then `context.signal` is aborted). `send` resolves once the
 * caller's window has taken the message, and rejects when the caller has gone: who waits for it holds one message at a time. Bytes
 * are a message that is encoded already. Returning ends the stream with OK, throwing PosternError or
 * ControlRefusal with its status.
 */
export type BidiHandler<In, Out> = (
  messages: AsyncIterable<In>,
  send: (message: Out | Uint8Array) => Promise<void>,
  context: StreamContext,
) => Promise<void>;

/** What happened, for log and metrics. One per call, at its end. */
export interface CallEnd {
  readonly method: string;
  readonly requestId: string;
  readonly durationMs: number;
  /** gRPC status code. */
  readonly code: number;
  /** Absent when the call ended well, its caller left, or a control stream was refused. */
  readonly error?: PosternError;
  readonly claims: readonly string[];
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';
const ID_CHARS = 26;
// One request to the kernel for many ids: asked for one by one they are a tenth of the cost of a small call.
const randomPool = new Uint8Array(ID_CHARS * 128);
let randomAt = randomPool.length;

/** `req_` and 26 of `[a-z2-7]`: 130 bits. */
export function newRequestId(): string {
  if (randomAt === randomPool.length) {
    randomFillSync(randomPool);
    randomAt = 0;
  }
  let id = 'req_';
  for (const end = randomAt + ID_CHARS; randomAt < end; randomAt += 1) id += ALPHABET[(randomPool[randomAt] ?? 0) & 31];
  return id;
}
