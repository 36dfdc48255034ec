/**
 * An S3 server that heeds no condition, or heeds it on a put alone; speaks the protocol, checks no signature. For what no real server at hand
 * does: replacing an object, sending elsewhere, answering without end.
 */

import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface CarelessS3 extends AsyncDisposable {
  readonly endpoint: string;
  readonly objects: ReadonlyMap<string, Buffer>;
  /** `METHOD /path?query`, in order. */
  readonly requests: readonly string[];
}

export interface Carelessness {
  readonly heedsPut?: boolean;
  /** Answers every request with 307 to this address. */
  readonly redirect?: string;
  /** Answers every request with a body that never ends. */
  readonly endless?: boolean;
  /** Keeps other bytes than it is given, and says 200. */
  readonly garbles?: boolean;
}

export async function startCarelessS3(careless: Carelessness): Promise<CarelessS3> {
  const objects = new Map<string, Buffer>();
  const requests: string[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url ?? '/', 'http://localhost');
    requests.push(`${request.method} ${request.url}`);
    const xml = (status: number, text: string, headers = {}) => {
      response.writeHead(status, { 'content-type': 'application/xml', ...headers });
      response.end(text);
    };
    const key = url.pathname;
    if (careless.redirect !== undefined) return xml(307, '', { location: careless.redirect });
    if (careless.endless === true) {
      response.writeHead(200, { 'content-type': 'application/xml' });
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 0x20)));
      };
      response.on('drain', more);
      return more();
    }
    if (request.method === 'POST' && url.searchParams.has('uploads'))
      return xml(200, '<InitiateMultipartUploadResult><UploadId>one</UploadId></InitiateMultipartUploadResult>');
    if (request.method === 'POST') {
      objects.set(key, Buffer.from('multipart'));
      return xml(200, '<CompleteMultipartUploadResult><ETag>"e"</ETag></CompleteMultipartUploadResult>');
    }
    if (request.method === 'PUT') {
      const refused = careless.heedsPut === true && request.headers['if-none-match'] === '*' && objects.has(key);
      if (refused) return xml(412, '<Error><Code>PreconditionFailed</Code></Error>');
      if (!url.searchParams.has('uploadId'))
        objects.set(key, careless.garbles === true ? Buffer.alloc(Buffer.concat(chunks).length) : Buffer.concat(chunks));
      return xml(200, '', { etag: '"e"' });
    }
    const found = objects.get(key);
    if (found === undefined) return xml(404, '<Error><Code>NoSuchKey</Code></Error>');
    response.writeHead(200, { 'content-length': found.length });
    response.end(request.method === 'HEAD' ? undefined : found);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    requests,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
