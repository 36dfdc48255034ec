/**
 * Room for everybody at a port that anybody may connect to. A server that merely stops accepting when it is full lets one peer keep all
 * others out, with connections that say nothing: so when there is no room, whoever has the most connections loses one for the new one -
 * the oldest without a request under way, else the oldest. A peer is an address: pods have one each.
 */
import type { Server, Socket } from 'node:net';

interface Held {
  readonly socket: Socket;
  requests: number;
}

export class ConnectionRoom {
  readonly #max: number;
  readonly #onClosed: () => void;
  /** By address, then by port, the oldest first. */
  readonly #peers = new Map<string, Map<number, Held>>();
  #size = 0;

  /** `onClosed` is told of each connection that had to go. */
  constructor(max: number, onClosed: () => void = () => {}) {
    this.#max = max;
    this.#onClosed = onClosed;
  }

  /** Of all that are open. */
  get size(): number {
    return this.#size;
  }

  /** To be called before the server listens. */
  watch(server: Server): void {
    server.on('connection', (socket: Socket) => this.#enter(socket));
  }

  /** A request of this connection has begun; TLS shows another socket, with the address and the port of this one. */
  begins(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): void {
    this.#count(socket, 1);
  }

  ends(socket: Pick<Socket, 'remoteAddress' | 'remotePort'>): void {
    this.#count(socket, -1);
  }

  #enter(socket: Socket): void {
    const { remoteAddress: address = '', remotePort: port = 0 } = socket;
    if (this.#size >= this.#max) this.#makeRoom();
    const held = this.#peers.get(address) ?? new Map<number, Held>();
    held.set(port, { socket, requests: 0 });
    this.#peers.set(address, held);
    this.#size += 1;
    socket.once('close', () => this.#leave(address, port, socket));
  }

  #leave(address: string, port: number, socket: Socket): void {
    const held = this.#peers.get(address);
    if (held?.get(port)?.socket !== socket) return;
    held.delete(port);
    if (held.size === 0) this.#peers.delete(address);
    this.#size -= 1;
  }

  #makeRoom(): void {
    const [address, held] = [...this.#peers].reduce((most, peer) => (peer[1].size > most[1].size ? peer : most));
    const [port, { socket }] = [...held].find(([, { requests }]) => requests === 0) ?? ([...held][0] as [number, Held]);
    this.#leave(address, port, socket);
    socket.destroy();
    this.#onClosed();
  }

  #count({ remoteAddress = '', remotePort = 0 }: Pick<Socket, 'remoteAddress' | 'remotePort'>, by: number): void {
    const held = this.#peers.get(remoteAddress)?.get(remotePort);
    if (held !== undefined) held.requests += by;
  }
}
