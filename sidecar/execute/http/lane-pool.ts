/**
 * The connections to one destination with one credential. A lane is one undici client, hence one socket at a time, with one
 * request at a time: no pipelining, so a reply can only belong to the request before it (failure cases HTTP-18, HTTP-39).
 *
 * Our own free list instead of undici's Pool: the caller learns whether its request went out on a socket that had already
 * served another one, which is the only case in which a read may be sent again (failure case HTTP-10).
 */
import Client from 'undici/lib/dispatcher/client.js';
import { limits } from '#core/bounds/limits.ts';
import type { Dial } from './egress.ts';
import { TransportFailure } from './transport.ts';

export class Lane {
  readonly client: Client;
  /** The socket has not completed a request yet. Set on connecting, cleared by the request that completes. */
  fresh = true;
  /** What first went wrong with the present socket; undici reports what went wrong last. */
  socketError: Error | undefined;

  constructor(origin: string, dial: Dial) {
    this.client = new Client(origin, {
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: limits.httpIdleMs,
      keepAliveMaxTimeout: limits.httpIdleMsMax,
      maxHeaderSize: limits.httpHeaderBytesMax,
      // One total deadline of our own instead: undici counts between chunks, so a drip lives for ever (failure case HTTP-16).
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, callback) => {
        this.fresh = true;
        this.socketError = undefined;
        dial().then(
          (socket) => {
            socket.once('error', (error) => {
              this.socketError ??= error;
            });
            callback(null, socket);
          },
          (error) => callback(error, null),
        );
      },
    });
  }
}

interface Waiter {
  readonly go: (lane: Lane) => void;
  readonly stop: () => void;
}

export class LanePool {
  readonly #origin: string;
  readonly #dial: Dial;
  /** Last in, first out: the warmest socket first, the others may idle out. */
  readonly #idle: Lane[] = [];
  readonly #waiting = new Set<Waiter>();
  #open = 0;
  #closed = false;

  constructor(origin: string, dial: Dial) {
    this.#origin = origin;
    this.#dial = dial;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** `open` are all lanes, `free` those without a request, `waiting` the requests without a lane. */
  get counts(): { readonly open: number; readonly free: number; readonly waiting: number } {
    return { open: this.#open, free: this.#idle.length, waiting: this.#waiting.size };
  }

  get busy(): boolean {
    return this.#open > this.#idle.length || this.#waiting.size > 0;
  }

  /** A lane, at once while there is one; the caller gives it back or drops it. */
  take(): Lane | undefined {
    return this.#idle.pop() ?? this.#another();
  }

  /** For who wants no socket that was used, and replaces the lane: the warm ones are left to those who want them. */
  takeColdest(): Lane | undefined {
    return this.#idle.shift() ?? this.#another();
  }

  #another(): Lane | undefined {
    if (this.#open >= limits.httpConnectionsMax) return undefined;
    this.#open += 1;
    return new Lane(this.#origin, this.#dial);
  }

  /** The next lane that becomes free, first come first served. Rejects with TransportFailure when `signal` aborts before. */
  wait(signal: AbortSignal): Promise<Lane> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting.delete(waiter);
        signal.removeEventListener('abort', waiter.stop);
      };
      const waiter: Waiter = {
        go: (lane) => {
          leave();
          resolve(lane);
        },
        stop: () => {
          leave();
          reject(new TransportFailure('timedOut', false));
        },
      };
      this.#waiting.add(waiter);
      signal.addEventListener('abort', waiter.stop, { once: true });
      if (signal.aborted) waiter.stop();
    });
  }

  /** Back after a request that ended well. */
  give(lane: Lane): void {
    if (this.#closed) {
      this.#discard(lane);
      return;
    }
    const [first] = this.#waiting;
    if (first === undefined) this.#idle.push(lane);
    else first.go(lane);
  }

  /** Back after anything else: its socket and whatever is still on it are gone for good. */
  drop(lane: Lane): void {
    this.#discard(lane);
    const [first] = this.#waiting;
    if (first === undefined || this.#closed) return;
    this.#open += 1;
    first.go(new Lane(this.#origin, this.#dial));
  }

  /** A lane with no socket yet in the place of one that failed, or that has served others. */
  replace(lane: Lane): Lane {
    void lane.client.destroy();
    return new Lane(this.#origin, this.#dial);
  }

  /** Closes idle lanes now and busy ones when they come back. */
  close(): void {
    this.#closed = true;
    for (const lane of this.#idle.splice(0)) this.#discard(lane);
  }

  #discard(lane: Lane): void {
    this.#open -= 1;
    void lane.client.destroy();
  }
}
