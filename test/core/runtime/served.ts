/** The real gRPC server with fixed answers, and what it was seen to do. */
import type { CallEnd } from '#core/runtime/grpc-call.ts';
import { connect } from '#core/runtime/grpc-client.ts';
import { GrpcServer } from '#core/runtime/grpc-server.ts';
import type { GuardEvent } from '#core/runtime/stream-guard.ts';
import { ActionService } from '#proto/postern/v1/action_pb.ts';
import type { CallContext, ExecuteCall, ExecuteResult } from '#sidecar/call/calls.ts';
import { actionService } from '#sidecar/serve/action-service.ts';
import { FULL_RESULT, fixedCalls } from '#test/sidecar/serve/fixed-calls.ts';

const closers: (() => Promise<void> | void)[] = [];

/** Ends every server of this file's tests. */
export async function closeAll(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

export interface Served {
  readonly port: number;
  readonly server: GrpcServer;
  readonly calls: ExecuteCall[];
  readonly contexts: CallContext[];
  readonly events: GuardEvent[];
  readonly ends: CallEnd[];
  /** An ordinary call, to show that the process is well. */
  ask(): Promise<string>;
}

export async function serve(
  execute: (call: ExecuteCall, context: CallContext) => Promise<ExecuteResult> = async () => FULL_RESULT,
): Promise<Served> {
  const calls: ExecuteCall[] = [];
  const contexts: CallContext[] = [];
  const events: GuardEvent[] = [];
  const ends: CallEnd[] = [];
  const server = new GrpcServer({ onGuardEvent: (event) => events.push(event), onCallEnd: (end) => ends.push(end) });
  const recorded = fixedCalls((call, context) => {
    calls.push(call);
    contexts.push(context);
    return execute(call, context);
  });
  server.add(ActionService, actionService(recorded));
  const port = await server.listen('127.0.0.1', 0);
  const connection = connect(`127.0.0.1:${port}`);
  closers.push(
    () => server.close(100),
    () => connection.close(),
  );
  const client = connection.client(ActionService);
  return { port, server, calls, contexts, events, ends, ask: async () => (await client.listActions({})).actions[0]?.action ?? '' };
}

/** A call that ends only when its caller leaves. */
export const never = (_call: ExecuteCall, { signal }: CallContext) =>
  new Promise<ExecuteResult>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
/** Turns of the event loop. */
export const turns = (count: number) =>
  Array.from({ length: count }).reduce<Promise<unknown>>(
    (previous) => previous.then(() => new Promise((resolve) => setImmediate(resolve))),
    Promise.resolve(),
  );
