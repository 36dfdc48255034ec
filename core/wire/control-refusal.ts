/**
 * Why the operator ends or refuses a control stream: a closed set, beside the codes agents see. On the wire a gRPC status whose
 * message is `CODE: sentence`, and an ErrorInfo of the same code for machines.
 *
 * PERMISSION_DENIED: this pod may not have a stream. FAILED_PRECONDITION: the versions do not fit. UNAVAILABLE: connect again,
 * perhaps to another replica. RESOURCE_EXHAUSTED: connect again later.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { anyPack } from '@bufbuild/protobuf/wkt';
import { GRPC } from '#core/error/reasons.ts';
import { ErrorInfoSchema } from '#proto/google/rpc/error_details_pb.ts';
import { StatusSchema } from '#proto/google/rpc/status_pb.ts';
import type { WireStatus } from './status.ts';

export const CONTROL_DOMAIN = 'control.postern.dev';

export const CONTROL_REFUSALS = {
  /** The token is not one of a pod for our audience, or is no longer valid. */
  TOKEN_REFUSED: GRPC.PERMISSION_DENIED,
  /** The pod the token names is gone, ends, or is not guarded as it must be. */
  POD_REFUSED: GRPC.PERMISSION_DENIED,
  /** Another process of the pod has its session already. */
  DUPLICATE_SIDECAR: GRPC.PERMISSION_DENIED,
  /** The session has ended. */
  SESSION_ENDED: GRPC.PERMISSION_DENIED,
  /** The sidecar speaks only older versions of the protocol than this operator. */
  SIDECAR_TOO_OLD: GRPC.FAILED_PRECONDITION,
  /** The sidecar speaks only newer versions of the protocol than this operator. */
  SIDECAR_TOO_NEW: GRPC.FAILED_PRECONDITION,
  /** A message that does not belong here. */
  PROTOCOL_BROKEN: GRPC.INVALID_ARGUMENT,
  /** The same sidecar has a newer stream. */
  STREAM_REPLACED: GRPC.ABORTED,
  /** The token the stream was opened with has expired: prove again who you are. */
  TOKEN_EXPIRED: GRPC.UNAVAILABLE,
  /** This replica stops. */
  DRAINING: GRPC.UNAVAILABLE,
  /** This replica does not know the cluster yet, or the API server does not answer it. */
  NOT_READY: GRPC.UNAVAILABLE,
  /** Messages were not read in time. */
  READER_TOO_SLOW: GRPC.UNAVAILABLE,
  /** Too many streams, messages or failed attempts. */
  TOO_MANY: GRPC.RESOURCE_EXHAUSTED,
} as const;

export type ControlRefusalCode = keyof typeof CONTROL_REFUSALS;

/** Ends a control stream. `message` is our own sentence, without the code. */
export class ControlRefusal extends Error {
  readonly code: ControlRefusalCode;

  constructor(code: ControlRefusalCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ControlRefusal';
    this.code = code;
  }
}

export function statusOfRefusal({ code, message }: ControlRefusal): WireStatus {
  const grpc = CONTROL_REFUSALS[code];
  const text = `${code}: ${message.toWellFormed()}`;
  const info = create(ErrorInfoSchema, { reason: code, domain: CONTROL_DOMAIN });
  const details = toBinary(StatusSchema, create(StatusSchema, { code: grpc, message: text, details: [anyPack(ErrorInfoSchema, info)] }));
  return { code: grpc, message: text, details };
}

/** The code in front of a status message; undefined when it is none of ours. */
export function refusalCodeIn(message: string): ControlRefusalCode | undefined {
  const code = /^([A-Z_]{3,32}): /.exec(message)?.[1];
  return code !== undefined && Object.hasOwn(CONTROL_REFUSALS, code) ? (code as ControlRefusalCode) : undefined;
}
