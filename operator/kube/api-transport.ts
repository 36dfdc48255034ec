/**
 * HTTP to the API server: one pool of HTTP/1.1 connections for everything (a pool a request leaked file descriptors, failure case
 * OPR-18), every wait with a limit, every answer with a cap.
 *
 * Sent again by itself, inside the request's time: what got 401, once, with the token read anew (OPR-15); what got 429, which the API
 * server refused before looking at it; and, where the request is marked `repeatable`, what got 5xx or no answer.
 */
import { Agent, type Dispatcher, ProxyAgent } from 'undici';
import { type Clock, systemClock } from '#core/bounds/clock.ts';
import { limits } from '#core/bounds/limits.ts';
import type { ApiAccess } from './api-access.ts';
import { backoffMs, retryAfterMs } from './backoff.ts';
import { isKubeError, KubeError, kubeErrorOf } from './kube-error.ts';

export interface ApiRequest {
  /** For messages, after "when asked to": `read a Pod`. Never names or values. */
  readonly what: string;
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  /** Begins with `/`, encoded. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly contentType?: string;
  /** Default `application/json`: whole objects. */
  readonly accept?: string;
  /** Twice has the effect of once. */
  readonly repeatable?: boolean;
  /** Called right before each sending; what it throws ends the request, and nothing is sent. */
  readonly before?: () => void;
  readonly signal?: AbortSignal | undefined;
  /** Tries altogether; default limits.kubeTriesMax. Whoever has a loop of its own says 1. */
  readonly tries?: number;
  /** One try, to the end of its answer (of `open`: to its head); default limits.kubeTryMsMax. */
  readonly tryMs?: number;
}

export interface ApiTransport {
  /** The answer's JSON. Throws KubeError; rejects with the signal's reason when that aborts. */
  call(request: ApiRequest): Promise<unknown>;
  /** One try; the body of a 2xx answer as it comes, which the caller MUST read to its end or destroy. */
  open(request: ApiRequest): Promise<Dispatcher.ResponseData['body']>;
  /**
   * Unix time in milliseconds by the clock of the API server, as its last answer said it and our monotonic clock went on since; never
   * more than a second behind. Undefined before the first answer that names a date.
   */
  serverNowMs?(): number | undefined;
  close(): Promise<void>;
}

export interface TransportOptions {
  readonly clock?: Clock;
  readonly random?: () => number;
}

export function createApiTransport(access: ApiAccess, options: TransportOptions = {}): ApiTransport {
  return new PooledTransport(access, options.clock ?? systemClock, options.random ?? Math.random);
}

type Reply = {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  readonly body: Dispatcher.ResponseData['body'];
};

class PooledTransport implements ApiTransport {
  readonly #access: ApiAccess;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #pool: Dispatcher;
  #server: { readonly wallMs: number; readonly atMs: number } | undefined;

  constructor(access: ApiAccess, clock: Clock, random: () => number) {
    this.#access = access;
    this.#clock = clock;
    this.#random = random;
    this.#pool = poolFor(access);
  }

