/** Waits until a person has decided over an operation, however long one request for that may wait. */
import type { GrpcClient } from '#core/runtime/grpc-client.ts';
import { type ActionService, Approval_State, type Operation, Operation_State } from '#proto/postern/v1/action_pb.ts';

/** One request; a decision between two of them is seen at the start of the next. */
const STEP_MS = 20_000;

/**
 * The operation once it waits no more, or as it is after `waitMs` milliseconds. Throws PosternError where nobody knows it.
 */
export async function awaitDecision(client: GrpcClient<typeof ActionService>, operationId: string, waitMs: number): Promise<Operation> {
  return awaitOperation(client, operationId, waitMs, waitsForPerson);
}

/** The same for its end. */
export async function awaitEnd(client: GrpcClient<typeof ActionService>, operationId: string, waitMs: number): Promise<Operation> {
  return awaitOperation(
    client,
    operationId,
    waitMs,
    (operation) => operation.state === Operation_State.RUNNING || waitsForPerson(operation),
  );
}

export function waitsForPerson({ state, approval }: Operation): boolean {
  return state === Operation_State.PLANNED && approval?.state === Approval_State.WAITING;
}

async function awaitOperation(
  client: GrpcClient<typeof ActionService>,
  operationId: string,
  waitMs: number,
  isOpen: (operation: Operation) => boolean,
): Promise<Operation> {
  const end = performance.now() + waitMs;
  for (let left = 0; ; left = end - performance.now()) {
    // The first question waits for nothing: the change may have come before it.
    const { operation } = await client.getOperation({ operationId, waitMs: Math.max(0, Math.round(Math.min(left, STEP_MS))) });
    if (operation === undefined) throw new TypeError('an answer about an operation without an operation');
    if (!isOpen(operation) || performance.now() >= end) return operation;
  }
}
