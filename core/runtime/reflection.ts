/**
 * Server reflection (https://github.com/grpc/grpc/blob/master/doc/server-reflection.md), v1 and v1alpha, for grpcurl and the like.
 *
 * It describes the services it is given and nothing else: the API is the same for every agent, and which actions
 * exist is told by ListActions alone (GRPC-19). The descriptors are loaded at the first call, because few pods ever
 * ask and every start would pay.
 */
import type { DescService } from '@bufbuild/protobuf';
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import { limits } from '#core/bounds/limits.ts';
import type { GrpcServer } from './grpc-server.ts';

type ReflectionCall = ServerDuplexStream<Buffer, Buffer>;

export function addReflection(server: GrpcServer, services: readonly DescService[]): void {
  for (const version of ['v1', 'v1alpha'] as const) {
    const definition = {
      serverReflectionInfo: {
        path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
        requestStream: true,
        responseStream: true,
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      },
    };
    server.addRaw(definition, { serverReflectionInfo: (call: ReflectionCall) => answer(call, services, server) });
  }
}

function same(bytes: Buffer): Buffer {
  return bytes;
}

/** Requests are answered one by one, in order; a broken one ends the stream. */
function answer(call: ReflectionCall, services: readonly DescService[], server: GrpcServer): void {
  let done: Promise<void> = Promise.resolve();
  let questions = 0;
  const then = (step: () => Promise<void>) => {
    done = done.then(step).catch(() => {
      call.pause();
      call.emit('error', { code: status.INVALID_ARGUMENT, details: 'The request is not a reflection request.' });
    });
  };
  call.on('data', (request: Buffer) =>
    then(async () => {
      const { reflectionAnswer } = await import('./reflection-answer.ts');
      questions += 1;
      if (questions > limits.grpcReflectionQuestionsMax) throw new RangeError('too many questions on one stream');
      if (!call.writableEnded) call.write(reflectionAnswer(services, request));
    }),
  );
  call.on('end', () =>
    then(async () => {
      call.end();
      server.answered(call);
    }),
  );
}
