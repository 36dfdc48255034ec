/** A gRPC peer that writes what it likes: HTTP/2 by hand, for hostile requests no gRPC library would send. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect, type IncomingHttpHeaders } from 'node:http2';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { anyUnpack } from '@bufbuild/protobuf/wkt';
import { ErrorInfoSchema } from '#proto/google/rpc/error_details_pb.ts';
import * as status from '#proto/google/rpc/status_pb.ts';
import { ExecuteRequestSchema } from '#proto/postern/v1/action_pb.ts';

export const EXECUTE = '/postern.v1.ActionService/Execute';

export interface RawAnswer {
  /** gRPC status, or -1 when none came. */
  readonly code: number;
  readonly message: string;
  /** Reason of ErrorInfo, when there is one. */
  readonly reason: string | undefined;
  /** RST_STREAM code; 0 when the stream ended well. */
  readonly rst: number;
  readonly data: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/** A session that ignores its own errors; the test judges by what streams say. */
export async function openSession(port: number): Promise<ClientHttp2Session> {
  const session = connect(`http://127.0.0.1:${port}`);
  session.on('error', () => {
    // A session the server closes on purpose ends with an error.
  });
  await new Promise<void>((resolve, reject) => {
    session.once('connect', () => resolve());
    session.once('error', reject);
  });
  return session;
}

/** Opens a call stream; nothing is sent beyond the headers. */
export function openCall(session: ClientHttp2Session, headers: Readonly<Record<string, string>> = {}): ClientHttp2Stream {
  const stream = session.request({ ':method': 'POST', ':path': EXECUTE, 'content-type': 'application/grpc', te: 'trailers', ...headers });
  stream.on('error', () => {
    // Refused and reset streams are what is tested.
  });
  return stream;
}

/** A whole ExecuteRequest in its five-byte frame. */
export function executeFrame(fields: Partial<{ action: string; argumentsJson: Uint8Array }> = {}): Buffer {
  return frame(toBinary(ExecuteRequestSchema, create(ExecuteRequestSchema, { action: 'list_open_issues', ...fields })));
}

export function frame(message: Uint8Array, flag = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

/** Waits for the end of the stream. */
export function answerOf(stream: ClientHttp2Stream): Promise<RawAnswer> {
  return new Promise((resolve) => {
    let headers: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    stream.on('response', (received) => {
      headers = { ...headers, ...received };
    });
    stream.on('trailers', (received) => {
      headers = { ...headers, ...received };
    });
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('close', () => {
      const code = headers['grpc-status'];
      resolve({
        code: code === undefined ? -1 : Number(code),
        message: decodeURI(String(headers['grpc-message'] ?? '')),
        reason: reasonOf(headers['grpc-status-details-bin']),
        rst: stream.rstCode ?? 0,
        data: Buffer.concat(chunks),
        headers,
      });
    });
  });
}

function reasonOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const { details } = fromBinary(status.StatusSchema, Buffer.from(String(header), 'base64'));
  const info = details.find(({ typeUrl }) => typeUrl.endsWith('/google.rpc.ErrorInfo'));
  return info === undefined ? undefined : anyUnpack(info, ErrorInfoSchema)?.reason;
}
