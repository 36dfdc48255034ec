/** What a gRPC server bears, by who calls it: an agent in its own pod, or the sidecars of a cluster. */
import { limits } from '#core/bounds/limits.ts';

export interface GrpcBounds {
  /** Connections at once; the excess is dropped. */
  readonly connectionsMax: number;
  /** Streams over all connections at once; the excess is answered LIMIT_EXCEEDED. */
  readonly streamsMax: number;
  /** Streams of one connection at once. */
  readonly streamsPerConnectionMax: number;
  /** Bytes of one message, each way. */
  readonly requestBytesMax: number;
  readonly responseBytesMax: number;
  /** Bytes of answers held in memory because nobody reads them, over all calls. Streams that wait for each send need none. */
  readonly unreadBytesMax: number;
  readonly keepaliveMs: number;
  readonly keepaliveTimeoutMs: number;
  /** Time in which a request must be whole; undefined where a request is a stream without an end. */
  readonly requestMsMax: number | undefined;
  /** Whether a handler may see `authorization`. False: nothing a caller sends beside its request means anything (GRPC-15). */
  readonly authorization: boolean;
}

/** Loopback of a pod: few callers, hostile ones. */
export const AGENT_BOUNDS: GrpcBounds = {
  connectionsMax: limits.grpcConnectionsMax,
  streamsMax: limits.callsInFlightMax,
  streamsPerConnectionMax: limits.grpcStreamsPerConnectionMax,
  requestBytesMax: limits.grpcRequestBytesMax,
  responseBytesMax: limits.grpcResponseBytesMax,
  unreadBytesMax: limits.grpcUnreadBytesMax,
  keepaliveMs: limits.grpcKeepaliveMs,
  keepaliveTimeoutMs: limits.grpcKeepaliveTimeoutMs,
  requestMsMax: limits.grpcRequestMsMax,
  authorization: false,
};

/** The operator's port: one long stream a pod, thousands of pods, and whoever else reaches a port of the cluster. */
export const CONTROL_BOUNDS: GrpcBounds = {
  connectionsMax: limits.controlConnectionsMax,
  streamsMax: limits.controlStreamsMax,
  streamsPerConnectionMax: 1,
  requestBytesMax: limits.controlMessageBytesMax,
  responseBytesMax: limits.controlBundleBytesMax + limits.controlBundleFrameBytesMax,
  unreadBytesMax: 0,
  keepaliveMs: limits.controlKeepaliveMs,
  keepaliveTimeoutMs: limits.controlKeepaliveTimeoutMs,
  requestMsMax: undefined,
  authorization: true,
};
