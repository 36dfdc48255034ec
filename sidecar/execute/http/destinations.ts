/**
 * All HTTP destinations of the sidecar: one client per origin, credential and TLS identity, never shared between two of
 * them, so that no socket, TLS session or leftover byte crosses from one credential to another (failure cases HTTP-18,
 * HTTP-19, HTTP-21). A bounded number is open at once; the least recently used idle one is closed first.
 */
import { limits } from '#core/bounds/limits.ts';
import { HttpClient } from './client.ts';
import { type ClientIdentity, type Dial, dialer, type Resolve, systemResolve, vettedAddresses } from './egress.ts';
import { type OutboundRequest, type RawReply, type SendOptions, type Transport, TransportFailure } from './transport.ts';

export interface DestinationIdentity {
  /** Canonical origin. */
  readonly origin: string;
  /** Whose credential travels on it and whose roots are trusted: any text that is unique to both. */
  readonly credential: string;
  readonly addresses?: readonly string[];
  /** Current PEM roots of the binding, or undefined for the system's. Asked before each request: a new one means new sockets. */
  readonly ca?: () => string | undefined;
  /** What is shown to a remote that asks who we are. Asked before each request: another object means new sockets. */
  readonly identity?: () => ClientIdentity | undefined;
}

export interface DestinationsOptions {
  /** Standalone only (`--allow-loopback`). */
  readonly allowLoopback: boolean;
  /** Default: the system's resolver. */
  readonly resolve?: Resolve;
}

export class Destinations {
  readonly #options: Required<DestinationsOptions>;
  readonly #known = new Map<string, Destination>();
  readonly #open = new Set<Destination>();

  constructor(options: DestinationsOptions) {
    this.#options = { resolve: systemResolve, ...options };
  }

  /** The transport of a destination; keep it, so that a call looks nothing up. Opens nothing yet. */
  transport(identity: DestinationIdentity): Transport {
    const key = JSON.stringify([identity.origin, identity.credential, identity.addresses ?? null]);
    const known = this.#known.get(key);
    if (known !== undefined) {
      known.take(identity);
      return known;
    }
    const destination = new Destination(identity, this.#options, (opened) => this.#opened(opened));
    this.#known.set(key, destination);
    return destination;
  }

  /** Opens connections of another protocol to a destination, vetted like those of HTTP; they are the caller's, and in no pool. */
  dialer({ origin, addresses }: Pick<DestinationIdentity, 'origin' | 'addresses'>): Dial {
    return dialer({ origin, ...this.#options, ...(addresses && { addresses }) });
  }

  /** The vetted addresses of a destination that another host dials. */
  vetted({ origin, addresses }: Pick<DestinationIdentity, 'origin' | 'addresses'>): Promise<readonly string[]> {
    return vettedAddresses({ origin, ...this.#options, ...(addresses && { addresses }) });
  }

  /** Connections of all destinations together, for the metrics. */
  connections(): { readonly connected: number; readonly free: number; readonly running: number; readonly pending: number } {
    const total = { connected: 0, free: 0, running: 0, pending: 0 };
    for (const { counts } of this.#open) {
      total.connected += counts.open;
      total.free += counts.free;
      total.running += counts.open - counts.free;
      total.pending += counts.waiting;
    }
    return total;
  }

  /** Lets running requests end and closes every idle socket. */
  close(): void {
    for (const destination of this.#open) destination.close();
    this.#open.clear();
  }

  #opened(destination: Destination): void {
    this.#open.add(destination);
    while (this.#open.size > limits.httpDestinationsMax) {
      let oldest: Destination | undefined;
      for (const open of this.#open) {
        if (open !== destination && !open.busy && (oldest === undefined || open.usedAt < oldest.usedAt)) oldest = open;
      }
      // All are busy: better a few more sockets than a refused call.
      if (oldest === undefined) return;
      oldest.close();
      this.#open.delete(oldest);
    }
  }
}

let uses = 0;

class Destination implements Transport {
  readonly #identity: DestinationIdentity;
  #asked: Pick<DestinationIdentity, 'ca' | 'identity'>;
  readonly #options: Required<DestinationsOptions>;
  readonly #onOpen: (destination: Destination) => void;
  #client: HttpClient | undefined;
  #ca: string | undefined;
  #shown: ClientIdentity | undefined;
  /** Position in the order of uses. */
  usedAt = 0;

  constructor(identity: DestinationIdentity, options: Required<DestinationsOptions>, onOpen: (destination: Destination) => void) {
    this.#identity = identity;
    this.#asked = identity;
    this.#options = options;
    this.#onOpen = onOpen;
  }

  get busy(): boolean {
    return this.#client?.busy === true;
  }

  get counts(): { readonly open: number; readonly free: number; readonly waiting: number } {
    return this.#client?.counts ?? { open: 0, free: 0, waiting: 0 };
  }

  /** Where roots and the client's certificate are read from now on: a binding may name other keys. */
  take(asked: Pick<DestinationIdentity, 'ca' | 'identity'>): void {
    this.#asked = asked;
  }

  async send(request: OutboundRequest, options: SendOptions): Promise<RawReply> {
    uses += 1;
    this.usedAt = uses;
    return this.#current().send(request, options);
  }

  close(): void {
    this.#client?.close();
    this.#client = undefined;
  }

  #current(): HttpClient {
    const ca = this.#asked.ca?.();
    const shown = this.#asked.identity?.();
    if (this.#client !== undefined && ca === this.#ca && shown === this.#shown) return this.#client;
    // What runs ends on the sockets it has; the next request needs a handshake of its own.
    this.#client?.close();
    this.#client = undefined;
    this.#ca = ca;
    this.#shown = shown;
    this.#client = this.#create(ca, shown);
    this.#onOpen(this);
    return this.#client;
  }

  #create(ca: string | undefined, shown: ClientIdentity | undefined): HttpClient {
    const { origin, addresses } = this.#identity;
    const rules = {
      ...(addresses && { addresses }),
      ...(ca === undefined ? {} : { ca }),
      ...(shown === undefined ? {} : { identity: shown }),
    };
    try {
      return new HttpClient(origin, dialer({ origin, ...this.#options, ...rules }));
    } catch (error) {
      throw new TransportFailure('tls', false, error);
    }
  }
}
