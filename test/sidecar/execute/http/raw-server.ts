/**
 * A TCP server that speaks a script byte for byte, for the faults no HTTP library would produce.
 */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface RawServer extends AsyncDisposable {
  readonly origin: string;
  readonly port: number;
  /** Request heads received, in order, over all connections. */
  readonly requests: string[];
  /** Connections accepted. */
  connections(): number;
}

export type Respond = (socket: Socket, request: { readonly head: string; readonly index: number; readonly connection: number }) => void;

/** Calls `respond` once for each request head (bodies are not expected). */
export async function startRawServer(respond: Respond): Promise<RawServer> {
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const connection = connections;
    sockets.add(socket);
    let pending = '';
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1');
      for (let end = pending.indexOf('\r\n\r\n'); end >= 0; end = pending.indexOf('\r\n\r\n')) {
        const head = pending.slice(0, end);
        pending = pending.slice(end + 4);
        requests.push(head);
        respond(socket, { head, index: requests.length, connection });
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    requests,
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
