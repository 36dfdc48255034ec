/**
 * An HTTPS relay in front of a real server: every request and answer passes unchanged, and a test may make something
 * happen at the server right before one of them is passed on.
 */
import { createServer, request as httpsRequest } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { createAuthority } from '#test/servers/certificates.ts';

export interface RelayOptions {
  /** `https://127.0.0.1:PORT` of the server behind. */
  readonly target: string;
  /** Roots of the server behind. */
  readonly ca: string;
}

export interface Relay extends AsyncDisposable {
  readonly url: string;
  readonly caPem: string;
  /** Path and query of every request since the last `before`. */
  readonly passed: string[];
  /** Awaited before each further request is passed on; `number` counts from 1 again. */
  before(happen: (number: number) => Promise<void>): void;
}

export async function startRelay({ target, ca }: RelayOptions): Promise<Relay> {
  const authority = await createAuthority('Postern relay CA');
  const { certificatePem, keyPem } = await authority.issue({ commonName: '127.0.0.1', hosts: ['127.0.0.1'] });
  const passed: string[] = [];
  let happen: (number: number) => Promise<void> = async () => {};
  const server = createServer({ cert: certificatePem, key: keyPem }, async (request, response) => {
    const { method = '', url = '', headers } = request;
    passed.push(url);
    await happen(passed.length);
    const body = await buffer(request);
    const onward = httpsRequest(`${target}${url}`, { method, headers, ca, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    onward.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    caPem: authority.caPem,
    passed,
    before(next) {
      passed.length = 0;
      happen = next;
    },
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
