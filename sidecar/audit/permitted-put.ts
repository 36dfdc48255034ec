/**
 * One PUT to a store, as an operator permitted it: exactly this address, exactly these headers, exactly these bytes, because all of them are
 * under the signature. Nothing is followed, no proxy is asked, nothing is sent twice; of the answer only the status counts.
 *
 * Plain HTTP only to a literal loopback or private address, as test servers and stores inside a cluster have it: a permit read on its way
 * allows one object to be made whose digest is signed, and what is in a segment is sealed.
 */
import type { Dispatcher } from 'undici';
import Client from 'undici/lib/dispatcher/client.js';
import { limits } from '#core/bounds/limits.ts';
import { literalAddressKind } from '#core/contract/address-kind.ts';

export interface Permit {
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** The only CAs that vouch for the store, as PEM. Absent: those of the system. */
  readonly roots?: string;
}

/** Why there is no status. `address`: this permit can never be used. */
export type NoStatus = 'address' | 'timeout' | 'aborted' | 'connection';

export class PutFault extends Error {
  readonly kind: NoStatus;

  constructor(kind: NoStatus, cause?: unknown) {
    super(kind, cause === undefined ? undefined : { cause });
    this.name = 'PutFault';
    this.kind = kind;
  }
}

/** The status of the store's answer. Throws PutFault, at the latest after limits.auditUploadMs. */
export async function putPermitted(permit: Permit, bytes: Uint8Array, signal: AbortSignal): Promise<number> {
  const url = addressOf(permit.url);
  const client = new Client(url.origin, {
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: limits.httpHeaderBytesMax,
    // One total deadline instead: undici counts between chunks, so a drip would live for ever.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: limits.auditUploadMs, ...(permit.roots === undefined ? {} : { ca: permit.roots }) },
  });
  const deadline = AbortSignal.timeout(limits.auditUploadMs);
  try {
    return await new Promise<number>((resolve, reject) => {
      const headers = permit.headers.filter(({ name }) => !OURS.has(name.toLowerCase())).flatMap(({ name, value }) => [name, value]);
      headers.push('content-length', String(bytes.length));
      const handler = new StatusOnly(AbortSignal.any([signal, deadline]), resolve, reject);
      client.dispatch({ method: 'PUT', path: url.pathname + url.search, headers, body: Buffer.from(bytes) }, handler);
    });
  } catch (fault) {
    if (fault instanceof PutFault) throw fault;
    throw new PutFault(signal.aborted ? 'aborted' : deadline.aborted ? 'timeout' : 'connection', fault);
  } finally {
    // The answer is in, or nobody waits for it.
    await client.destroy().catch(() => undefined);
  }
}

/** The client writes these from the address and the body; a second one would be another request to whoever stands between. */
const OURS = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'expect']);

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || url.username !== '' || url.password !== '' || url.hash !== '') throw new PutFault('address');
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isInside(url.hostname))) return url;
  throw new PutFault('address');
}

function isInside(hostname: string): boolean {
  const kind = literalAddressKind(hostname.replace(/^\[|\]$/g, ''));
  return kind === 'loopback' || kind === 'private';
}

/** Reads so much of an answer as it takes to know that it has ended. */
const ANSWER_BYTES_MAX = 64 * 1024;

class StatusOnly implements Dispatcher.DispatchHandler {
  readonly #signal: AbortSignal;
  readonly #resolve: (status: number) => void;
  readonly #reject: (fault: unknown) => void;
  #leave = () => {};
  #status = 0;
  #read = 0;

  constructor(signal: AbortSignal, resolve: (status: number) => void, reject: (fault: unknown) => void) {
    this.#signal = signal;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const abort = () => controller.abort(new Error('the upload was given up'));
    this.#signal.addEventListener('abort', abort, { once: true });
    this.#leave = () => this.#signal.removeEventListener('abort', abort);
    if (this.#signal.aborted) abort();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number): void {
    if (status >= 200) this.#status = status;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#read += chunk.length;
    // What a store has to say of a refusal is short; the rest of a long one changes no status.
    if (this.#read > ANSWER_BYTES_MAX) this.onResponseEnd();
  }

  onResponseEnd(): void {
    this.#leave();
    this.#resolve(this.#status);
  }

  onResponseError(_controller: Dispatcher.DispatchController, fault: Error): void {
    this.#leave();
    this.#reject(fault);
  }
}
