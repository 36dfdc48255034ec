/**
 * HTTP/1.1 to one destination: one request, one reply, nothing followed, cached, kept or sent twice.
 *
 * The single exception: a request marked `repeatable` (a read) goes out once more when the socket that took it had served
 * others before and died without a byte of an answer. The remote closes idle connections; that race says nothing about
 * the request (failure case HTTP-10). The second try is on a new socket and inside the same deadline.
 *
 * An effect, which nobody may send again, never enters that race: it is marked `freshConnection` and costs a handshake. Its socket serves
 * reads afterwards.
 *
 * What is sent beside the contract's headers: `host`, `content-length`, `accept-encoding`, `user-agent`, `connection`.
 */
import { strict as assert } from 'node:assert';
import { type Broken, Call, type WireReply } from './call.ts';
import { contentCodings, decodeContent } from './content-coding.ts';
import type { Dial } from './egress.ts';
import { type Lane, LanePool } from './lane-pool.ts';
import { type OutboundRequest, type RawReply, type SendOptions, type Transport, TransportFailure } from './transport.ts';

export class HttpClient implements Transport {
  readonly #origin: string;
  readonly #pool: LanePool;

  constructor(origin: string, dial: Dial) {
    this.#origin = origin;
    this.#pool = new LanePool(origin, dial);
  }

  get busy(): boolean {
    return this.#pool.busy;
  }

  get counts(): LanePool['counts'] {
    return this.#pool.counts;
  }

  async send(request: OutboundRequest, options: SendOptions): Promise<RawReply> {
    assert(request.origin === this.#origin, 'a request for another origin reached this client');
    if (options.signal.aborted) throw new TransportFailure('timedOut', false);
    const wire = await this.#exchange(request, options);
    if (wire.status === 206 && !request.headers.some(([name]) => name === 'range')) throw new TransportFailure('protocol', true);
    return undoCodings(wire, options.bodyBytesMax);
  }

  /** Lets running requests end; no new socket is opened for this client. */
  close(): void {
    this.#pool.close();
  }

  async #exchange(request: OutboundRequest, options: SendOptions): Promise<WireReply> {
    let lane = await this.#lane(options);
    let result = await dispatch(lane, request, options);
    if (isBroken(result) && options.repeatable === true && result.silent && diedIdle(lane, result)) {
      lane = this.#pool.replace(lane);
      result = await dispatch(lane, request, options);
    }
    if (isBroken(result) || result.fault !== undefined) {
      this.#pool.drop(lane);
    } else {
      lane.fresh = false;
      this.#pool.give(lane);
    }
    if (!isBroken(result)) return result;
    throw refusedIdentity(lane, result) ? new TransportFailure('tls', false, lane.socketError) : result.failure;
  }

  async #lane({ signal, freshConnection }: SendOptions): Promise<Lane> {
    if (freshConnection !== true) return this.#pool.take() ?? (await this.#pool.wait(signal));
    const lane = this.#pool.takeColdest() ?? (await this.#pool.wait(signal));
    return lane.fresh ? lane : this.#pool.replace(lane);
  }
}

function dispatch(lane: Lane, request: OutboundRequest, options: SendOptions): Promise<WireReply | Broken> {
  return new Promise((done) => {
    const { method, target, body } = request;
    const { signal, wireBytesMax } = options;
    // An abort between getting the lane and here: nobody would hear of it any more.
    if (signal.aborted) {
      done({ failure: new TransportFailure('timedOut', false), silent: true });
      return;
    }
    const call = new Call({ method, signal, wireBytesMax, done });
    lane.client.dispatch({ method, path: target, headers: flatHeaders(request.headers), ...(body && { body }) }, call);
  });
}

function flatHeaders(headers: OutboundRequest['headers']): string[] {
  const flat: string[] = [];
  let ownAgent = false;
  for (const [name, value] of headers) {
    flat.push(name, value);
    if (name === 'user-agent') ownAgent = true;
  }
  flat.push('accept-encoding', 'gzip');
  if (!ownAgent) flat.push('user-agent', 'postern');
  return flat;
}

function isBroken(result: WireReply | Broken): result is Broken {
  return 'failure' in result;
}

function diedIdle(lane: Lane, { failure }: Broken): boolean {
  return failure.kind === 'unreachable' && failure.sent && !lane.fresh;
}

/**
 * Under TLS 1.3 our handshake is over before the remote has looked at our certificate, and the request follows at once. An alert about
 * the certificate then says that the remote's handshake never ended and no request was read; anything else that goes wrong under TLS
 * says nothing about what was read.
 */
function refusedIdentity({ fresh, socketError }: Lane, { silent }: Broken): boolean {
  const code = socketError !== undefined && 'code' in socketError ? socketError.code : undefined;
  return fresh && silent && typeof code === 'string' && IDENTITY_ALERT.test(code);
}

const IDENTITY_ALERT =
  /^ERR_SSL_(?:TLSV1|TLSV13|SSLV3)_ALERT_(?:CERTIFICATE_(?:REQUIRED|EXPIRED|REVOKED|UNKNOWN)|BAD_CERTIFICATE|UNKNOWN_CA|ACCESS_DENIED)$/;

function undoCodings(wire: WireReply, bytesMax: number): RawReply | Promise<RawReply> {
  const codings = contentCodings(wire.headers);
  if (codings.length > 0) return decodedReply(wire, codings, bytesMax);
  return wire.body.length > bytesMax ? { ...wire, body: NO_BYTES, fault: 'tooLarge' } : wire;
}

async function decodedReply(wire: WireReply, codings: readonly string[], bytesMax: number): Promise<RawReply> {
  // What a broken stream decompresses to is not known to be its beginning.
  if (wire.fault !== undefined && wire.fault !== 'unframed') return { ...wire, body: NO_BYTES };
  // No coding packs anything into nothing: the body was lost on the way, and would read as a list without lines.
  if (wire.body.length === 0 && wire.status === 200) return { ...wire, fault: 'cut' };
  const decoded = await decodeContent(wire.body, codings, bytesMax);
  if (decoded.kind === 'bytes') return { ...wire, body: decoded.bytes };
  if (decoded.kind === 'unknown') throw new TransportFailure('protocol', true);
  return { ...wire, body: NO_BYTES, fault: decoded.kind === 'tooLarge' ? 'tooLarge' : 'cut' };
}

const NO_BYTES = new Uint8Array(0);
