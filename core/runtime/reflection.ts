/**
 * Server reflection (https://github.com/grpc/grpc/blob/master/doc/server-reflection.md), v1 and v1alpha, for grpcurl and the like.
 *
 * It describes the services it is given and nothing else: the API is the same for every agent, and which actions
 * exist is told by ListActions alone (GRPC-19). The descriptors are loaded at the first call, because few pods ever
 * ask and every start would pay.
 */
import type { DescService } from '@bufbuild/protobuf';
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
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
    server.addRaw(definition, { serverReflectionInfo: (call: ReflectionCall) => answer(call, services) });
  }
}

function same(bytes: Buffer): Buffer {
  return bytes;
}

/** Requests are answered one by one, in order; a broken one ends the stream. */
function answer(call: ReflectionCall, services: readonly DescService[]): void {
  // A stream destroyed by its peer reports an error that nobody needs.
  call.on('error', () => call.end());
  const run = async () => {
    const { reflectionAnswer } = await import('./reflection-answer.ts');
    for await (const request of call) call.write(reflectionAnswer(services, request as Buffer));
    call.end();
  };
  run().catch(() => call.emit('error', { code: status.INVALID_ARGUMENT, details: 'The request is not a reflection request.' }));
}
