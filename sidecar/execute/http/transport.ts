/**
 * The seam between "what we ask" and "how bytes travel": the real one speaks HTTP/1.1 over vetted, pinned
 * connections; `postern contract test` replays recorded exchanges through the same interface, so that decoding,
 * masking and the walk are the code production runs.
 */
import type { OutboundRequest } from '#core/contract/assemble.ts';
import type { RawReply } from '#sidecar/decode/raw-reply.ts';

export type { OutboundRequest, RawReply };

export interface SendOptions {
  /** Aborted at the total deadline and when the caller cancels. */
  readonly signal: AbortSignal;
  /** Cap on bytes on the wire, and on bytes after content decoding. */
  readonly wireBytesMax: number;
  readonly bodyBytesMax: number;
  /** A read: may be sent once more on a new socket when a reused one died before the first byte of an answer. Default no. */
  readonly repeatable?: boolean;
  /**
   * An effect: MUST leave on a socket that has served nothing. A remote that closes an idle socket while a request is on its way leaves
   * nobody able to tell whether that request was read, and an effect is never sent again (failure case HTTP-10). Default no.
   */
  readonly freshConnection?: boolean;
}

export interface Transport {
  /**
   * MUST send at most one request (but for `repeatable`), MUST NOT follow redirects, cache or keep cookies.
   * Throws TransportFailure when no status line came.
   */
  send(request: OutboundRequest, options: SendOptions): Promise<RawReply>;
}

/** Why there is no reply. `sent`: whether a byte of the request may have reached the remote. */
export class TransportFailure extends Error {
  readonly kind: 'unreachable' | 'timedOut' | 'protocol' | 'egressDenied' | 'tls';
  readonly sent: boolean;
  constructor(kind: TransportFailure['kind'], sent: boolean, cause?: unknown) {
    super(`no reply: ${kind}`, cause === undefined ? undefined : { cause });
    this.name = 'TransportFailure';
    this.kind = kind;
    this.sent = sent;
  }
}
