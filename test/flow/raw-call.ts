/** gRPC calls whose bytes are kept as they came: messages, metadata, trailers. */
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';

export interface RawCalls {
  /** One call of `postern.v1.ActionService`; every piece of text and bytes the server sent. Never rejects. */
  call(method: string, request: Uint8Array): Promise<readonly Buffer[]>;
  close(): void;
}

export function rawCalls(address: string): RawCalls {
  const client = new Client(address, credentials.createInsecure(), { 'grpc.enable_http_proxy': 0, 'grpc.enable_retries': 0 });
  return {
    close: () => client.close(),
    call: (method, request) =>
      new Promise((resolve) => {
        const pieces: Buffer[] = [];
        const keep = (metadata: Metadata) => {
          for (const [name, values] of Object.entries(metadata.toHttp2Headers())) pieces.push(Buffer.from(`${name}: ${String(values)}`));
          for (const name of Object.keys(metadata.getMap())) for (const value of metadata.get(name)) pieces.push(Buffer.from(value));
        };
        const stream = client.makeServerStreamRequest(
          `/postern.v1.ActionService/${method}`,
          (bytes: Buffer) => bytes,
          (bytes: Buffer) => bytes,
          Buffer.from(request),
          new Metadata(),
          { deadline: Date.now() + 30_000 },
        );
        stream.on('metadata', keep);
        stream.on('data', (bytes: Buffer) => pieces.push(bytes));
        stream.on('error', (error: ServiceError) => {
          pieces.push(Buffer.from(`${error.code} ${error.details} ${error.message}`));
          keep(error.metadata);
        });
        stream.on('status', ({ metadata }) => {
          keep(metadata);
          resolve(pieces);
        });
      }),
  };
}
