/**
 * Looks at every HTTP/2 stream before the gRPC library does, and closes what it leaves open:
 *
 * - a limit over all connections on streams at once; the excess is answered, not queued (GRPC-06);
 * - a limit on metadata, which nothing here reads (GRPC-15);
 * - `grpc-timeout` clamped (GRPC-10);
 * - a compressed message without a declared encoding refused: the library would read it as plain (GRPC-08);
 * - requests that never become whole, and answers that are never read, closed after their time;
 * - connections closed that leave too many calls before these are answered. HTTP/2 counts those who leave afterwards too (GRPC-07).
 *
 * The agent writes these streams, frame by frame if it likes.
 */
import type { Http2Session, IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { constants } from 'node:http2';
import type { Socket } from 'node:net';
import { systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import { Rate } from '#core/bounds/rate.ts';
import { PosternError } from '#core/error/postern-error.ts';
import { DETAILS_TRAILER, statusOf } from '#core/wire/status.ts';
import type { ConnectionRoom } from './connection-room.ts';
import { AGENT_BOUNDS, type GrpcBounds } from './grpc-bounds.ts';
import { clampedTimeoutMs } from './grpc-timeout.ts';

/** Header by which a call finds its stream again. The guard sets it on every stream, over whatever was sent. */
export const STREAM_HEADER = 'x-postern-stream';

/** Names an agent might hope are read as identity or approval; only that they were there is noted (GRPC-15). */
const CLAIMS = [
  'authorization',
  'cookie',
  'proxy-authorization',
  'x-postern-session',
  'x-approved',
  'x-forwarded-for',
  'x-forwarded-user',
  'forwarded',
];

/** No encoding of this name exists, so a message that is marked compressed is refused, and a plain one is not touched. */
const NO_ENCODING = 'none-declared';

export interface GuardedStream {
  readonly id: string;
  readonly http2: ServerHttp2Stream;
  /** The clamped `grpc-timeout`. */
  readonly timeoutMs: number | undefined;
  /** Of a fixed list; safe to log. */
  readonly claims: readonly string[];
  /** Only where the bounds say so; it is no claim then. */
  readonly authorization: string | undefined;
  readonly peer: string;
}

/** Things worth a counter; closed set. */
export type GuardEvent =
  | 'too_many_streams'
  | 'too_many_connections'
  | 'too_many_resets'
  | 'request_too_slow'
  | 'response_unread'
  | 'cancelled_before_dispatch';

export class StreamGuard {
  readonly #streams = new Map<string, GuardedStream>();
  readonly #resets = new WeakMap<Http2Session, Rate>();
  readonly #note: (event: GuardEvent) => void;
  readonly #bounds: GrpcBounds;
  #room: Pick<ConnectionRoom, 'begins' | 'ends'> | undefined;
  #next = 0;
  #unreadBytes = 0;

  constructor(note: (event: GuardEvent) => void, bounds = AGENT_BOUNDS) {
    this.#note = note;
    this.#bounds = bounds;
  }

  get open(): number {
    return this.#streams.size;
  }

  /** From now on it is told which connections have a call under way. */
  watch(room: Pick<ConnectionRoom, 'begins' | 'ends'>): void {
    this.#room = room;
  }

  /** Connections with an open stream, as `connectionName` says. */
  connections(): ReadonlySet<string> {
    // The session shows a stand-in of its socket, and none once it is destroyed.
    return new Set([...this.#streams.values()].map(({ http2 }) => connectionName(http2.session?.socket)));
  }

  /** Changes `headers` in place and says whether the library may have the stream; if not, it is answered already. */
  admit(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): boolean {
    this.#watchResets(stream);
    if (this.#streams.size >= this.#bounds.streamsMax) {
      this.#note('too_many_streams');
      refuse(stream, 'Too many calls are running; try again when some have ended.');
      return false;
    }
    if (bytesOf(headers) > limits.grpcMetadataBytesMax) {
      refuse(stream, `Metadata of a call has at most ${limits.grpcMetadataBytesMax} bytes; send less of it.`);
      return false;
    }
    this.#next += 1;
    const id = String(this.#next);
    const timeoutMs = clampedTimeoutMs(headers['grpc-timeout'] as string | undefined, limits.grpcDeadlineMsMax);
    const authorization = this.#bounds.authorization ? headers.authorization : undefined;
    const claims = CLAIMS.filter((name) => headers[name] !== undefined && !(this.#bounds.authorization && name === 'authorization'));
    const peer = stream.session?.socket?.remoteAddress ?? '';
    this.#streams.set(id, { id, http2: stream, timeoutMs, claims, authorization, peer });
    // The library keeps headers for the life of the call; a token is not kept longer than it is needed.
    if (authorization !== undefined) delete headers.authorization;
    headers[STREAM_HEADER] = id;
    if (timeoutMs !== undefined) headers['grpc-timeout'] = `${timeoutMs}m`;
    if (headers['grpc-encoding'] === undefined || headers['grpc-encoding'] === 'identity') headers['grpc-encoding'] = NO_ENCODING;
    if (this.#bounds.requestMsMax !== undefined) {
      const timer = this.closeAfter(stream, this.#bounds.requestMsMax, 'request_too_slow');
      stream.once('end', () => clearTimeout(timer));
    }
    const { remoteAddress, remotePort } = stream.session?.socket ?? {};
    this.#room?.begins({ remoteAddress, remotePort });
    stream.once('close', () => {
      this.#streams.delete(id);
      this.#room?.ends({ remoteAddress, remotePort });
    });
    // An answer given before the request was whole is a refusal: the rest of the request is not wanted. Of streams that answer while
    // they are asked the status comes after `finish`; they are closed by their time.
    stream.once('finish', () => {
      if (!stream.readableEnded && this.#bounds.requestMsMax !== undefined) stream.close(constants.NGHTTP2_NO_ERROR);
    });
    return true;
  }

  /** The stream of a call, by the value of STREAM_HEADER; undefined once it is closed. */
  find(id: string): GuardedStream | undefined {
    return this.#streams.get(id);
  }

  /** Closes the stream when it is still there after `ms`; the timer goes with the stream (GRPC-12). */
  closeAfter(stream: ServerHttp2Stream, ms: number, event: GuardEvent): NodeJS.Timeout | undefined {
    if (stream.closed) return undefined;
    const timer = setTimeout(() => {
      this.#note(event);
      stream.close(constants.NGHTTP2_CANCEL);
    }, ms).unref();
    stream.once('close', () => clearTimeout(timer));
    return timer;
  }

  /** Counts an answer as held in memory until its stream is closed; false when too much is held already. */
  hold(stream: ServerHttp2Stream, bytes: number): boolean {
    if (this.#unreadBytes + bytes > this.#bounds.unreadBytesMax) return false;
    if (stream.closed) return true;
    this.#unreadBytes += bytes;
    stream.once('close', () => {
      this.#unreadBytes -= bytes;
    });
    return true;
  }

  /** Node says `aborted` where the peer leaves before the last byte of the answer was written, and where one of our own limits does. */
  #watchResets(stream: ServerHttp2Stream): void {
    const { session } = stream;
    if (session === undefined) return;
    if (stream.aborted) this.#left(session);
    else stream.once('aborted', () => this.#left(session));
  }

  #left(session: Http2Session): void {
    const rate = this.#resets.get(session) ?? new Rate(systemClock, limits.grpcResetsBurst, limits.grpcResetsPerSecond);
    this.#resets.set(session, rate);
    if (rate.take() || session.destroyed) return;
    this.#note('too_many_resets');
    session.destroy(undefined, constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }

  cancelledBeforeDispatch(): void {
    this.#note('cancelled_before_dispatch');
  }
}

/** Tells the connections of one server apart. */
export function connectionName(socket: Pick<Socket, 'remoteAddress' | 'remotePort'> | undefined): string {
  return `${socket?.remoteAddress} ${socket?.remotePort}`;
}

/** Names and values as they were sent. */
function bytesOf(headers: IncomingHttpHeaders): number {
  let bytes = 0;
  for (const [name, value] of Object.entries(headers)) {
    for (const each of Array.isArray(value) ? value : [value ?? '']) bytes += name.length + each.length;
  }
  return bytes;
}

/** A trailers-only answer (gRPC over HTTP/2, "Responses"); the rest of the request is read and dropped. */
function refuse(stream: ServerHttp2Stream, sentence: string): void {
  const { code, message, details } = statusOf(new PosternError('LIMIT_EXCEEDED', sentence));
  stream.on('error', () => {
    // The peer closed first; there is nobody left to answer.
  });
  stream.resume();
  stream.respond(
    {
      ':status': 200,
      'content-type': 'application/grpc+proto',
      'grpc-status': String(code),
      'grpc-message': encodeURI(message),
      [DETAILS_TRAILER]: Buffer.from(details).toString('base64'),
    },
    { endStream: true },
  );
}
