/**
 * Answers requests from recorded exchanges, in place of the network.
 *
 * A request takes the first exchange not yet taken that fits it. One that fits none is a failure of the test,
 * not of the remote: it is kept with the nearest exchange and why that one does not fit.
 */

import type { JsonValue } from '#core/contract/compiled.ts';
import {
  type OutboundRequest,
  type RawReply,
  type SendOptions,
  type Transport,
  TransportFailure,
} from '#sidecar/execute/http/transport.ts';
import type { RecordedExchange } from './contract-test.ts';
import { compareRequest, type Difference, describeRequest } from './match-request.ts';
import type { ReplayClock } from './replay-clock.ts';

export interface UnmatchedRequest {
  readonly request: JsonValue;
  /** The exchange that differs least, and in what; absent when none was left. */
  readonly nearest?: { readonly exchange: number; readonly taken: boolean; readonly differences: readonly Difference[] };
}

export class ReplayTransport implements Transport {
  readonly unmatched: UnmatchedRequest[] = [];
  readonly #clock: ReplayClock;
  #exchanges: readonly RecordedExchange[] = [];
  #taken = new Set<number>();

  constructor(clock: ReplayClock) {
    this.#clock = clock;
  }

  /** The exchanges of the next call; what was left of the last one is forgotten. */
  load(exchanges: readonly RecordedExchange[]): void {
    this.#exchanges = exchanges;
    this.#taken = new Set();
  }

  /** Indexes of the exchanges nothing asked for. */
  get leftOver(): readonly number[] {
    return this.#exchanges.flatMap((_, index) => (this.#taken.has(index) ? [] : [index]));
  }

  async send(request: OutboundRequest, options: SendOptions): Promise<RawReply> {
    const index = this.#exchanges.findIndex(
      (exchange, at) => !this.#taken.has(at) && compareRequest(exchange.request, request).length === 0,
    );
    const exchange = this.#exchanges[index];
    if (exchange === undefined) {
      this.unmatched.push(this.#explain(request));
      throw new TransportFailure('protocol', true);
    }
    this.#taken.add(index);
    this.#clock.advance(exchange.afterMs);
    if (exchange.afterMs > 0) {
      // A deadline that fell due on the way aborts in a later turn, as it would while bytes are on the wire.
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (options.signal.aborted) throw new TransportFailure('timedOut', true);
    return reply(exchange, options);
  }

  #explain(request: OutboundRequest): UnmatchedRequest {
    let nearest: UnmatchedRequest['nearest'];
    for (const [index, exchange] of this.#exchanges.entries()) {
      const candidate = { exchange: index, taken: this.#taken.has(index), differences: compareRequest(exchange.request, request) };
      if (nearest === undefined || distance(candidate) < distance(nearest)) nearest = candidate;
    }
    return { request: describeRequest(request), ...(nearest === undefined ? {} : { nearest }) };
  }
}

/** Fewest differences first; one that was taken counts as a difference more, and another path as several. */
function distance(candidate: NonNullable<UnmatchedRequest['nearest']>): number {
  const weights = candidate.differences.map(({ at }) => (at === 'path' || at === 'method' || at === 'origin' ? 3 : 1));
  return weights.reduce((sum, weight) => sum + weight, candidate.taken ? 1.5 : 0);
}

function reply(exchange: RecordedExchange, options: SendOptions): RawReply {
  const { answer } = exchange;
  if (answer.kind === 'failure') throw new TransportFailure(answer.failure, answer.failure !== 'unreachable');
  const whole = { status: answer.status, headers: answer.headers, body: answer.body };
  if (answer.body.byteLength > options.bodyBytesMax) {
    return { ...whole, body: answer.body.slice(0, options.bodyBytesMax), fault: 'tooLarge' };
  }
  return answer.fault === undefined ? whole : { ...whole, fault: answer.fault };
}
