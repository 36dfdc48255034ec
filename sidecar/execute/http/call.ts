/**
 * One dispatched request and the bytes that come back. Counts, never interprets: caps, framing, informational responses.
 */
import type { Dispatcher } from 'undici';
import { limits } from '#core/bounds/limits.ts';
import { TransportFailure } from './transport.ts';

/** A final response as it came, before content decoding. */
export interface WireReply {
  readonly status: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer;
  readonly fault?: 'cut' | 'unframed' | 'tooLarge';
}

/** No final response. `silent`: not one byte of a response came. */
export interface Broken {
  readonly failure: TransportFailure;
  readonly silent: boolean;
}

export interface CallOptions {
  readonly method: string;
  readonly signal: AbortSignal;
  readonly wireBytesMax: number;
  readonly done: (result: WireReply | Broken) => void;
}

type Controller = Dispatcher.DispatchController;

const EMPTY = Buffer.alloc(0);

export class Call implements Dispatcher.DispatchHandler {
  readonly #options: CallOptions;
  #controller: Controller | undefined;
  #over = false;
  #silent = true;
  #informational = 0;
  #status = 0;
  #headers: readonly (readonly [string, string])[] = [];
  #framed = true;
  #bytes = 0;
  #first: Buffer = EMPTY;
  #more: Buffer[] | undefined;

  constructor(options: CallOptions) {
    this.#options = options;
    options.signal.addEventListener('abort', this.#onAbort, { once: true });
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller;
    // Settled while it waited for a connection: not a byte of it may leave.
    if (this.#over) controller.abort(new Error('settled before it was sent'));
  }

  onResponseStarted(): void {
    this.#silent = false;
  }

  onResponseStart(controller: Controller, status: number): void {
    if (this.#over) return;
    if (status < 200) {
      this.#informational += 1;
      if (this.#informational > limits.httpInformationalMax) this.#fail('protocol');
      return;
    }
    this.#status = status;
    this.#headers = readHeaders(controller.rawHeaders);
    const framing = this.#framing();
    if (framing === 'unknown coding') this.#fail('protocol');
    else this.#framed = framing === 'framed';
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#over) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#options.wireBytesMax) this.#reply('tooLarge');
    else if (this.#first === EMPTY) this.#first = chunk;
    else if (this.#more === undefined) this.#more = [this.#first, chunk];
    else this.#more.push(chunk);
  }

  onResponseEnd(): void {
    this.#reply(this.#framed ? undefined : 'unframed');
  }

  onResponseError(_controller: Controller | null, error: Error): void {
    if (this.#over) return;
    if (this.#status !== 0) this.#reply('cut');
    else if (error instanceof TransportFailure) this.#settle({ failure: error, silent: true });
    else this.#settle({ failure: new TransportFailure(kindOf(error), this.#controller !== undefined, error), silent: this.#silent });
  }

  readonly #onAbort = () => this.#fail('timedOut');

  #fail(kind: TransportFailure['kind']): void {
    this.#settle({ failure: new TransportFailure(kind, this.#controller !== undefined), silent: this.#silent });
  }

  #reply(fault: WireReply['fault']): void {
    const body = fault === 'tooLarge' ? EMPTY : this.#more === undefined ? this.#first : Buffer.concat(this.#more, this.#bytes);
    this.#settle({ status: this.#status, headers: this.#headers, body, ...(fault && { fault }) });
  }

  #settle(result: WireReply | Broken): void {
    if (this.#over) return;
    this.#over = true;
    this.#options.signal.removeEventListener('abort', this.#onAbort);
    this.#options.done(result);
  }

  /** RFC 9112 section 6.3: without length or chunks the body ends with the connection, cut or not (failure case HTTP-08). */
  #framing(): 'framed' | 'unframed' | 'unknown coding' {
    if (this.#options.method === 'HEAD' || this.#status === 204 || this.#status === 304) return 'framed';
    let framing: 'framed' | 'unframed' = 'unframed';
    for (const [name, value] of this.#headers) {
      if (name === 'transfer-encoding' && value.toLowerCase() !== 'chunked') return 'unknown coding';
      if (name === 'transfer-encoding' || name === 'content-length') framing = 'framed';
    }
    return framing;
  }
}

/** Names in lower case, values byte for byte; cookies are dropped here, so that no jar can exist (failure case HTTP-37). */
function readHeaders(raw: Controller['rawHeaders']): readonly (readonly [string, string])[] {
  if (!Array.isArray(raw)) return [];
  const headers: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = latin1(raw[index]).toLowerCase();
    if (name !== 'set-cookie') headers.push([name, latin1(raw[index + 1])]);
  }
  return headers;
}

function latin1(value: string | Buffer | undefined): string {
  return typeof value === 'string' ? value : (value?.toString('latin1') ?? '');
}

/** undici says with one code both that the peer closed and that it spoke out of turn. */
function kindOf(error: Error): TransportFailure['kind'] {
  const code = 'code' in error ? error.code : undefined;
  if (code === 'UND_ERR_SOCKET') return error.message.startsWith('bad') ? 'protocol' : 'unreachable';
  if (typeof code === 'string' && (code.startsWith('HPE_') || PROTOCOL.has(code))) return 'protocol';
  return error.name === 'HTTPParserError' ? 'protocol' : 'unreachable';
}

const PROTOCOL: ReadonlySet<string> = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH']);