  async call(request: ApiRequest): Promise<unknown> {
    const startedMs = this.#clock.monotonicMs();
    const triesMax = request.tries ?? limits.kubeTriesMax;
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#once(request, (reply, deadline) => this.#json(request, reply, deadline));
      } catch (error) {
        const waitMs = this.#waitBefore(error, request, tries);
        const spentMs = this.#clock.monotonicMs() - startedMs;
        if (waitMs === undefined || tries >= triesMax || spentMs + waitMs > limits.kubeRequestMsMax) throw error;
        await this.#clock.sleep(waitMs, request.signal);
      }
    }
  }

  open(request: ApiRequest): Promise<Reply['body']> {
    return this.#once(request, async (reply) => reply.body);
  }

  serverNowMs(): number | undefined {
    return this.#server === undefined ? undefined : this.#server.wallMs + this.#clock.monotonicMs() - this.#server.atMs;
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  #noteDate(date: string | readonly string[] | undefined): void {
    const wallMs = typeof date === 'string' ? Date.parse(date) : Number.NaN;
    if (!Number.isNaN(wallMs)) this.#server = { wallMs, atMs: this.#clock.monotonicMs() };
  }

  /** Undefined: not to be sent again. */
  #waitBefore(error: unknown, request: ApiRequest, tries: number): number | undefined {
    if (request.signal?.aborted || !isKubeError(error)) return undefined;
    const again = error.status === 429 || (request.repeatable === true && error.transient && error.reason !== 'AnswerTooLarge');
    return again ? Math.max(error.retryAfterMs ?? 0, backoffMs(tries, this.#random)) : undefined;
  }

  /** One try, or two when the first got 401. `take` runs inside the try's time. */
  async #once<R>(request: ApiRequest, take: (reply: Reply, deadline: Deadline) => Promise<R>): Promise<R> {
    const deadline = new Deadline(this.#clock, request.tryMs ?? limits.kubeTryMsMax, request.signal);
    try {
      let reply = await this.#send(request, deadline, false);
      if (reply.status === 401) {
        await discard(reply.body);
        reply = await this.#send(request, deadline, true);
      }
      if (reply.status >= 300) throw await this.#refusal(request, reply);
      return await take(reply, deadline);
    } catch (error) {
      throw deadline.explain(error, request.what);
    } finally {
      deadline.end();
    }
  }

  async #send(request: ApiRequest, deadline: Deadline, rejected: boolean): Promise<Reply> {
    const { server } = this.#access;
    const query = new URLSearchParams(request.query).toString();
    const url = new URL(`${server}${request.path}${query === '' ? '' : `?${query}`}`);
    const content = request.body === undefined ? {} : { 'content-type': request.contentType ?? 'application/json' };
    const headers = {
      accept: request.accept ?? 'application/json',
      'user-agent': 'postern',
      ...content,
      ...(await this.#access.headers(rejected)),
    };
    deadline.allow(request.before);
    const { statusCode, ...reply } = await this.#pool.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      method: request.method,
      headers,
      body: request.body === undefined ? null : JSON.stringify(request.body),
      signal: deadline.signal,
    });
    // An aborted stream reports an error that has nobody to hear it once the caller has gone; reading still rejects.
    reply.body.on('error', () => {});
    this.#noteDate(reply.headers.date);
    return { status: statusCode, headers: reply.headers, body: reply.body };
  }

  async #json({ what }: ApiRequest, { body, status }: Reply, deadline: Deadline): Promise<unknown> {
    const bytes = await readAtMost(body, limits.kubeAnswerBytesMax);
    deadline.signal.throwIfAborted();
    if (bytes === undefined)
      throw new KubeError(`The API server's answer is too large when asked to ${what}`, { status, reason: 'AnswerTooLarge' });
    try {
      return JSON.parse(bytes.toString('utf8'));
    } catch (cause) {
      // Not repeated blindly by the caller: whatever stands between us and the API server did answer.
      throw new KubeError(`The answer is not JSON when the API server was asked to ${what}`, { status: 0, reason: 'Unreadable', cause });
    }
  }

  async #refusal({ what }: ApiRequest, { status, headers, body }: Reply): Promise<KubeError> {
    const bytes = await readAtMost(body, limits.kubeErrorBytesMax);
    const after = headers['retry-after'];
    const afterMs = retryAfterMs(Array.isArray(after) ? after[0] : after, this.#clock.wallMs());
    return kubeErrorOf(what, status, bytes?.toString('utf8') ?? '', afterMs);
  }
}

/** The time of one try, joined with the caller's signal. Listeners are taken off again: a caller's signal may live for months. */
class Deadline {
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal | undefined;
  readonly #cancel: () => void;
  readonly #onOuter = () => this.#controller.abort(this.#outer?.reason);
  #passed = false;
  #withheld: unknown = undefined;

  constructor(clock: Clock, ms: number, outer: AbortSignal | undefined) {
    this.#outer = outer;
    this.#cancel = clock.alarm(ms, () => {
      this.#passed = true;
      this.#controller.abort(new Error('the time of one try is over'));
    });
    if (outer?.aborted) this.#onOuter();
    else outer?.addEventListener('abort', this.#onOuter, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Runs the caller's last check; what it throws is the caller's own, not a failure of the API server. */
  allow(before: (() => void) | undefined): void {
    try {
      before?.();
    } catch (error) {
      this.#withheld = error;
      throw error;
    }
  }

  end(): void {
    this.#cancel();
    this.#outer?.removeEventListener('abort', this.#onOuter);
  }

  explain(error: unknown, what: string): unknown {
    if (this.#outer?.aborted) return this.#outer.reason;
    if (this.#passed)
      return new KubeError(`The API server did not answer in time when asked to ${what}`, { status: 0, reason: 'TimedOut', cause: error });
    if (error instanceof KubeError || error === this.#withheld) return error;
    return new KubeError(`The API server cannot be reached to ${what}`, { status: 0, reason: 'Unreachable', cause: error });
  }
}

function poolFor({ tls, proxy }: ApiAccess): Dispatcher {
  const connect = { ...tls, timeout: limits.kubeConnectMsMax, keepAlive: true, keepAliveInitialDelay: limits.kubeKeepAliveMs };
  const shared = {
    // HTTP/2 would put every watch and request on one connection: one lost packet, one half-open socket would stop them all.
    allowH2: false,
    connections: limits.kubeConnectionsMax,
    pipelining: 1,
    // Our own deadlines, by the injected clock, cover head and body; a watch has a watchdog.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
  return proxy === undefined ? new Agent({ ...shared, connect }) : new ProxyAgent({ ...shared, uri: proxy, requestTls: connect });
}

/** Undefined when there is more; the connection is then closed. */
async function readAtMost(body: Reply['body'], bytesMax: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) {
      body.destroy();
      return undefined;
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function discard(body: Reply['body']): Promise<void> {
  await body.dump({ limit: limits.kubeErrorBytesMax });
}
