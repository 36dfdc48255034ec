/** One call as an agent makes it: a gRPC stream whose last message is the answer. */
import type { GrpcClient } from '#core/runtime/grpc-client.ts';
import { type AnswerDocument, answerDocument } from '#core/wire/answer-document.ts';
import type { ActionService } from '#proto/postern/v1/action_pb.ts';

export interface CallExtra {
  readonly cursor?: string;
  /** Of earlier answers. */
  readonly evidence?: readonly string[];
  readonly operationId?: string;
}

/** Rejects with PosternError. */
export async function execute(
  client: GrpcClient<typeof ActionService>,
  action: string,
  args: object,
  { cursor = '', evidence = [], operationId = '' }: CallExtra = {},
): Promise<AnswerDocument> {
  const argumentsJson = new TextEncoder().encode(JSON.stringify(args));
  for await (const { event } of client.execute({ action, argumentsJson, cursor, evidence: [...evidence], operationId })) {
    if (event.case === 'result') return answerDocument(event.value);
  }
  throw new Error('the sidecar gave no answer');
}
