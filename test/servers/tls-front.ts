/**
 * TLS in front of a plain-HTTP server of a test: decrypts and pipes bytes, changing none.
 * The server behind sees the client's own Host header, so signed requests (S3) stay valid.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import { type Authority, createAuthority } from './certificates.ts';
import { loopback } from './process.ts';

export interface TlsFrontOptions {
  /** `http://127.0.0.1:PORT` of the server behind. */
  readonly target: string;
  /** Default: an authority of its own. */
  readonly authority?: Authority;
  /** Names in the certificate. Default: the address and localhost. */
  readonly hosts?: readonly string[];
  /** Where it listens, of this machine. Default 127.0.0.1. */
  readonly address?: string;
}

export interface TlsFront extends AsyncDisposable {
  /** `https://ADDRESS:PORT`, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** The only root that vouches for it. */
  readonly caPem: string;
}

export async function startTlsFront(options: TlsFrontOptions): Promise<TlsFront> {
  const { target, address = loopback, hosts = [address, 'localhost'] } = options;
  const authority = options.authority ?? (await createAuthority());
  const { certificatePem, keyPem } = await authority.issue({ commonName: hosts[0] ?? address, hosts });
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();

  const server = createServer({ cert: certificatePem, key: keyPem }, (client) => {
    join(client, connect(Number(port), hostname), sockets);
  });
  server.listen(0, address);
  await once(server, 'listening');
  // A forgotten dispose must not keep the test process alive.
  server.unref();
  const own = (server.address() as AddressInfo).port;
  return {
    url: `https://${address}:${own}`,
    port: own,
    caPem: authority.caPem,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function join(client: TLSSocket, upstream: Socket, sockets: Set<Socket>): void {
  for (const [from, to] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    sockets.add(from);
    from.pipe(to);
    from.once('error', () => to.destroy());
    from.once('close', () => {
      sockets.delete(from);
      // After a proper end the other side still has bytes to flush, and pipe() ends it by itself.
      if (!from.readableEnded) to.destroy();
    });
  }
}
