/** A bare TCP server that keeps every byte it is sent: what left the sidecar, before anybody parsed it. */
import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface Capture extends AsyncDisposable {
  readonly port: number;
  /** Connections so far. */
  readonly connections: number;
  /** Everything received, as latin1 text. */
  text(): string;
}

/** `answer` is sent after each head of a request; nothing is ever sent without it. */
export async function startCapture(answer?: (request: string) => string): Promise<Capture> {
  const chunks: Buffer[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    let head = '';
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      head += chunk.toString('latin1');
      if (answer === undefined || !head.includes('\r\n\r\n')) return;
      socket.write(answer(head));
      head = '';
    });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    text: () => Buffer.concat(chunks).toString('latin1'),
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A whole JSON answer of HTTP/1.1. */
export function jsonAnswer(body: unknown): string {
  const text = JSON.stringify(body);
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`;
}
