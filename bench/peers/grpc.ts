/**
 * gRPC peers in the shape of Execute: one request, a stream of one reply.
 *
 *   grpc.cjs echo PORT                    a fixed reply of 2 KB
 *   grpc.cjs forward PORT ORIGIN TOKEN    the bytes of the upstream, unread: the least an executor on this stack can do
 */
import { Server, ServerCredentials, type ServerWritableStream } from '@grpc/grpc-js';
import { upstreamRead } from './upstream-read.ts';

const [kind, port, origin = '', token = ''] = process.argv.slice(2);

const same = (bytes: Buffer) => bytes;
const definition = {
  execute: {
    path: '/postern.v1.ActionService/Execute',
    requestStream: false,
    responseStream: true,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  },
};
const fixed = Buffer.alloc(2048, 'item-0001 ');
const read = kind === 'forward' ? upstreamRead(origin, token) : async () => fixed;

const server = new Server();
server.addService(definition, {
  execute: (call: ServerWritableStream<Buffer, Buffer>) => {
    read('42').then(
      (bytes) => {
        call.write(bytes);
        call.end();
      },
      (fault) => call.emit('error', fault),
    );
  },
});
server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (fault) => {
  if (fault) throw fault;
});
