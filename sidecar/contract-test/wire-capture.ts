/**
 * A loopback server that stands in for a contract's origin: it keeps the raw bytes of every connection, answers the
 * same small reply, and then listens a moment for bytes that would be a second request.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { parseWire } from './parse-wire.ts';

/** The reply is an error on purpose: no walk goes on from it. */
const REPLY = 'HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}';
const REQUEST_BYTES_MAX = 8 * 1024 * 1024;
/** A request that never becomes whole is judged by what came. */
const SILENT_MS_MAX = 2_000;

export class WireCapture implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #taken: Promise<Uint8Array>[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket) => this.#taken.push(this.#keep(socket)));
  }

  static async listen(): Promise<WireCapture> {
    const server = createServer();
    const capture = new WireCapture(server);
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    return capture;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  /** The bytes of each connection since the last take, in order of arrival; waits until all of them have ended. */
  async take(): Promise<readonly Uint8Array[]> {
    const taken = this.#taken;
    this.#taken = [];
    return await Promise.all(taken);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }

  #keep(socket: Socket): Promise<Uint8Array> {
    this.#sockets.add(socket);
    const chunks: Uint8Array[] = [];
    let size = 0;
    let answered = false;
    return new Promise((resolve) => {
      socket.on('data', (chunk) => {
        chunks.push(chunk);
        size += chunk.length;
        if (size > REQUEST_BYTES_MAX) socket.destroy();
        if (answered || parseWire(Buffer.concat(chunks)).kind === 'short') return;
        answered = true;
        // Half-closed: what the client still sends is kept and judged with the rest.
        socket.end(REPLY);
      });
      socket.setTimeout(SILENT_MS_MAX, () => socket.destroy());
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        this.#sockets.delete(socket);
        resolve(Buffer.concat(chunks));
      });
    });
  }
}
